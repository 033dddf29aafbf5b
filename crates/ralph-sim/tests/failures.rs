//! Every failure class in Claude's own shape.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::play;
use ralph_testkit::Scratch;
use serde_json::Value;

#[test]
fn api_failures_are_a_success_that_is_an_error() {
    let scratch = Scratch::new();
    for (script, status, code, retried, words) in [
        ("fail rate_limited", Some(429), None, true, "Request rejected (429)"),
        ("fail outage", Some(529), None, true, "API Error: 529 Overloaded"),
        ("fail outage status=500", Some(500), None, true, "API Error: 500 Internal"),
        ("fail auth", Some(401), None, true, "Invalid API key · Fix external API key"),
        ("fail auth status=403", Some(403), None, false, "Failed to authenticate"),
        ("fail billing", Some(400), None, false, "Credit balance is too low"),
        ("fail network", None, Some("connection_failed"), true, "ECONNREFUSED"),
        ("fail context_too_long", Some(400), None, false, "Prompt is too long"),
        ("fail bad_request", Some(404), None, false, "selected model (claude-sonnet-4-5)"),
        ("fail bad_request status=400", Some(400), None, false, "bad request"),
        ("fail refusal", None, None, false, "safeguards flagged this message"),
        ("fail truncated", None, Some("max_output_tokens"), false, "output token maximum"),
        ("fail unknown", None, None, false, "empty or malformed response"),
    ] {
        let heard = play(&scratch, script);
        let result = heard.result();
        assert_eq!(heard.code, Some(1), "{script}");
        assert_eq!((&result["subtype"], &result["is_error"]), (&"success".into(), &true.into()), "{script}");
        assert_eq!(result["api_error_status"], status.map_or(Value::Null, Value::from), "{script}");
        assert_eq!(result["api_error"].as_str(), code, "{script}");
        assert!(result["result"].as_str().unwrap().contains(words), "{script}: {result}");
        assert_eq!(heard.text().contains("api_retry"), retried, "{script}");
        let said = heard.of_type("assistant").pop().unwrap();
        assert_eq!(said["message"]["model"], "<synthetic>");
        assert_eq!(said["message"]["content"][0]["text"], result["result"]);
    }
}

#[test]
fn a_usage_limit_names_its_reset_in_the_event_and_in_words() {
    let scratch = Scratch::new();
    let heard = play(&scratch, "fail usage_limit reset=1794726675");
    let info = heard.of_type("rate_limit_event")[0]["rate_limit_info"].clone();
    assert_eq!(info["resetsAt"], 1_794_726_675);
    assert_eq!(info["rateLimitType"], "five_hour");
    assert_eq!(heard.result()["result"], "You've hit your 5-hour limit · resets 7:11am (UTC)");
    assert_eq!(heard.result()["api_error"], "usage_limit_reached");
    assert_eq!(heard.result()["total_cost_usd"], 0.0);

    let weekly = play(&scratch, "fail usage_limit window=week reset=1794983274");
    assert_eq!(weekly.result()["result"], "You've hit your weekly limit · resets Nov 18, 6:27am (UTC)");

    let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let soon = play(&scratch, "fail usage_limit reset=+60s");
    let at = soon.of_type("rate_limit_event")[0]["rate_limit_info"]["resetsAt"].as_u64().unwrap();
    assert!((before + 60..before + 600).contains(&at));

    let unknown = play(&scratch, "fail usage_limit");
    assert_eq!(unknown.of_type("rate_limit_event")[0]["rate_limit_info"].get("resetsAt"), None);
    assert_eq!(unknown.result()["result"], "You've hit your 5-hour limit");
}

#[test]
fn the_clients_own_limits_have_errors_and_no_result_text() {
    let scratch = Scratch::new();
    for (script, code, subtype, reason, words) in [
        (
            "run true; run true; fail max_turns",
            1,
            "error_max_turns",
            "max_turns",
            "maximum number of turns (2)",
        ),
        ("spend 0.02; fail budget", 1, "error_max_budget_usd", "budget_exhausted", "maximum budget ($0.02)"),
        ("run true; fail aborted", 0, "error_during_execution", "aborted_tools", "ede_diagnostic"),
    ] {
        let heard = play(&scratch, script);
        let result = heard.result();
        assert_eq!(heard.code, Some(code), "{script}");
        assert_eq!(result["subtype"], subtype);
        assert_eq!(result["terminal_reason"], reason);
        assert_eq!(result["is_error"], true);
        assert_eq!(result.get("result"), None);
        assert!(result["errors"][0].as_str().unwrap().contains(words), "{result}");
        assert!(result["total_cost_usd"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn denials_are_told_three_times_and_the_exit_code_is_0() {
    let heard = play(&Scratch::new(), "deny Bash rm -rf build; deny Write /etc/hosts; claim complete");
    let result = heard.result();
    assert_eq!(heard.code, Some(0));
    assert_eq!(result["permission_denials"][0]["tool_input"]["command"], "rm -rf build");
    assert_eq!(result["permission_denials"][1]["tool_input"]["file_path"], "/etc/hosts");
    assert_eq!(heard.events().iter().filter(|e| e["subtype"] == "permission_denied").count(), 2);
    assert!(heard.of_type("user").iter().all(|e| e["message"]["content"][0]["is_error"] == true));
    assert!(result["result"].as_str().unwrap().contains("EXIT_SIGNAL: true"));
}
