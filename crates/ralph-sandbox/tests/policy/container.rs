//! What a container gets of the user's surroundings.

use crate::surroundings::{Seen, claude, facts, seen, strings};
use ralph_sandbox::policy::{Facts, Mode, Settings, plan_for_agent};
use ralph_sandbox::{Backend, Container, ContainerEngine, ContainerUser};

fn in_container() -> (Facts, Settings) {
    let container = Container {
        engine: ContainerEngine::Podman,
        program: "/usr/bin/podman".into(),
        image: "localhost/dev".into(),
        user: ContainerUser::KeepId,
        env: vec![],
        labels: vec![],
        layers: true,
        filter: None,
    };
    let facts = Facts { backend: Backend::Container(container), ..facts() };
    let opened = strings(&["/home/u/shared", "/run/open.sock"]);
    (facts, Settings { mode: Mode::Container, readable: opened, ..Settings::default() })
}

#[test]
fn home_is_empty_but_for_caches_the_agents_state_and_what_is_opened() {
    let (facts, settings) = in_container();
    let planned = plan_for_agent(&facts, &settings, &claude());
    for (path, expected) in [
        ("/home/u/.bashrc", Seen::Gone),
        ("/home/u/.cargo/bin/cargo", Seen::Gone),
        ("/home/u/bin/tool", Seen::Gone),
        ("/home/u/.ssh/id_ed25519", Seen::Gone),
        ("/home/u/.cargo/registry/index", Seen::Kept),
        ("/home/u/.claude/settings.json", Seen::Kept),
        ("/home/u/shared/file", Seen::ReadOnly),
    ] {
        assert_eq!(seen(&planned, path), expected, "{path}");
    }
}

#[test]
fn a_container_gets_variables_by_name_and_the_engine_keeps_its_own() {
    let (mut facts, settings) = in_container();
    let settings = Settings { env: strings(&["ASKED_HOME"]), ..settings };
    let workspace = facts.workspace.join("lib").display().to_string();
    facts.env = [
        ("PATH", "/usr/bin"),
        ("HOME", "/home/u"),
        ("LANG", "C"),
        ("RALPH_RUN", "1"),
        ("CARGO_HOME", "/home/u/.cargo"),
        ("JAVA_HOME", "/opt/java"),
        ("ASKED_HOME", "/opt/asked"),
        ("PYTHONPATH", &workspace),
        ("NODE_PATH", &format!("{workspace}:/usr/lib/node")),
        ("OPEN_SOCK", "/run/open.sock"),
        ("GH_TOKEN", "ghp_abcdef0123456789"),
        ("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef"),
        ("XDG_RUNTIME_DIR", "/run/user/1000"),
        ("DOCKER_HOST", "unix:///run/docker.sock"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    let planned = plan_for_agent(&facts, &settings, &claude());
    let Backend::Container(container) = &planned.plan.backend else { panic!("{:?}", planned.plan.backend) };
    let passed: Vec<&str> =
        container.env.iter().map(String::as_str).filter(|it| !it.starts_with("GIT_")).collect();
    assert_eq!(
        passed,
        ["ANTHROPIC_API_KEY", "ASKED_HOME", "HOME", "LANG", "OPEN_SOCK", "PYTHONPATH", "RALPH_RUN", "TMPDIR"]
    );
    // The process that runs the engine.
    let outside = planned.env.apply(&facts.env);
    let has = |name: &str| outside.contains_key(name);
    assert!(has("XDG_RUNTIME_DIR") && has("DOCKER_HOST") && has("PATH") && !has("GH_TOKEN"));
    assert_eq!(planned.withheld, ["DOCKER_HOST", "GH_TOKEN", "XDG_RUNTIME_DIR"]);
}
