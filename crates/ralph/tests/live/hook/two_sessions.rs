//! Two sessions in one workspace: a run belongs to one of them. When that is gone, the run continues as a loop.

use super::client::{Client, told};
use crate::clis::CLAUDE;
use crate::run::until;
use rustix::process::{Pid, Signal, kill_process};
use std::process::Stdio;

#[test]
fn a_second_session_is_left_alone_and_a_dead_one_is_resumed() {
    let client = Client::with_plugin(&CLAUDE, "killed");
    // Its tool sleeps until it is killed.
    let mut first = client.session(&client.loop_command("--max-iterations 4"), &[]);
    let mut first = first.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the first session at work", || client.place.file("started").exists().then_some(()));
    assert_eq!(client.runs()[0]["status"], "IN_SESSION", "{:#?}", client.runs());

    let second = client.says("Write hello into greeting.txt.");
    assert_eq!((second.code, told(&second).len()), (0, 0), "{}", second.out());
    assert_eq!(client.runs().len(), 1);
    let refused =
        client.ralph(&["run", "x", "--agent", "claude", "--max-iterations", "1", "--max-cost", "1"]);
    assert_eq!(refused.code, 73, "{}", refused.story());
    let refused = client.ralph(&["resume"]);
    assert_eq!(refused.code, 73, "{}", refused.story());

    // It ends its tools itself; what a client leaves behind is not ralph's to end.
    kill_process(Pid::from_child(&first), Signal::TERM).unwrap();
    first.wait().unwrap();
    client.place.nobody_will_be_left();
    let done = client.place.resume();
    let result = done.ends(0, "gate_passed");
    assert_eq!(result["verificationPassed"], true, "{}", done.story());
    client.place.replays();
}
