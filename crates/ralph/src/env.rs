//! Every environment variable ralph looks at, in one place. Nothing else in the project reads the environment, apart
//! from what agents and verification inherit.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// What the environment says.
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// `XDG_STATE_HOME`, else `~/.local/state`: journals, transcripts, ledger, locks live in `ralph/` below it.
    pub state_home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, else `~/.config`: the user's `ralph/config.toml` lives below it.
    pub config_home: Option<PathBuf>,
    /// `RALPH_RUN`: set inside an agent or a verification; `ralph run` then refuses.
    pub inside_run: Option<String>,
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
        Env {
            state_home: dir("XDG_STATE_HOME", ".local/state"),
            config_home: dir("XDG_CONFIG_HOME", ".config"),
            inside_run: env::var("RALPH_RUN").ok().filter(|v| !v.is_empty()),
            no_color: env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty()),
            dumb: env::var_os("TERM").is_none_or(|t| t == "dumb"),
            zone: env::var("TZ").ok().map(|z| z.trim_start_matches(':').to_string()).filter(|z| !z.is_empty()),
            path: env::var_os("PATH"),
        }
    }

    /// Names and values that may hold secrets, for the redactor.
    pub fn all() -> Vec<(String, String)> {
        env::vars_os()
            .filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?)))
            .collect()
    }

    /// The program's path, looked for as a shell would.
    pub fn which(&self, program: &str) -> Option<PathBuf> {
        if program.contains('/') {
            let path = PathBuf::from(program);
            return is_program(&path).then_some(path);
        }
        env::split_paths(self.path.as_ref()?).map(|dir| dir.join(program)).find(|path| is_program(path))
    }
}

fn is_program(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}
