//! Where a scenario is played: a repository with work of its user in it, committed and not, and the run itself.

use crate::scenario::Scenario;
use ralph_testkit::{Scratch, skip};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// What the user has: committed, changed since, new and ignored.
const BEFORE: &str = "set -e; umask 022
git init -q -b main; git config user.name Test; git config user.email test@localhost
git config commit.gpgsign false; git config protocol.file.allow always
mkdir -p src/auth/deep secrets migrations docs
echo 'fn login() {}' > src/auth/login.rs; echo deep > src/auth/deep/er.rs; echo 'fn main() {}' > src/main.rs
echo 'create table a;' > migrations/0001.sql; echo text > docs/text.md
printf '.env\\n*.log\\nsecrets/\\n' > .gitignore; echo A=1 > .env.example; echo 'use flake' > .envrc
git add -A; git commit -qm Start; git branch other
echo KEY=user > .env; chmod 600 .env
echo pem > secrets/key.pem; chmod 600 secrets/key.pem; chmod 700 secrets
printf '#!/bin/sh\\n' > secrets/run.sh; chmod 755 secrets/run.sh; ln -s key.pem secrets/link
echo '// the user is at it' >> src/auth/login.rs; echo '// dirty' >> src/main.rs
echo notes > notes.txt; echo log > own.log; mkdir -p .git/hooks .git/info; chmod 750 src/auth
";

/// As whom a scenario is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Whoever runs the tests.
    Myself,
    /// An ordinary user.
    Nobody,
}

impl Who {
    /// An ordinary user, where the tests run as root; otherwise they are one already and the test is skipped.
    #[track_caller]
    pub fn somebody() -> Option<Who> {
        if !Who::Myself.is_root() {
            skip("only root can become another user; the same scenarios ran as this ordinary user");
            return None;
        }
        let able = Command::new("setpriv").args(NOBODY).arg("true").status().is_ok_and(|s| s.success());
        assert!(able, "setpriv is needed to play the scenarios as an ordinary user");
        Some(Who::Nobody)
    }

    pub fn is_root(self) -> bool {
        self == Who::Myself && rustix::process::geteuid().is_root()
    }
}

const NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];

/// The binary where everybody may run it.
fn ralph() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        let dir = tempfile::Builder::new().prefix("ralph-tamper").tempdir().unwrap().keep();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        let to = dir.join("ralph");
        let from = env!("CARGO_BIN_EXE_ralph");
        if fs::hard_link(from, &to).is_err() {
            fs::copy(from, &to).unwrap();
        }
        to
    })
}

/// One file, link or directory: its kind, permissions and content.
pub type Thing = (char, u32, Vec<u8>);

pub struct Place {
    scratch: Scratch,
    who: Who,
}

impl Place {
    pub fn new(who: Who) -> Place {
        let scratch = Scratch::new();
        if who == Who::Nobody {
            let open = |path: &Path| {
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
                std::os::unix::fs::chown(path, Some(65534), Some(65534)).unwrap();
            };
            open(scratch.root());
            for name in ["workspace", "state", "home", "config"] {
                open(&scratch.root().join(name));
            }
        }
        Place { scratch, who }
    }

    fn command(&self, program: &Path) -> Command {
        match self.who {
            Who::Myself => self.scratch.command(program),
            Who::Nobody => {
                let mut command = self.scratch.command("setpriv");
                command.args(NOBODY).arg(program);
                command
            }
        }
    }

    /// The directory around the workspace.
    pub fn root(&self) -> &Path {
        self.scratch.root()
    }

    /// Makes what the user has.
    pub fn begin(&self) -> Result<(), String> {
        self.sh(BEFORE)
    }

    /// The program under test, in the workspace.
    pub fn ralph(&self) -> Command {
        self.command(ralph())
    }

    /// A script that an agent runs, outside the workspace.
    pub fn agent(&self, script: &str) -> PathBuf {
        let agent = self.scratch.root().join("agent.sh");
        fs::write(&agent, script).unwrap();
        agent
    }

