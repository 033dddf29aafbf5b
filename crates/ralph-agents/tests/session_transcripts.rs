//! Transcripts that real clients wrote of a session: what their messages used, and that the cost is the client's own to
//! the micro-dollar. What the client said of the cost stands beside each.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

use proptest::prelude::*;
use ralph_agents::Client;
use ralph_agents::session_transcript::{SessionSpend, SessionTranscript, shows_work};
use ralph_rules::money::Usage;
use ralph_rules::prices::Prices;

const PLAIN: &str = include_str!("sessions/claude-2.1.325-plain.jsonl");
const HOUR: &str = include_str!("sessions/claude-2.1.325-hour.jsonl");
const WEB: &str = include_str!("sessions/claude-2.1.325-web.jsonl");
const SUBAGENT: &str = include_str!("sessions/claude-2.1.325-subagent.jsonl");
const CODEX: &str = include_str!("sessions/codex-0.166.0.jsonl");

fn tokens(input: u64, output: u64, cache_read: u64, cache_write: u64) -> Usage {
    Usage { input, output, cache_read, cache_write }
}

fn read(client: Client, text: &str, totals: Option<Usage>) -> (SessionSpend, Option<Usage>) {
    let mut transcript = SessionTranscript::new(client, Prices::default(), totals, None);
    text.lines().for_each(|line| transcript.read(line.as_bytes()));
    transcript.close()
}

#[test]
fn real_transcripts_cost_what_the_client_says() {
    // Each message is written in two lines, one for its text and one for its tool.
    let two = tokens(2000, 100, 400, 200);
    for (name, client, text, usage, micro) in [
        ("five minutes in the cache", Client::Claude, PLAIN, two, 11_080),
        ("an hour in the cache", Client::Claude, HOUR, two, 11_680),
        ("four web searches", Client::Claude, WEB, two, 51_080),
        ("a subagent's own file", Client::Claude, SUBAGENT, tokens(1000, 50, 200, 100), 5_540),
        ("two messages of Codex", Client::Codex, CODEX, tokens(1600, 100, 400, 0), 3_050),
    ] {
        let (spend, _) = read(client, text, None);
        assert_eq!((spend.usage, spend.cost, spend.unpriced), (usage, micro * 1_000_000, 0), "{name}");
        assert_eq!(spend.models.iter().map(|(_, used)| used.total()).sum::<u64>(), usage.total(), "{name}");
    }
}

#[test]
fn the_model_is_known_and_the_last_message_found() {
    for (client, text, model) in [(Client::Claude, PLAIN, "claude-opus-5-5"), (Client::Codex, CODEX, "gpt-5")]
    {
        let mut transcript = SessionTranscript::new(client, Prices::default(), None, None);
        let said = "I created hello.txt. All tests pass and all stories are complete.";
        assert!(transcript.ends_with("", None), "nothing to wait for");
        assert!(!transcript.ends_with(said, None));
        for line in text.lines() {
            transcript.read(line.as_bytes());
        }
        let last = text.lines().filter(|line| line.contains(said)).count();
        assert!(last > 0, "the last message is in the file");
        assert!(!transcript.ends_with("another message", None));
        assert_eq!(transcript.close().0.model.as_deref(), Some(model));
    }
}

