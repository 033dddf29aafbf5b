//! The real Claude Code and the real Codex inside ralph's sandbox, in every backend, for whoever runs the tests and for an
//! ordinary user; Goose, because its state lies elsewhere. A case fails where its backend cannot be had: none is skipped.

use crate::cases;
use crate::cli::Cli;
use crate::clis::{CLAUDE, CODEX, GOOSE};
use crate::place::{Place, User};
use crate::run::Done;
use crate::tests;
use ralph_testkit::Refused;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

#[path = "contained/review.rs"]
mod review;

/// A backend, and the kernel on which it is the first that works.
#[derive(Clone, Copy, Debug)]
enum Backend {
    Namespaces,
    Bwrap,
    Landlock,
}

/// A loopback address that programs do not reach by themselves: it is not listened on inside, and the proxy's exceptions do not
/// name it. Requests to it go through the gate, as those to a provider do.
const THROUGH_THE_GATE: &str = "127.0.0.2";

impl Backend {
    fn name(self) -> &'static str {
        match self {
            Backend::Namespaces => "namespaces",
            Backend::Bwrap => "bwrap",
            Backend::Landlock => "landlock",
        }
    }

    fn refused(self) -> Option<Refused> {
        match self {
            Backend::Namespaces => None,
            Backend::Bwrap => Some(Refused::Unshare),
            Backend::Landlock => Some(Refused::Namespaces),
        }
    }

    /// What it says of itself with this network.
    fn words(self, network: &str) -> String {
        let held = "files, protected paths, processes";
        match (self, network) {
            (Backend::Landlock, _) => "landlock (files; not protected paths, processes, network)".into(),
            (_, "hosts") => format!("{} ({held}; network limited to hosts)", self.name()),
            _ => format!("{} ({held}; network open)", self.name()),
        }
    }

    /// Whether what is written to the agent's state stays in a layer.
    fn has_layers(self) -> bool {
        !matches!(self, Backend::Landlock)
    }
}

/// A place whose runs are contained so.
fn place(cli: &'static Cli, scenario: &str, backend: Backend, network: &str, user: User) -> Place {
    let mut place = Place::of(cli, scenario, user);
    contain(&mut place, backend, network);
    place
}

fn contain(place: &mut Place, backend: Backend, network: &str) {
    // What the users have set themselves, and must find as it was.
    place.home_file(".claude/settings.json", "{\"env\":{\"OF_THE_USER\":\"1\"}}\n");
    place.home_file(".claude.json", "{\"numStartups\":3}\n");
    place.set("RALPH_SANDBOX", "auto");
    place.set("RALPH_NETWORK", network);
    place.refuse(backend.refused());
}

/// The files of the user's home directory.
fn home(place: &Place) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![place.root().join("home")];
    while let Some(dir) = open.pop() {
        for path in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            match path.is_dir() {
                true => open.push(path),
                false => drop(found.insert(path.clone(), fs::read(path).unwrap())),
            }
        }
    }
    found
}

/// The run was contained by this backend, and nothing it needed was refused.
#[track_caller]
fn was_contained(result: &Value, backend: Backend, network: &str, done: &Done) {
    assert_eq!(result["sandbox"], backend.words(network), "{}", done.story());
    let details = &result["details"]["sandbox"];
    assert_eq!(details["backend"], backend.name(), "{}", done.story());
    assert_eq!(details["hostsRefused"], json!([]), "{}", done.story());
}

/// A whole run in two calls: works with its own tools, is shown that verification failed, fixes it, is proven and booked.
fn works(cli: &'static Cli, backend: Backend, network: &str, user: User) {
    let place = place(cli, "work", backend, network, user);
    proven_and_unchanged(&place, cli, backend, network);
}

fn proven_and_unchanged(place: &Place, cli: &'static Cli, backend: Backend, network: &str) {
    let before = home(place);
    let (result, done) = cases::works_in(place, cli);
    was_contained(&result, backend, network, &done);
    if backend.has_layers() {
        assert_eq!(before.keys().collect::<Vec<_>>(), home(place).keys().collect::<Vec<_>>());
        assert!(before == home(place), "the user's files were written");
    }
}

/// The model is at an address that only the gate reaches.
fn reaches_its_model_through_the_gate(cli: &'static Cli, backend: Backend) {
    let mut place = Place::without_server_at(THROUGH_THE_GATE, cli, "work", User::Ordinary);
    place.start_server();
    contain(&mut place, backend, "hosts");
    proven_and_unchanged(&place, cli, backend, "hosts");
}

/// A hook and a login that the agent's tool writes to the agent's state: only the login reaches the real one.
fn plants_nothing_in_its_settings(cli: &'static Cli, backend: Backend, login: &str) {
    let place = place(cli, "planted", backend, "open", User::Ordinary);
    only_the_login_comes_back(&place, backend, login);
}

