//! A case as it is written down: what there was before, what the agent does, and how it must end. A case file is
//!
//! ```text
//! # what happens, in a sentence
//! kind: attempt | honest
//! baseline: red | green | none        (none: there is nothing to run yet)
//! expect: refused | sign              of an attempt
//! expect: proven | tested | …         of honest work; several words: any of them
//! end: ORACLE_CHANGED                 the exact reason, where only one is right
//! in: packages/a                       the directory the run is started in, where it is not the repository's top
//! tool: make cc                       what the machine needs, if the name's first word does not say it
//! verify: a command                   once or more
//! --- file PATH                       a file at the baseline; one that begins with #! can be run
//! --- setup                           a shell script that prepares what files cannot say (links, ignored files)
//! --- agent                           the shell script that is the agent's only work
//! ```

use crate::bed::{Bed, Done};
use std::fs;
use std::path::Path;
use std::process::Command;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Attempt,
    Honest,
}

pub struct Case {
    pub name: String,
    pub kind: Kind,
    pub baseline: String,
    pub expect: Vec<String>,
    pub end: Option<String>,
    pub verify: Vec<String>,
    /// Where the run is started, from the repository's top.
    dir: String,
    tool: Option<String>,
    files: Vec<(String, String)>,
    setup: String,
    agent: String,
}

/// All of them, in the order of their names.
pub fn all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proof/cases");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().map(|path| Case::read(path)).collect()
}

impl Case {
    fn read(path: &Path) -> Case {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = format!("\n{}", fs::read_to_string(path).unwrap());
        let mut parts = text.split("\n--- ");
        let mut case = Case::from_header(name, parts.next().unwrap());
        for part in parts {
            let (head, body) = part.split_once('\n').unwrap_or((part, ""));
            let body =
                if body.is_empty() { String::new() } else { format!("{}\n", body.trim_end_matches('\n')) };
            match (head, head.strip_prefix("file ")) {
                (_, Some(file)) => case.files.push((file.to_owned(), body)),
                ("setup", _) => case.setup = body,
                ("agent", _) => case.agent = body,
                _ => panic!("{}: --- {head}?", case.name),
            }
        }
        case
    }

    fn from_header(name: String, header: &str) -> Case {
        let lines: Vec<(&str, &str)> = header.lines().filter_map(|line| line.split_once(": ")).collect();
        let values = |key: &str| -> Vec<String> {
            lines.iter().filter(|(name, _)| *name == key).map(|(_, value)| (*value).to_owned()).collect()
        };
        let one = |key: &str| values(key).into_iter().next();
        let field = |key: &str| one(key).unwrap_or_else(|| panic!("{name}: no {key}:"));
        let kind = match field("kind").as_str() {
            "attempt" => Kind::Attempt,
            "honest" => Kind::Honest,
            other => panic!("{name}: kind: {other}?"),
        };
        let expect: Vec<String> = field("expect").split(' ').map(str::to_owned).collect();
        let known: &[&str] = match kind {
            Kind::Attempt => &["refused", "sign"],
            Kind::Honest => &["proven", "tested", "unbroken", "revised", "unclear"],
        };
        assert!(expect.iter().all(|word| known.contains(&word.as_str())), "{name}: expect: {expect:?}?");
        let baseline = field("baseline");
        assert!(["red", "green", "none"].contains(&baseline.as_str()), "{name}: baseline: {baseline}?");
        let verify = values("verify");
        assert!(!verify.is_empty(), "{name}: no verify:");
        let (end, tool, dir) = (one("end"), one("tool"), one("in").unwrap_or_default());
        Case {
            kind,
            baseline,
            expect,
            end,
            verify,
            dir,
            tool,
            name,
            files: vec![],
            setup: "".into(),
            agent: "".into(),
        }
    }

    /// The first word of its name.
    pub fn stack(&self) -> &str {
        self.name.split('-').next().unwrap()
    }

    /// What the machine needs for it.
    pub fn tools(&self) -> Vec<&str> {
        match (&self.tool, self.stack()) {
            (Some(tools), _) => tools.split(' ').collect(),
            (None, "make") => vec!["make", "cc"],
            (None, stack) => vec![stack],
        }
    }

    /// A place with its files, committed, and its agent: every call after the first only claims again.
    pub fn bed(&self) -> Bed {
        let bed = Bed::git("");
        for (name, text) in &self.files {
            bed.scratch.files(&[(name.as_str(), text.as_str())]);
            if text.starts_with("#!") {
                use std::os::unix::fs::PermissionsExt;
                let path = bed.scratch.workspace().join(name);
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        let setup = self.script(&bed, "setup.sh", &self.setup);
        assert!(
            with_tools(bed.scratch.command("sh")).arg(setup).status().unwrap().success(),
            "{}",
            self.name
        );
        for args in [&["add", "-A"][..], &["commit", "-qm", "before"]] {
            assert!(bed.scratch.command("git").args(args).status().unwrap().success(), "{}", self.name);
        }
        let work = self.script(&bed, "work.sh", &self.agent);
        bed.script(&format!("[1]\nrun sh {work}\nclaim complete\n[*]\nclaim complete"));
        bed
    }

    fn script(&self, bed: &Bed, name: &str, text: &str) -> String {
        let path = bed.scratch.root().join(name);
        fs::write(&path, format!("cd {}\n{text}", self.workspace(bed).display())).unwrap();
        path.display().to_string()
    }

    /// Where the run is started.
    fn workspace(&self, bed: &Bed) -> std::path::PathBuf {
        bed.scratch.workspace().join(&self.dir)
    }

    /// Does the agent's work without any run around it.
    pub fn work(&self, bed: &Bed) -> Done {
        Done::of(with_tools(bed.scratch.command("sh")).arg(bed.scratch.root().join("work.sh")))
    }

    /// Whether its commands all pass in the workspace as it stands; else what the first to fail printed.
    pub fn passes(&self, bed: &Bed) -> Result<(), String> {
        for verify in &self.verify {
            let mut command = with_tools(bed.scratch.command("sh"));
            // Some attempts ask whether a run is under way.
            let done =
                Done::of(command.args(["-c", verify]).env("RALPH_RUN", "1").current_dir(self.workspace(bed)));
            if done.code != 0 {
                return Err(format!("{verify}: {}\n{}{}", done.code, done.out, done.err));
            }
        }
        Ok(())
    }

    /// Runs it.
    pub fn run(&self, bed: &Bed) -> Done {
        let verify = self.verify.iter().flat_map(|command| ["--verify", command]);
        let flags: Vec<&str> = ["--max-iterations", "3"].into_iter().chain(verify).collect();
        Done::of(with_tools(bed.run(&flags)).current_dir(self.workspace(bed)))
    }
}

/// A home without toolchains hides them: those of whoever runs the tests serve.
pub fn with_tools(mut command: Command) -> Command {
    let home = std::env::var("HOME").unwrap_or_default();
    for (name, dir) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let value = std::env::var(name).unwrap_or_else(|_| format!("{home}/{dir}"));
        command.env(name, value);
    }
    // Bytecode goes by whole seconds, and these agents are faster than that.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    // Compiled once for all cases; a cold cache costs seconds in each.
    command.env("GOCACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-cache"));
    command.envs([("GOTOOLCHAIN", "local"), ("npm_config_update_notifier", "false")]);
    command.env_remove("CARGO_TARGET_DIR").env_remove("CARGO_BUILD_TARGET_DIR");
    command
}
