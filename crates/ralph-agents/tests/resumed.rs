//! Conversations that are gone on with: some clients report what the whole of it came to, others what this call did.
//! Recorded calls of identical work must be booked alike, whichever it is.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod support;

use ralph_agents::{Exit, Reply};
use ralph_rules::cost::{Account, Cost, cost};
use ralph_rules::money::{Micro, Usage};
use ralph_rules::prices::Prices;
use ralph_rules::record::{ConversationTotals, PriceFrom};
use support::{captures, feed};

fn reply(agent: &str, file: &str, args: &[&str]) -> Reply {
    let agents: &'static str = if agent == "claude" { "claude" } else { "codex" };
    let found = captures(agents).into_iter().find(|capture| capture.file == file).expect(file);
    feed(agent, args, &found.stdout, &found.stderr, Exit { code: Some(0), ..Exit::default() }).1
}

fn booked(reply: &Reply, model: Option<&str>, before: Option<ConversationTotals>) -> Cost {
    let account = Account {
        reported: reply.cost,
        usage: reply.usage,
        models: &reply.models,
        model: reply.model.as_deref().or(model),
        finished: reply.finished,
        sums_cost: reply.covers.cost,
        sums_usage: reply.covers.usage,
        before,
        reserved: Micro(500_000),
        ..Account::default()
    };
    cost(&account, &Prices::default())
}

#[test]
fn three_calls_of_one_conversation_cost_the_same_each() {
    let resume = ["--output-format", "json", "--resume", "x"];
    for version in ["2.1.325", "1.0.60"] {
        let first = reply("claude", &format!("{version}-json-more-cum1.jsonl"), &resume[..2]);
        let first_cost = booked(&first, None, None);
        let mut before = Some(ConversationTotals { cost: first.cost, usage: first.usage });
        for n in [2, 3] {
            let next = reply("claude", &format!("{version}-json-more-cum{n}.jsonl"), &resume);
            let cost = booked(&next, None, before);
            assert_eq!(cost.charged, first_cost.charged, "{version}, call {n}");
            assert_eq!(cost.price, PriceFrom::Reported, "{version}, call {n}");
            before = cost.told;
        }
    }
}

#[test]
fn a_conversation_that_ralph_has_not_seen_begin_is_priced_by_its_own_tokens() {
    let resume = ["--output-format", "json", "--continue"];
    let third = reply("claude", "2.1.325-json-more-cum3.jsonl", &resume);
    assert_eq!(third.cost, Some(Micro(33_240)), "of all three calls");
    let cost = booked(&third, Some("claude-opus-5-5"), None);
    assert_eq!((cost.charged, cost.price), (Micro(11_080), PriceFrom::Computed));
}

#[test]
fn tokens_of_a_codex_thread_are_counted_from_where_it_stood() {
    let first = reply("codex", "0.166.0-json-more-s1.jsonl", &[]);
    let own = booked(&first, Some("gpt-5"), None);
    let resumed = reply("codex", "0.166.0-json-resume.jsonl", &["resume", "x"]);
    assert!(resumed.covers.usage && resumed.usage.total() > first.usage.total());
    let next = booked(&resumed, Some("gpt-5"), Some(ConversationTotals { cost: None, usage: first.usage }));
    assert_eq!((next.usage, next.charged), (own.usage, own.charged));
    assert_ne!(own.usage, Usage::default());
}
