//! The cases, the same for every CLI. After each nothing is left running.

use crate::cli::Cli;
use crate::place::{Place, User};
use crate::run::{Done, Live};
use serde_json::Value;

/// Works with its own tools, claims to be done too early, is shown what verification says, mends it.
pub fn works(cli: &'static Cli, user: User) {
    works_in(&Place::of(cli, "work", user), cli);
}

/// The same in a place with that scenario; the result and how it came about.
pub fn works_in(place: &Place, cli: &'static Cli) -> (Value, Done) {
    let done = place.run(&[]);
    let result = done.ends(0, "gate_passed");
    assert_eq!(result["iterations"], 2, "{}", done.story());
    assert_eq!(place.read("greeting.txt"), "hello\n");
    assert!(place.is_its_users("greeting.txt"));
    assert_eq!(result["verificationPassed"], true);
    assert!(result["output"].as_str().unwrap().starts_with("The greeting is written."), "{result}");
    let passed = |verified: &Value| verified["results"][0]["how"] == "passed";
    let verified: Vec<bool> = done.records("verified").iter().map(passed).collect();
    // Before the run, after each of two calls, and in a room with the work alone.
    assert_eq!(verified, [false, false, true, true], "{}", done.story());
    assert_eq!(result["proof"], "proven", "{}", done.story());
    let charged = books(cli, &done, &[2, 3]);
    assert_eq!(result["costUSD"], charged as f64 / 1e6, "{}", done.story());
    place.replays();
    (result, done)
}

/// Its key is refused: waiting cannot help.
pub fn is_refused_its_key(cli: &'static Cli) {
    let place = Place::new(cli, "e401");
    let done = place.run(&[]);
    let result = done.ends(69, "AGENT_UNAVAILABLE");
    assert_eq!(done.failures(), ["auth"], "{}", done.story());
    assert_eq!(result["iterations"], 0, "{}", done.story());
}

/// Its limit is used up for some seconds: ralph waits and goes on with the same iteration.
pub fn waits_for_its_limit(cli: &'static Cli) {
    let mut place = Place::new(cli, cli.limited.scenario);
    if let Some((own, instead)) = cli.limited.instead {
        place.unset(own);
        place.set(instead, "test-token-0123456789");
    }
    let done = goes_on_when_the_door_opens(&place, cli.limited.class);
    let reset = done.calls()[0]["failure"]["reset_at"].as_i64();
    let reset = reset.unwrap_or_else(|| panic!("nothing says when the limit ends\n{}", done.story()));
    let called = done.times("admitted");
    assert!(called[1] >= reset, "called again before the limit was lifted\n{}", done.story());
    assert!(reset < called[0] + 180_000, "a wait of hours for a limit of seconds\n{}", done.story());
}

/// The provider is overloaded for a while.
pub fn waits_out_an_overload(cli: &'static Cli) {
    goes_on_when_the_door_opens(&Place::new(cli, "closed529"), "outage");
}

fn goes_on_when_the_door_opens(place: &Place, class: &str) -> Done {
    place.server().close_door();
    let mut live = place.start(&[]);
    assert_eq!(live.awaits_failure(), class, "{}", live.story());
    place.server().open_door();
    completed_in_one_iteration(place, live, class)
}

/// The iteration that a provider's failure interrupted is the one that completes the run.
fn completed_in_one_iteration(place: &Place, live: Live, class: &str) -> Done {
    let done = live.end();
    place.nobody_is_left(&done);
    let result = done.ends(0, "gate_passed");
    assert_eq!(result["iterations"], 1, "{}", done.story());
    assert!(done.failures().iter().all(|failed| failed == class), "{}", done.story());
    let iterations: Vec<Value> = done.calls().iter().map(|call| call["id"]["iteration"].clone()).collect();
    assert!(iterations.len() > 1 && iterations.iter().all(|n| *n == 1), "{}", done.story());
    assert_eq!(place.read("greeting.txt"), "hello\n");
    done
}

/// The provider is broken, and nobody wants to wait.
pub fn gives_up_on_a_broken_provider(cli: &'static Cli) {
    let place = Place::new(cli, "e500");
    let done = place.run(&["--no-wait"]);
    done.ends(69, "AGENT_UNAVAILABLE");
    assert_eq!(done.failures(), ["outage"], "{}", done.story());
}

/// Nobody listens where the provider should be; then somebody does.
pub fn waits_for_the_network(cli: &'static Cli) {
    let mut place = Place::without_server(cli, "ok", User::Ours);
    let mut live = place.start(&[]);
    assert_eq!(live.awaits_failure(), "network", "{}", live.story());
    place.start_server();
    completed_in_one_iteration(&place, live, "network");
}

