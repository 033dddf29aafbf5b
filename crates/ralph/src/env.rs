//! Every environment variable ralph looks at, in one place. Nothing else in the project reads the environment, apart
//! from what agents and verification inherit.

use crate::config;
use crate::nearest::nearest;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How much ralph logs about itself.
pub const LOG: &str = "RALPH_LOG";
const CALL: &str = ralph_engine::call_directory::VARIABLE;

/// Marks every process of a session that `ralph run --mode hook` starts.
pub const SESSION: &str = "RALPH_SESSION";

/// Set by ralph for agents and verification, or read only by the scripted agent and by the project's own tests.
const RESERVED: &[&str] = &["RALPH_RUN", "RALPH_ITERATION", SESSION, CALL];
const OURS: &[&str] = &[
    LOG,
    "RALPH_COMPLETE",
    "RALPH_SIM_SCRIPT",
    "RALPH_SIM_CALLS",
    "RALPH_SIM_STEPS",
    "RALPH_BLESS",
    "RALPH_BIN",
    "RALPH_KILL_MATRIX",
    "RALPH_AGENTS_DIR",
    "RALPH_BENCH_LONG",
];

/// What the environment says.
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// `HOME`: where other programs keep their files; only looked for, never read.
    pub home: Option<PathBuf>,
    /// `XDG_STATE_HOME`, else `~/.local/state`: journals, transcripts, ledger, locks live in `ralph/` below it.
    pub state_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, else `~/.config`: the user's `ralph/config.toml` lives below it.
    pub config_home: Option<PathBuf>,
    /// `RALPH_RUN`: set inside an agent or a verification; `ralph run` then refuses.
    pub inside_run: Option<String>,
    /// `RALPH_SESSION`: set inside a session that `ralph run --mode hook` started, with the id of its run.
    pub inside_session: Option<String>,
    /// `RALPH_CALL`: set for an agent; what `ralph block emit` measures against.
    pub call: Option<PathBuf>,
    /// `RALPH_LOG`: how much ralph logs about itself to stderr.
    pub log: Option<String>,
    /// `RALPH_*` that are settings, by name: each is read as the flag of `ralph run` of the same name, stands above
    /// every file and below the flag. `config::variables` has them all.
    pub settings: BTreeMap<String, String>,
    /// `RALPH_*` settings whose value is not UTF-8: refused, because a limit or a protected path would be lost.
    pub not_utf8: Vec<String>,
    /// `RALPH_*` that nobody knows, with what was probably meant.
    pub unknown: Vec<(String, Option<String>)>,
    /// `VISUAL`, else `EDITOR`: what `ralph config edit` opens files with.
    pub editor: Option<String>,
    /// `NO_COLOR`: no colours.
    pub no_color: bool,
    /// `TERM`: `dumb` means no colours and no rewriting of lines.
    pub dumb: bool,
    /// `TZ`: the user's zone, else the system's.
    pub zone: Option<String>,
    /// `VIRTUAL_ENV`: a Python environment outside the workspace.
    pub virtual_env: Option<PathBuf>,
    /// `PATH`: where agents are looked for.
    pub path: Option<OsString>,
}

impl Env {
    /// Reads the environment, once.
    pub fn read() -> Env {
        let home = env::var_os("HOME").map(PathBuf::from).filter(|p| p.is_absolute());
        let dir = |name: &str, below: &str| {
            let set = env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
            set.or_else(|| home.as_ref().map(|h| h.join(below)))
        };
        let text = |name: &str| env::var(name).ok().filter(|v| !v.is_empty());
        Env {
            virtual_env: env::var_os("VIRTUAL_ENV").map(PathBuf::from).filter(|p| p.is_absolute()),
            state_home: dir("XDG_STATE_HOME", ".local/state"),
            config_home: dir("XDG_CONFIG_HOME", ".config"),
            inside_run: text("RALPH_RUN"),
            inside_session: text(SESSION),
            call: env::var_os(CALL).map(PathBuf::from).filter(|p| p.is_absolute()),
            log: text(LOG),
            home: home.clone(),
            settings: settings(&text),
            not_utf8: not_utf8(),
            unknown: unknown(),
            editor: text("VISUAL").or_else(|| text("EDITOR")),
            no_color: env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()),
            dumb: env::var_os("TERM").is_none_or(|t| t == "dumb"),
            zone: text("TZ").map(|z| z.trim_start_matches(':').to_string()),
            path: env::var_os("PATH"),
        }
    }

    /// Where state is kept, without reading anything else: for hooks, which mostly end at once.
    pub fn state_home() -> Option<PathBuf> {
        let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))
    }

    /// What to say of variables that nobody reads.
    pub fn strange(&self) -> Vec<String> {
        let words = |(name, meant): &(String, Option<String>)| match meant {
            Some(meant) => format!("unknown variable {name} is ignored; did you mean {meant}?"),
            None => format!("unknown variable {name} is ignored (`ralph help variables` lists them)"),
        };
        self.unknown.iter().map(words).collect()
    }

    /// Names and values that may hold secrets, for the redactor.
    pub fn all() -> Vec<(String, String)> {
        env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect()
    }

    /// A variable of another program, such as the one that moves an agent's settings.
    pub fn variable(name: &str) -> Option<String> {
        env::var(name).ok().filter(|value| !value.is_empty())
    }

    /// Whether a variable is set to something; its value is not looked at further.
    pub fn is_set(&self, name: &str) -> bool {
        env::var_os(name).is_some_and(|value| !value.is_empty())
    }

    /// The program's path, looked for as a shell in `dir` would.
    pub fn which(&self, program: &str, dir: &Path) -> Option<PathBuf> {
        if program.contains('/') {
            return Some(dir.join(program)).filter(|path| is_program(path));
        }
        env::split_paths(self.path.as_ref()?)
            .map(|place| dir.join(place).join(program))
            .find(|path| is_program(path))
    }

    /// The programs of this name in the absolute directories of the path, in their order.
    pub fn all_of(&self, program: &str) -> impl Iterator<Item = PathBuf> {
        let places = self.path.iter().flat_map(env::split_paths).filter(|place| place.is_absolute());
        places.map(move |place| place.join(program)).filter(|path| is_program(path))
    }
}

fn settings(text: &dyn Fn(&str) -> Option<String>) -> BTreeMap<String, String> {
    config::variables().filter_map(|(name, _)| text(&name).map(|value| (name, value))).collect()
}

/// Settings that are set to something that is not text.
fn not_utf8() -> Vec<String> {
    let unreadable = |name: &String| env::var_os(name).is_some_and(|value| value.to_str().is_none());
    config::variables().map(|(name, _)| name).filter(unreadable).collect()
}

/// A variable that nobody reads is a mistake that nobody notices.
fn unknown() -> Vec<(String, Option<String>)> {
    let settings: Vec<String> = config::variables().map(|(name, _)| name).collect();
    let known = || settings.iter().map(String::as_str);
    let all = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    let ours = all.filter(|name| name.starts_with("RALPH_") && !known().any(|k| k == name));
    let odd = ours.filter(|name| !RESERVED.contains(&name.as_str()) && !OURS.contains(&name.as_str()));
    odd.map(|name| (name.clone(), nearest(&name, known()))).collect()
}

/// A file that may be executed.
pub fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// Others than the owner may read this file or directory.
pub fn others_may_read(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|m| m.permissions().mode() & 0o077 != 0)
}
