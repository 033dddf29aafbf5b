//! The HTML report on real rows: hostile texts stay text, sizes hold, nothing is fetched or run.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use ralph_rules::ending::Status;
use ralph_rules::report::{Span, report};
use ralph_store::{IterationRow, RunRow};
use ralph_view::card::{Card, CardContext};
use ralph_view::html_report::{DayPage, LARGEST, day_page};
use ralph_view::listed_run::ListedRun;
use ralph_view::needs_you::Standing;
use ralph_view::run_state::RunState;

const HOSTILE: &str =
    "</h2><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}\0\x1b]0;x\x07 & \"quoted\"";

fn card(n: u32) -> Card {
    let row = RunRow {
        id: format!("01a1e7bf-f7db-7578-acd2-{n:012}"),
        workspace: format!("/home/ada/{HOSTILE}"),
        task: HOSTILE.into(),
        agent: HOSTILE.into(),
        model: Some(HOSTILE.into()),
        why: Some(HOSTILE.repeat(20)),
        status: "ABORTED".into(),
        reason: Some("BLOCKED".into()),
        exit_code: Some(2),
        max_iterations: 20,
        ..RunRow::default()
    };
    let iterations: Vec<IterationRow> = (1..=14)
        .map(|n| IterationRow {
            n,
            attempt: 1,
            cost_micro: i64::from(n),
            failing: Some(20 - n),
            ..IterationRow::default()
        })
        .collect();
    let context = CardContext {
        state: RunState::Ended(Status::Aborted),
        standing: Standing::default(),
        doing: None,
        now: 0,
        zone: "UTC",
    };
    Card::of(ListedRun { row, reserved_micro: 0 }, &iterations, context)
}

fn page(runs: u32) -> String {
    let cards: Vec<Card> = (0..runs).map(card).collect();
    let span = Span { from: "2026-11-16".into(), to: "2026-11-17".into(), day: None };
    day_page(&DayPage { report: &report(&[], &span), cards: &cards, left_out: 3, zone: "UTC", now: 0 })
}

#[test]
fn nothing_in_a_report_runs_or_is_fetched() {
    let text = page(3);
    let markup = text.to_lowercase();
    for bad in [
        "<script",
        "<img",
        "<iframe",
        "<link",
        "href=",
        "src=x>",
        "url(http",
        "@import",
        "javascript:",
        "\u{202e}",
        "\0",
    ] {
        assert!(!markup.contains(bad), "{bad}");
    }
    assert!(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "the text is still there");
    assert!(text.contains("default-src 'none'"));
    assert!(
        text.contains("3 runs, 3 need you.") && text.contains("3 further runs not shown."),
        "{}",
        &text[..3000]
    );
    assert!(text.contains("Failing tests: 19, then 18"), "the line of failing tests is told in words, too");
}

#[test]
fn a_report_has_two_megabytes_at_most_and_is_whole() {
    let text = page(5_000);
    assert!(text.len() <= LARGEST, "{}", text.len());
    assert!(text.ends_with("</html>\n") && text.contains("Parts were left out"));
}