/// The same where a variable moves its state.
fn plants_nothing_in_its_moved_settings(backend: Backend) {
    let mut place = place(&CLAUDE, "planted", backend, "open", User::Ordinary);
    place.home_file(".claude-of-work/settings.json", "{}\n");
    place.set("CLAUDE_CONFIG_DIR", &place.root().join("home/.claude-of-work").display().to_string());
    only_the_login_comes_back(&place, backend, ".claude-of-work/.credentials.json");
}

fn only_the_login_comes_back(place: &Place, backend: Backend, login: &str) {
    let mut expected = home(place);
    let done = place.run(&[]);
    let result = done.ends(0, "gate_passed");
    was_contained(&result, backend, "open", &done);
    assert_eq!(place.read("planted"), "hook and login\n", "{}", done.story());
    expected.insert(place.root().join("home").join(login), b"{\"renewed\":true}\n".to_vec());
    let found = home(place);
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert!(found == expected, "the user's files were written");
}

/// ralph is killed while a tool runs inside; nobody is left, and the resumed run keeps its sandbox.
fn is_resumed_after_the_death_of_ralph(cli: &'static Cli, backend: Backend, network: &str) {
    let place = place(cli, "killed", backend, network, User::Ordinary);
    let mut live = place.start(&[]);
    live.awaits_file(&place.file("started"));
    live.kill();
    place.nobody_will_be_left();
    let done = place.resume();
    let result = done.ends(0, "gate_passed");
    was_contained(&result, backend, network, &done);
    assert_eq!(place.read("greeting.txt"), "hello\n");
}

/// Every backend and network, for both users.
macro_rules! every_backend {
    ($cli:expr) => {
        tests! {
            in_namespaces => works(&$cli, Backend::Namespaces, "open", User::Ours);
            in_namespaces_for_an_ordinary_user => works(&$cli, Backend::Namespaces, "open", User::Ordinary);
            in_namespaces_with_hosts => works(&$cli, Backend::Namespaces, "hosts", User::Ours);
            in_namespaces_with_hosts_for_an_ordinary_user =>
                works(&$cli, Backend::Namespaces, "hosts", User::Ordinary);
            in_bwrap => works(&$cli, Backend::Bwrap, "open", User::Ours);
            in_bwrap_for_an_ordinary_user => works(&$cli, Backend::Bwrap, "open", User::Ordinary);
            in_bwrap_with_hosts => works(&$cli, Backend::Bwrap, "hosts", User::Ours);
            in_bwrap_with_hosts_for_an_ordinary_user => works(&$cli, Backend::Bwrap, "hosts", User::Ordinary);
            in_landlock => works(&$cli, Backend::Landlock, "open", User::Ours);
            in_landlock_for_an_ordinary_user => works(&$cli, Backend::Landlock, "open", User::Ordinary);
            through_the_gate_of_namespaces => reaches_its_model_through_the_gate(&$cli, Backend::Namespaces);
            through_the_gate_of_bwrap => reaches_its_model_through_the_gate(&$cli, Backend::Bwrap);
            is_resumed_in_namespaces =>
                is_resumed_after_the_death_of_ralph(&$cli, Backend::Namespaces, "hosts");
            is_resumed_in_bwrap => is_resumed_after_the_death_of_ralph(&$cli, Backend::Bwrap, "hosts");
            is_resumed_in_landlock => is_resumed_after_the_death_of_ralph(&$cli, Backend::Landlock, "open");
        }
    };
}

mod claude {
    use super::*;
    every_backend!(CLAUDE);
    tests! {
        plants_nothing_in_namespaces =>
            plants_nothing_in_its_settings(&CLAUDE, Backend::Namespaces, ".claude/.credentials.json");
        plants_nothing_in_bwrap =>
            plants_nothing_in_its_settings(&CLAUDE, Backend::Bwrap, ".claude/.credentials.json");
        plants_nothing_where_its_state_was_moved => plants_nothing_in_its_moved_settings(Backend::Namespaces);
    }
}

mod codex {
    use super::*;
    every_backend!(CODEX);
    tests! {
        plants_nothing_in_namespaces =>
            plants_nothing_in_its_settings(&CODEX, Backend::Namespaces, ".codex/auth.json");
        plants_nothing_in_bwrap => plants_nothing_in_its_settings(&CODEX, Backend::Bwrap, ".codex/auth.json");
    }
}

/// Its state lies outside of the home directory, and it makes the directories itself.
mod goose {
    use super::*;
    tests! {
        in_namespaces_with_hosts => works(&GOOSE, Backend::Namespaces, "hosts", User::Ordinary);
        in_bwrap_with_hosts => works(&GOOSE, Backend::Bwrap, "hosts", User::Ordinary);
        in_landlock => works(&GOOSE, Backend::Landlock, "open", User::Ordinary);
    }
}
