//! Tampering scenarios as data (`tamper/*.txt`): the real binary, an agent that does what the scenario says, and the
//! whole workspace compared before and after. Run as whoever runs the tests and, as root, once more as an ordinary user.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "tamper/honest_actions.rs"]
mod honest_actions;
#[path = "tamper/hostile_places.rs"]
mod hostile_places;
#[path = "tamper/place.rs"]
mod place;
#[path = "tamper/scenario.rs"]
mod scenario;

use place::{Place, Who};
use scenario::{Scenario, read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const FILES: &str = include_str!("tamper/files.txt");
const GIT: &str = include_str!("tamper/git.txt");
const OBJECTS: &str = include_str!("tamper/objects.txt");
const AROUND: &str = include_str!("tamper/around.txt");
const HONEST: &str = include_str!("tamper/honest.txt");

/// Every scenario, several at a time; all that went wrong is told at once.
fn all(text: &str, who: Who) {
    let only = std::env::var("RALPH_SCENARIO").unwrap_or_default();
    let scenarios: Vec<Scenario> =
        read(text).into_iter().filter(|s| s.is_for(who) && s.name.contains(&only)).collect();
    assert!(!scenarios.is_empty());
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(why) = Place::new(who).play(scenario) {
                        wrong.lock().unwrap().push(format!("{}: {why}", scenario.name));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), scenarios.len(), wrong.join("\n"));
}

#[test]
fn files_are_found_touched_and_put_back() {
    all(FILES, Who::Myself);
}

#[test]
fn git_cannot_be_used_to_get_round_it() {
    all(GIT, Who::Myself);
}

#[test]
fn deleted_objects_are_found() {
    all(OBJECTS, Who::Myself);
}

#[test]
fn what_lies_around_a_subdirectory_is_protected() {
    all(AROUND, Who::Myself);
}

#[test]
fn honest_work_is_let_be() {
    all(HONEST, Who::Myself);
}

#[test]
fn files_of_an_ordinary_user() {
    if let Some(who) = Who::somebody() {
        all(FILES, who);
    }
}

#[test]
fn git_of_an_ordinary_user() {
    if let Some(who) = Who::somebody() {
        all(GIT, who);
    }
}

#[test]
fn deleted_objects_of_an_ordinary_user() {
    if let Some(who) = Who::somebody() {
        all(OBJECTS, who);
    }
}

#[test]
fn around_the_subdirectory_of_an_ordinary_user() {
    if let Some(who) = Who::somebody() {
        all(AROUND, who);
    }
}

#[test]
fn honest_work_of_an_ordinary_user() {
    if let Some(who) = Who::somebody() {
        all(HONEST, who);
    }
}

#[test]
fn honest_actions_do_not_end_a_run() {
    honest_actions::all(Who::Myself);
}

#[test]
fn honest_actions_of_an_ordinary_user_do_not_either() {
    if let Some(who) = Who::somebody() {
        honest_actions::all(who);
    }
}

#[test]
fn nothing_waits_on_what_an_agent_puts_in_the_place_of_a_file() {
    hostile_places::all(Who::Myself);
}

#[test]
fn nothing_waits_for_an_ordinary_user_either() {
    if let Some(who) = Who::somebody() {
        hostile_places::all(who);
    }
}

#[test]
fn there_are_enough_of_them() {
    assert!(honest_actions::count() >= 60, "{}", honest_actions::count());
    let (rows, places) = hostile_places::count();
    assert!(rows >= 120 && places >= 40, "{rows} things at {places} places");
    let names: Vec<String> =
        [FILES, GIT, OBJECTS, AROUND].iter().flat_map(|text| read(text)).map(|s| s.name).collect();
    let distinct: std::collections::BTreeSet<&String> = names.iter().collect();
    assert!(names.len() >= 80 && distinct.len() == names.len(), "{}", names.len());
}
