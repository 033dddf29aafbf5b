use super::*;

/// As Claude Code 2.1.325 calls its Stop hook.
const STOP: &str = r#"{"session_id":"0cc01769-dff5","transcript_path":"/home/u/.claude/projects/p/0cc01769.jsonl",
    "cwd":"/home/u/p","prompt_id":"17a3","permission_mode":"acceptEdits","effort":{"level":"medium"},
    "hook_event_name":"Stop","stop_hook_active":false,"last_assistant_message":"Done \ud83d.",
    "background_tasks":[{"id":"a9","type":"subagent","status":"running","description":"look around"},
    {"id":"b1","type":"shell","status":"running","command":"npm run dev"},
    {"id":"b2","type":"shell","status":"completed","command":"true"}],"session_crons":[]}"#;

#[test]
fn a_real_stop_is_read() {
    let input = HookInput::read(STOP.as_bytes()).unwrap();
    assert_eq!((input.session.as_str(), input.cwd.as_str()), ("0cc01769-dff5", "/home/u/p"));
    assert_eq!(input.last_message.as_deref(), Some("Done \u{fffd}."), "half a character does no harm");
    assert_eq!((input.client(), input.prompt.as_deref()), (Client::Claude, None));
    assert!(input.subagent_runs());
    let running: Vec<&str> = input.background.iter().map(|task| task.what.as_str()).collect();
    assert_eq!(running, ["look around", "npm run dev"]);
}

#[test]
fn the_client_is_told_by_the_input() {
    for (text, client) in [
        (
            r#"{"session_id":"a","turn_id":"t","transcript_path":"/u/.codex/sessions/rollout-1.jsonl"}"#,
            Client::Codex,
        ),
        (r#"{"session_id":"a","transcript_path":"/u/.qwen/projects/x/chats/a.jsonl"}"#, Client::Qwen),
        (r#"{"session_id":"a","transcript_path":"/u/my.qwen.d/a.jsonl"}"#, Client::Claude),
        (r#"{"session_id":"a","transcript_path":null,"turn_id":null}"#, Client::Claude),
    ] {
        assert_eq!(HookInput::read(text.as_bytes()).unwrap().client(), client, "{text}");
    }
}

#[test]
fn an_agent_that_said_nothing_differs_from_a_client_that_does_not_tell() {
    let said = |text: &str| HookInput::read(text.as_bytes()).unwrap().last_message;
    assert_eq!(said(r#"{"session_id":"a","last_assistant_message":null}"#).as_deref(), Some(""));
    assert_eq!(said(r#"{"session_id":"a"}"#), None);
}

#[test]
fn what_is_not_a_hooks_input_is_none() {
    for text in
        ["", "null", "[]", "7", "{}", r#"{"session_id":""}"#, r#"{"session_id":5}"#, "{\"session_id\":\"a\""]
    {
        assert_eq!(HookInput::read(text.as_bytes()), None, "{text}");
    }
    assert_eq!(HookInput::read(b"{\"session_id\":\"\xff\"}"), None);
    let odd =
        r#"{"session_id":"a","prompt":5,"last_assistant_message":{},"background_tasks":{"x":1},"model":[]}"#;
    let input = HookInput::read(odd.as_bytes()).unwrap();
    assert_eq!((input.prompt, input.last_message, input.model, input.background), (None, None, None, vec![]));
}
