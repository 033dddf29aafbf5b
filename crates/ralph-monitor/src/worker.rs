//! What takes long, on threads of its own: requests wait until a run has heard them, pages are read from disk. The screen
//! stays quick, and a run is never waited for.

use crate::job::Job;
use crate::page::{PageKind, PageLine, PageWanted};
use crate::read_page::read_page;
use ralph_engine::home::Home;
use ralph_rules::record::Request;
use ralph_store::Store;
use ralph_view::put_away::put_away;
use ralph_view::requests::{Sent, send};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Makes the diff of a run so far, line by line and without colours.
pub type MakeDiff = Box<dyn Fn(&str) -> Vec<String> + Send + Sync>;
/// Takes the secrets that are known in a workspace, named first, out of a text.
pub type Redact = Box<dyn Fn(&str, &str) -> String + Send + Sync>;

/// The texts that only the caller can make, since it knows the secrets.
pub struct Texts {
    /// The diff of a run.
    pub diff: MakeDiff,
    /// A text without secrets.
    pub redact: Redact,
}

/// What was done.
#[derive(Debug)]
pub enum Done {
    /// A request was sent.
    Asked {
        /// To this run.
        run: String,
        /// This was asked.
        request: Request,
        /// What became of it.
        sent: Result<Sent, String>,
    },
    /// A run was put away or taken back.
    PutAway {
        /// Away or back.
        away: bool,
        /// Why not.
        result: Result<(), String>,
    },
    /// A page was read.
    Page(PageWanted, Vec<PageLine>),
}

/// The threads.
pub struct Worker {
    requests: Sender<Job>,
    pages: Sender<Job>,
    done: Receiver<Done>,
}

impl Worker {
    /// Starts them; they end when this is dropped.
    pub fn start(home: &Home, texts: Texts) -> io::Result<Worker> {
        let (answers, done) = channel();
        let texts = Arc::new(texts);
        let start = |name: &str| {
            let (jobs, wanted) = channel();
            let (home, texts, answers) = (home.clone(), Arc::clone(&texts), answers.clone());
            let work = move || work(&home, &texts, &wanted, &answers);
            thread::Builder::new().name(name.into()).spawn(work).map(|_| jobs)
        };
        Ok(Worker { requests: start("requests")?, pages: start("pages")?, done })
    }

    /// Has this done.
    pub fn give(&self, job: Job) {
        let to = if matches!(job, Job::Read(_)) { &self.pages } else { &self.requests };
        // A thread that is gone has panicked, and that was told.
        let _ = to.send(job);
    }

    /// What was done since the last time.
    pub fn done(&self) -> impl Iterator<Item = Done> {
        self.done.try_iter()
    }
}

fn work(home: &Home, texts: &Texts, wanted: &Receiver<Job>, answers: &Sender<Done>) {
    while let Ok(job) = wanted.recv() {
        // Whoever turned several pages wants the last one.
        let job = wanted.try_iter().fold(job, |job, next| match (&job, &next) {
            (Job::Read(_), Job::Read(_)) => next,
            _ => {
                let _ = answers.send(perform(home, texts, job));
                next
            }
        });
        if answers.send(perform(home, texts, job)).is_err() {
            return;
        }
    }
}

fn perform(home: &Home, texts: &Texts, job: Job) -> Done {
    match job {
        Job::Ask { run, request } => {
            let sent = ask(home, texts, &run, &request);
            Done::Asked { run, request, sent }
        }
        Job::PutAway { run, away } => {
            let result =
                with_row(home, &run, |store, row| put_away(store, row, away).map_err(|e| e.to_string()));
            Done::PutAway { away, result }
        }
        Job::Read(wanted) => {
            let lines = match wanted.kind {
                PageKind::Help => Vec::new(),
                _ => read_page(&wanted, home, texts),
            };
            Done::Page(wanted, lines)
        }
    }
}

fn ask(home: &Home, texts: &Texts, run: &str, request: &Request) -> Result<Sent, String> {
    with_row(home, run, |store, row| {
        let redact = |text: &str| (texts.redact)(&row.workspace, text);
        send(store, home, row, request, &redact).map_err(|error| error.to_string())
    })
}

fn with_row<T>(
    home: &Home,
    run: &str,
    then: impl Fn(&dyn Store, &ralph_store::RunRow) -> Result<T, String>,
) -> Result<T, String> {
    let store = home.store_if_any().map_err(|e| e.to_string())?.ok_or("there is no database")?;
    let row = store.run(run).map_err(|e| e.to_string())?.ok_or("the run is gone")?;
    then(&store, &row)
}
