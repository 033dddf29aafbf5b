//! What holds for every agent in the list: its table entry is complete, its command line keeps the rules, and its
//! output is recognized. A new agent that forgets one of these fails here.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::disallowed_methods)] // tests read files

mod support;

use ralph_agents::detect::whose;
use ralph_agents::registry::{AGENTS, find, name_list};
use ralph_agents::{AgentInfo, Call, Detect, Package, PromptVia, ReaderEvent, Tier};
use std::collections::BTreeSet;
use support::{captures, recorded};

/// A call with everything set.
fn full_call() -> Call {
    Call {
        prompt: "do the work".into(),
        system: "be brief".into(),
        model: Some("chosen-model".into()),
        scratch: "/run/call".into(),
        args: vec!["--own".into(), "argument".into()],
        ..Call::default()
    }
}

/// Agents that are programs of their own.
fn programs() -> impl Iterator<Item = &'static &'static AgentInfo> {
    AGENTS.iter().filter(|info| info.program.is_some())
}

#[test]
fn every_entry_is_complete() {
    let mut names = BTreeSet::new();
    for info in AGENTS {
        let name = info.name;
        assert!(names.insert(name), "{name} is in the list twice");
        assert!(std::ptr::eq(find(name).unwrap(), *info));
        for (field, text) in [
            ("title", info.title),
            ("tried", info.tried),
            ("output", info.output),
            ("permissions.summary", info.permissions.summary),
            ("model.reported", info.model.reported),
        ] {
            assert!(!text.trim().is_empty(), "{name} has no {field}");
        }
        assert!(!info.version_args.is_empty(), "{name}");
        assert!(name_list().split(", ").any(|listed| listed == name), "{name}");
    }
}

#[test]
fn every_program_says_what_doctor_and_a_sandbox_need() {
    for info in programs() {
        let name = info.name;
        assert!(matches!(info.package, Package::Npm(_) | Package::Pip(_)), "{name} cannot be installed");
        assert!(
            !info.credentials.env.is_empty() && !info.credentials.files.is_empty(),
            "{name}: credentials"
        );
        assert!(!info.state_dirs.is_empty(), "{name}: state directories");
        assert!(info.any_provider || !info.hosts.is_empty(), "{name}: hosts");
        assert!(!info.model.flags.is_empty(), "{name}: a model cannot be chosen");
        for path in info.state_dirs.iter().chain(info.credentials.files) {
            assert!(!path.starts_with(['/', '~']) && !path.ends_with('/'), "{name}: {path}");
        }
        for host in info.hosts {
            let plain = host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'));
            assert!(plain && host.contains('.'), "{name}: {host}");
        }
        let kept = |file: &&str| info.state_dirs.iter().any(|dir| file.starts_with(dir)) || *file == ".env";
        assert!(info.credentials.files.iter().all(kept), "{name}: credentials outside its state");
    }
}

#[test]
fn every_command_line_keeps_the_rules() {
    for info in AGENTS {
        let (name, call) = (info.name, full_call());
        let launch = info.launch(&call);
        if info.name != "command" {
            assert!(launch.args.ends_with(&call.args), "{name}: the user's arguments come last");
        }
        let given = |args: &[&str]| launch.args.windows(args.len()).any(|window| window == args);
        for permission in info.permissions.defaults {
            assert!(given(permission.args), "{name}: {:?}", permission.args);
            for own in permission.unless {
                let call = Call { args: vec![format!("{own}x=1"), (*own).to_owned()], ..full_call() };
                let args = info.launch(&call).args;
                let ours = args.windows(permission.args.len()).any(|window| window == permission.args);
                assert!(!ours || permission.args == [*own], "{name}: {own} decides");
            }
        }
        if let Some(flag) = info.model.flags.first() {
            assert!(given(&[flag, "chosen-model"]), "{name}: the model");
            for own in info.model.flags {
                let call = Call { args: vec![(*own).to_owned(), "mine".into()], ..full_call() };
                let args = info.launch(&call).args;
                assert!(!args.contains(&"chosen-model".to_owned()), "{name}: {own} decides");
            }
        }
    }
}

