//! Which socket files are hidden.

use crate::surroundings::{Seen, claude, facts, paths, seen, strings};
use ralph_sandbox::policy::{Facts, HomeView, Settings, plan_for_agent};
use ralph_sandbox::{Backend, Mount};

const DOCKER: &str = "/home/u/.docker/run/docker.sock";
const SOCKETS: &[&str] = &[
    DOCKER,
    "/home/u/.gnupg/S.gpg-agent",
    "/home/u/Documents/s",
    "/home/u/.claude/s",
    "/home/u/projects/shop/s",
    "/run/user/1000/bus",
    "/var/lib/mysql/mysql.sock",
];

fn with_sockets() -> Facts {
    Facts { sockets: paths(SOCKETS), ..facts() }
}

fn hidden(facts: &Facts, settings: &Settings) -> Vec<String> {
    let planned = plan_for_agent(facts, settings, &claude());
    let mounts = planned.plan.mounts.into_iter().filter_map(|mount| match mount {
        Mount::Hide(at) => Some(at.display().to_string()),
        _ => None,
    });
    mounts.filter(|at| SOCKETS.contains(&at.as_str())).collect()
}

#[test]
fn sockets_that_would_be_seen_are_hidden() {
    let planned = plan_for_agent(&with_sockets(), &Settings::default(), &claude());
    assert_eq!(seen(&planned, DOCKER), Seen::Hidden);
    // The others lie in directories that are hidden anyway.
    assert_eq!(
        hidden(&with_sockets(), &Settings::default()),
        [DOCKER, "/home/u/.claude/s", "/home/u/projects/shop/s", "/var/lib/mysql/mysql.sock"]
    );
    let all = Settings { home: HomeView::All, ..Settings::default() };
    assert!(hidden(&with_sockets(), &all).contains(&"/home/u/Documents/s".to_owned()));
    let landlock = Facts { backend: Backend::Landlock, ..with_sockets() };
    assert_eq!(hidden(&landlock, &Settings::default()), [""; 0], "it would change nothing there");
}

#[test]
fn a_socket_that_is_named_is_reached_and_one_beside_it_is_not() {
    for settings in [
        Settings { readable: strings(&["~/.docker/run/docker.sock"]), ..Settings::default() },
        Settings { writable: strings(&["/home/u/.docker/run/docker.sock"]), ..Settings::default() },
    ] {
        assert!(!hidden(&with_sockets(), &settings).contains(&DOCKER.to_owned()), "{settings:?}");
    }
    let directory = Settings { writable: strings(&["~/.docker"]), ..Settings::default() };
    assert!(hidden(&with_sockets(), &directory).contains(&DOCKER.to_owned()), "only the directory is named");
}

#[test]
fn a_home_directory_that_is_the_workspace_keeps_its_sockets_hidden() {
    let facts = Facts { workspace: "/home/u".into(), ..with_sockets() };
    assert!(hidden(&facts, &Settings::default()).contains(&DOCKER.to_owned()));
}