#[test]
fn the_message_of_a_hook_may_be_longer_than_the_last_block() {
    let mut transcript = SessionTranscript::new(Client::Claude, Prices::default(), None, None);
    transcript
        .read(br#"{"type":"assistant","message":{"id":"a","content":[{"type":"text","text":"two\n"}]}}"#);
    assert!(transcript.ends_with("one\n\ntwo", None) && !transcript.ends_with("two three", None));
    let side = br#"{"type":"assistant","isSidechain":true,"message":{"id":"b","content":[{"type":"text","text":"x"}]}}"#;
    transcript.read(side);
    assert!(transcript.ends_with("one\n\ntwo", None), "a subagent does not speak for the session");
}

#[test]
fn the_same_words_before_a_new_prompt_are_not_its_answer() {
    let mut transcript = SessionTranscript::new(Client::Claude, Prices::default(), None, None);
    let said = br#"{"type":"assistant","message":{"id":"a","content":[{"type":"text","text":"Done."}]}}"#;
    transcript.read(said);
    assert!(transcript.ends_with("Done.", None));
    let notice =
        br#"{"isSidechain":false,"type":"user","message":{"role":"user","content":"a subagent ended"}}"#;
    transcript.read(notice);
    assert!(!transcript.ends_with("Done.", None), "the answer to it is not written yet");
    transcript.read(said);
    transcript.read(br#"{"isSidechain":true,"type":"user","message":{"role":"user","content":"a part"}}"#);
    assert!(transcript.ends_with("Done.", None), "nor is a subagent's prompt one of the session");
}

#[test]
fn an_answer_to_an_earlier_prompt_is_not_the_one_to_wait_for() {
    let mut transcript = SessionTranscript::new(Client::Claude, Prices::default(), None, None);
    let said = br#"{"type":"assistant","message":{"id":"a","content":[{"type":"text","text":"Done."}]}}"#;
    let asked =
        |id: &str| format!(r#"{{"isSidechain":false,"promptId":"{id}","type":"user","message":{{}}}}"#);
    transcript.read(said);
    assert!(transcript.ends_with("Done.", Some("p2")), "no prompt was seen");
    transcript.read(asked("p1").as_bytes());
    transcript.read(said);
    assert!(transcript.ends_with("Done.", Some("p1")));
    assert!(!transcript.ends_with("Done.", Some("p2")), "neither prompt nor answer are written yet");
    transcript.read(asked("p2").as_bytes());
    assert!(!transcript.ends_with("Done.", Some("p2")));
    transcript.read(said);
    assert!(transcript.ends_with("Done.", Some("p2")));
}

#[test]
fn totals_of_codex_are_counted_from_where_they_stood() {
    let first: String = CODEX.lines().take(12).map(|line| format!("{line}\n")).collect();
    let rest: String = CODEX.lines().skip(12).map(|line| format!("{line}\n")).collect();
    let (one, totals) = read(Client::Codex, &first, None);
    let mut second = SessionTranscript::new(Client::Codex, Prices::default(), totals, Some("gpt-5".into()));
    rest.lines().for_each(|line| second.read(line.as_bytes()));
    let (two, _) = second.close();
    let whole = read(Client::Codex, CODEX, None).0;
    assert_eq!(one.usage.plus(&two.usage), whole.usage);
    assert_eq!((one.cost + two.cost, two.unpriced), (whole.cost, 0));
}

#[test]
fn a_model_without_a_price_is_said_and_errors_cost_nothing() {
    let line = |model: &str, input: u64| {
        format!(
            r#"{{"type":"assistant","message":{{"id":"{model}","model":"{model}","usage":{{"input_tokens":{input}}}}}}}"#
        )
    };
    let text = [line("claude-haiku-4-5", 10), line("nobody-9", 10), line("<synthetic>", 0)].join("\n");
    let spend = read(Client::Claude, &text, None).0;
    assert_eq!((spend.priced, spend.unpriced, spend.cost), (1, 1, 10_000_000));
    assert_eq!(read(Client::Qwen, PLAIN, None).0, SessionSpend::default(), "the estimate is counted instead");
}

#[test]
fn hundreds_of_messages_are_each_counted_once() {
    let one = |n: u32| {
        let line = format!(
            r#"{{"type":"assistant","message":{{"id":"m{n}","model":"claude-haiku-4-5","usage":{{"input_tokens":1}}}}}}"#
        );
        format!("{line}\n{line}\n")
    };
    let text: String = (0..500).map(one).collect();
    assert_eq!(read(Client::Claude, &text, None).0.usage, tokens(500, 0, 0, 0));
}

#[test]
fn only_lines_in_the_form_of_the_output_show_work() {
    let shown: Vec<bool> = PLAIN.lines().map(|line| shows_work(Client::Claude, line.as_bytes())).collect();
    assert!(shown.iter().filter(|shown| **shown).count() >= 4, "{shown:?}");
    assert!(!shows_work(Client::Claude, br#"{"type":"queue-operation","content":"\"type\":\"user\""}"#));
    assert!(
        !SUBAGENT.lines().any(|line| shows_work(Client::Claude, line.as_bytes())),
        "of the session alone"
    );
    assert!(!CODEX.lines().any(|line| shows_work(Client::Codex, line.as_bytes())));
}

proptest! {
    #[test]
    fn no_line_makes_it_fail(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0_usize..2000) {
        for (client, text) in [(Client::Claude, PLAIN), (Client::Codex, CODEX)] {
            let mut transcript = SessionTranscript::new(client, Prices::default(), None, None);
            transcript.read(&bytes);
            for line in text.lines() {
                transcript.read(line.as_bytes().get(..cut).unwrap_or_default());
                transcript.read(line.replace("1000", "99999999999999999999").as_bytes());
            }
            transcript.close();
        }
    }
}
