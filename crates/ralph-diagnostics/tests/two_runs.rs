//! Two runs in one process: both keep a log, a detached one gets no more, and stderr stays silent below its level.
//! One test, because a process has one subscriber.
#![allow(clippy::unwrap_used, missing_docs)]

use ralph_diagnostics::{DebugLog, Discard, FILE_NAME, Level, init};
use std::sync::{Arc, Mutex};

fn log(dir: &tempfile::TempDir) -> DebugLog {
    DebugLog::new(dir.path(), Box::new(str::to_owned))
}

#[test]
fn discarded_errors_reach_every_attached_log_and_no_terminal() {
    let printed: Arc<Mutex<Vec<String>>> = Arc::default();
    let sink = Arc::clone(&printed);
    let diagnostics = init(Level::Error, move |line| sink.lock().unwrap().push(line.to_owned()));
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let first = diagnostics.attach(log(&one));
    let _second = diagnostics.attach(log(&two));
    std::fs::remove_file(one.path().join("missing")).discard("remove a draft");
    std::fs::create_dir(one.path().join("there")).discard("make a folder");
    drop(first);
    Err::<(), _>("no space").discard("write the receipt");
    tracing::error!("the end");

    let read = |dir: &tempfile::TempDir| std::fs::read_to_string(dir.path().join(FILE_NAME)).unwrap();
    assert!(read(&one).contains("failed: remove a draft"), "{}", read(&one));
    assert!(!read(&one).contains("make a folder") && !read(&one).contains("receipt"), "{}", read(&one));
    assert!(
        read(&two).contains("failed: write the receipt") && read(&two).contains("no space"),
        "{}",
        read(&two)
    );
    let printed = printed.lock().unwrap();
    assert!(printed.len() == 1 && printed[0].contains("the end"), "{printed:?}");
}
