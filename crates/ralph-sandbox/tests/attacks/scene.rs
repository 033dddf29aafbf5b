//! The world of one attack: a home with secrets and start files, a workspace with protected paths, other repositories.
//! It lies outside `/tmp`, which a sandbox replaces: an attack on a place that is not there at all would prove nothing.

use crate::attack::Who;
use crate::look::{Tree, look, look_at_place};
use ralph_sandbox::{Backend, Ids, Mount, Network, Plan};
use ralph_testkit::outside_tmp;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// The ordinary user of the attacks.
pub const NOBODY: u32 = 65534;

/// What the plan hides, below home.
pub const HIDDEN: [&str; 10] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".mozilla",
    ".local/state/ralph",
    ".config/gh/hosts.yml",
    ".npmrc",
    ".netrc",
    ".bash_history",
    "other",
];

/// What the plan protects, below the workspace.
pub const PROTECTED: [&str; 13] = [
    ".env",
    "src/auth",
    "deep/a/b/key.txt",
    "ralph.toml",
    ".ralph",
    ".claude",
    ".mcp.json",
    ".git/config",
    ".git/hooks",
    ".git/info",
    "vendor/lib/.git/config",
    "vendor/lib/.git/hooks",
    "vendor/lib/.git/info",
];

pub struct Scene {
    base: TempDir,
    pub id: String,
    pub who: Who,
}

impl Scene {
    pub fn new(who: Who) -> Scene {
        Scene::below(&ground(), who)
    }

    /// A scene in this directory.
    pub fn below(ground: &Path, who: Who) -> Scene {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let base = tempfile::Builder::new().prefix("attack-").tempdir_in(ground).unwrap();
        let id = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let scene = Scene { base, id, who };
        scene.furnish();
        scene
    }

    pub fn base(&self) -> &Path {
        self.base.path()
    }

    pub fn home(&self) -> PathBuf {
        self.base().join("home")
    }

    pub fn workspace(&self) -> PathBuf {
        self.home().join("project")
    }

    /// Where the attack lies and leaves its evidence.
    pub fn evidence(&self, name: &str) -> PathBuf {
        self.workspace().join("attack").join(name)
    }

    /// The text that every secret of this scene contains.
    pub fn secret(&self) -> String {
        format!("SECRET-{}", self.id)
    }

    fn furnish(&self) {
        fs::set_permissions(self.base(), fs::Permissions::from_mode(0o755)).unwrap();
        let secret = self.secret();
        for (path, content) in HOME_FILES {
            self.write(&self.home().join(path), content);
        }
        for path in SECRET_FILES {
            self.write(&self.home().join(path), &format!("{secret} in {path}\n"));
        }
        // A name can be a secret as well.
        self.write(&self.home().join(".ssh").join(format!("{secret}-name")), "");
        for (path, content) in WORKSPACE_FILES {
            self.write(&self.workspace().join(path), content);
        }
        for dir in ["home/.config/autostart", "home/project/attack", "call-tmp", "notes", "layers"] {
            fs::create_dir_all(self.base().join(dir)).unwrap();
        }
        for program in [".local/bin/tool", ".cargo/bin/tool", "project/.git/hooks/post-commit"] {
            fs::set_permissions(self.home().join(program), fs::Permissions::from_mode(0o755)).unwrap();
        }
        symlink(self.home(), self.workspace().join("link-to-home")).unwrap();
        symlink(self.home().join(".bashrc"), self.workspace().join("link-to-bashrc")).unwrap();
        symlink(self.home().join(".ssh"), self.workspace().join("link-to-keys")).unwrap();
        self.give(self.base());
    }

    pub fn write(&self, path: &Path, content: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Gives a tree to the user whose scene it is.
    pub fn give(&self, path: &Path) {
        if self.who != Who::Root && is_root() {
            std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            if fs::symlink_metadata(path).unwrap().is_dir() {
                for entry in fs::read_dir(path).unwrap().flatten() {
                    self.give(&entry.path());
                }
            }
        }
    }

    /// A program run as the scene's user, with an environment of its own.
    pub fn command(&self, program: &str) -> Command {
        let mut command = if self.who == Who::User && is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--", program]);
            command
        } else {
            Command::new(program)
        };
        command.env_clear().current_dir(self.workspace());
        command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("HOME", self.home()).env("LANG", "C.UTF-8").env("RALPH_ATTACK_SCENE", &self.id);
        command
    }

    /// The plan that must hold: home read-only with its secrets hidden, the workspace with its protected paths.
    pub fn plan(&self, backend: Backend) -> Plan {
        let hidden = HIDDEN.iter().map(|path| Mount::Hide(self.home().join(path)));
        let protected = PROTECTED.iter().map(|path| Mount::Protect(self.workspace().join(path)));
        Plan {
            backend,
            workspace: self.workspace(),
            tmp: self.base().join("call-tmp"),
            mounts: hidden.chain(protected).collect(),
            network: Network::Open,
            processes: 200,
            memory: 0,
            nested: true,
            ids: if self.who == Who::RootForUser { Ids::All } else { Ids::Own },
        }
    }

