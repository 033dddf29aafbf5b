//! What to run and how, and the start of it: pipes, the control socket, the supervisor as a child.
//! The program's stdin travels over the control socket, so that no descriptor is ever inheritable in
//! ralph and a program started by another thread at the same moment cannot hold it.

use std::ffi::OsString;
use std::io::{self, IoSlice, IoSliceMut, PipeReader, PipeWriter};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, SendAncillaryBuffer, SendAncillaryMessage, recvmsg, sendmsg,
};
use thiserror::Error;

use crate::feed::Feed;
use crate::overlay::Overlay;
use crate::process_handle::ProcessHandle;
use crate::pump::Pump;
use crate::record::RECORD;
use crate::room_mount::RoomMount;
use crate::sandbox::{SANDBOX, SandboxLaunch};
use crate::supervisors;

/// Room of the program's output pipes, where the system grants it.
pub(crate) const PIPE_BYTES: usize = 1024 * 1024;

/// Before the three directories of an overlay on the supervisor's command line.
pub(crate) const OVERLAY: &str = "--overlay";

/// A program to run under a supervisor.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The binary that is the supervisor: ralph's own.
    pub supervisor: PathBuf,
    /// The arguments that make it one; `__supervise` unless changed.
    pub supervisor_args: Vec<OsString>,
    /// The program, looked up in PATH if its name has no slash; a relative path starts at `cwd`.
    pub program: OsString,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The directory it runs in.
    pub cwd: PathBuf,
    /// Variables added or changed.
    pub env: Vec<(OsString, OsString)>,
    /// Variables removed.
    pub env_remove: Vec<OsString>,
    /// Start without any inherited variables.
    pub env_clear: bool,
    /// What it reads.
    pub stdin: Input,
    /// Send stderr into stdout, in the order of writing; the sink then sees no stderr.
    pub merge_stderr: bool,
    /// An overlay over a directory that only the program sees.
    pub overlay: Option<Overlay>,
    /// A directory that only the program sees at the path of another one. Not together with `overlay`.
    pub room: Option<RoomMount>,
    /// The sandbox that the program runs in, inside of overlay or room.
    pub sandbox: Option<SandboxLaunch>,
    /// A file in which the supervisor notes who it is and, at its end, that nobody is left ([`lost_supervisor`]).
    ///
    /// [`lost_supervisor`]: crate::lost_supervisor
    pub record: Option<PathBuf>,
    /// Grace periods and timeouts.
    pub limits: Limits,
}

/// A program's stdin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Nothing: /dev/null.
    Null,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
    /// A pipe that stays open for `ProcessHandle::send` until `ProcessHandle::close_stdin`.
    Pipe,
}

/// Grace periods and timeouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// From `ProcessHandle::final_seen` until a program that does not exit is ended.
    pub final_grace: Duration,
    /// From TERM to KILL for a program that lingered.
    pub end_grace: Duration,
    /// How long to wait for the end of the streams after all processes are dead, if an unrelated process holds them.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            final_grace: Duration::from_secs(10),
            end_grace: Duration::from_secs(2),
            drain: Duration::from_secs(2),
        }
    }
}

