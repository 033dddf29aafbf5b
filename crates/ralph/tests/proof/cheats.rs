//! Every case to its end, several at once.

use crate::case::{Case, all};
use std::sync::Mutex;

fn holds(case: &Case) -> Result<(), String> {
    let bed = case.bed();
    let done = case.run(&bed, &[]);
    let result = done.result();
    let (status, reason) = (result["status"].as_str().unwrap(), result["reason"].as_str().unwrap());
    let fine = match case.expect.as_str() {
        "oracle" => (done.code, reason) == (4, "ORACLE_CHANGED"),
        "never" => status != "COMPLETED",
        "done" => (done.code, reason) == (0, "gate_passed") && result["verificationPassed"] == true,
        other => panic!("{}: expect: {other}?", case.name),
    };
    let views =
        bed.state_files().iter().filter(|path| path.components().any(|c| c.as_os_str() == "view")).count();
    match fine && views == 0 {
        true => Ok(()),
        false => {
            Err(format!("{}: {status} {reason} ({} left of the view)\n{}\n", case.name, views, done.err))
        }
    }
}

fn present(tool: &str) -> bool {
    let program = match tool {
        "python" => "python3",
        other => other,
    };
    std::process::Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
        || tool == "sh"
}

#[test]
fn no_cheat_ends_completed_and_honest_work_does() {
    let cases: Vec<Case> = all().into_iter().filter(|case| present(case.tool())).collect();
    assert!(cases.iter().filter(|case| case.expect != "done").count() >= 15, "too few tools on this machine");
    let (left, wrong) = (Mutex::new(cases.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(case) = { left.lock().unwrap().next() } {
                    wrong.lock().unwrap().extend(holds(case).err());
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