    /// Everything that no attack may change: all but the workspace, the call's own places and our notes; then what is
    /// protected in the workspace, and where the directories above it are.
    pub fn look(&self) -> Tree {
        let (mut tree, base) = (Tree::new(), self.base());
        let own = [self.workspace(), base.join("call-tmp"), base.join("notes"), base.join("layers")];
        look(base, &own, &mut tree);
        for path in PROTECTED {
            let path = self.workspace().join(path);
            look(&path, &[], &mut tree);
            for above in path.ancestors().skip(1).take_while(|above| above.starts_with(self.workspace())) {
                look_at_place(above, &mut tree);
            }
        }
        tree
    }
}

impl Drop for Scene {
    /// An overlay leaves a directory that its own user can neither read nor remove.
    fn drop(&mut self) {
        for layer in fs::read_dir(self.base().join("layers")).into_iter().flatten().flatten() {
            let _ = fs::set_permissions(layer.path().join("work/work"), fs::Permissions::from_mode(0o700));
        }
    }
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A directory that is not below `/tmp` and that every user can reach.
pub fn ground() -> PathBuf {
    outside_tmp(env!("CARGO_TARGET_TMPDIR"))
}

/// The program under test, where every user may run it.
pub fn runner() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        let dir = ground().join("ralph-sandbox-runner");
        fs::create_dir_all(&dir).unwrap();
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
        let copy = dir.join("ralph-sandbox-test");
        // Renamed into its place: another test program may be running the old one.
        let new = dir.join(format!("new-{}", std::process::id()));
        fs::copy(env!("CARGO_BIN_EXE_ralph-sandbox-test"), &new).unwrap();
        fs::rename(&new, &copy).unwrap();
        copy
    })
}

const HOME_FILES: [(&str, &str); 16] = [
    (".bashrc", "# bash\n"),
    (".profile", "# profile\n"),
    (".zshrc", "# zsh\n"),
    (".gitconfig", "[user]\n\tname = Test\n\temail = test@localhost\n"),
    (".local/bin/tool", "#!/bin/sh\necho tool\n"),
    (".cargo/bin/tool", "#!/bin/sh\necho tool\n"),
    (".cargo/registry/package.rs", "pub fn package() {}\n"),
    (".npm/_cacache/index", "cached\n"),
    (".claude/settings.json", "{}\n"),
    (".claude.json", "{}\n"),
    (".codex/config.toml", "model = \"x\"\n"),
    ("sibling/README.md", "Another repository.\n"),
    ("sibling/.git/HEAD", "ref: refs/heads/main\n"),
    ("sibling/.git/config", "[core]\n\tbare = false\n"),
    ("sibling/.git/hooks/README", "hooks\n"),
    ("other/.git/HEAD", "ref: refs/heads/main\n"),
];

/// Each contains the scene's secret.
const SECRET_FILES: [&str; 10] = [
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".gnupg/private-keys-v1.d/key",
    ".mozilla/firefox/x.default/cookies.sqlite",
    ".local/state/ralph/ledger.db",
    ".config/gh/hosts.yml",
    ".npmrc",
    ".netrc",
    ".bash_history",
    "other/source.rs",
];

const WORKSPACE_FILES: [(&str, &str); 22] = [
    (".env", "KEY=user\n"),
    ("src/auth/login.rs", "fn login() {}\n"),
    ("src/auth/inner/token.rs", "fn token() {}\n"),
    ("src/main.rs", "fn main() {}\n"),
    ("deep/a/b/key.txt", "key\n"),
    ("deep/a/b/notes.txt", "notes\n"),
    ("ralph.toml", "[verify]\n"),
    (".ralph/state", "state\n"),
    (".claude/settings.json", "{}\n"),
    (".mcp.json", "{}\n"),
    (".git/HEAD", "ref: refs/heads/main\n"),
    (".git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"),
    (".git/hooks/post-commit", "#!/bin/sh\ntrue\n"),
    (".git/info/exclude", "# nothing\n"),
    (".git/objects/info/packs", ""),
    (".git/refs/heads/.keep", ""),
    ("vendor/lib/.git/HEAD", "ref: refs/heads/main\n"),
    ("vendor/lib/.git/config", "[core]\n\tbare = false\n"),
    ("vendor/lib/.git/hooks/README", "hooks\n"),
    ("vendor/lib/.git/info/exclude", "# nothing\n"),
    ("vendor/lib/code.c", "int x;\n"),
    ("README.md", "A project.\n"),
];
