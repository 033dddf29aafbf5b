//! The second net: processes found and killed by the tag in their environment.

use std::process::Command;

use crate::common::{
    NO_ORPHANS, SUPERVISOR, TAG, alive, eventually, mark, marked, run_and, shell, tag, tagged,
};
use ralph_testkit::skip;

/// A process that is nobody's child any more, least of all this test's.
fn orphan(value: &str, script: &str) {
    let tag = format!("{TAG}={value}");
    let setsid = ["setsid", "-f", "sh", "-c", script];
    let mut adopter = Command::new(SUPERVISOR);
    adopter.args(["adopt", "env", &tag]).args(setsid);
    // It ends when the orphan does.
    std::thread::spawn(move || adopter.status().unwrap());
}

#[test]
fn a_sweep_kills_exactly_those_with_the_tag() {
    if !ralph_os::ADOPTS {
        return skip(NO_ORPHANS);
    }
    let (ours, other, mark) = (tag(), format!("{}-other", tag()), mark());
    for value in [&ours, &ours, &other] {
        orphan(value, &format!("exec sleep {mark}"));
    }
    // Looked at in this order: once all three sleep, what more has a tag is a `setsid` about to end.
    eventually("all run", || marked(&mark).len() == 3 && alive(&ours).len() == 2 && alive(&other).len() == 1);
    assert_eq!(ralph_supervisor::find(TAG, &ours).len(), 2);
    assert_eq!(ralph_supervisor::sweep(TAG, &ours), 2);
    assert_eq!((alive(&ours).len(), alive(&other).len()), (0, 1), "a longer value is another tag");
    assert_eq!(ralph_supervisor::sweep(TAG, &ours), 0);
    assert_eq!(ralph_supervisor::sweep(TAG, &other), 1);
}

#[test]
fn what_is_below_a_tagged_process_goes_with_it() {
    if !ralph_os::ADOPTS {
        return skip(NO_ORPHANS);
    }
    let (ours, unmarked) = (tag(), mark());
    orphan(&ours, &format!("env -i sleep {unmarked} & wait"));
    eventually("all run", || !marked(&unmarked).is_empty());
    // The shell may end by itself once its child is dead.
    assert!(ralph_supervisor::sweep(TAG, &ours) > 0);
    assert_eq!((marked(&unmarked), alive(&ours).len()), (Vec::new(), 0));
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
