//! Every environment variable ralph looks at, in one place. Nothing else in the project reads the environment, apart
//! from what agents and verification inherit.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the environment says.
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// `XDG_STATE_HOME`, else `~/.local/state`: journals, transcripts, ledger, locks live in `ralph/` below it.
    pub state_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, else `~/.config`: the user's `ralph/config.toml` lives below it.
    pub config_home: Option<PathBuf>,
    /// `RALPH_RUN`: set inside an agent or a verification; `ralph run` then refuses.
    pub inside_run: Option<String>,
    /// `RALPH_AGENT`: who works, unless `--agent` says otherwise; above every file.
    pub agent: Option<String>,
    /// `RALPH_MODEL`: the agent's model, unless `--model` says otherwise.
    pub model: Option<String>,
    /// `RALPH_MAX_ITERATIONS`: iterations at most, unless `--max-iterations` says otherwise; ceilings hold.
    pub max_iterations: Option<String>,
    /// `RALPH_MAX_COST`: dollars at most, unless `--max-cost` says otherwise; ceilings hold.
    pub max_cost: Option<String>,
    /// `NO_COLOR`: no colours.
    pub no_color: bool,
    /// `TERM`: `dumb` means no colours and no rewriting of lines.
    pub dumb: bool,
    /// `TZ`: the user's zone, else the system's.
    pub zone: Option<String>,
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
            state_home: dir("XDG_STATE_HOME", ".local/state"),
            config_home: dir("XDG_CONFIG_HOME", ".config"),
            inside_run: text("RALPH_RUN"),
            agent: text("RALPH_AGENT"),
            model: text("RALPH_MODEL"),
            max_iterations: text("RALPH_MAX_ITERATIONS"),
            max_cost: text("RALPH_MAX_COST"),
            no_color: env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()),
            dumb: env::var_os("TERM").is_none_or(|t| t == "dumb"),
            zone: text("TZ").map(|z| z.trim_start_matches(':').to_string()),
            path: env::var_os("PATH"),
        }
    }

    /// Names and values that may hold secrets, for the redactor.
    pub fn all() -> Vec<(String, String)> {
        env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect()
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
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}
