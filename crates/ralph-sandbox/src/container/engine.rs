//! The engine's program: where it is, what it answers, and containers that were left behind.

use crate::plan::ContainerEngine;
use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What engines read from the environment. The process that runs an engine needs them; the program in the container does
/// not get them.
pub const ENGINE_VARIABLES: &[&str] = &[
    "HOME",
    "XDG_RUNTIME_DIR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "DBUS_SESSION_BUS_ADDRESS",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_TLS_VERIFY",
    "DOCKER_CERT_PATH",
    "CONTAINER_HOST",
    "CONTAINER_CONNECTION",
    "CONTAINER_SSHKEY",
    "CONTAINERS_CONF",
    "CONTAINERS_STORAGE_CONF",
    "STORAGE_DRIVER",
    "STORAGE_OPTS",
];

/// An engine that does not answer for this long hangs.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked whether it has answered.
const LOOK: Duration = Duration::from_millis(5);
/// Most of an answer that is read.
const LONGEST: u64 = 64 << 10;

impl ContainerEngine {
    /// The name of its program.
    #[must_use]
    pub fn program(self) -> &'static str {
        match self {
            ContainerEngine::Podman => "podman",
            ContainerEngine::Docker => "docker",
        }
    }
}

/// The engine's program in the directories of `path`, a value of `PATH`; never one that the agent could have written.
#[must_use]
pub fn find(engine: ContainerEngine, path: &OsStr, workspace: &Path) -> Option<PathBuf> {
    let directories = std::env::split_paths(path).filter(|dir| dir.is_absolute());
    directories.map(|dir| dir.join(engine.program())).find(|program| {
        let real = program.canonicalize().unwrap_or_default();
        let runs = real.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0);
        runs && !real.starts_with(workspace) && !program.starts_with(workspace)
    })
}

/// Removes the containers that carry this label, and returns how many there were. To be called only by whoever knows that
/// none of them is in use.
pub fn remove_left(program: &Path, label: &str, value: &str) -> Result<usize, String> {
    let ids = with_label(program, label, value)?;
    if !ids.is_empty() {
        remove(program, &ids.iter().map(String::as_str).collect::<Vec<_>>())?;
    }
    Ok(ids.len())
}

/// The values that containers with this label have for another one.
pub fn labelled(program: &Path, (label, value): (&str, &str), other: &str) -> Result<Vec<String>, String> {
    let ids = with_label(program, label, value)?;
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let format = format!("{{{{index .Config.Labels \"{other}\"}}}}");
    let said = ask(Command::new(program).args(["inspect", "--format", &format]).args(ids))?;
    Ok(said.lines().map(str::to_owned).collect())
}

/// The ids of the containers that carry this label, in whatever state they are.
fn with_label(program: &Path, label: &str, value: &str) -> Result<Vec<String>, String> {
    let filter = format!("label={label}={value}");
    let listed =
        ask(Command::new(program).args(["ps", "--all", "--quiet", "--no-trunc", "--filter", &filter]))?;
    Ok(listed.split_whitespace().map(str::to_owned).collect())
}

/// Ends and removes containers, with the volumes that belong to them alone.
pub(super) fn remove(program: &Path, names: &[&str]) -> Result<(), String> {
    ask(Command::new(program).args(["rm", "--force", "--volumes"]).args(names)).map(drop)
}

/// What the engine prints, or why it fails.
pub(super) fn ask(command: &mut Command) -> Result<String, String> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| error.to_string())?;
    let since = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status,
            None if since.elapsed() > PATIENCE => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("no answer within {} seconds", PATIENCE.as_secs()));
            }
            None => std::thread::sleep(LOOK),
        }
    };
    if status.success() {
        return read(child.stdout.take()).map_err(|error| error.to_string());
    }
    let said = read(child.stderr.take()).unwrap_or_default();
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = said.strip_prefix("Error: ").unwrap_or(&said);
    Err(if said.is_empty() { status.to_string() } else { said.to_owned() })
}

fn read(stream: Option<impl Read>) -> io::Result<String> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(LONGEST).read_to_end(&mut bytes)?;
    }
    Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
}
