//! The real agent CLIs for the live tests, from npm at the versions of `tools/agents.tsv`, in `target/agents`. Installed
//! once and kept; a folder is there whole or not at all. `live.rs` runs the tests with them.

use crate::shell::{Done, root, say};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const TABLE: &str = include_str!("../../tools/agents.tsv");

/// Which agents: those of every test run, or those of the long one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    /// Every test run.
    First,
    /// The long campaigns.
    Second,
}

/// One line of the table.
struct Cli {
    program: &'static str,
    package: &'static str,
    version: &'static str,
    tier: Tier,
}

impl Cli {
    fn all() -> Vec<Cli> {
        let lines = TABLE.lines().filter(|line| !line.starts_with('#'));
        lines.filter_map(|line| Cli::read(&mut line.split('\t'))).collect()
    }

    fn read(fields: &mut dyn Iterator<Item = &'static str>) -> Option<Cli> {
        Some(Cli {
            program: fields.next()?,
            package: fields.next()?,
            version: fields.next()?,
            tier: if fields.next()? == "first" { Tier::First } else { Tier::Second },
        })
    }

    fn folder(&self) -> PathBuf {
        folder().join(format!("{}-{}", self.program, self.version))
    }
}

/// Where the agents are.
pub fn folder() -> PathBuf {
    root().join("target/agents")
}

/// Installs the agents of a tier, and node, which they need. Says of each that could not be installed why.
pub fn install(tier: Tier) -> Done {
    fs::create_dir_all(folder()).map_err(|e| format!("cannot create {}: {e}", folder().display()))?;
    // Two test runs at once must not install over each other.
    let lock = File::create(folder().join("lock")).map_err(|e| format!("cannot create the lock: {e}"))?;
    lock.lock().map_err(|e| format!("cannot lock {}: {e}", folder().display()))?;
    let wanted = Cli::all().into_iter().filter(|cli| cli.tier == tier || cli.program == "node");
    let failed: Vec<String> =
        wanted.filter(|cli| !cli.folder().exists()).filter_map(|cli| install_one(&cli).err()).collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

fn install_one(cli: &Cli) -> Done {
    let name = format!("{} {}", cli.program, cli.version);
    say(&format!("── install {name} … "));
    let begun = Instant::now();
    let new = folder().join(format!(".new-{}", cli.program));
    let done = into(cli, &new).and_then(|()| {
        fs::rename(&new, cli.folder()).map_err(|e| format!("cannot rename {}: {e}", new.display()))
    });
    let _ = fs::remove_dir_all(&new);
    match &done {
        Ok(()) => say(&format!("ok in {:.1} s\n", begun.elapsed().as_secs_f64())),
        Err(why) => say(&format!("FAILED: {why}\n")),
    }
    done.map_err(|why| format!("{name} (npm package {}) cannot be installed: {why}", cli.package))
}

/// Installs into a fresh folder and sees whether the program starts.
fn into(cli: &Cli, new: &Path) -> Done {
    let _ = fs::remove_dir_all(new);
    fs::create_dir(new).map_err(|e| format!("cannot create {}: {e}", new.display()))?;
    let package = format!("{}@{}", cli.package, cli.version);
    let mut npm = with_node(Command::new("npm"));
    npm.args(["install", "--no-audit", "--no-fund", "--loglevel", "error", "--prefix"]).arg(new).arg(package);
    succeed(npm.current_dir(new))?;
    let program = new.join("node_modules/.bin").join(cli.program);
    succeed(with_node(Command::new(program)).arg("--version"))
}

fn succeed(command: &mut Command) -> Done {
    let output = command.output().map_err(|e| format!("cannot start {:?}: {e}", command.get_program()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = said.trim().lines().collect();
    let end = lines.get(lines.len().saturating_sub(6)..).unwrap_or_default().join("\n  ");
    Err(format!("{:?}: {}\n  {end}", command.get_program(), output.status))
}

/// With the node of the table first on the path: what npm picks depends on the node it runs on.
fn with_node(mut command: Command) -> Command {
    let ours = Cli::all().into_iter().filter(|cli| cli.program == "node");
    let ours = ours.map(|cli| cli.folder().join("node_modules/.bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    if let Ok(path) = std::env::join_paths(ours.chain(std::env::split_paths(&path))) {
        command.env("PATH", path);
    }
    command
}
