//! Variables, network and limits.

use crate::surroundings::{claude, entries, facts, link, paths, strings};
use ralph_sandbox::policy::{
    Facts, GIT_FILE, GitConfig, Mode, NetworkRule, Planned, Settings, VerifyNetwork, plan_for_agent,
    plan_for_verification,
};
use ralph_sandbox::{Backend, Mount, Network};
use std::collections::BTreeMap;
use std::path::Path;

/// Variable and value; whether an agent gets it, an agent in the mode strict, a verification.
const VARIABLES: &[(&str, &str, [bool; 3])] = &[
    ("PATH", "/usr/bin", [true, true, true]),
    ("HOME", "/home/u", [true, true, true]),
    ("LC_ALL", "C", [true, true, true]),
    ("CARGO_HOME", "/home/u/.cargo", [true, true, true]),
    ("JAVA_HOME", "/opt/java", [true, true, true]),
    ("RALPH_RUN", "1", [true, true, true]),
    ("MY_SETTING", "blue", [true, false, true]),
    ("MAX_TOKENS", "64000", [true, false, true]),
    ("TOKENIZERS_PARALLELISM", "false", [true, false, true]),
    ("GH_TOKEN", "ghp_abcdef0123456789", [false, false, false]),
    ("DB_PASSWORD", "hunter", [false, false, false]),
    ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG", [false, false, false]),
    ("DATABASE_URL", "postgres://app:s3cr3t-pass@db/main", [false, false, false]),
    ("SHORT_URL", "amqp://app:rabbit@queue.example.org/", [false, false, false]),
    ("LOCAL_URL", "postgres://postgres:postgres@localhost:5432/test", [true, false, true]),
    ("OPEN_URL", "https://registry.example.org/", [true, false, true]),
    ("JDBC_URL", "jdbc:postgresql://db.example.org/main?user=app&password=rabbit", [false, false, false]),
    ("LOCAL_JDBC", "jdbc:postgresql://localhost/test?user=postgres&password=postgres", [true, false, true]),
    ("CHAT_WEBHOOK_URL", "https://chat.example.org/hooks/T1/abcdef", [false, false, false]),
    ("SITE_SESSION", "53616c7465645f5f", [false, false, false]),
    ("STORAGE_CONNECTION_STRING", "AccountName=a;AccountKey=abcdef0123==", [false, false, false]),
    ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/credentials/1", [false, false, false]),
    ("JAVA_TOOL_OPTIONS", "-Djavax.net.ssl.trustStorePassword=changeit", [true, true, true]),
    ("WITH_KEY", "xoxb-0123456789-abcdefghijkl0123", [false, false, false]),
    ("ASKED_WITH_KEY", "xoxb-0123456789-abcdefghijkl0123", [true, true, true]),
    ("ASKED_TOKEN", "abcdef0123456789", [true, true, true]),
    ("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef", [true, true, false]),
    ("ANTHROPIC_BASE_URL", "http://127.0.0.1:8080", [true, true, false]),
    ("OPENAI_API_KEY", "sk-0123456789abcdef", [false, false, false]),
    ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "8192", [true, true, true]),
    ("GOOGLE_APPLICATION_CREDENTIALS", "/home/u/key.json", [true, true, true]),
    ("SSH_AUTH_SOCK", "/run/user/1000/ssh.sock", [false, false, false]),
    ("OPEN_SOCK", "/run/open.sock", [true, false, true]),
    ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus", [false, false, false]),
    ("DOCKER_HOST", "unix:///run/docker.sock", [false, false, false]),
    ("DISPLAY", ":0", [false, false, false]),
    ("WAYLAND_DISPLAY", "wayland-0", [false, false, false]),
    ("XDG_RUNTIME_DIR", "/run/user/1000", [false, false, false]),
    ("TMUX", "/tmp/tmux-1000/default,1,0", [false, false, false]),
    ("VSCODE_IPC_HOOK_CLI", "/run/x", [false, false, false]),
    ("TMPDIR", "/elsewhere", [true, true, true]),
    ("TEMP", "/elsewhere", [false, false, false]),
];

/// Which of these variables a program gets.
fn got<'a>(planned: &Planned, env: &BTreeMap<String, String>, asked: &[&'a str]) -> Vec<&'a str> {
    let env = planned.env.apply(env);
    asked.iter().copied().filter(|name| env.contains_key(*name)).collect()
}

