//! A program is marked as handed over, then started. A process that ends in between loses the note, so whoever ends the
//! process closes this gate before: what is marked by then is started, and nothing else is marked.

use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// Lets programs be marked and started until it is closed.
#[derive(Clone, Debug, Default)]
pub struct StartGate {
    closed: Arc<Mutex<bool>>,
}

impl StartGate {
    /// Does it, unless the gate is closed; it stays open meanwhile.
    pub(crate) fn pass<T>(&self, mark_and_start: impl FnOnce() -> T) -> Option<T> {
        let closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        (!*closed).then(mark_and_start)
    }

    /// Lets nothing pass from now on. Waits for what is passing, at most until then.
    pub fn close(&self, until: Instant) {
        loop {
            match self.closed.try_lock() {
                Ok(mut closed) => *closed = true,
                Err(TryLockError::Poisoned(closed)) => *closed.into_inner() = true,
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                }
                Err(TryLockError::WouldBlock) => {}
            }
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn it_is_closed_after_what_is_passing() {
        let gate = StartGate::default();
        let (enter, entered) = channel();
        let (leave, left) = channel::<()>();
        let passing = gate.clone();
        let thread = std::thread::spawn(move || {
            passing.pass(|| {
                enter.send(()).unwrap();
                left.recv().unwrap();
            })
        });
        entered.recv().unwrap();
        gate.close(Instant::now());
        assert!(gate.closed.try_lock().is_err(), "nobody waits for longer");
        leave.send(()).unwrap();
        gate.close(Instant::now() + Duration::from_secs(60));
        assert_eq!(thread.join().unwrap(), Some(()));
        assert_eq!(gate.pass(|| ()), None);
    }
}
