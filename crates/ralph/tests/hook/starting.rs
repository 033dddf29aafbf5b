//! What starts a run, and what is refused before any model is asked.

use crate::session::{Answer, LOOP, Session};

#[test]
fn mistakes_are_refused_with_ralphs_own_words() {
    let session = Session::new();
    for (typed, said) in [
        ("/ralph:loop Add x --max-iteration 4 --max-cost 5", "did you mean `--max-iterations`?"),
        ("/ralph:loop Add x", "--max-iterations and --max-cost are not set"),
        ("$ralph:loop Add x --max-iterations 4", "--max-cost is not set"),
        ("/ralph:loop Add x --max-iterations many --max-cost 5", "many"),
        ("/ralph:loop Add x --agent codex --max-iterations 4 --max-cost 5", "--agent does not apply"),
        ("/ralph:loop Add x --detach --max-iterations 4 --max-cost 5", "--detach does not apply"),
        ("/ralph:loop '' --max-iterations 4 --max-cost 5", "the task is empty"),
        ("/ralph:loop --max-iterations 4 --max-cost 5", "there is no PROMPT.md here"),
    ] {
        let refused = session.prompt(typed).refused();
        assert!(refused.starts_with("ralph: ") && refused.contains(said), "{typed}: {refused}");
    }
    assert_eq!(session.ralph(&["list"]).out, "", "nothing was begun");
    assert_eq!(session.prompt("What does /ralph:loop do?").out, "");
    assert_eq!(session.prompt("/ralph:loopy").out, "");
}

#[test]
fn the_limits_of_a_configuration_are_enough() {
    let session = Session::new();
    session.scratch.files(&[
        ("ralph.toml", "[run]\nmax_iterations = 3\nmax_cost_usd = 2.0\n[verify]\ncommands = [\"false\"]\n"),
        ("PROMPT.md", "The task of the file\n"),
    ]);
    let started = session.prompt("/ralph:loop");
    assert!(started.line().contains("3 iterations and $2.00"), "{started:?}");
    assert!(started.context().contains("The task, from PROMPT.md:\n\nThe task of the file"), "{started:?}");
}

#[test]
fn the_baseline_is_verified_before_the_first_iteration() {
    let session = Session::new();
    session.prompt(LOOP);
    let explained = session.ralph(&["explain"]).out;
    assert!(explained.contains("verify before the first iteration"), "{explained}");
    assert!(explained.contains("`test -e done.txt` failed, exit 1"), "{explained}");
}

#[test]
fn a_verify_command_that_cannot_run_is_said_at_once() {
    let session = Session::new();
    let typed = "/ralph:loop Go --max-iterations 4 --max-cost 5 --verify no-such-program-here";
    let refused = session.prompt(typed).refused();
    assert!(refused.contains("no-such-program-here"), "{refused}");
    assert_eq!(session.prompt("Fix it").out, "", "the session is not bound");
}

#[test]
fn a_session_works_on_one_run_at_a_time() {
    let session = Session::new();
    session.prompt(LOOP);
    let refused = session.prompt(LOOP).refused();
    assert!(refused.contains("this session already works on run "), "{refused}");
    assert!(refused.contains("/ralph:cancel"), "{refused}");
}

#[test]
fn warnings_reach_the_user_of_a_session() {
    let session = Session::new();
    let mut typed = session.input();
    typed["prompt"] = "/ralph:loop Go --max-iterations 4 --max-cost 5".into();
    let input = session.scratch.root().join("typed");
    std::fs::write(&input, typed.to_string()).unwrap();
    let mut hook = session.command(&["hook", "prompt"]);
    hook.env("RALPH_MAX_COSTS", "1").stdin(std::fs::File::open(input).unwrap());
    let line = Answer::from(hook.output().unwrap()).line();
    assert!(line.contains("; warning: unknown variable RALPH_MAX_COSTS is ignored"), "{line}");
    assert!(line.contains("; warning: no verify command: completion cannot be verified"), "{line}");
    assert!(!line.contains("sandbox"), "{line}");
}