#[test]
fn a_contained_call_leaves_the_decision_to_the_sandbox() {
    for info in AGENTS {
        let (name, contained) = (info.name, &info.contained);
        let given = |args: &[String]| {
            !contained.args.is_empty()
                && args.windows(contained.args.len()).any(|window| window == contained.args)
        };
        let outside = info.launch(&full_call());
        assert!(!given(&outside.args), "{name}: never outside a sandbox");
        assert!(contained.env.iter().all(|(own, _)| outside.env.iter().all(|(set, _)| set != own)), "{name}");
        let inside = info.launch(&Call { contained: true, ..full_call() });
        assert_eq!(given(&inside.args), !contained.args.is_empty(), "{name}");
        for (own, value) in contained.env {
            assert!(inside.env.contains(&((*own).to_owned(), (*value).to_owned())), "{name}: {own}");
        }
        for permission in info.permissions.defaults.iter().filter(|_| !contained.args.is_empty()) {
            let ours = inside.args.windows(permission.args.len()).any(|window| window == permission.args);
            assert!(!ours, "{name}: {:?} beside {:?}", permission.args, contained.args);
        }
        for own in contained.unless {
            let args = vec![format!("{own}x"), (*own).to_owned()];
            let inside = info.launch(&Call { contained: true, args: args.clone(), ..full_call() }).args;
            let outside = info.launch(&Call { args, ..full_call() }).args;
            assert_eq!(inside, outside, "{name}: {own} decides");
        }
    }
}

#[test]
fn a_contained_call_that_only_looks_keeps_a_mode_that_works_there() {
    let line = |name: &str| {
        let call = Call { contained: true, read_only: true, ..full_call() };
        find(name).unwrap().launch(&call).args.join(" ")
    };
    assert!(line("claude").contains("--allowedTools Read,") && !line("claude").contains("--dangerously"));
    assert!(line("codex").contains("--dangerously-bypass-approvals-and-sandbox"));
    assert!(!line("codex").contains("--sandbox"));
    assert!(line("gemini").contains("--approval-mode yolo"));
}

#[test]
fn only_credentials_are_brought_back() {
    let settings = ["config.toml", "settings.json", "config.json", "config.yaml", ".claude.json", ".env"];
    for info in AGENTS {
        let name = info.name;
        for file in info.contained.brought_back {
            assert!(info.credentials.files.contains(file), "{name}: {file} is not a credential");
            assert!(settings.iter().all(|own| !file.ends_with(own)), "{name}: {file} can name programs");
            assert!(info.state_dirs.iter().any(|dir| file.starts_with(&format!("{dir}/"))), "{name}: {file}");
        }
        let passed = info.contained.passed.iter().flat_map(|passed| passed.names);
        for variable in passed.chain(info.contained.base_url_env) {
            let plain = variable.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
            assert!(plain, "{name}: {variable}");
        }
    }
}

#[test]
fn every_prompt_goes_the_way_the_entry_says_and_stdin_is_closed() {
    for info in AGENTS {
        let (name, call) = (info.name, full_call());
        let launch = info.launch(&call);
        let mut events = Vec::new();
        info.reader(&call).start(&mut events);
        assert_eq!(events.pop(), Some(ReaderEvent::CloseStdin), "{name}");
        let sent = events == [ReaderEvent::Send(b"do the work".to_vec())];
        let in_args = launch.args.iter().any(|arg| arg.contains("do the work"));
        let in_file = launch.files.iter().any(|(_, bytes)| bytes == b"do the work");
        let ways = (sent, in_args, in_file);
        match info.prompt {
            PromptVia::Stdin => assert_eq!(ways, (true, false, false), "{name}"),
            PromptVia::File => assert_eq!(ways, (false, false, true), "{name}"),
            PromptVia::Argument => {
                assert_eq!(ways, (false, true, false), "{name}");
                let long = Call { prompt: "x".repeat(1 << 20), ..full_call() };
                let launch = info.launch(&long);
                assert!(launch.args.iter().all(|arg| arg.len() < 1000), "{name}: too long an argument");
                assert_eq!(launch.files[0].1.len(), 1 << 20, "{name}");
            }
        }
    }
}

#[test]
fn every_program_is_recognized_by_its_output() {
    let recorded = recorded();
    for info in programs() {
        assert!(recorded.contains(&info.name), "{} was never recorded", info.name);
        assert!(!matches!(info.detect, Detect::Never), "{}", info.name);
        let good = captures(info.name).into_iter().find(|c| c.case.as_deref() == Some("success")).unwrap();
        assert_eq!(whose(&good.stdout), info.name, "{}", good.file);
    }
}

#[test]
fn the_live_tests_install_what_the_entries_say() {
    let table = include_str!("../../../tools/agents.tsv");
    let rows: Vec<Vec<&str>> =
        table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect();
    for info in programs() {
        let row = rows.iter().find(|row| row[0] == info.name);
        let tier = match row.map(|row| row[3]) {
            Some("first") => Tier::First,
            Some(_) => Tier::Second,
            None => Tier::Recorded,
        };
        assert_eq!(tier, info.tier, "{}", info.name);
        assert!(row.is_none_or(|row| info.package == Package::Npm(row[1])), "{}", info.name);
    }
    for row in rows.iter().filter(|row| row[0] != "node") {
        assert!(find(row[0]).is_ok(), "{} is no agent", row[0]);
    }
}
