//! Runs the probe in a plan and looks from outside at what it did.

use std::fs::{self, DirBuilder, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};

use super::probe_inside::LEFT;
use super::probe_targets::{hidden_of_plan, home_of_plan};
use crate::box_stage::REPORT_ON_STDIN;
use crate::probe::{Attack, NotHeld, Promise, Tasks};
use crate::report::{Line, Stage};
use crate::{Ids, Mount, Network, Plan};

/// A probe that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(20);

type Failed = Box<dyn std::error::Error>;

/// What the probe could do, and what of the plan could not be done.
pub(crate) fn try_plan(own_program: &Path, plan: &Plan) -> Result<(Vec<Attack>, Vec<String>), NotHeld> {
    let not_probed = |error: Failed| NotHeld::NotProbed(error.to_string());
    let scene = Scene::new(own_program, plan).map_err(|error| NotHeld::NotMade(error.to_string()))?;
    let (lines, answer) = scene.run(own_program).map_err(not_probed)?;
    let mut notes = Vec::new();
    for line in lines {
        match line {
            Line::Failed(failure) if failure.stage == Stage::Sandbox => {
                return Err(NotHeld::NotBuilt(failure));
            }
            Line::Failed(failure) => {
                return Err(NotHeld::NotProbed(format!("no program can be started in it: {failure}")));
            }
            Line::Note(note) => notes.push(note),
            _ => {}
        }
    }
    let mut done: Vec<Attack> =
        serde_json::from_slice(&answer).map_err(|error| NotHeld::NotProbed(format!("no answer: {error}")))?;
    done.extend(scene.seen_outside());
    Ok((done, notes))
}

/// Something to attack, beside the plan's own temporary directory.
struct Scene {
    dir: Dir,
    plan: Plan,
    tasks: Tasks,
    /// Heard from outside; kept until the probe has ended.
    listeners: Option<(TcpListener, UdpSocket)>,
}

/// Removed in the end.
struct Dir(PathBuf);

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Dir {
    fn new(beside: &Path) -> std::io::Result<Dir> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("probe-{}-{number}", std::process::id());
        let dir = beside.canonicalize()?.parent().unwrap_or(Path::new("/")).join(name);
        DirBuilder::new().mode(0o700).create(&dir)?;
        Ok(Dir(dir))
    }

    fn file(&self, name: &str, text: &[u8]) -> std::io::Result<PathBuf> {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&self.0))?;
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(text)?;
        Ok(path)
    }
}

