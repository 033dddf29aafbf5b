//! Planting something that runs later in the user's home: an agent's settings, a cache, a program. Under namespaces these
//! directories lie behind layers, so that writing works and reaches nothing; elsewhere home is read-only.

use crate::attack::{Attack, attack};
use ralph_sandbox::Plan;

pub fn attacks() -> Vec<Attack> {
    vec![
        attack(
            "a hook in the agent's settings",
            r#"write(f"{HOME}/.claude/settings.json", "{\"hooks\": {}}")"#,
        ),
        attack(
            "an MCP server in the agent's settings",
            r#"
write(f"{WS}/new"); attempt(os.replace, f"{WS}/new", f"{HOME}/.claude.json")
write(f"{HOME}/.claude.json")"#,
        ),
        attack(
            "the other agent's configuration",
            r#"write(f"{HOME}/.codex/config.toml", "notify = ['x']\n")"#,
        ),
        attack(
            "a new command of the agent",
            r#"
os.makedirs(f"{HOME}/.claude/commands"); write(f"{HOME}/.claude/commands/x.md")"#,
        ),
        attack("a program among the tools", r#"write(f"{HOME}/.cargo/bin/ls", SCRIPT, mode=0o755)"#),
        attack(
            "replace a tool",
            r#"
write(f"{HOME}/.cargo/bin/new", "x"); os.rename(f"{HOME}/.cargo/bin/new", f"{HOME}/.cargo/bin/tool")"#,
        ),
        attack("a poisoned package in a cache", r#"write(f"{HOME}/.cargo/registry/package.rs")"#),
        attack(
            "a poisoned index of a cache",
            r#"sh("rm -rf $HOME/.npm/_cacache; mkdir -p $HOME/.npm/_cacache")"#,
        ),
        attack("rename the cache", r#"os.rename(f"{HOME}/.cargo/registry", f"{HOME}/.cargo/registry2")"#),
        attack(
            "exchange a directory of the layer",
            r#"
os.mkdir(f"{HOME}/.cargo/new")
syscall("renameat2", AT_FDCWD, f"{HOME}/.cargo/new", AT_FDCWD, f"{HOME}/.cargo/bin", 2)"#,
        ),
        attack(
            "a hard link and a chmod in the layer",
            r#"
attempt(os.chmod, f"{HOME}/.cargo/bin/tool", 0o777)
os.link(f"{HOME}/.cargo/bin/tool", f"{HOME}/.cargo/bin/two"); write(f"{HOME}/.cargo/bin/two")"#,
        ),
        attack("a cache by /proc/self/root", r#"write(f"/proc/self/root{HOME}/.npm/_cacache/index")"#),
    ]
    .into_iter()
    .map(|attack| attack.plan(layered))
    .collect()
}

/// Layers, where the backend makes them.
fn layered(plan: &mut Plan) {
    crate::layers::add(plan, &[".claude", ".codex", ".cargo", ".npm"]);
}