    pub fn sh(&self, script: &str) -> Result<(), String> {
        let output = self.command(Path::new("sh")).args(["-c", script]).output().unwrap();
        output.status.success().then_some(()).ok_or_else(|| format!("setting up failed: {}", said(&output)))
    }

    /// Plays a scenario and says what is not as it should be.
    pub fn play(&self, scenario: &Scenario) -> Result<(), String> {
        self.begin()?;
        for given in &scenario.given {
            self.sh(&format!("set -e; {given}"))?;
        }
        let before = self.look();
        let does = scenario.does.join("\n");
        let top = scenario.inside.as_ref().map_or(".", |_| "..");
        let agent =
            self.agent(&format!("cat > /dev/null\necho work > {top}/legit.txt\n{does}\necho I worked.\n"));
        let output = self
            .ralph()
            .args(["-C", scenario.inside.as_deref().unwrap_or(".")])
            .args(["run", "Work", "--agent", "command", "--max-iterations", "1", "--max-cost", "1", "--json"])
            .args(scenario.verify.iter().flat_map(|command| ["--verify", command.as_str()]))
            .args(["--", "sh"])
            .arg(&agent)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let result = result(&output)?;
        let after = self.look();
        self.judged(scenario, &output, &result)?;
        untouched(scenario, &before, &after)?;
        let kept = self.quarantine();
        match scenario.holds.iter().find(|text| !kept.iter().any(|k| k.contains(text.as_str()))) {
            Some(text) => Err(format!("`{text}` is not in quarantine: {kept:?}")),
            None => Ok(()),
        }
    }

    fn judged(&self, scenario: &Scenario, output: &Output, result: &Value) -> Result<(), String> {
        let files = result["details"]["files"].as_array().cloned().unwrap_or_default();
        let found: BTreeSet<String> = files
            .iter()
            .map(|file| {
                let path = file["path"].as_str().unwrap_or_default();
                let path = path.replace(&*self.scratch.workspace().to_string_lossy(), "TOP");
                match file["how"].as_str() {
                    Some("in_history") => format!("{path} in a commit"),
                    Some("hidden") => format!("{path} hidden from git"),
                    _ => path,
                }
            })
            .collect();
        let (code, reason) =
            if scenario.is_honest() { (3, "MAX_ITERATIONS") } else { (4, "PROHIBITED_PATH") };
        if output.status.code() != Some(code) || result["reason"] != reason {
            return Err(format!(
                "{} {}, touched {found:?}: {}",
                output.status,
                result["reason"],
                said(output)
            ));
        }
        // A commit beside a file that was touched is told too, and need not be named.
        let more = |path: &String| {
            let file = path.strip_suffix(" in a commit").or(path.strip_suffix(" hidden from git"));
            file.is_some_and(|file| scenario.touched.contains(file))
        };
        let rest: BTreeSet<String> = found.into_iter().filter(|path| !more(path)).collect();
        if let Some(text) = scenario.told.iter().find(|text| !said(output).contains(text.as_str())) {
            return Err(format!("`{text}` is not said: {}", said(output)));
        }
        if rest != scenario.touched {
            return Err(format!("touched {rest:?}, expected {:?}", scenario.touched));
        }
        Ok(())
    }

    /// Everything in the workspace, and what git obeys; not what git keeps for itself.
    fn look(&self) -> BTreeMap<String, Thing> {
        let mut all = BTreeMap::new();
        look(&self.scratch.workspace(), &self.scratch.workspace(), &mut all);
        all
    }

    /// Everything that is protected in the workspace, but for what other work trees and repositories in it have.
    pub fn protected(&self) -> BTreeSet<(String, Thing)> {
        let own = [".env", "secrets/", "src/auth/", "migrations/", ".git/hooks/", "ralph.toml"];
        let caches = ["node_modules", "target"];
        let protected = |path: &String| {
            own.iter().any(|own| path.starts_with(own)) && !path.split('/').any(|part| caches.contains(&part))
        };
        let examples = [".envrc", ".env.example", ".env.sample", ".env.template", ".env.test"];
        let all = self.look().into_iter().filter(|(path, _)| protected(path));
        all.filter(|(path, _)| !examples.contains(&path.as_str())).collect()
    }

