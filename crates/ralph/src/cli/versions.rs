//! The versions of installed agents. Asking one costs up to seconds, so the answer is kept beside the journal, by the
//! program's path, and asked anew when the file there has changed. Only `ralph agents` asks; a run never starts an
//! agent only to learn its version.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take to say its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// The versions known so far, by path.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Versions {
    #[serde(rename = "heard")]
    versions: BTreeMap<String, Known>,
    #[serde(skip)]
    file: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    mark: Mark,
    version: Option<String>,
}

/// What changes when a program is replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    modified: i64,
    modified_nsec: i64,
    size: u64,
    inode: u64,
}

impl Versions {
    /// What is remembered in ralph's state directory. A file that cannot be read counts as none.
    pub fn load(state: &Path) -> Versions {
        let file = state.join("agents.json");
        let kept = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<Versions>(&bytes).ok());
        Versions { file, ..kept.unwrap_or_default() }
    }

    /// The version of this very program, where it is remembered.
    pub fn known(&self, program: &Path) -> Option<String> {
        let known = self.versions.get(&*program.to_string_lossy())?;
        known.version.clone().filter(|_| Mark::of(program).as_ref() == Some(&known.mark))
    }

    /// Asks those that are not known, all at once, and remembers their answers on disk.
    pub fn ask(&mut self, programs: &[(PathBuf, &'static [&'static str])]) {
        if self.ask_unknown(programs) {
            // Without it the next `ralph agents` asks again, which is slower and nothing else.
            let _ = self.keep();
        }
    }

    /// Asks those that are not known, all at once; true when there was one.
    pub fn ask_unknown(&mut self, programs: &[(PathBuf, &'static [&'static str])]) -> bool {
        let new: Vec<_> = programs.iter().filter(|(path, _)| self.known(path).is_none()).collect();
        let answers: Vec<_> = std::thread::scope(|scope| {
            let asked: Vec<_> =
                new.iter().map(|(path, args)| scope.spawn(move || (path, ask(path, args)))).collect();
            asked.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        for (path, version) in answers {
            if let Some(mark) = Mark::of(path) {
                self.versions.insert(path.to_string_lossy().into_owned(), Known { mark, version });
            }
        }
        !new.is_empty()
    }

    fn keep(&self) -> std::io::Result<()> {
        let dir = self.file.parent().unwrap_or(Path::new("."));
        ralph_engine::home::Home::create_private_dir(dir)?;
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(&serde_json::to_vec(self)?)?;
        file.persist(&self.file).map(drop).map_err(|e| e.error)
    }
}

impl Mark {
    fn of(program: &Path) -> Option<Mark> {
        let meta = fs::metadata(program).ok()?;
        Some(Mark {
            modified: meta.mtime(),
            modified_nsec: meta.mtime_nsec(),
            size: meta.size(),
            inode: meta.ino(),
        })
    }
}

fn ask(program: &Path, args: &[&str]) -> Option<String> {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .ok()?;
    let mut out = child.stdout.take()?;
    let output = std::thread::spawn(move || {
        let mut said = Vec::new();
        let _ = (&mut out).take(64 << 10).read_to_end(&mut said);
        said
    });
    let ended = wait(&mut child);
    // Whoever is still there holds the pipe open; the group is ours until the child was waited for.
    if !ended {
        end(&mut child);
        return None;
    }
    let said = output.join().ok()?;
    number_in(&String::from_utf8_lossy(&said)).map(str::to_owned)
}

fn wait(child: &mut Child) -> bool {
    let since = Instant::now();
    while since.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Ok(Some(status)) => return status.success(),
            Err(_) => return false,
        }
    }
    false
}

fn end(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.wait();
}

/// The first thing that looks like a version: digits with a dot between them.
fn number_in(text: &str) -> Option<&str> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | '/'));
    let words = words.map(|word| word.trim_start_matches('v').trim_end_matches(['.', ':', ';']));
    words.into_iter().find(|word| {
        let mut parts = word.split('.');
        let number = |part: Option<&str>| part.is_some_and(|p| p.starts_with(|c: char| c.is_ascii_digit()));
        word.len() < 64 && number(parts.next()) && number(parts.next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn program(dir: &Path, says: &str) -> PathBuf {
        let path = dir.join("agent");
        // A new file each time, as an installer makes it.
        let _ = fs::remove_file(&path);
        fs::write(&path, format!("#!/bin/sh\necho asked >> {}/asked\n{says}\n", dir.display())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn versions_are_found_in_what_programs_print() {
        for (said, version) in [
            ("2.1.325 (Claude Code)", Some("2.1.325")),
            ("codex-cli 0.166.0", Some("0.166.0")),
            ("goose v1.34.0-rc.1\n", Some("1.34.0-rc.1")),
            ("kimi, version 2.1", Some("2.1")),
            ("no version here. 12 apples", None),
            ("", None),
        ] {
            assert_eq!(number_in(said), version, "{said}");
        }
    }

    #[test]
    fn a_program_is_asked_once_until_it_changes() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let asked = || fs::read_to_string(dir.path().join("asked")).unwrap().lines().count();
        let path = program(dir.path(), "echo agent 1.2.3");
        for _ in 0..3 {
            let mut versions = Versions::load(&state);
            versions.ask(&[(path.clone(), &["--version"])]);
            assert_eq!(versions.known(&path).as_deref(), Some("1.2.3"));
        }
        assert_eq!(asked(), 1);
        let path = program(dir.path(), "echo agent 1.2.4 of a newer kind");
        let mut versions = Versions::load(&state);
        assert_eq!(versions.known(&path), None);
        versions.ask(&[(path.clone(), &["--version"])]);
        assert_eq!((versions.known(&path).as_deref(), asked()), (Some("1.2.4"), 2));
    }

    #[test]
    fn a_program_that_fails_has_no_version() {
        let dir = tempfile::tempdir().unwrap();
        let path = program(dir.path(), "echo 9.9.9; exit 1");
        assert_eq!(ask(&path, &[]), None);
        assert_eq!(ask(Path::new("/nowhere/agent"), &[]), None);
    }
}