#[test]
fn which_variables_are_passed_on() {
    let env: BTreeMap<String, String> =
        VARIABLES.iter().map(|(name, value, _)| ((*name).to_owned(), (*value).to_owned())).collect();
    let variables_with_keys = strings(&["WITH_KEY", "ASKED_WITH_KEY", "ANTHROPIC_API_KEY"]);
    let facts = Facts { env: env.clone(), variables_with_keys, ..facts() };
    let ordinary = Settings {
        env: strings(&["ASKED_TOKEN", "ASKED_WITH_KEY"]),
        readable: strings(&["/run/open.sock"]),
        ..Settings::default()
    };
    let strict = Settings { mode: Mode::Strict, ..ordinary.clone() };
    let planned = [
        plan_for_agent(&facts, &ordinary, &claude()),
        plan_for_agent(&facts, &strict, &claude()),
        plan_for_verification(&facts, &ordinary),
    ];
    for (n, planned) in planned.iter().enumerate() {
        for (name, _, expected) in VARIABLES {
            assert_eq!(!got(planned, &env, &[name]).is_empty(), expected[n], "{name} in column {n}");
        }
        assert!(planned.withheld.contains(&"GH_TOKEN".to_owned()));
        assert!(!planned.withheld.contains(&"TMPDIR".to_owned()));
        assert_eq!(planned.env.apply(&env)["TMPDIR"], "/tmp");
    }
}

#[test]
fn git_signs_nothing_and_keeps_the_users_settings() {
    let mut facts = facts();
    facts.env.insert("GIT_CONFIG_COUNT".into(), "1".into());
    facts.env.insert("GIT_CONFIG_KEY_0".into(), "user.name".into());
    facts.env.insert("GIT_CONFIG_VALUE_0".into(), "A B".into());
    for mode in [Mode::Auto, Mode::Strict] {
        let settings = Settings { mode, ..Settings::default() };
        let env = plan_for_agent(&facts, &settings, &claude()).env.apply(&facts.env);
        assert_eq!((env["GIT_CONFIG_COUNT"].as_str(), env["GIT_CONFIG_KEY_0"].as_str()), ("3", "user.name"));
        assert_eq!(
            (env["GIT_CONFIG_KEY_1"].as_str(), env["GIT_CONFIG_VALUE_1"].as_str()),
            ("commit.gpgsign", "false")
        );
    }
}

fn config(file: &str, settings: &[(&str, &str)]) -> GitConfig {
    let settings = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    GitConfig { file: file.into(), settings }
}

/// The file that git is told to read, and what it says: the lines that are no section.
fn told(facts: &Facts, settings: &Settings) -> Option<Vec<String>> {
    let planned = plan_for_agent(facts, settings, &claude());
    let env = planned.env.apply(&facts.env);
    let tmp = if facts.backend == Backend::Landlock { facts.tmp.to_str().unwrap() } else { "/tmp" };
    let read = planned.git_file.as_ref().map(|_| format!("{tmp}/{GIT_FILE}"));
    assert_eq!(env.get("GIT_CONFIG_GLOBAL"), read.as_ref());
    assert_eq!(env["GIT_CONFIG_COUNT"], "2", "variables outrank what a repository says");
    let lines = |text: &String| {
        text.lines().filter(|line| line.starts_with('\t')).map(|line| line.trim().to_owned()).collect()
    };
    planned.git_file.as_ref().map(lines)
}

#[test]
fn git_is_told_the_harmless_settings_of_a_file_that_is_hidden() {
    let (dotted, moved) = ("/home/u/.gitconfig", "/home/u/.config/git/config");
    let me = [("user.name", "Ada \"A\""), ("user.email", "ada@example.org"), ("init.defaultbranch", "main")];
    let all = ["name = \"Ada \\\"A\\\"\"", "email = \"ada@example.org\"", "defaultbranch = \"main\""];
    let path = |file: &str| format!("path = \"{file}\"");
    let include = |file: &str, rest: &[&str]| -> Vec<String> {
        std::iter::once(path(file)).chain(rest.iter().map(|line| (*line).to_owned())).collect()
    };
    let both = [config(moved, &[("user.name", "Old")]), config(dotted, &me)];
    for (configs, hidden, expected, landlock) in [
        (vec![config(dotted, &me)], vec![], None, None),
        (vec![config(dotted, &me)], vec![dotted], Some(strings(&all)), Some(strings(&all))),
        (both.to_vec(), vec![dotted], Some(include(moved, &all)), Some(include(moved, &all))),
        (both.to_vec(), vec![moved], None, Some(include(dotted, &[]))),
        (both.to_vec(), vec![moved, dotted], Some(strings(&all)), Some(strings(&all))),
    ] {
        let mut facts = Facts { git_configs: configs, with_credentials: paths(&hidden), ..facts() };
        assert_eq!(told(&facts, &Settings::default()), expected, "{hidden:?}");
        facts.backend = Backend::Landlock;
        assert_eq!(told(&facts, &Settings::default()), landlock, "{hidden:?}");
    }
}

#[test]
fn git_is_told_its_settings_where_a_link_leads_to_a_hidden_file() {
    let file = config("/home/u/.gitconfig", &[("user.name", "Ada")]);
    let mut facts = Facts { git_configs: vec![file], ..facts() };
    facts.listings.get_mut(Path::new("/home/u")).unwrap().extend(entries(&["dotfiles/"]));
    let mut told = |to: &str, settings: &Settings| {
        facts.links = vec![link(".gitconfig", to)];
        told(&facts, settings).is_some()
    };
    assert!(!told("dotfiles/gitconfig", &Settings::default()), "it is seen");
    assert!(told("dotfiles/.ssh/gitconfig", &Settings::default()));
    let hide = Settings { hide: strings(&["~/dotfiles"]), ..Settings::default() };
    assert!(told("dotfiles/gitconfig", &hide));
    assert!(!told("dotfiles/gitconfig", &Settings { mode: Mode::Strict, ..Settings::default() }));
}

