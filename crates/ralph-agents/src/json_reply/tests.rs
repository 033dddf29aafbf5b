use super::*;

fn opened(message: &str) -> Option<(String, ReportedStatus)> {
    open(message).map(|(text, _, status)| (text, status))
}

fn word(value: &str) -> Option<String> {
    Some(value.to_owned())
}

#[test]
fn fields_are_found_at_the_top_and_in_the_metadata() {
    let (text, session, status) = open(
        r#"{"result": "Mended.\nAll of it.", "sessionId": "s-1", "exit_signal": true, "status": "COMPLETE",
            "work_type": "TESTING", "metadata": {"completion_status": "complete", "files_changed": 3,
            "has_errors": false, "tasks_completed": "2", "tests_status": "PASSING"}, "summary": "Shipped"}"#,
    )
    .unwrap();
    assert_eq!((text.as_str(), session.as_deref()), ("Mended.\nAll of it.", Some("s-1")));
    let expected = ReportedStatus {
        status: word("COMPLETE"),
        tasks_completed: word("2"),
        files_modified: word("3"),
        tests_status: word("PASSING"),
        work_type: word("TESTING"),
        exit_signal: word("true"),
        recommendation: word("Shipped"),
        ..ReportedStatus::default()
    };
    assert_eq!(status, expected);
}

#[test]
fn what_is_not_there_is_not_made_up() {
    let (_, status) = opened(r#"{"result": "x", "exit_signal": "false", "status": null}"#).unwrap();
    assert_eq!(status, ReportedStatus { exit_signal: word("false"), ..ReportedStatus::default() });
    let (_, status) = opened(r#"{"result": "x", "metadata": {"has_errors": true}}"#).unwrap();
    assert_eq!(status, ReportedStatus { has_errors: true, ..ReportedStatus::default() });
}

#[test]
fn two_values_that_differ_are_none() {
    let (_, status) =
        opened(r#"{"result": "x", "exit_signal": true, "metadata": {"exit_signal": false}}"#).unwrap();
    assert_eq!(status.exit_signal, word("true and false"));
    let twice = r#"{"result": "x", "exit_signal": true, "exit_signal": true}"#;
    assert_eq!(opened(twice).unwrap().1.exit_signal, word("true"));
    assert_eq!(opened(r#"{"result": "x", "exit_signal": true, "result": "y"}"#), None);
}

#[test]
fn only_a_whole_message_is_opened() {
    let object = r#"{"result": "x", "exit_signal": true}"#;
    for whole in
        [format!("\u{feff} {object}\n"), format!("```json\n{object}\n```"), format!("```\n{object}```\n")]
    {
        assert_eq!(opened(&whole).unwrap().0, "x", "{whole}");
    }
    for other in [
        format!("Here it is:\n{object}"),
        format!("{object}\nThat was the format."),
        format!("{object}\n{object}"),
        format!("```json\n{object}\n```\nand more"),
        format!("```python\n{object}\n```"),
        format!("[{object}]"),
        format!("\"{object}\""),
        format!(r#"{{"reply": {object}}}"#),
        format!(r#"{{"result": {object}}}"#),
        r#"{"type": "result", "result": "x", "exit_signal": true}"#.to_owned(),
        r#"{"type": "tool_result", "result": "x", "exit_signal": true"#.to_owned(),
        r#"{"status": "COMPLETE", "exit_signal": true}"#.to_owned(),
        "{brace} in the text".to_owned(),
    ] {
        assert_eq!(opened(&other), None, "{other}");
    }
}

#[test]
fn damaged_replies_are_read_as_far_as_it_is_certain() {
    for (written, what, stopped, exit) in [
        (
            r#"{"result": "a\nb", "exit_signal": true"#,
            "line 1, column 39: the closing brace",
            false,
            word("true"),
        ),
        (
            "{\n  result: \"a\\nb\",\n  exit_signal: true\n}",
            "line 2, column 3: a key without",
            false,
            word("true"),
        ),
        (r"{'result': 'a\nb', 'exit_signal': True}", "line 1, column 2: single quotes", false, word("True")),
        (r#"{"result": "a\nb", "metadata": {exit_signal: true}}"#, "line 1, column 33", false, word("true")),
        (r#"{"result": "a\nb", "metadata": {"exit_signal": true"#, "line 1, column 52", false, word("true")),
        (
            "{\"result\": \"a\nb\", \"exit_signal\": true}",
            "line 1, column 13: not valid JSON",
            false,
            word("true"),
        ),
        (r#"{"exit_signal": true, "result": "a\nb"#, "line 1, column 33: a string", true, word("true")),
        (r#"{"result": "a\nb", "exit_signal": tru"#, "line 1, column 35: no value", true, None),
        (r#"{"result": "a\nb" "exit_signal": true}"#, "line 1, column 19: no comma", true, None),
    ] {
        let (text, status) = opened(written).unwrap();
        let malformed = status.malformed.unwrap();
        assert_eq!((text.as_str(), malformed.stopped), ("a\nb", stopped), "{written}");
        assert!(malformed.what.starts_with(what), "{written}: {}", malformed.what);
        assert_eq!(status.exit_signal, exit, "{written}");
    }
}

/// A text that may have gone on claims nothing, nor does an event without its end.
#[test]
fn a_text_that_may_be_cut_says_so() {
    for (written, cut) in [
        (r#"{"result": "x", "exit_signal": true"#, false),
        (r#"{"result": "x", "exit_signal": tr"#, true),
        (r#"{"exit_signal": false, "result": "x"#, true),
        (r#"{"result": "x" and "y", "exit_signal": true}"#, true),
        (r#"{"type": "result", "result": "x", "session_id": "s""#, true),
    ] {
        assert_eq!(opened(written).unwrap().1.malformed.unwrap().text_cut, cut, "{written}");
    }
    let event = r#"{"type": "result", "result": "x", "exit_signal": true"#;
    assert_eq!(opened(event).unwrap().1.exit_signal, None);
}

#[test]
fn other_programs_have_a_status_too() {
    for other in [
        r#"{"type":"result","result":"x","status":"success","is_error":true,"metadata":{"status":"ok"}}"#,
        r#"{"result":"x","work_type":"TESTING"}"#,
        "{}",
        "[1]",
    ] {
        assert_eq!(status_of(other), None, "{other}");
    }
    let event = r#"{"type":"result","subtype":"success","is_error":false,"result":"x","exit_signal":true}"#;
    assert_eq!(status_of(event).unwrap().exit_signal, word("true"));
}