    fn quarantine(&self) -> Vec<String> {
        let (mut texts, mut dirs) = (Vec::new(), vec![self.scratch.state().join("ralph/quarantine")]);
        while let Some(dir) = dirs.pop() {
            for path in fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
                match path.is_dir() {
                    true => dirs.push(path),
                    false if path.ends_with("list.json") => {}
                    false if path.metadata().unwrap().len() > 1 << 20 => {}
                    false => texts.push(String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()),
                }
            }
        }
        texts
    }
}

fn look(dir: &Path, root: &Path, all: &mut BTreeMap<String, Thing>) {
    for path in fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        // Views for other programs, which ralph rewrites.
        let view = (name.starts_with(".ralph/") || name.starts_with("sub/.ralph"))
            && !["skills", "templates"].iter().any(|own| name.contains(own));
        let git_own = view
            || [".git/objects/", ".git/refs/", ".git/logs/", ".git/reftable/"]
                .iter()
                .any(|own| name.starts_with(own))
            || ["index", "HEAD", "ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "packed-refs", "MERGE_HEAD"]
                .iter()
                .any(|own| name == format!(".git/{own}"))
            || [
                "AUTO_MERGE",
                "objects",
                "refs",
                "reftable",
                "logs",
                "gc.log",
                "gc.pid",
                "worktrees",
                "MERGE_MSG",
                "MERGE_MODE",
            ]
            .iter()
            .any(|own| name == format!(".git/{own}"))
            || name == ".ralph"
            || name == ".git/info"
            || name == ".git"
            || name == ".git/info/refs";
        if git_own && name != ".git/objects/info/alternates" {
            if path.is_dir() {
                look(&path, root, all);
            }
            continue;
        }
        let meta = path.symlink_metadata().unwrap();
        let mode = meta.permissions().mode() & 0o7777;
        let kind = meta.file_type();
        let thing = if kind.is_symlink() {
            ('l', 0, fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec())
        } else if kind.is_dir() {
            ('d', mode, Vec::new())
        } else if kind.is_fifo() {
            ('p', mode, Vec::new())
        } else {
            ('f', mode, fs::read(&path).unwrap_or_default())
        };
        all.insert(name, thing);
        if kind.is_dir() {
            look(&path, root, all);
        }
    }
}

/// Nothing is different but what the scenario allows.
fn untouched(
    scenario: &Scenario,
    before: &BTreeMap<String, Thing>,
    after: &BTreeMap<String, Thing>,
) -> Result<(), String> {
    let under = |list: &[String], path: &str| {
        list.iter()
            .any(|p| path == p || path.strip_prefix(p.as_str()).is_some_and(|rest| rest.starts_with('/')))
    };
    let mut wrong = Vec::new();
    for (path, was) in before {
        match after.get(path) {
            Some(is) if is == was || under(&scenario.changes, path) => {}
            None if under(&scenario.loses, path) || (scenario.stays && path.starts_with(".git/")) => {}
            _ if scenario.stays && path.starts_with(".git/") => {}
            is => wrong.push(format!("{path} was {} is {}", show(Some(was)), show(is))),
        }
    }
    for path in after.keys().filter(|path| !before.contains_key(*path)) {
        if path != "legit.txt"
            && !under(&scenario.leaves, path)
            && !(scenario.stays && path.starts_with(".git"))
        {
            wrong.push(format!("{path} is new"));
        }
    }
    if !after.contains_key("legit.txt") && !under(&scenario.loses, "legit.txt") {
        wrong.push("the agent's own work is gone".into());
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

fn show(thing: Option<&Thing>) -> String {
    thing.map_or("gone".into(), |(kind, mode, content)| {
        let text: String = String::from_utf8_lossy(content).chars().take(60).collect();
        format!("{kind} {mode:o} {text:?}")
    })
}

fn result(output: &Output) -> Result<Value, String> {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(text.lines().last().unwrap_or_default())
        .map_err(|_| format!("no result: {}", said(output)))
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
