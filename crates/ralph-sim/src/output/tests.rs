use super::*;
use serde_json::Value;
use std::cell::RefCell;
use std::rc::Rc;

#[derive(Clone, Default)]
struct Captured(Rc<RefCell<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn info(format: Format, partial: bool) -> SessionInfo {
    let model = "claude-sonnet-4-5".to_owned();
    let (session, cwd) = ("s-1".to_owned(), "/w".to_owned());
    SessionInfo { format, partial, model, session, permission_mode: "default".to_owned(), cwd }
}

fn heard(info: SessionInfo, say: impl FnOnce(&mut Output)) -> (String, Vec<Value>) {
    let heard = Captured::default();
    let mut output = Output::new(Box::new(heard.clone()), info, Ids::seeded(1));
    say(&mut output);
    let text = String::from_utf8(heard.0.borrow().clone()).unwrap();
    let events = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    (text, events)
}

fn two_blocks(output: &mut Output) {
    let input = Object::new().put("command", "ls");
    let blocks = [Block::Text("Working on it."), Block::Tool { id: "toolu_1", name: "Bash", input }];
    output.turn(&blocks, "tool_use", Cost::Tokens(Tokens::SMALL));
    output.answer("toolu_1", &Answer::good("a.txt"));
}

#[test]
fn one_message_is_several_assistant_events_with_a_placeholder_for_the_output() {
    let (_, events) = heard(info(Format::Stream, false), two_blocks);
    let kinds: Vec<&str> = events.iter().map(|e| e["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["assistant", "assistant", "user"]);
    assert_eq!(events[0]["message"]["id"], events[1]["message"]["id"]);
    assert_eq!(events[1]["message"]["usage"]["output_tokens"], 1);
    assert_eq!(events[1]["message"]["usage"]["input_tokens"], 1000);
    assert_eq!(events[1]["message"]["content"][0]["input"]["command"], "ls");
    assert_eq!(events[2]["message"]["content"][0]["tool_use_id"], "toolu_1");
    assert_eq!(events[2]["tool_use_result"]["stdout"], "a.txt");
}

#[test]
fn stream_events_carry_the_true_usage_and_the_pieces_of_the_text() {
    let text = "Grüße, ".repeat(40);
    let (_, events) = heard(info(Format::Stream, true), |output| {
        output.turn(&[Block::Text(&text)], "end_turn", Cost::Micro(400_000));
    });
    let stream: Vec<&Value> =
        events.iter().filter(|e| e["type"] == "stream_event").map(|e| &e["event"]).collect();
    assert_eq!(stream.first().unwrap()["type"], "message_start");
    assert_eq!(stream.last().unwrap()["type"], "message_stop");
    let joined: String = stream.iter().filter_map(|e| e["delta"]["text"].as_str()).collect();
    assert_eq!(joined, text);
    let delta = stream.iter().find(|e| e["type"] == "message_delta").unwrap();
    assert_eq!(delta["usage"]["output_tokens"], 13_333);
    assert_eq!(delta["usage"]["input_tokens"], 66_668);
}

#[test]
fn the_result_begins_with_its_duration_and_sums_the_turns() {
    let (text, events) = heard(info(Format::Stream, false), |output| {
        two_blocks(output);
        output.turn(&[Block::Text("x")], "end_turn", Cost::Micro(50_000));
        output.refuse("toolu_2", "Write", &Object::new().put("file_path", "/etc/x"));
        output.end(&Ending::finished("done".to_owned()));
    });
    assert!(text.lines().last().unwrap().starts_with("{\"duration_api_ms\":"));
    let result = events.last().unwrap();
    assert_eq!(result["type"], "result");
    assert_eq!(result["result"], "done");
    assert_eq!(result["num_turns"], 2);
    assert_eq!(result["total_cost_usd"], 0.05375);
    assert_eq!(result["modelUsage"]["claude-sonnet-4-5"]["costUSD"], 0.05375);
    assert_eq!(result["permission_denials"][0]["tool_input"]["file_path"], "/etc/x");
    assert!(events.iter().any(|e| e["subtype"] == "permission_denied"));
}

#[test]
fn json_is_the_result_alone_and_text_the_message_alone() {
    let both = |output: &mut Output| {
        output.introduce();
        two_blocks(output);
        output.end(&Ending::finished("done".to_owned()));
    };
    let (_, events) = heard(info(Format::Json, true), both);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["subtype"], "success");
    let (text, _) = heard(info(Format::Text, true), both);
    assert_eq!(text, "done\n");
}

#[test]
fn the_cost_can_lie() {
    for (says, expected) in [
        (CostSays::Nan, Some(Value::Null)),
        (CostSays::Nothing, None),
        (CostSays::Amount(-1.5), Some((-1.5).into())),
        (CostSays::Amount(1e300), Some(1e300.into())),
    ] {
        let (_, events) = heard(info(Format::Json, false), |output| {
            output.cost_says = says;
            output.end(&Ending::finished(String::new()));
        });
        assert_eq!(events[0].get("total_cost_usd").cloned(), expected, "{says:?}");
    }
}
