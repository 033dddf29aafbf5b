//! Answers to requests are read here, never on the thread that serves: one thread owns a board of its own, so that a slow
//! answer holds up neither streams nor the page, and a few more read what needs only the store.

use crate::answer::Fault;
use crate::followed_board::FollowedBoard;
use ralph_engine::clock::utc;
use ralph_engine::home::Home;
use ralph_rules::record::Ms;
use ralph_store::Database;
use ralph_view::board::{Board, BoardError, BoardSettings};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::{Semaphore, oneshot};

/// Requests that wait for the board at most.
const WAITING: usize = 64;
/// Requests that read the store at the same time at most.
const AT_ONCE: usize = 4;
/// How long a request waits for its answer.
const PATIENCE: Duration = Duration::from_secs(10);

type Question = Box<dyn FnOnce(&mut FollowedBoard) + Send>;

/// Reads for requests.
#[derive(Clone)]
pub struct Reader {
    home: Home,
    questions: SyncSender<Question>,
    thread: Arc<JoinHandle<()>>,
    at_once: Arc<Semaphore>,
}

impl Reader {
    /// Starts the thread of the board; it ends with the last reader.
    pub fn start(home: &Home, settings: BoardSettings) -> io::Result<Reader> {
        let (questions, asked) = sync_channel(WAITING);
        let board = FollowedBoard::new(home, settings);
        let thread =
            std::thread::Builder::new().name("reader".into()).spawn(move || answer_all(board, &asked))?;
        let at_once = Arc::new(Semaphore::new(AT_ONCE));
        Ok(Reader { home: home.clone(), questions, thread: Arc::new(thread), at_once })
    }

    /// Whether the thread of the board is there.
    pub fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Asks the board, which has read what is new.
    pub async fn board<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Board, Ms) -> Result<T, BoardError> + Send + 'static,
    ) -> Result<T, Fault> {
        let (say, said) = oneshot::channel();
        let question: Question = Box::new(move |followed| {
            followed.poll();
            let answer = match followed.trouble() {
                Some(trouble) => Err(Fault::database(trouble)),
                None => question(followed.board(), utc()).map_err(Fault::from),
            };
            // Whoever asked may be gone.
            let _ = say.send(answer);
        });
        self.questions.try_send(question).map_err(|error| match error {
            TrySendError::Full(_) => Fault::busy(),
            TrySendError::Disconnected(_) => Fault::stopped(),
        })?;
        let said = tokio::time::timeout(PATIENCE, said).await;
        said.map_err(|_| Fault::no_answer())?.map_err(|_| Fault::no_answer())?
    }

    /// Reads the store, or files, on a thread of its own. Without a database there are no runs.
    pub async fn store<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Home, &Database) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let permit = tokio::time::timeout(PATIENCE, Arc::clone(&self.at_once).acquire_owned()).await;
        let permit = permit.map_err(|_| Fault::busy())?.map_err(|_| Fault::busy())?;
        let home = self.home.clone();
        let work = tokio::task::spawn_blocking(move || {
            // Held for as long as the work takes, even if nobody waits for it any more.
            let _permit = permit;
            let store = home.store_at_once().map_err(|error| Fault::database(error.to_string()))?;
            let store = store.ok_or_else(|| Fault::not_found("run yet"))?;
            question(&home, &store)
        });
        let done = tokio::time::timeout(PATIENCE, work).await;
        done.map_err(|_| Fault::no_answer())?.map_err(|_| Fault::no_answer())?
    }
}

fn answer_all(mut board: FollowedBoard, asked: &Receiver<Question>) {
    while let Ok(question) = asked.recv() {
        question(&mut board);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_gone_is_not_called_busy() {
        let dir = tempfile::tempdir().unwrap();
        let reader = Reader::start(&Home::at(dir.path().join("state")), BoardSettings::default()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        assert!(reader.is_running());
        let lost = runtime.block_on(reader.board(|_, _| -> Result<(), BoardError> { panic!("a bug") }));
        assert_eq!(lost, Err(Fault::no_answer()));
        while reader.is_running() {
            std::thread::yield_now();
        }
        assert_eq!(runtime.block_on(reader.board(|_, _| Ok(()))), Err(Fault::stopped()));
    }
}