#[test]
fn logins_in_settings_for_git_are_withheld_with_all_of_them() {
    let mut facts = facts();
    for (name, value) in [
        ("GIT_CONFIG_COUNT", "2"),
        ("GIT_CONFIG_KEY_0", "user.name"),
        ("GIT_CONFIG_VALUE_0", "A B"),
        ("GIT_CONFIG_KEY_1", "http.https://github.com/.extraHeader"),
        ("GIT_CONFIG_VALUE_1", "Authorization: Basic eDp5"),
    ] {
        facts.env.insert(name.into(), value.into());
    }
    let env = plan_for_agent(&facts, &Settings::default(), &claude()).env.apply(&facts.env);
    assert_eq!((env["GIT_CONFIG_COUNT"].as_str(), env["GIT_CONFIG_KEY_0"].as_str()), ("2", "commit.gpgsign"));
    assert!(env.values().all(|value| !value.contains("Basic")), "{env:?}");
}

#[test]
fn what_of_the_network_is_reached() {
    let mut facts = facts();
    facts.env.insert("ANTHROPIC_BASE_URL".into(), "http://127.0.0.1:8080/ok".into());
    let settings = |mode, network, verify_network| Settings {
        mode,
        network,
        verify_network,
        hosts: strings(&["*.crates.io", "localhost:5432"]),
        ..Settings::default()
    };
    let all = Network::Gate { forward: vec![5432, 8080] };
    let named = Network::Gate { forward: vec![5432] };
    use NetworkRule::{Hosts, Off, Open};
    use VerifyNetwork::{Is, Same};
    for (settings, agent, verification) in [
        (settings(Mode::Auto, Open, Same), Network::Open, Network::Open),
        (settings(Mode::Auto, Hosts, Same), all.clone(), named.clone()),
        (settings(Mode::Require, Hosts, Is(Off)), all.clone(), Network::Off),
        (settings(Mode::Auto, Open, Is(Hosts)), Network::Open, named.clone()),
        (settings(Mode::Auto, Off, Same), Network::Off, Network::Off),
        (settings(Mode::Strict, Open, Same), all.clone(), Network::Off),
    ] {
        let (by_agent, by_check) =
            (plan_for_agent(&facts, &settings, &claude()), plan_for_verification(&facts, &settings));
        assert_eq!((&by_agent.plan.network, &by_check.plan.network), (&agent, &verification), "{settings:?}");
        if agent == all {
            let hosts = ["*.crates.io", "127.0.0.1:8080", "api.anthropic.com", "localhost:5432"];
            assert_eq!(by_agent.hosts, hosts);
        }
        if verification == named {
            assert_eq!(by_check.hosts, ["*.crates.io", "localhost:5432"], "without the agent's");
        }
    }
}

#[test]
fn a_service_in_the_agents_settings_is_reached_and_gets_its_key() {
    let mut facts = facts();
    facts.env.insert("SERVICE_KEY".into(), "key-0123456789".into());
    facts.agent_variables.push("SERVICE_KEY".into());
    let settings = Settings { network: NetworkRule::Hosts, ..Settings::default() };
    let mut needs = claude();
    needs.env.push("SERVICE_KEY".into());
    needs.addresses =
        strings(&["http://127.0.0.1:9000/v1", "https://models.example.org/v1", "http://127.1", "${ADDRESS}"]);
    let by_agent = plan_for_agent(&facts, &settings, &needs);
    assert_eq!(by_agent.plan.network, Network::Gate { forward: vec![9000] });
    // What the gate cannot read must not keep the call from starting.
    assert_eq!(by_agent.hosts, ["127.0.0.1:9000", "api.anthropic.com", "models.example.org:443"]);
    assert_eq!(by_agent.env.apply(&facts.env)["SERVICE_KEY"], "key-0123456789");
    let by_check = plan_for_verification(&facts, &settings);
    assert!(by_check.hosts.is_empty() && !by_check.env.apply(&facts.env).contains_key("SERVICE_KEY"));
}

#[test]
fn limits_and_namespaces_follow_the_settings() {
    for (mode, nested) in [(Mode::Auto, true), (Mode::Require, true), (Mode::Strict, false)] {
        let settings = Settings { mode, processes: 7, memory: 1 << 20, ..Settings::default() };
        let plan = plan_for_agent(&facts(), &settings, &claude()).plan;
        assert_eq!((plan.nested, plan.processes, plan.memory), (nested, 7, 1 << 20), "{mode:?}");
        let home = plan.mounts.contains(&Mount::Empty("/home/u".into()));
        assert_eq!(home, mode == Mode::Strict);
    }
}
