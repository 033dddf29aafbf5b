//! The plugin in the real clients: they take it, list it, and let go of it, whatever else is in their settings.

use super::client::{Client, clients};
use crate::cli::Cli;
use crate::clis::{CLAUDE, CODEX};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

fn standing(client: &Client) -> Value {
    let done = client.ralph(&["hook", "status", "--json"]);
    let status: Value = serde_json::from_str(done.out()).unwrap();
    let all = status["clients"].as_array().unwrap();
    all.iter().find(|one| one["client"] == client.cli.info.name).unwrap().clone()
}

fn settings(client: &Client) -> PathBuf {
    let name = if client.cli.info.name == "claude" { ".claude/settings.json" } else { ".codex/config.toml" };
    client.place.root().join("home").join(name)
}

fn folder(client: &Client) -> PathBuf {
    client.place.root().join("state/ralph/plugins").join(client.cli.info.name)
}

#[test]
fn the_folder_is_valid_without_a_warning() {
    let client = Client::with_plugin(&CLAUDE, "ok");
    for path in [folder(&client), folder(&client).join("ralph")] {
        let path = path.to_str().unwrap();
        let mut validate = client.place.program("claude", &["plugin", "validate", "--strict", path]);
        let output = validate.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

/// Both clients take the same files.
#[test]
fn both_clients_get_the_same_folder() {
    let read = |cli: &'static Cli| {
        let client = Client::with_plugin(cli, "ok");
        let files =
            ["ralph/hooks/hooks.json", "ralph/.claude-plugin/plugin.json", "ralph/skills/loop/SKILL.md"];
        files.map(|file| fs::read_to_string(folder(&client).join(file)).unwrap())
    };
    assert_eq!(read(&CLAUDE), read(&CODEX));
}

/// What others keep in the settings is there afterwards, and nothing of ralph's.
#[test]
fn install_and_uninstall_leave_foreign_settings_alone() {
    let foreign = [
        r#"{"model": "opus", "unknown": {"a": [1, 2]},
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#,
        "# notes\nmodel = \"gpt-5\"   # mine\n\n[mcp_servers.mine]\ncommand = \"true\"\n",
    ];
    for (cli, text) in clients().into_iter().zip(foreign) {
        let client = Client::new(cli, "ok");
        fs::create_dir_all(settings(&client).parent().unwrap()).unwrap();
        fs::write(settings(&client), text).unwrap();
        let name = cli.info.name;
        assert_eq!(client.ralph(&["hook", "install", name]).code, 0);
        let state = standing(&client)["state"].clone();
        assert_eq!(state, if name == "claude" { "installed" } else { "untrusted" });
        // A second time is no harm.
        assert_eq!(client.ralph(&["hook", "install", name]).code, 0);
        assert_eq!(client.ralph(&["hook", "uninstall", name]).code, 0);
        assert_eq!(standing(&client)["state"], "not_installed");
        assert!(!folder(&client).exists());
        let after = fs::read_to_string(settings(&client)).unwrap();
        assert!(!after.contains("ralph"), "{after}");
        for kept in ["opus", "unknown", "true"].iter().filter(|_| name == "claude") {
            assert!(after.contains(kept), "{after}");
        }
        assert!(name == "claude" || after == text, "{after}");
        assert_eq!(client.ralph(&["hook", "uninstall", name]).code, 0, "nothing to remove is no error");
    }
}

/// Settings that the client cannot read: its own words, nothing half done.
#[test]
fn broken_settings_are_told_and_left_as_they_are() {
    for (cli, text) in clients().into_iter().zip(["{\"hooks\":", "model = "]) {
        let client = Client::new(cli, "ok");
        fs::create_dir_all(settings(&client).parent().unwrap()).unwrap();
        fs::write(settings(&client), text).unwrap();
        let done = client.ralph(&["hook", "install", cli.info.name]);
        assert_eq!(done.code, 73, "{}", done.story());
        let file = settings(&client);
        assert!(done.story().contains(file.to_str().unwrap()), "{}", done.story());
        assert_eq!(fs::read_to_string(file).unwrap(), text);
        assert!(!folder(&client).exists());
        let known = client.place.root().join("home/.claude/plugins/known_marketplaces.json");
        assert!(!fs::read_to_string(known).unwrap_or_default().contains("ralph"), "half done");
    }
}

/// Only here, only for me: what a project's scope changes, and that leaving one scope leaves the other.
#[test]
fn scopes_are_those_of_the_client() {
    let client = Client::new(&CLAUDE, "ok");
    let install = |scope: &str| client.ralph(&["hook", "install", "claude", "--scope", scope]).code;
    assert_eq!((install("local"), install("user")), (0, 0));
    assert_eq!(standing(&client)["scopes"].as_array().unwrap().len(), 2, "{:#}", standing(&client));
    let local = fs::read_to_string(client.place.file(".claude/settings.local.json")).unwrap();
    assert!(local.contains("ralph@ralph") && !local.contains("state/ralph"), "{local}");
    assert_eq!(client.ralph(&["hook", "uninstall", "claude", "--scope", "user"]).code, 0);
    let left = standing(&client);
    assert_eq!(
        (&left["state"], &left["scopes"]),
        (&"installed".into(), &serde_json::json!(["local"])),
        "{left:#}"
    );
    assert_eq!(client.ralph(&["hook", "uninstall", "claude"]).code, 0);
    assert!(!folder(&client).exists());

    let codex = Client::new(&CODEX, "ok");
    assert_eq!(codex.ralph(&["hook", "install", "codex", "--scope", "project"]).code, 64);
}

/// What keeps hooks from running is told by name.
#[test]
fn stale_and_disabled_hooks_are_told() {
    let client = Client::with_plugin(&CLAUDE, "ok");
    fs::write(folder(&client).join("ralph/skills/loop/SKILL.md"), "changed").unwrap();
    assert_eq!(standing(&client)["state"], "stale");
    assert_eq!(client.ralph(&["hook", "install", "claude"]).code, 0);
    assert_eq!(standing(&client)["state"], "installed");
    let disabled = client.place.program("claude", &["plugin", "disable", "ralph@ralph"]).output().unwrap();
    assert!(disabled.status.success());
    assert_eq!(standing(&client)["state"], "disabled");
    let doctor = client.ralph(&["doctor"]);
    assert!(doctor.out().contains("Claude Code: disabled"), "{}", doctor.out());
    assert_eq!(client.ralph(&["hook", "install", "claude"]).code, 0);
    assert_eq!(standing(&client)["state"], "installed");
    let file = settings(&client);
    let mut text: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    text["disableAllHooks"] = true.into();
    fs::write(&file, text.to_string()).unwrap();
    let standing = standing(&client);
    assert_eq!(standing["state"], "disabled");
    assert!(standing["fact"].as_str().unwrap().contains("disableAllHooks"), "{standing:#}");
}

/// A marketplace of the same name that is somebody else's is not replaced, and a missing client is told.
#[test]
fn what_cannot_be_installed_is_told() {
    for cli in clients() {
        let client = Client::new(cli, "ok");
        let other = client.place.root().join("other");
        fs::create_dir_all(other.join(".claude-plugin")).unwrap();
        let manifest = r#"{"name": "ralph", "owner": {"name": "x"}, "plugins": []}"#;
        fs::write(other.join(".claude-plugin/marketplace.json"), manifest).unwrap();
        let add = ["plugin", "marketplace", "add", other.to_str().unwrap()];
        let added = client.place.program(cli.info.name, &add).output().unwrap();
        assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
        let done = client.ralph(&["hook", "install", cli.info.name]);
        assert_eq!(done.code, 73, "{}", done.story());
        assert!(done.story().contains("another marketplace named ralph"), "{}", done.story());
        assert!(!folder(&client).exists());
    }
    let mut client = Client::new(&CLAUDE, "ok");
    let bin = client.place.root().join("bin").display().to_string();
    client.place.set("PATH", &format!("{bin}:/usr/bin:/bin"));
    let done = client.ralph(&["hook", "install", "codex"]);
    assert_eq!(done.code, 69, "{}", done.story());
    assert!(done.story().contains("is not installed") && done.story().contains("npm"), "{}", done.story());
}
