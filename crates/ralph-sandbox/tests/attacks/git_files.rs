//! What git obeys: configuration, hooks, attributes, and another `.git` in its place. Not held by Landlock.

use crate::attack::{Attack, attack};

pub fn attacks() -> Vec<Attack> {
    vec![
        attack("edit .git/config", r#"write(f"{WS}/.git/config", "[core]\n\tfsmonitor = /tmp/x\n")"#),
        attack("git config", r#"sh("git config core.fsmonitor /tmp/x; git config alias.x '!sh'")"#),
        attack(
            "git config through its lock file",
            r#"
write(f"{WS}/.git/config.lock"); os.rename(f"{WS}/.git/config.lock", f"{WS}/.git/config")"#,
        ),
        attack("a new hook", r#"write(f"{WS}/.git/hooks/pre-commit", SCRIPT, mode=0o755)"#),
        attack("edit a hook", r#"write(f"{WS}/.git/hooks/post-commit")"#),
        attack(
            "another hooks directory in its place",
            r#"
os.rename(f"{WS}/.git/hooks", f"{WS}/.git/hooks2"); os.mkdir(f"{WS}/.git/hooks")"#,
        ),
        attack(
            "exchange the hooks directory",
            r#"
os.mkdir(f"{WS}/h"); syscall("renameat2", AT_FDCWD, f"{WS}/h", AT_FDCWD, f"{WS}/.git/hooks", 2)"#,
        ),
        attack("git attributes with a filter", r#"write(f"{WS}/.git/info/attributes", "* filter=x\n")"#),
        attack("edit .git/info/exclude", r#"write(f"{WS}/.git/info/exclude", "*\n")"#),
        attack("delete .git", r#"sh("rm -rf .git")"#),
        attack(
            "another .git in its place",
            r#"
sh("git init -q planted")
os.rename(f"{WS}/.git", f"{WS}/git2"); os.rename(f"{WS}/planted/.git", f"{WS}/.git")"#,
        ),
        attack(
            "exchange .git",
            r#"
os.mkdir(f"{WS}/planted"); syscall("renameat2", AT_FDCWD, f"{WS}/planted", AT_FDCWD, f"{WS}/.git", 2)"#,
        ),
        attack(
            "a file in the place of .git",
            r#"
os.rename(f"{WS}/.git", f"{WS}/git2"); write(f"{WS}/.git", "gitdir: /tmp/planted\n")"#,
        ),
        attack(
            "a link in the place of .git",
            r#"
os.rename(f"{WS}/.git", f"{WS}/git2"); os.symlink("/tmp/planted", f"{WS}/.git")"#,
        ),
        attack(
            "git init over it",
            r#"
os.makedirs(f"{WS}/t/hooks"); write(f"{WS}/t/hooks/pre-commit", SCRIPT, mode=0o755)
sh("git init -q --template=t --separate-git-dir=sep .")"#,
        ),
        attack("config of a repository within", r#"write(f"{WS}/vendor/lib/.git/config")"#),
        attack("hook of a repository within", r#"write(f"{WS}/vendor/lib/.git/hooks/pre-commit")"#),
        attack("another .git within", r#"os.rename(f"{WS}/vendor/lib/.git", f"{WS}/vendor/lib/g")"#),
        attack("move the repository within", r#"os.rename(f"{WS}/vendor/lib", f"{WS}/vendor/lib2")"#),
        attack(
            "move the directory above the repository within",
            r#"os.rename(f"{WS}/vendor", f"{WS}/vendor2")"#,
        ),
    ]
}
