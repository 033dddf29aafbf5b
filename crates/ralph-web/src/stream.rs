//! One stream of events as the body of an answer: what was missed, then what happens, and a sign of life in between.

use crate::event_queue::QueueReceiver;
use crate::events::keep_alive;
use crate::feed::Joined;
use bytes::Bytes;
use http_body::{Body, Frame};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// How long a stream is silent at most. A page that hears nothing for 25 s calls itself not connected.
const SILENCE: Duration = Duration::from_secs(10);

/// A stream of events.
pub struct EventStream {
    missed: VecDeque<Bytes>,
    queue: QueueReceiver,
    alive: Interval,
    /// One of the streams that may be open at the same time.
    _permit: OwnedSemaphorePermit,
}

impl EventStream {
    /// A stream that has just begun.
    pub fn new(joined: Joined, permit: OwnedSemaphorePermit) -> EventStream {
        let mut alive = interval_at(Instant::now() + SILENCE, SILENCE);
        alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // Something at once, so that the other end knows that it is connected.
        let missed = std::iter::once(keep_alive()).chain(joined.missed).collect();
        EventStream { missed, queue: joined.queue, alive, _permit: permit }
    }
}

impl Body for EventStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let event = match self.missed.pop_front() {
            Some(event) => Poll::Ready(Some(event)),
            None => self.queue.poll_next(cx),
        };
        match event {
            Poll::Ready(event) => {
                self.alive.reset();
                Poll::Ready(event.map(|event| Ok(Frame::data(event))))
            }
            Poll::Pending => self.alive.poll_tick(cx).map(|_| Some(Ok(Frame::data(keep_alive())))),
        }
    }
}