/// ralph is killed while the agent runs a tool; nothing stays alive, and going on leads to the same end.
pub fn survives_the_death_of_ralph(cli: &'static Cli, user: User) {
    let place = Place::of(cli, "killed", user);
    let mut live = place.start(&[]);
    live.awaits_file(&place.file("started"));
    place.somebody_runs("time.sleep");
    live.kill();
    place.nobody_will_be_left();
    let done = place.resume();
    done.ends(0, "gate_passed");
    assert_eq!(done.records("call_lost").len(), 1, "{}", done.story());
    assert_eq!(place.read("greeting.txt"), "hello\n");
    place.replays();
}

/// A tool leaves a process behind, in a session of its own.
pub fn leaves_no_process_behind(cli: &'static Cli) {
    let place = Place::new(cli, "bgsetsid");
    place.run(&[]).ends(0, "gate_passed");
    assert!(place.file("started").exists(), "nothing was left behind to begin with");
}

/// Work that the agent commits counts.
pub fn commits_its_work(cli: &'static Cli) {
    let place = Place::new(cli, "commit");
    place.run(&[]).ends(0, "gate_passed");
    assert_eq!(place.git(&["log", "-1", "--format=%s"]), "Greet");
}

/// The CLI's own sandbox keeps it from committing; its work counts all the same.
pub fn may_not_commit(cli: &'static Cli) {
    let place = Place::new(cli, "commit");
    place.run(&[]).ends(0, "gate_passed");
    assert_eq!(place.git(&["log", "-1", "--format=%s"]), "Start");
}

/// It may write in the workspace and nowhere else, and ralph is told which tool was refused.
pub fn is_refused_files_elsewhere(cli: &'static Cli, tool: &str) {
    let place = Place::new(cli, "outside");
    let done = place.run(&["--max-iterations", "1"]);
    done.ends(3, "MAX_ITERATIONS");
    assert_eq!(done.calls()[0]["denials"][0], tool, "{}", done.story());
    assert!(!place.file("../outside/evil.txt").exists());
}

/// The model never stops, but its cost is seen while it works.
pub fn is_ended_when_the_money_is_spent(cli: &'static Cli) {
    let done = Place::new(cli, "loop").run(&["--max-cost", "0.08"]);
    let result = done.ends(3, "COST_LIMIT");
    assert!(result["costUSD"].as_f64().unwrap() < 0.12, "{}", done.story());
}

/// One call that fails in a way of its own: its class.
pub fn fails_with(cli: &'static Cli, scenario: &str, class: &str) {
    let done = Place::new(cli, scenario).run(&["--no-wait", "--max-iterations", "1"]);
    assert_ne!(done.code, 0, "{}", done.story());
    assert_eq!(done.failures(), [class], "{}", done.story());
}

/// The CLI has a limit of its own, passed on by ralph.
pub fn reaches_its_own_limit(cli: &'static Cli, flag: &str) {
    let done = Place::new(cli, "loop").run(&["--max-iterations", "1", "--", flag, "2"]);
    done.ends(3, "MAX_ITERATIONS");
    assert_eq!(done.failures(), ["max_turns"], "{}", done.story());
}

/// A failure that the CLI keeps to itself: ralph cannot name it, and does not take it for success.
pub fn says_nothing_of(cli: &'static Cli, scenario: &str) {
    let done = Place::new(cli, scenario).run(&["--no-wait", "--max-iterations", "1"]);
    done.ends(3, "MAX_ITERATIONS");
    assert!(done.failures().is_empty(), "it says so now\n{}", done.story());
}

/// Every call is booked with the tokens and the cost of its model turns; the cost of all, in micro-dollars.
#[track_caller]
fn books(cli: &Cli, done: &Done, turns: &[u64]) -> u64 {
    let calls = done.calls();
    assert_eq!(calls.len(), turns.len(), "{}", done.story());
    for (call, turns) in calls.iter().zip(turns) {
        assert_eq!(call["failure"], Value::Null, "{}", done.story());
        let used = ["input", "output", "cache_read", "cache_write"]
            .map(|kind| call["usage"][kind].as_u64().unwrap());
        assert_eq!(used, cli.turn.map(|tokens| tokens * turns), "tokens\n{}", done.story());
        let (from, turn) = cli.price;
        assert_eq!(call["price"], from, "{}", done.story());
        if from != "unpriced" {
            assert_eq!(call["charged"], turn * turns, "micro-dollars\n{}", done.story());
        }
    }
    calls.iter().map(|call| call["charged"].as_u64().unwrap()).sum()
}