impl Scene {
    fn new(own_program: &Path, plan: &Plan) -> Result<Scene, Failed> {
        let dir = Dir::new(&plan.tmp)?;
        let mut plan = plan.clone();
        let mut hidden =
            vec![dir.file("shown/hidden", b"secret")?, dir.file("shown/hidden-dir/file", b"secret")?];
        let outside = [dir.0.clone(), dir.0.join("shown")].into_iter().chain(home_of_plan(&plan)).collect();
        let protected = plan.mounts.iter().filter_map(|mount| match mount {
            Mount::Protect(path) if path.exists() && !path.is_symlink() => Some(path.clone()),
            _ => None,
        });
        let mut protected: Vec<PathBuf> = protected.collect();
        if protected.is_empty() {
            // Nothing to be tried in the workspace, so one is made.
            let path = dir.file("workspace/deep/protected", b"protected")?;
            let old = std::mem::replace(&mut plan.workspace, dir.0.join("workspace"));
            plan.mounts.retain(|mount| !path_of(mount).starts_with(&old));
            plan.mounts.push(Mount::Protect(path.clone()));
            protected.push(path);
        }
        hidden.extend(hidden_of_plan(&plan));
        plan.mounts.push(Mount::Show(own_program.to_owned()));
        plan.mounts.push(Mount::Show(dir.0.join("shown")));
        plan.mounts.extend([dir.0.join("shown/hidden"), dir.0.join("shown/hidden-dir")].map(Mount::Hide));
        let listeners = match plan.network {
            Network::Open => None,
            // Nobody answers a gate here; without one the same is kept away.
            Network::Off | Network::Gate { .. } => {
                plan.network = Network::Off;
                let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
                let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, tcp.local_addr()?.port()))?;
                udp.set_nonblocking(true)?;
                Some((tcp, udp))
            }
        };
        let port =
            listeners.as_ref().and_then(|(tcp, _)| tcp.local_addr().ok()).map(|address| address.port());
        let tasks = Tasks {
            outside,
            hidden,
            protected,
            workspace: plan.workspace.clone(),
            port,
            file_capabilities: plan.ids == Ids::All,
        };
        Ok(Scene { dir, plan, tasks, listeners })
    }

    /// Runs the probe; the lines of its report and what it printed.
    fn run(&self, own_program: &Path) -> Result<(Vec<Line>, Vec<u8>), Failed> {
        let plan = self.dir.file("plan.json", &serde_json::to_vec(&self.plan)?)?;
        // Not as an argument: one holds 128 KiB, and thousands of paths may be protected.
        let tasks = self.dir.file("shown/tasks.json", &serde_json::to_vec(&self.tasks)?)?;
        let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let mut command = Command::new(own_program);
        command.arg("__box").arg(plan).args([REPORT_ON_STDIN, "-", "/"]);
        command.arg(own_program).arg("__probe").arg(tasks);
        // The pipe's end is never inheritable here: another thread may be starting a program at this moment, which would
        // hold it for as long as it runs.
        command.stdin(writer).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = Killed(command.spawn()?);
        drop(command);
        // Ends when everybody who could report is dead.
        let lines = read_lines(reader)?;
        let mut answer = Vec::new();
        if let Some(stdout) = child.0.stdout.as_mut() {
            stdout.read_to_end(&mut answer)?;
        }
        child.0.wait()?;
        Ok((lines, answer))
    }

    /// What can be seen only from outside.
    fn seen_outside(&self) -> Vec<Attack> {
        let mut seen = Vec::new();
        for dir in &self.tasks.outside {
            if dir.join(LEFT).exists() {
                let _ = fs::remove_file(dir.join(LEFT));
                seen.push(Attack { breaks: Promise::Files, did: format!("wrote to {}", dir.display()) });
            }
        }
        if let Some((_, udp)) = &self.listeners
            && udp.recv(&mut [0; 16]).is_ok()
        {
            seen.push(Attack { breaks: Promise::Network, did: "sent a datagram on loopback".to_owned() });
        }
        seen
    }
}

fn path_of(mount: &Mount) -> &Path {
    match mount {
        Mount::Hide(at) | Mount::Empty(at) | Mount::Show(at) | Mount::Write(at) | Mount::Protect(at) => at,
        Mount::Layer { at, .. } | Mount::Replace { at, .. } => at,
    }
}

/// Killed at the latest when it is dropped.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn read_lines(pipe: OwnedFd) -> Result<Vec<Line>, Failed> {
    let until = std::time::Instant::now() + PATIENCE;
    let mut text = Vec::new();
    let mut pipe = File::from(pipe);
    loop {
        let left = until.saturating_duration_since(std::time::Instant::now());
        let mut fds = [PollFd::new(&pipe, PollFlags::IN)];
        if left.is_zero() || poll(&mut fds, Some(&left.try_into()?))? == 0 {
            return Err(format!("it did not end within {} s", PATIENCE.as_secs()).into());
        }
        let mut buffer = [0; 4096];
        let count = pipe.read(&mut buffer)?;
        if count == 0 {
            let lines = BufReader::new(text.as_slice()).lines().map_while(Result::ok);
            return Ok(lines.filter_map(|line| Line::parse(&line)).collect());
        }
        text.extend_from_slice(buffer.get(..count).unwrap_or_default());
    }
}
