//! The second net: processes found and killed by the tag in their environment.

use std::process::Command;

use crate::common::{NO_ORPHANS, TAG, alive, eventually, run_and, shell, tag, tagged};
use ralph_testkit::skip;

/// A process that is nobody's child any more.
fn orphan(value: &str) {
    let started = Command::new("setsid").args(["-f", "sleep", "300"]).env(TAG, value).status().unwrap();
    assert!(started.success());
}

#[test]
fn a_sweep_kills_exactly_those_with_the_tag() {
    if !ralph_os::ADOPTS {
        return skip(NO_ORPHANS);
    }
    let (ours, other) = (tag(), format!("{}-other", tag()));
    for value in [&ours, &ours, &other] {
        orphan(value);
    }
    eventually("all run", || alive(&ours).len() == 2 && alive(&other).len() == 1);
    assert_eq!(ralph_supervisor::find(TAG, &ours).len(), 2);
    assert_eq!(ralph_supervisor::sweep(TAG, &ours), 2);
    assert_eq!((alive(&ours).len(), alive(&other).len()), (0, 1), "a longer value is another tag");
    assert_eq!(ralph_supervisor::sweep(TAG, &ours), 0);
    assert_eq!(ralph_supervisor::sweep(TAG, &other), 1);
}

#[test]
fn our_own_tender_and_its_program_are_spared() {
    let tag = tag();
    let (exit, _) = run_and(tagged(shell("echo on; sleep 0.3; exit 5"), &tag), |_| {
        assert_eq!(ralph_supervisor::find(TAG, &tag), Vec::<u32>::new());
        assert_eq!(ralph_supervisor::sweep(TAG, &tag), 0);
    });
    assert_eq!(exit.code, Some(5));
}
