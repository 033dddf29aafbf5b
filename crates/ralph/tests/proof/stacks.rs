//! Every case to its end, one test for each stack, so that a missing toolchain skips what needs it and nothing else.

use crate::case::{Case, Kind, all};
use crate::verdict::{Got, line};
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::Mutex;

const STACKS: [&str; 7] = ["cargo", "go", "make", "node", "pytest", "python", "sh"];

/// The run of a case; what is wrong with its end.
fn judged(case: &Case) -> Option<String> {
    let bed = case.bed();
    let done = case.run(&bed);
    let got = Got::of(&bed, &done);
    let views =
        bed.state_files().iter().filter(|path| path.components().any(|c| c.as_os_str() == "view")).count();
    match (got.is_right_for(case), views) {
        (true, 0) => None,
        (true, left) => Some(line(case, &format!("{left} files left of the view"))),
        (false, _) => Some(line(case, &got)),
    }
}

/// The case without ralph: the baseline is as declared, and an agent that claims the end has turned the commands green.
/// One that has not would prove nothing by being refused.
fn misdescribed(case: &Case) -> Option<String> {
    let bed = case.bed();
    let before = case.passes(&bed);
    match (case.baseline.as_str(), before) {
        ("red", Ok(())) => return Some(line(case, &"a green baseline")),
        ("green", Err(why)) => return Some(line(case, &format!("a red baseline: {why}"))),
        _ => {}
    }
    let worked = case.work(&bed);
    if worked.code != 0 {
        return Some(line(case, &format!("an agent that fails: {}", worked.err)));
    }
    // A second try is for the suites that are flaky on purpose.
    let after = case.passes(&bed).or_else(|_| case.passes(&bed));
    after.err().map(|why| line(case, &format!("red at the end: {why}")))
}

fn present(tool: &str) -> bool {
    let (program, args): (&str, &[&str]) = match tool {
        "python" => ("python3", &["--version"]),
        "pytest" => ("python3", &["-m", "pytest", "--version"]),
        "go" => ("go", &["version"]),
        "sh" => ("sh", &["-c", ":"]),
        other => (other, &["--version"]),
    };
    Command::new(program).args(args).output().is_ok_and(|output| output.status.success())
}

/// Holds every case of a stack against a rule and fails with the table of those that break it.
#[track_caller]
fn hold(stack: &str, broken: fn(&Case) -> Option<String>) {
    let cases: Vec<Case> = all().into_iter().filter(|case| case.stack() == stack).collect();
    let tools: BTreeSet<&str> = cases.iter().flat_map(Case::tools).collect();
    let missing: Vec<&str> = tools.into_iter().filter(|tool| !present(tool)).collect();
    let cannot = cases.iter().filter(|case| case.tools().iter().any(|tool| missing.contains(tool))).count();
    if cannot > 0 {
        return ralph_testkit::skip(&format!(
            "{cannot} of {} cases need {}",
            cases.len(),
            missing.join(" and ")
        ));
    }
    let (left, wrong) = (Mutex::new(cases.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = { left.lock().unwrap().next() } {
                    wrong.lock().unwrap().extend(broken(case));
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    assert!(wrong.is_empty(), "{} of {} cases of {stack}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

macro_rules! stacks {
    ($($stack:ident),*) => {
        mod ends_as_it_must {
            $(#[test] fn $stack() { super::hold(stringify!($stack), super::judged) })*
        }
        mod is_what_it_says {
            $(#[test] fn $stack() { super::hold(stringify!($stack), super::misdescribed) })*
        }
    };
}
stacks!(cargo, go, make, node, pytest, python, sh);

#[test]
fn the_tables_are_large_and_every_stack_is_in_both() {
    let cases = all();
    let of = |kind: Kind, stack: &str| {
        cases.iter().filter(|case| case.kind == kind && (stack.is_empty() || case.stack() == stack)).count()
    };
    assert!(of(Kind::Attempt, "") >= 160 && of(Kind::Honest, "") >= 90);
    for stack in STACKS {
        assert!(of(Kind::Attempt, stack) >= 15 && of(Kind::Honest, stack) >= 5, "{stack}");
    }
    assert!(cases.iter().all(|case| STACKS.contains(&case.stack())), "a case that no test runs");
}
