//! Git, run so that nothing in the repository is obeyed: in an empty repository of ralph's own whose only link to the
//! real one is where its objects lie. No config, hook, attribute, graft, replacement or ref of the agent's is ever read,
//! because git is never told where they are. Only plumbing that reads objects is run, with a deadline.

use ralph_diagnostics::Discard;
use ralph_os::{Links, read_regular};
use ralph_tree::{Repository, check_objects};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Git is given this long.
const DEADLINE: Duration = Duration::from_secs(120);
/// More output than this is not read.
const MOST: u64 = 512 << 20;

/// A larger configuration or list of shallow commits is not read.
const OWN_FILE: u64 = 16 << 20;

/// Error messages beyond this are not kept.
const MOST_ERRORS: u64 = 64 << 10;

/// What a command of git said.
pub struct Said {
    /// It succeeded.
    pub success: bool,
    /// Its output, also if it failed in the middle.
    pub output: Vec<u8>,
    /// The first of its error messages.
    pub errors: String,
}

/// A git that sees one repository's objects and nothing else of it.
pub struct Git {
    program: PathBuf,
    dir: PathBuf,
}

impl Git {
    /// Makes the empty repository in this directory, anew.
    pub fn beside(program: &Path, repository: &Repository, dir: &Path) -> io::Result<Git> {
        // Git would wait on a FIFO until the deadline.
        check_objects(repository)?;
        if dir.exists() {
            fs::remove_dir_all(dir)?;
        }
        fs::create_dir_all(dir.join("objects/info"))?;
        fs::create_dir_all(dir.join("refs"))?;
        fs::write(dir.join("HEAD"), "ref: refs/heads/none\n")?;
        fs::write(dir.join("config"), config(repository)?)?;
        let objects = repository.common.join("objects");
        let mut alternates = quoted(objects.as_os_str().as_encoded_bytes());
        alternates.push(b'\n');
        fs::write(dir.join("objects/info/alternates"), alternates)?;
        // A shallow history ends where this file says; without it git would miss the parents.
        if let Some(shallow) = own_file(repository, "shallow")? {
            fs::write(dir.join("shallow"), shallow)?;
        }
        Ok(Git { program: program.to_owned(), dir: dir.to_owned() })
    }

    /// Lets the history end where this list of shallow commits says, whatever the repository's own says now.
    pub fn set_shallow(&self, list: Option<&[u8]>) -> io::Result<()> {
        let path = self.dir.join("shallow");
        match list {
            Some(list) => fs::write(path, list),
            None if path.exists() => fs::remove_file(path),
            None => Ok(()),
        }
    }

    /// Runs a command on this input and gives its output; an error says what git said.
    pub fn run(&self, args: &[&str], input: &[u8]) -> io::Result<Vec<u8>> {
        let said = self.outcome(args, input, DEADLINE)?;
        if !said.success {
            let line = said.errors.lines().next().unwrap_or("git failed").to_owned();
            return Err(io::Error::other(line));
        }
        Ok(said.output)
    }

    /// Runs a command on this input, for at most this long, and gives all it said, whether it succeeded or not.
    pub fn outcome(&self, args: &[&str], input: &[u8], deadline: Duration) -> io::Result<Said> {
        let mut child = self.command(args).spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (over, ended) = channel::<()>();
        let (out, err) = std::thread::scope(|scope| {
            scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
            let err = scope.spawn(move || first_errors(stderr));
            let killed = scope.spawn({
                let pid = rustix::process::Pid::from_child(&child);
                move || {
                    let late = ended.recv_timeout(deadline) == Err(RecvTimeoutError::Timeout);
                    if late {
                        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                    }
                    late
                }
            });
            let out = read(stdout, MOST);
            drop(over);
            let late = killed.join().unwrap_or(false);
            (out.map(|out| (out, late)), err.join().unwrap_or_default())
        });
        let status = child.wait()?;
        let (output, late) = out?;
        if late {
            return Err(io::Error::other("git timed out"));
        }
        Ok(Said { success: status.success(), output, errors: String::from_utf8_lossy(&err).into_owned() })
    }

    /// What is staged in an index of the repository, as `git ls-files --stage -z` lists it.
    pub fn staged(&self, index: &Path) -> io::Result<Vec<u8>> {
        let bytes = read_regular(index, MOST, Links::Follow).map_err(io::Error::from)?;
        fs::write(self.dir.join("index"), bytes)?;
        self.run(&["ls-files", "--stage", "-z"], b"")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().env("LC_ALL", "C").env("PATH", "/usr/bin:/bin");
        for (name, value) in [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
        ] {
            command.env(name, value);
        }
        command.env("GIT_DIR", &self.dir).current_dir(&self.dir);
        for setting in
            ["core.fsmonitor=false", "core.hooksPath=/dev/null", "diff.external=", "core.pager=cat"]
        {
            command.args(["-c", setting]);
        }
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }
}

/// What the empty repository must know to read the objects: how their names are made.
fn config(repository: &Repository) -> io::Result<String> {
    let format = own_file(repository, "config")?.unwrap_or_default();
    let sha256 = String::from_utf8_lossy(&format).lines().any(|line| {
        let line: String = line.to_ascii_lowercase().split_whitespace().collect();
        line == "objectformat=sha256"
    });
    Ok(match sha256 {
        true => {
            "[core]\nrepositoryformatversion = 1\nbare = true\n[extensions]\nobjectformat = sha256\n".into()
        }
        false => "[core]\nrepositoryformatversion = 0\nbare = true\n".into(),
    })
}

/// A file of the repository's own, if there is one.
fn own_file(repository: &Repository, name: &str) -> io::Result<Option<Vec<u8>>> {
    match read_regular(&repository.common.join(name), OWN_FILE, Links::Follow).map_err(io::Error::from) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io::Error::other(format!("{}/{name}: {error}", repository.name))),
    }
}

/// A path as a line of `alternates`: in quotes where it could be read otherwise.
fn quoted(path: &[u8]) -> Vec<u8> {
    if path.iter().all(|b| b.is_ascii_graphic() && !b"\"\\#".contains(b)) {
        return path.to_vec();
    }
    let mut line = vec![b'"'];
    for byte in path {
        match byte {
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            b' '..=b'~' => line.push(*byte),
            other => line.extend(format!("\\{other:03o}").bytes()),
        }
    }
    line.push(b'"');
    line
}

fn read(from: Option<impl Read>, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(from) = from {
        let read = from.take(most).read_to_end(&mut bytes)?;
        if read as u64 == most {
            return Err(io::Error::other("git's output is too large"));
        }
    }
    Ok(bytes)
}

/// The first of what git says about errors. The rest is read too: git would end where nobody reads.
fn first_errors(from: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        from.by_ref().take(MOST_ERRORS).read_to_end(&mut bytes).discard("read what git says");
        io::copy(&mut from, &mut io::sink()).discard("read what git says");
    }
    bytes
}
