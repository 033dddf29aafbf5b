//! `[sandbox]`: what each value means, and what a project's file may say.

use super::test_layers::Layers;
use super::{Config, find};
use crate::problem::Code;
use ralph_sandbox::policy::{ContainerEngine, HomeView, Mode, NetworkRule, Settings, VerifyNetwork};

fn load(files: &[(&str, &str)]) -> Config {
    Layers::with(files).load().unwrap()
}

#[test]
fn the_built_in_values() {
    let sandbox = load(&[]).settings.sandbox;
    assert_eq!(sandbox, Settings::default());
    assert_eq!(
        (sandbox.mode, sandbox.home, sandbox.network),
        (Mode::Auto, HomeView::Tools, NetworkRule::Open)
    );
    assert_eq!((sandbox.processes, sandbox.memory), (4096, 8 << 30));
    assert_eq!(sandbox.verify_network, VerifyNetwork::Same);
}

#[test]
fn every_key_in_the_users_file() {
    let text = r#"
[sandbox]
mode = "require"
home = "none"
readable = ["~/.config/tool", "/run/postgresql/.s.PGSQL.5432"]
writable = ["~/.m2"]
hide = ["/opt/secret"]
network = "hosts"
hosts = ["registry.npmjs.org", "*.crates.io", "localhost:5432"]
env = ["NPM_TOKEN"]
processes = 0
memory = "512MiB"
[sandbox.verify]
network = "off"
[sandbox.container]
engine = "docker"
image = "docker.io/library/rust:1"
"#;
    let sandbox = load(&[("user", text)]).settings.sandbox;
    assert_eq!(
        (sandbox.mode, sandbox.home, sandbox.network),
        (Mode::Require, HomeView::None, NetworkRule::Hosts)
    );
    assert_eq!(sandbox.readable, ["~/.config/tool", "/run/postgresql/.s.PGSQL.5432"]);
    assert_eq!(
        (sandbox.writable.len(), sandbox.hide.len(), sandbox.hosts.len(), sandbox.env.len()),
        (1, 1, 3, 1)
    );
    assert_eq!((sandbox.processes, sandbox.memory), (0, 512 << 20));
    assert_eq!(sandbox.verify_network, VerifyNetwork::Is(NetworkRule::Off));
    assert_eq!(sandbox.container.engine, ContainerEngine::Docker);
    assert_eq!(sandbox.container.image, "docker.io/library/rust:1");
}

#[test]
fn a_project_may_raise_the_mode() {
    use Mode::{Auto, Container, Off, Require, Strict};
    for (own, project, expected, warned) in [
        ("auto", "require", Require, false),
        ("auto", "strict", Strict, false),
        ("require", "auto", Require, true),
        ("strict", "require", Strict, true),
        ("off", "auto", Auto, false),
        ("container", "strict", Container, true),
        ("off", "", Off, false),
    ] {
        let mode = |word: &str| match word {
            "" => String::new(),
            word => format!("[sandbox]\nmode = \"{word}\""),
        };
        let config = load(&[("user", &mode(own)), ("project", &mode(project))]);
        assert_eq!(config.settings.sandbox.mode, expected, "{own} {project}");
        assert_eq!(!config.warnings().is_empty(), warned, "{own} {project}");
    }
}

#[test]
fn a_project_may_narrow_the_network_and_hide_more() {
    let network = |word: &str| format!("[sandbox]\nnetwork = \"{word}\"\nhide = [\"~/{word}\"]");
    for (own, project, expected) in [
        ("open", "hosts", NetworkRule::Hosts),
        ("open", "off", NetworkRule::Off),
        ("hosts", "open", NetworkRule::Hosts),
        ("off", "hosts", NetworkRule::Off),
    ] {
        let sandbox = load(&[("user", &network(own)), ("project", &network(project))]).settings.sandbox;
        assert_eq!(sandbox.network, expected, "{own} {project}");
        assert_eq!(sandbox.hide, [format!("~/{own}"), format!("~/{project}")], "both are hidden");
    }
    let mut typed = Layers::with(&[("project", "[sandbox]\nmode = \"strict\"\nnetwork = \"off\"")]);
    typed.flag("--sandbox", "off");
    typed.flag("--network", "open");
    let sandbox = typed.load().unwrap().settings.sandbox;
    assert_eq!((sandbox.mode, sandbox.network), (Mode::Off, NetworkRule::Open), "what is typed wins");
}

#[test]
fn a_project_hides_only_in_the_workspace_and_at_home() {
    let hide = |path: &str| format!("[sandbox]\nhide = [\"~/.keys\", \"{path}\"]\n");
    for path in ["/usr", "/etc/../usr", "/nonexistent", "/opt"] {
        for layer in ["project", "local"] {
            let loaded = Layers::with(&[(layer, &hide(path))]).load();
            assert_eq!(loaded.map_err(|problem| problem.code).err(), Some(Code::Config), "{layer}: {path}");
        }
    }
    assert!(Layers::with(&[("user", &hide("/usr"))]).load().is_ok());
    let problem = Layers::with(&[("project", &hide("/usr"))]).load().unwrap_err();
    assert!(
        problem.message.contains("ralph.toml:2: `sandbox.hide` contains \"/usr\", which lies outside"),
        "{}",
        problem.message
    );
    let layers = Layers::new();
    let inside = layers.workspace();
    std::fs::write(inside.join("file"), "").unwrap();
    for (name, accepted) in [("file", true), ("missing", true), ("file/below", false)] {
        let text = hide(&inside.join(name).to_string_lossy());
        std::fs::write(inside.join("ralph.toml"), text).unwrap();
        assert_eq!(layers.load().is_ok(), accepted, "{name}");
    }
}

#[test]
fn everything_else_is_the_users() {
    let keys = [
        "home = \"all\"",
        "readable = [\"/a\"]",
        "writable = [\"/a\"]",
        "hosts = [\"a.org\"]",
        "env = [\"A\"]",
        "processes = 0",
        "memory = \"0\"",
        "verify.network = \"open\"",
        "container.engine = \"docker\"",
        "container.image = \"a\"",
        "mode = \"container\"",
        "mode = \"off\"",
    ];
    for key in keys {
        let text = format!("[sandbox]\n{key}\n");
        for layer in ["project", "local"] {
            let problem = Layers::with(&[(layer, &text)]).load().unwrap_err();
            assert_eq!(problem.code, Code::Config, "{key}");
            assert!(problem.message.contains(".toml:2:"), "{key}: {}", problem.message);
        }
        assert!(Layers::with(&[("user", &text)]).load().is_ok(), "{key}");
    }
}

#[test]
fn resume_and_verify_have_the_flags_of_the_sandbox() {
    for name in super::SANDBOX_FLAGS {
        assert!(find(name).is_some_and(|key| key.flag.is_some()), "{name}");
    }
}

#[test]
fn a_resumed_run_heeds_the_variables_of_the_sandbox_alone() {
    let mut layers = Layers::new();
    layers.set("environment", find("sandbox.mode").unwrap(), "\"require\"");
    layers.set("environment", find("agent.model").unwrap(), "\"other\"");
    let settings = layers.load_resumed().unwrap().settings;
    assert_eq!((settings.sandbox.mode, settings.model), (Mode::Require, None));
}
