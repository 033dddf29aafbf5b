//! The start of a supervisor's work: it takes its place above the program, enters the view that the program is to see, and
//! starts the program, or the box that it runs in.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::Pid;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::launch::Given;
use crate::overlay::Overlay;
use crate::room_mount::{ROOM, RoomMount};
use crate::sandbox::{BoxCommand, Boxed};
use crate::wire::FailedAt;

/// The control socket, out of reach of the program, and the program's descriptors that come over it.
pub(crate) fn take_control() -> rustix::io::Result<(UnixStream, Given)> {
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    let given = crate::launch::receive(&socket)?;
    Ok((UnixStream::from(socket), given))
}

pub(crate) type NotBegun = (FailedAt, std::io::Error);

/// What the program sees of the file system.
pub(crate) enum View {
    /// What everybody sees.
    Ordinary,
    Overlay(Overlay),
    Room(RoomMount),
}

impl View {
    /// The view that `word` announces.
    pub(crate) fn from_args(word: &OsString, args: &mut impl Iterator<Item = OsString>) -> Option<View> {
        if word == ROOM {
            return RoomMount::from_args(args).map(View::Room);
        }
        let (over, upper, work) = (args.next()?.into(), args.next()?.into(), args.next()?.into());
        Some(View::Overlay(Overlay { over, upper, work }))
    }

    fn enter(&self) -> Result<(), NotBegun> {
        match self {
            View::Ordinary => Ok(()),
            View::Overlay(overlay) => overlay.enter().map_err(|error| (FailedAt::Overlay, error)),
            View::Room(room) => room.enter().map_err(|error| (FailedAt::Room, error)),
        }
    }
}

/// What has been started.
pub(crate) struct Begun {
    /// The program, or the box that it runs in.
    pub(crate) program: Pid,
    pub(crate) sandbox: Option<Boxed>,
    /// Has a byte in it whenever a child has died.
    pub(crate) deaths: UnixStream,
}

/// Takes its place and starts the program.
pub(crate) fn begin(
    view: &View,
    plan: Option<&OsString>,
    cwd: &OsString,
    program: OsString,
    args: impl Iterator<Item = OsString>,
    Given { stdin, gate }: Given,
) -> Result<Begun, NotBegun> {
    view.enter()?;
    if plan.is_some() {
        // In a room that an ordinary user made, the box may mount all that its plan asks for. Refused, it does with less.
        let _ = ralph_os::pass_on_capabilities();
    }
    let deaths = take_place().map_err(|error| (FailedAt::Supervisor, error))?;
    std::env::set_current_dir(cwd).map_err(|error| (FailedAt::Cwd, error))?;
    // A group of its own: the common `kill 0` of a script must not reach its supervisor.
    let spawn = |command: &mut Command| command.stdin(Stdio::from(stdin)).process_group(0).spawn();
    let Some(plan) = plan else {
        let child = spawn(Command::new(program).args(args)).map_err(|error| (FailedAt::Program, error))?;
        return Ok(Begun { program: Pid::from_child(&child), sandbox: None, deaths });
    };
    let start = || {
        let mut boxed = BoxCommand::new(plan, gate, program, args)?;
        let child = spawn(&mut boxed.command)?;
        Ok(Begun { program: Pid::from_child(&child), sandbox: Some(boxed.started()), deaths })
    };
    start().map_err(|error| (FailedAt::Sandbox, error))
}

fn take_place() -> std::io::Result<UnixStream> {
    ralph_os::adopt_orphans()?;
    // Whoever stops us and kills ralph must not be left alone. Without it only the next sweep finds them.
    let _ = ralph_os::continue_when_parent_dies();
    // Refused only where we lead a session or group already, which serves as well.
    let _ = rustix::process::setsid();
    // A signal to everyone (a closing terminal, a service manager) is for ralph to answer: it tells us, or
    // it is gone and the socket closes. Caught, not ignored: what is ignored the program would inherit.
    let heard = Arc::new(AtomicBool::new(false));
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&heard))?;
    }
    let (deaths, bell) = UnixStream::pair()?;
    deaths.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(SIGCHLD, bell)?;
    Ok(deaths)
}

/// Ralph must see the end of the program's streams when the program is gone, so we may not hold them.
pub(crate) fn let_go_of_stdio(control: &UnixStream) {
    let nothing = File::options().read(true).write(true).open("/dev/null").map(OwnedFd::from);
    let Ok(other) = nothing.or_else(|_| control.try_clone().map(OwnedFd::from)) else { return };
    let _ = rustix::stdio::dup2_stdin(&other);
    let _ = rustix::stdio::dup2_stdout(&other);
    let _ = rustix::stdio::dup2_stderr(&other);
}
