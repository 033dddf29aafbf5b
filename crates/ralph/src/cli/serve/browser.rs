//! Opens the page in the browser. Other users can read a program's arguments, so the address with the token is not one of
//! them: the browser is given a file that only its owner can read and that leads to the address. It is gone a moment later.

use crate::print::say;
use ralph_engine::home::Home;
use ralph_engine::signals::{Listening, Suspend, suspend_with};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tempfile::NamedTempFile;

/// How a file that leads to the page is named.
const PREFIX: &str = "open-";
/// How long the browser has to read the file.
const KEPT: Duration = Duration::from_secs(20);

/// The file that leads to the page, until it has gone away. A signal that ends or stops the command removes it, too.
struct LeadingFile(Mutex<Option<NamedTempFile>>);

impl LeadingFile {
    fn remove(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Suspend for LeadingFile {
    fn suspend(&self) {
        self.remove();
    }

    fn resume(&self) {}
}

/// Opens the page; a failure is said, and the page can still be opened by hand. The answer is kept while it is served.
pub fn open(url: &str, home: &Home) -> Option<Listening> {
    let opened = leading_to(url, &dir(home)).and_then(|file| {
        let mut child = start_opener(file.path())?;
        let file = Arc::new(LeadingFile(Mutex::new(Some(file))));
        let later = Arc::clone(&file);
        std::thread::Builder::new().name("browser".into()).spawn(move || {
            let _ = child.wait();
            std::thread::sleep(KEPT);
            later.remove();
        })?;
        // Last of all: once nobody listens any more, a signal would not end the command.
        Ok(suspend_with(file))
    });
    opened
        .inspect_err(|error| {
            say(&format!("The browser cannot be opened ({error}); open the address above.\n"));
        })
        .ok()
}

/// Starts the program that opens a file with what the user has chosen for it: Linux has one, macOS the other.
fn start_opener(file: &Path) -> io::Result<Child> {
    let start = |program: &str| {
        let mut command = Command::new(program);
        command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().map_err(|error| io::Error::new(error.kind(), format!("{program}: {error}")))
    };
    match start("xdg-open") {
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => start("open").map_err(|_| missing),
        started => started,
    }
}

/// Removes what a command left behind that was ended at once.
pub fn remove_old(home: &Home) {
    remove_old_in(&dir(home));
}

fn dir(home: &Home) -> PathBuf {
    home.dir().join("serve")
}

fn remove_old_in(dir: &Path) {
    for old in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        if old.file_name().to_string_lossy().starts_with(PREFIX) {
            let _ = std::fs::remove_file(old.path());
        }
    }
}

/// A file for its owner alone that leads to an address.
fn leading_to(url: &str, dir: &Path) -> io::Result<NamedTempFile> {
    Home::create_private_dir(dir)?;
    let mut file = tempfile::Builder::new().prefix(PREFIX).suffix(".html").tempfile_in(dir)?;
    writeln!(
        file,
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={url}\"><title>ralph</title>"
    )?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_the_owner_can_read_the_file_and_it_goes_away() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("open-old.html"), "old").unwrap();
        std::fs::write(dir.path().join("other"), "kept").unwrap();
        remove_old_in(dir.path());
        let file = leading_to("http://127.0.0.1:7257/#token=abc", dir.path()).unwrap();
        let path = file.path().to_owned();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(std::fs::read_to_string(&path).unwrap().contains("0;url=http://127.0.0.1:7257/#token=abc\""));
        let file = LeadingFile(Mutex::new(Some(file)));
        file.suspend();
        assert!(!path.exists());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
