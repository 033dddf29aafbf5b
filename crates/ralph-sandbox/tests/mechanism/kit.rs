//! A scene to run programs in, and what came of them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ralph_sandbox::report::{End, Line};
use ralph_sandbox::{Backend, Ids, Mount, Network, Plan};
use ralph_testkit::outside_tmp;

const NOBODY: u32 = 65534;
pub const BWRAP: &str = "/usr/bin/bwrap";

/// Who runs the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    Root,
    User,
}

/// Everybody that this test can be.
pub fn everybody() -> Vec<Who> {
    if rustix::process::getuid().is_root() { vec![Who::Root, Who::User] } else { vec![Who::User] }
}

/// Backends with namespaces. One that is missing fails the test.
pub fn contained() -> [Backend; 2] {
    assert!(Path::new(BWRAP).exists(), "{BWRAP} is missing; install bubblewrap");
    [Backend::Namespaces, Backend::Bwrap(BWRAP.into())]
}

/// Runs a test for everybody in every backend with namespaces.
pub fn everywhere(test: impl Fn(&mut Scene)) {
    for who in everybody() {
        for backend in contained() {
            test(&mut Scene::new(who, backend));
        }
    }
}

pub struct Scene {
    dir: tempfile::TempDir,
    pub who: Who,
    pub plan: Plan,
}

impl Scene {
    pub fn new(who: Who, backend: Backend) -> Scene {
        let dir = tempfile::tempdir_in(outside_tmp(env!("CARGO_TARGET_TMPDIR"))).unwrap();
        fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let root = dir.path().canonicalize().unwrap();
        let plan = Plan {
            backend,
            workspace: root.join("workspace"),
            tmp: root.join("tmp"),
            mounts: Vec::new(),
            network: Network::Open,
            processes: 0,
            memory: 0,
            nested: false,
            ids: Ids::Own,
        };
        let scene = Scene { dir, who, plan };
        for name in ["workspace", "tmp", "home"] {
            scene.make_dir(name);
        }
        scene.give(scene.dir.path());
        // Linked, not copied: a copy that is still open for writing in a child of another test cannot be executed.
        fs::hard_link(env!("CARGO_BIN_EXE_ralph-sandbox-test"), scene.path("program")).unwrap();
        scene
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub fn make_dir(&self, name: &str) -> PathBuf {
        let mut path = self.path("");
        for part in Path::new(name) {
            path.push(part);
            if !path.exists() {
                fs::create_dir(&path).unwrap();
                self.give(&path);
            }
        }
        path
    }

    pub fn make_file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        self.make_dir(Path::new(name).parent().unwrap().to_str().unwrap());
        fs::write(&path, text).unwrap();
        self.give(&path);
        path
    }

    fn give(&self, path: &Path) {
        if self.who == Who::User && rustix::process::getuid().is_root() {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    pub fn mount(&mut self, mount: Mount) {
        self.plan.mounts.push(mount);
    }

    /// `program WORD… PLAN`, as the user of the scene.
    pub fn command(&self, words: &[&str]) -> Command {
        let file = self.path("plan.json");
        fs::write(&file, serde_json::to_vec(&self.plan).unwrap()).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let mut command = if self.who == Who::User && rustix::process::getuid().is_root() {
            let mut command = Command::new("setpriv");
            command
                .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
                .arg(self.path("program"));
            command
        } else {
            Command::new(self.path("program"))
        };
        command
            .args(words)
            .arg(file)
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.path("home"));
        command.stdin(Stdio::null());
        command
    }

    pub fn shell_command(&self, script: &str) -> Command {
        let mut command = self.command(&["run"]);
        command.arg(&self.plan.workspace).args(["sh", "-c", script]);
        command
    }

    /// Runs a script in the workspace.
    pub fn shell(&self, script: &str) -> Ran {
        // What it complains about is not of interest, and would be mixed with the report.
        let quiet = format!("exec 2>/dev/null; {script}");
        Ran::of(self.shell_command(&quiet).output().unwrap())
    }
}

/// What came of a program.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    pub lines: Vec<Line>,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        let text = String::from_utf8(output.stderr).unwrap();
        let reported = text.lines().filter_map(|line| line.strip_prefix("report: "));
        let lines = reported.map(|line| Line::parse(line).unwrap_or_else(|| panic!("{line:?}"))).collect();
        Ran {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: text,
            lines,
        }
    }

    pub fn end(&self) -> End {
        let end = |line: &Line| if let Line::Ended(end) = line { Some(*end) } else { None };
        self.lines.iter().find_map(end).unwrap_or_else(|| panic!("{self:?}"))
    }

    pub fn outlived(&self) -> u64 {
        let count = |line: &Line| if let Line::Outlived(count) = line { Some(*count) } else { None };
        self.lines.iter().find_map(count).unwrap_or_else(|| panic!("{self:?}"))
    }

    pub fn notes(&self) -> Vec<&str> {
        let notes = self.lines.iter().filter_map(|line| match line {
            Line::Note(note) => Some(note.as_str()),
            _ => None,
        });
        notes.collect()
    }

    /// Ended with this code, having printed this.
    #[track_caller]
    pub fn assert(&self, code: i32, stdout: &str) {
        assert_eq!((self.code, self.stdout.as_str()), (code, stdout), "{self:#?}");
    }
}
