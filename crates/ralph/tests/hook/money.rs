//! What a session's calls cost.

use crate::session::{LOOP, MORE, Session, message};
use serde_json::json;

#[test]
fn every_kind_of_token_is_charged_once_to_the_micro_dollar() {
    let mut session = Session::new();
    session.prompt(LOOP);
    let transcript = session.transcript();
    // One message in two lines, with an hour in the cache and web searches; then one of another model.
    for text in ["Part", "Part two"] {
        let mut line = message("msg_a", "claude-opus-5-5", text, 1000);
        line["message"]["usage"] = json!({"input_tokens": 1000, "output_tokens": 50, "cache_read_input_tokens": 201,
            "cache_creation_input_tokens": 100, "cache_creation": {"ephemeral_1h_input_tokens": 100},
            "server_tool_use": {"web_search_requests": 2}});
        session.write(&transcript, &line);
    }
    let sub = transcript.with_extension("").join("subagents/agent-1.jsonl");
    session.write(&sub, &message("msg_s", "claude-haiku-4-5", "From below", 10));
    let line = session.stop(MORE).line();
    // 4000 + 1000 + 40.2 + 800 + 20000, a subagent's 10 + 500, and the last message's 4000 + 2000.
    assert_eq!(session.run()["cost_micro"], 25_840 + 510 + 6_000);
    assert!(line.contains(", $0.032") && !line.contains('~'), "{line}");
    session.stop(MORE);
    assert_eq!(session.run()["cost_micro"], 32_350 + 6_000, "nothing is read twice");
    session.replays();
}

#[test]
fn fractions_of_a_micro_dollar_are_carried_on() {
    let session = Session::new();
    session.prompt(&LOOP.replace("iterations 4", "iterations 20").replace("--verify", "--no-wait --verify"));
    let mut charged = Vec::new();
    for n in 0_u32..5 {
        let mut line = message(&format!("m{n}"), "claude-opus-5-5", MORE, 0);
        line["message"]["usage"] = json!({"input_tokens": 1, "cache_read_input_tokens": 2});
        session.write(&session.transcript(), &line);
        session.scratch.files(&[("progress", &n.to_string())]);
        session.hook("stop", &session.stopped(MORE));
        charged.push(session.run()["cost_micro"].as_i64().unwrap());
    }
    // 4.4 micro-dollars each.
    assert_eq!(charged, [4, 9, 13, 18, 22]);
}

#[test]
fn without_usage_the_estimate_is_counted() {
    let session = Session::new();
    session.prompt(LOOP);
    let answer = session.hook("stop", &session.stopped(MORE));
    assert!(answer.line().contains("~$0.50 so far"), "{answer:?}");
    assert_eq!(session.run()["cost_complete"], false);
}

#[test]
fn usage_that_comes_after_its_estimate_was_charged_is_not_charged_again() {
    let mut session = Session::new();
    session.prompt(LOOP);
    session.hook("stop", &session.stopped(MORE));
    assert_eq!(session.run()["cost_micro"], 500_000);
    session.say(MORE, 1000);
    session.stop(MORE);
    assert_eq!(session.run()["cost_micro"], 500_000, "both messages are below the estimate");
    session.replays();
}

#[test]
fn a_stop_that_is_told_twice_is_answered_twice_and_charged_once() {
    let mut session = Session::new();
    session.prompt(LOOP);
    let first = session.stop(MORE);
    let again = session.hook("stop", &session.stopped(MORE));
    assert_eq!(again.context(), first.context());
    assert_eq!((&session.run()["iterations"], &session.run()["cost_micro"]), (&1.into(), &6_000.into()));
    session.stop("Something else.");
    assert_eq!(session.run()["cost_micro"], 12_000);
    session.replays();
}

#[test]
fn the_same_words_in_the_next_iteration_are_a_new_stop_though_their_message_comes_late() {
    let mut session = Session::new();
    session.prompt(LOOP);
    session.stop(MORE);
    session.scratch.files(&[("progress", "more")]);
    let (input, transcript) = (session.stopped(MORE), session.transcript());
    let line = message("late", "claude-opus-5-5", MORE, 1000);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(300));
            session.write(&transcript, &line);
        });
        session.hook("stop", &input);
    });
    assert_eq!((&session.run()["iterations"], &session.run()["cost_micro"]), (&2.into(), &12_000.into()));
    session.replays();
}

#[test]
fn a_late_message_is_waited_for() {
    let mut session = Session::new();
    session.prompt(LOOP);
    let input = session.stopped(MORE);
    let (transcript, line) = (session.transcript(), message("late", "claude-opus-5-5", MORE, 1000));
    session.say("On the way", 1000);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(300));
            session.write(&transcript, &line);
        });
        let line = session.hook("stop", &input).line();
        assert!(line.contains(", $0.0120 so far"), "{line}");
    });
}

#[test]
fn a_message_that_comes_too_late_is_charged_to_the_next_call() {
    let mut session = Session::new();
    session.prompt(LOOP);
    session.say("On the way", 1000);
    let first = session.hook("stop", &session.stopped(MORE));
    assert!(first.line().contains("~$0.0060 so far"), "a part is missing: {first:?}");
    session.say(MORE, 1000);
    session.stop(MORE);
    assert_eq!(session.run()["cost_micro"], 18_000);
}

#[test]
fn a_transcript_of_100_megabytes_is_read_from_where_it_was_left() {
    let mut session = Session::new();
    session.prompt(LOOP);
    session.stop(MORE);
    let filler = json!({"type": "user", "message": {"content": "x".repeat(1 << 20)}});
    for _ in 0..100 {
        session.write(&session.transcript(), &filler);
    }
    session.stop(MORE);
    session.scratch.files(&[("progress", "")]);
    let input = session.stopped(MORE);
    session.say(MORE, 1000);
    let began = std::time::Instant::now();
    session.hook("stop", &input);
    let took = began.elapsed();
    assert!(took < std::time::Duration::from_secs(5), "{took:?}");
    assert_eq!(session.run()["cost_micro"], 18_000);
}
