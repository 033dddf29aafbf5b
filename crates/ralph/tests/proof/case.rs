//! A case as it is written down: what the agent does, what there was before, and how it must end.

use crate::bed::{Bed, Done};
use std::fs;
use std::path::Path;

/// One case.
pub struct Case {
    pub name: String,
    pub expect: String,
    pub verify: String,
    files: Vec<(String, String)>,
    agent: String,
}

/// All of them.
pub fn all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/proof/cases");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().map(|path| Case::read(path)).collect()
}

impl Case {
    fn read(path: &Path) -> Case {
        let text = fs::read_to_string(path).unwrap();
        let field = |name: &str| text.lines().find_map(|l| l.strip_prefix(name)).unwrap().trim().to_owned();
        let mut case = Case {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            expect: field("expect:"),
            verify: field("verify:"),
            files: Vec::new(),
            agent: String::new(),
        };
        for part in format!("\n{text}").split("\n--- ").skip(1) {
            let (head, body) = part.split_once('\n').unwrap_or((part, ""));
            let body =
                if body.is_empty() { String::new() } else { format!("{}\n", body.trim_end_matches('\n')) };
            match head.strip_prefix("file ") {
                Some(name) => case.files.push((name.to_owned(), body)),
                None => case.agent = body,
            }
        }
        case
    }

    /// What the machine needs for it.
    pub fn tool(&self) -> &str {
        self.name.split('-').next().unwrap()
    }

    /// A place with its files, committed, and its agent.
    pub fn bed(&self) -> Bed {
        let bed = Bed::git("");
        let script = bed.scratch.root().join("work.sh");
        fs::write(&script, format!("cd {}\n{}", bed.scratch.workspace().display(), self.agent)).unwrap();
        bed.script(&format!("run sh {}\nclaim complete", script.display()));
        for (name, text) in &self.files {
            bed.scratch.files(&[(name.as_str(), text.as_str())]);
            if text.starts_with("#!") {
                use std::os::unix::fs::PermissionsExt;
                let path = bed.scratch.workspace().join(name);
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        for args in [&["add", "-A"][..], &["commit", "-qm", "before"]] {
            assert!(bed.scratch.command("git").args(args).status().unwrap().success());
        }
        bed
    }

    /// Runs it.
    pub fn run(&self, bed: &Bed, more: &[&str]) -> Done {
        let flags = [&["--max-iterations", "2", "--verify", &self.verify], more].concat();
        Done::of(&mut with_tools(bed.run(&flags)))
    }
}

/// A home without toolchains hides them: those of whoever runs the tests serve.
pub fn with_tools(mut command: std::process::Command) -> std::process::Command {
    let home = std::env::var("HOME").unwrap_or_default();
    for (name, dir) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        let value = std::env::var(name).unwrap_or_else(|_| format!("{home}/{dir}"));
        command.env(name, value);
    }
    // Bytecode goes by whole seconds, and these agents are faster than that.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command.env_remove("CARGO_TARGET_DIR").env_remove("CARGO_BUILD_TARGET_DIR");
    command
}
