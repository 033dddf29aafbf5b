//! Beside `/goal`, Claude Code's own loop: once its run is over, ralph says nothing any more.

use super::client::{Client, result, told};
use crate::clis::CLAUDE;

#[test]
fn ralph_is_silent_after_its_end() {
    let client = Client::with_plugin(&CLAUDE, "goal");
    let done = client.says(&client.loop_command("--max-iterations 4"));
    let (session, _) = result(&done);
    assert_eq!(client.only_run()["result"]["proof"], "proven");
    let asked = client.requests();
    // The scripted model never grants the goal, so the client's own cap ends this.
    let goal = client.says_with("/goal a second greeting exists", &["--resume", &session]);
    assert!(client.requests() > asked + 5, "the goal did not loop\n{}", goal.out());
    assert!(told(&goal).is_empty(), "{:#?}", told(&goal));
    assert_eq!(client.runs().len(), 1);
}
