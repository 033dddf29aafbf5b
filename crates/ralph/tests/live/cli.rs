//! What a real CLI is to the cases: how its user points it at a provider, how its usage is told, how it is limited. The
//! CLIs themselves are in `clis`, their versions in `tools/agents.tsv`.

use ralph_agents::AgentInfo;
use std::fs;
use std::path::{Path, PathBuf};

const TABLE: &str = include_str!("../../../../tools/agents.tsv");

/// One CLI.
pub struct Cli {
    /// What ralph knows about it.
    pub info: &'static AgentInfo,
    /// Configures it as its user would, and gives the variables a user would export.
    pub configure: fn(&Setup) -> Vec<(&'static str, String)>,
    /// Tokens of one model turn as ralph counts them: input, output, cache read, cache written.
    pub turn: [u64; 4],
    /// Where its price comes from, and the micro-dollars of one model turn.
    pub price: (&'static str, u64),
    /// How it is limited for some seconds.
    pub limited: Limited,
}

/// A limit that ends soon.
pub struct Limited {
    /// The scenario.
    pub scenario: &'static str,
    /// What ralph makes of it.
    pub class: &'static str,
    /// A variable whose users have other limits, and the one that stands instead.
    pub instead: Option<(&'static str, &'static str)>,
}

/// What a configuration is written from.
pub struct Setup {
    /// `HOME`.
    pub home: PathBuf,
    /// `XDG_CONFIG_HOME`.
    pub config: PathBuf,
    /// The provider's address, scenario and all.
    pub url: String,
}

impl Setup {
    /// Writes a file of the user's configuration.
    pub fn write(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

impl Cli {
    /// Where its program and that of its node are. Fails where one is not installed.
    pub fn directories(&self) -> [PathBuf; 2] {
        [self.info.name, "node"].map(|program| installed(program).join("node_modules/.bin"))
    }

    /// The path with this CLI and its node first. Fails where it is not installed.
    pub fn path(&self) -> String {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = self.directories().into_iter().chain(std::env::split_paths(&path));
        std::env::join_paths(all).unwrap().into_string().unwrap()
    }
}

fn installed(program: &str) -> PathBuf {
    let line = TABLE.lines().find(|line| line.split('\t').next() == Some(program)).unwrap();
    let version = line.split('\t').nth(2).unwrap();
    let built = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/agents");
    let agents = std::env::var_os("RALPH_AGENTS_DIR").map_or_else(built, PathBuf::from);
    let folder = agents.join(format!("{program}-{version}"));
    let how = "`cargo xtask live` installs it, or says why it cannot";
    assert!(folder.exists(), "{program} {version} is not installed in {}: {how}", agents.display());
    folder
}
