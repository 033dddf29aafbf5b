//! What waits for one stream: bounded by events and by bytes, because one event can be a thousand times as large as another.

use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// Events that wait at most.
const MOST_EVENTS: usize = 256;
/// Bytes that wait at most; a single event may be larger.
const MOST_BYTES: usize = 1 << 20;

/// Where events are put.
pub struct QueueSender {
    events: mpsc::Sender<Bytes>,
    waiting: Arc<AtomicUsize>,
}

/// Where they are taken out.
pub struct QueueReceiver {
    events: mpsc::Receiver<Bytes>,
    waiting: Arc<AtomicUsize>,
}

/// An empty queue.
pub fn event_queue() -> (QueueSender, QueueReceiver) {
    let (sender, receiver) = mpsc::channel(MOST_EVENTS);
    let waiting = Arc::<AtomicUsize>::default();
    (
        QueueSender { events: sender, waiting: Arc::clone(&waiting) },
        QueueReceiver { events: receiver, waiting },
    )
}

impl QueueSender {
    /// Puts an event in; false if there is no room for it.
    pub fn put(&self, event: &Bytes) -> bool {
        // Counted before it is put in: the other end may take it out at once.
        let before = self.waiting.fetch_add(event.len(), Ordering::Relaxed);
        let has_room = before == 0 || before + event.len() <= MOST_BYTES;
        let is_in = has_room && self.events.try_send(event.clone()).is_ok();
        if !is_in {
            self.waiting.fetch_sub(event.len(), Ordering::Relaxed);
        }
        is_in
    }

    /// Nobody takes anything out any more.
    pub fn is_closed(&self) -> bool {
        self.events.is_closed()
    }
}

impl QueueReceiver {
    /// The next event; none if nobody puts anything in any more.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let event = self.events.poll_recv(cx);
        if let Poll::Ready(Some(event)) = &event {
            self.waiting.fetch_sub(event.len(), Ordering::Relaxed);
        }
        event
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    fn take(queue: &mut QueueReceiver) -> Option<usize> {
        match queue.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(event) => event.map(|event| event.len()),
            Poll::Pending => None,
        }
    }

    #[test]
    fn neither_many_events_nor_large_ones_pile_up() {
        let (sender, mut receiver) = event_queue();
        let small = Bytes::from_static(b"x");
        assert_eq!((0..1_000).filter(|_| sender.put(&small)).count(), MOST_EVENTS);
        while take(&mut receiver).is_some() {}
        let large = Bytes::from(vec![b'x'; MOST_BYTES / 4]);
        assert_eq!((0..1_000).filter(|_| sender.put(&large)).count(), 4);
        assert!(!sender.put(&small));
        assert_eq!(take(&mut receiver), Some(MOST_BYTES / 4));
        assert!(sender.put(&small) && !sender.put(&large));
    }

    #[test]
    fn an_event_of_any_size_goes_through_an_empty_queue() {
        let (sender, mut receiver) = event_queue();
        let huge = Bytes::from(vec![b'x'; 2 * MOST_BYTES]);
        assert!(sender.put(&huge) && !sender.put(&huge));
        assert_eq!(take(&mut receiver), Some(2 * MOST_BYTES));
        assert!(sender.put(&huge));
        drop(receiver);
        assert!(sender.is_closed());
    }
}
