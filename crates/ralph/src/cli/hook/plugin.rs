//! The plugin folder that clients load: commands, built-in skills and hooks, generated from what is compiled in. Its
//! version is a hash of its content, not ralph's version: Codex trusts a hook together with every file beside it, so a new
//! ralph must not change the folder unless something in it changed.

use crate::skills::built_in::BUILT_IN;
use ralph_engine::home::Home;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The plugin, and the marketplace it is registered from.
pub const NAME: &str = "ralph";
/// How clients name the plugin of that marketplace.
pub const ID: &str = "ralph@ralph";

/// Longer than any verification: ralph has limits of its own, and a hook that its client ends early is ignored.
const HOOK_SECONDS: u32 = 86_400;
const README: &str = include_str!("plugin/README.md");
/// Sentences for those who choose a plugin.
const ABOUT: &str = "Keeps a session working on a task until the work is proven done";
const COMMANDS: &[(&str, &str)] = &[
    ("loop", include_str!("plugin/loop.md")),
    ("status", include_str!("plugin/status.md")),
    ("cancel", include_str!("plugin/cancel.md")),
];
/// Keeps Codex from running a command that nobody typed; the front matter says the same to Claude Code.
const TYPED_ONLY: &str = "policy:\n  allow_implicit_invocation: false\n";
/// What a hook prints where it could not start ralph, which clients would otherwise pass over in silence.
const NOT_FOUND: &str = "ralph did not run: nothing checks this session. `ralph hook status` tells why; if ralph is gone, \
    remove the plugin ralph@ralph.";

/// The folder as this version of ralph writes it.
pub struct Plugin {
    /// Text by path, below the marketplace's root.
    files: BTreeMap<String, String>,
    /// The plugin's version.
    pub version: String,
}

impl Plugin {
    /// What is compiled in.
    pub fn current() -> Plugin {
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        for (name, text) in COMMANDS {
            files.insert(format!("ralph/skills/{name}/SKILL.md"), (*text).to_owned());
            files.insert(format!("ralph/skills/{name}/agents/openai.yaml"), TYPED_ONLY.to_owned());
        }
        for skill in BUILT_IN {
            files.insert(format!("ralph/skills/{}/SKILL.md", skill.name), skill.text.to_owned());
        }
        files.insert("ralph/README.md".to_owned(), README.to_owned());
        files.insert("ralph/hooks/hooks.json".to_owned(), hooks());
        let version = version_of(&files);
        files.insert("ralph/.claude-plugin/plugin.json".to_owned(), manifest(&version));
        files.insert(".claude-plugin/marketplace.json".to_owned(), marketplace());
        Plugin { files, version }
    }

    /// Writes the folder in place of what was there. Nobody sees half of it.
    pub fn write(&self, root: &Path) -> io::Result<()> {
        let above = root.parent().unwrap_or(root);
        Home::create_private_dir(above)?;
        let fresh = tempfile::Builder::new().prefix(".plugin-").tempdir_in(above)?;
        for (path, text) in &self.files {
            let file = fresh.path().join(path);
            fs::create_dir_all(file.parent().unwrap_or(above))?;
            fs::write(file, text)?;
        }
        remove(root)?;
        fs::rename(fresh.keep(), root)
    }

    /// Whether the folder holds exactly what this version would write.
    pub fn is_at(&self, root: &Path) -> bool {
        let same = |(path, text): (&String, &String)| {
            fs::read(root.join(path)).is_ok_and(|found| found == text.as_bytes())
        };
        self.files.iter().all(same) && count_files(root) == self.files.len()
    }
}

/// The folder that one client was given; it is not shared, so that leaving one client leaves the other alone.
pub fn root(home: &Home, client: &str) -> PathBuf {
    home.dir().join("plugins").join(client)
}

/// The plugin itself within that folder.
pub fn of(root: &Path) -> PathBuf {
    root.join(NAME)
}

/// Removes the folder, if there is one.
pub fn remove(root: &Path) -> io::Result<()> {
    match fs::remove_dir_all(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Removes the folder, and the one above it if no other client has one there.
pub fn forget(root: &Path) -> io::Result<()> {
    remove(root)?;
    // Fails where another client has one.
    let _ = root.parent().map(fs::remove_dir);
    Ok(())
}

/// The command lines never change between versions: whoever trusted them once has trusted them for good.
fn hooks() -> String {
    let hook = |what: &str, status: &str| {
        let lost = json!({ "systemMessage": NOT_FOUND });
        let command = format!("\"${{RALPH_BIN:-ralph}}\" hook {what} || echo '{lost}'");
        let hook =
            json!({"type": "command", "command": command, "timeout": HOOK_SECONDS, "statusMessage": status});
        json!([{ "hooks": [hook] }])
    };
    pretty(&json!({"description": ABOUT, "hooks": {
        "UserPromptSubmit": hook("prompt", "ralph: preparing"),
        "Stop": hook("stop", "ralph: checking the work"),
    }}))
}

fn manifest(version: &str) -> String {
    pretty(&json!({
        "name": NAME, "version": version, "description": ABOUT, "author": {"name": "ralph"},
        "license": "MIT OR Apache-2.0",
    }))
}

fn marketplace() -> String {
    pretty(&json!({
        "name": NAME, "owner": {"name": "ralph"}, "description": "ralph on this machine",
        "plugins": [{"name": NAME, "source": "./ralph", "description": ABOUT}],
    }))
}

fn version_of(files: &BTreeMap<String, String>) -> String {
    let mut hash = blake3::Hasher::new();
    for (path, text) in files {
        hash.update(path.as_bytes()).update(&[0]).update(text.as_bytes()).update(&[0]);
    }
    format!("1.0.0+{}", hash.finalize().to_hex().get(..12).unwrap_or_default())
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}

fn count_files(dir: &Path) -> usize {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let count = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => count_files(&entry.path()),
        _ => 1,
    };
    entries.flatten().map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_users_trust_never_change() {
        let hooks = hooks();
        let digest = blake3::hash(hooks.as_bytes()).to_hex();
        // Codex compares a hook with what its user trusted. If this fails, every user of Codex has to trust it again.
        assert_eq!(digest.get(..16), Some("57b746ee174994a7"), "{hooks}");
    }

    #[test]
    fn a_folder_is_current_only_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("plugins/claude");
        let plugin = Plugin::current();
        assert!(!plugin.is_at(&root));
        plugin.write(&root).unwrap();
        assert!(plugin.is_at(&root));
        fs::write(root.join("ralph/more.md"), "x").unwrap();
        assert!(!plugin.is_at(&root));
        plugin.write(&root).unwrap();
        assert!(plugin.is_at(&root));
        fs::write(root.join("ralph/hooks/hooks.json"), "{}").unwrap();
        assert!(!plugin.is_at(&root));
        assert_eq!(fs::read_dir(dir.path().join("plugins")).unwrap().count(), 1, "nothing is left beside it");
    }
}