/// Why nothing could be started at all.
#[derive(Debug, Error)]
pub enum StartError {
    /// Pipes or sockets could not be created.
    #[error("cannot open the pipes for `{}`: {source}. Close other programs or raise the limit of open files (ulimit -n).", program.display())]
    Pipes {
        /// What was to be run.
        program: OsString,
        /// The system's answer.
        source: io::Error,
    },
    /// Arguments and environment exceed what the system passes to a program.
    #[error("the arguments of `{}` are too long for the system. Pass the text on stdin instead.", program.display())]
    TooLong {
        /// What was to be run.
        program: OsString,
    },
    /// The supervisor itself could not be started.
    #[error("cannot start the supervisor `{}`: {source}. Check that ralph's own binary is still there and executable, and that the process limit (ulimit -u) is not reached.", supervisor.display())]
    Supervisor {
        /// The supervisor's binary.
        supervisor: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl Launch {
    /// This program in this directory, without arguments and input, under this supervisor.
    pub fn new(
        supervisor: impl Into<PathBuf>,
        program: impl Into<OsString>,
        cwd: impl Into<PathBuf>,
    ) -> Self {
        Self {
            supervisor: supervisor.into(),
            supervisor_args: vec!["__supervise".into()],
            program: program.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            env: Vec::new(),
            env_remove: Vec::new(),
            env_clear: false,
            stdin: Input::Null,
            merge_stderr: false,
            overlay: None,
            room: None,
            sandbox: None,
            record: None,
            limits: Limits::default(),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.supervisor);
        command.args(&self.supervisor_args);
        if let Some(record) = &self.record {
            command.arg(RECORD).arg(record);
        }
        if let Some(overlay) = &self.overlay {
            command.arg(OVERLAY).arg(&overlay.over).arg(&overlay.upper).arg(&overlay.work);
        }
        if let Some(room) = &self.room {
            command.args(room.to_args());
        }
        if let Some(sandbox) = &self.sandbox {
            command.arg(SANDBOX).arg(&sandbox.plan);
        }
        command.arg(&self.cwd).arg(&self.program).args(&self.args);
        if self.env_clear {
            command.env_clear();
        }
        for name in &self.env_remove {
            command.env_remove(name);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// Ralph's ends of everything that leads to a program.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) supervisor: Child,
    pub(crate) control: UnixStream,
    pub(crate) stdout: PipeReader,
    pub(crate) stderr: Option<PipeReader>,
    pub(crate) stdin: Feed,
}

/// Starts a supervisor and, under it, the program. One thread must then run the pump; dropping the pump
/// kills the program and all its descendants.
///
/// # Errors
/// When the supervisor cannot be started. A program that cannot be started is reported by the pump's [`Exit`].
///
/// [`Exit`]: crate::Exit
pub fn start(mut launch: Launch) -> Result<(ProcessHandle, Pump), StartError> {
    let input = std::mem::replace(&mut launch.stdin, Input::Null);
    // Everything that can be refused comes before the supervisor, so that none is started in vain.
    let pipes = |source| StartError::Pipes { program: launch.program.clone(), source };
    let (wake, bell) = nonblocking_pair().map_err(pipes)?;
    let (control, theirs) = UnixStream::pair().map_err(pipes)?;
    let for_orders = control.try_clone().map_err(pipes)?;
    let (stdin, feed) = open_stdin(input).map_err(pipes)?;
    let mut command = launch.command();
    let (stdout, stderr) = open_outputs(&mut command, launch.merge_stderr).map_err(pipes)?;
    command.stdin(Stdio::from(OwnedFd::from(theirs)));
    let supervisor = supervisors::spawn(&mut command).map_err(|source| match source.raw_os_error() {
        Some(errno) if errno == Errno::TOOBIG.raw_os_error() => {
            StartError::TooLong { program: launch.program.clone() }
        }
        _ => StartError::Supervisor { supervisor: launch.supervisor.clone(), source },
    })?;
    // If the supervisor is already dead this fails, and the pump sees the closed socket.
    let gate = launch.sandbox.as_mut().and_then(|sandbox| sandbox.gate.take());
    let _ = send(&control, &stdin, gate.as_deref());
    let _ = control.set_nonblocking(true);
    let process = ProcessHandle::new(for_orders, bell, &supervisor);
    let ends = Ends { supervisor, control, stdout, stderr, stdin: feed };
    Ok((process.clone(), Pump::new(process, ends, wake, launch)))
}

fn nonblocking_pair() -> io::Result<(UnixStream, UnixStream)> {
    let (one, other) = UnixStream::pair()?;
    one.set_nonblocking(true)?;
    other.set_nonblocking(true)?;
    Ok((one, other))
}

/// The program's stdin, and what feeds it.
fn open_stdin(input: Input) -> io::Result<(OwnedFd, Feed)> {
    let bytes = match input {
        Input::Null => return Ok((std::fs::File::open("/dev/null")?.into(), Feed::new(None))),
        Input::Bytes(bytes) => Some(bytes),
        Input::Pipe => None,
    };
    let (theirs, ours) = io::pipe()?;
    let flags = rustix::fs::fcntl_getfl(&ours)?;
    rustix::fs::fcntl_setfl(&ours, flags | rustix::fs::OFlags::NONBLOCK)?;
    let mut feed = Feed::new(Some(ours));
    if let Some(bytes) = bytes {
        feed.push(bytes);
        feed.close();
    }
    Ok((theirs.into(), feed))
}

fn open_outputs(command: &mut Command, merged: bool) -> io::Result<(PipeReader, Option<PipeReader>)> {
    let (stdout, stdout_end) = open_output()?;
    let stderr = if merged {
        command.stderr(stdout_end.try_clone()?);
        None
    } else {
        let (stderr, stderr_end) = open_output()?;
        command.stderr(stderr_end);
        Some(stderr)
    };
    command.stdout(stdout_end);
    Ok((stdout, stderr))
}

fn open_output() -> io::Result<(PipeReader, PipeWriter)> {
    let (ours, theirs) = io::pipe()?;
    ralph_os::widen(&ours, PIPE_BYTES);
    Ok((ours, theirs))
}

/// What a program is given over the control socket.
pub(crate) struct Given {
    pub(crate) stdin: OwnedFd,
    /// The socket to the network's gate, if its sandbox has one.
    pub(crate) gate: Option<OwnedFd>,
}

/// Sends the program's descriptors over the control socket, with one byte to carry them.
fn send(control: impl AsFd, stdin: &OwnedFd, gate: Option<&OwnedFd>) -> rustix::io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut carried = SendAncillaryBuffer::new(&mut space);
    let descriptors: Vec<_> = std::iter::once(stdin).chain(gate).map(OwnedFd::as_fd).collect();
    carried.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(control, &[IoSlice::new(b"\n")], &mut carried, ralph_os::SEND).map(|_| ())
}

/// Receives what `send` sent.
pub(crate) fn receive(control: impl AsFd) -> rustix::io::Result<Given> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut carried = RecvAncillaryBuffer::new(&mut space);
    recvmsg(control, &mut [IoSliceMut::new(&mut [0])], &mut carried, ralph_os::RECEIVE)?;
    let mut received = carried.drain().flat_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => descriptors.collect(),
        _ => Vec::new(),
    });
    let given = Given { stdin: received.next().ok_or(Errno::BADF)?, gate: received.next() };
    // Not every system can do that in the same stroke.
    for descriptor in std::iter::once(&given.stdin).chain(&given.gate) {
        rustix::io::fcntl_setfd(descriptor, rustix::io::FdFlags::CLOEXEC)?;
    }
    Ok(given)
}
