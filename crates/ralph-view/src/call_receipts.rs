//! The receipt of each call of a run: model, tokens, cost as reported and as computed, what was charged, whether the
//! verification passed and what was decided. `ralph status` shows it.

use crate::fact_text::money;
use crate::plain::plain;
use crate::style::Style;
use ralph_rules::money::{Micro, Usage};
use ralph_rules::next::Next;
use ralph_rules::record::{
    Attempt, CallEnded, CallLost, Decision, Fact, PriceFrom, Record, RunStarted, Seen,
};
use ralph_rules::step::Step;
use ralph_store::IterationRow;
use serde::Serialize;
use std::fmt::Write;

/// One call.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallReceipt {
    iteration: u32,
    attempt: u32,
    agent: String,
    /// It was a review.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    review: bool,
    /// As the agent reported it, otherwise as requested.
    model: Option<String>,
    tokens: Usage,
    #[serde(rename = "reportedUSD")]
    reported: Option<f64>,
    #[serde(rename = "computedUSD")]
    computed: Option<f64>,
    #[serde(rename = "bookedUSD")]
    booked: f64,
    price_from: PriceFrom,
    seconds: f64,
    files: u32,
    verification_passed: Option<bool>,
    decision: String,
    failure: Option<String>,
}

/// The receipts of a run, in order.
pub fn call_receipts(records: &[Record], start: &RunStarted, rows: &[IterationRow]) -> Vec<CallReceipt> {
    let mut caller = (0, false);
    let mut list = Vec::new();
    for record in records {
        match &record.fact {
            Fact::Decided(Decision { next: Next::Do(Step::Call { rung, review, .. }), .. }) => {
                caller = (*rung, *review);
            }
            Fact::Seen(Seen::CallEnded(call)) => list.push(ended(call, blank(call.id, start, caller, rows))),
            Fact::Seen(Seen::CallLost(lost)) => list.push(gone(lost, blank(lost.id, start, caller, rows))),
            _ => {}
        }
    }
    list
}

/// What is known of a call without its closing fact.
fn blank(id: Attempt, start: &RunStarted, (rung, review): (u32, bool), rows: &[IterationRow]) -> CallReceipt {
    // The rows are in order.
    let row = rows.binary_search_by_key(&(id.iteration, id.attempt), |row| (row.n, row.attempt));
    let row = row.ok().and_then(|at| rows.get(at));
    let agent = start.caller(rung, review);
    CallReceipt {
        iteration: id.iteration,
        attempt: id.attempt,
        agent: agent.name.clone(),
        review,
        model: agent.model.clone(),
        tokens: Usage::default(),
        reported: None,
        computed: None,
        booked: 0.0,
        price_from: PriceFrom::Unpriced,
        seconds: 0.0,
        files: row.map_or(0, |row| row.files),
        verification_passed: row.and_then(|row| row.verified),
        decision: row.map(|row| row.decision.clone()).unwrap_or_default(),
        failure: row.and_then(|row| row.failure.clone()),
    }
}

fn ended(call: &CallEnded, blank: CallReceipt) -> CallReceipt {
    #[allow(clippy::cast_precision_loss)] // milliseconds of a call fit a double exactly
    let seconds = call.ms as f64 / 1000.0;
    CallReceipt {
        model: call.model.clone().or(blank.model),
        tokens: call.usage,
        reported: call.reported.map(Micro::usd),
        computed: call.computed.map(Micro::usd),
        booked: call.charged.usd(),
        price_from: call.price,
        seconds,
        ..blank
    }
}

fn gone(lost: &CallLost, blank: CallReceipt) -> CallReceipt {
    CallReceipt { tokens: lost.usage, booked: lost.charged.usd(), ..blank }
}

/// The calls' cost, one line each and all together, within 80 columns.
pub fn table(receipts: &[CallReceipt], style: Style) -> String {
    let mut text = String::new();
    if receipts.is_empty() {
        return text;
    }
    let head = format!(
        "{:>5}  {:<18}  {:>6}  {:>6}  {:>6}  {:>8}  {:>8}  {:>8}",
        "CALL", "MODEL", "IN", "CACHED", "OUT", "REPORTED", "COMPUTED", "CHARGED"
    );
    let _ = writeln!(text, "\n{}", style.faint(head));
    let mut all = (Usage::default(), Micro::ZERO, true);
    for it in receipts {
        let name = match it.attempt {
            1 => it.iteration.to_string(),
            n => format!("{}.{n}", it.iteration),
        };
        let known = it.price_from.is_exact();
        let booked = Micro::from_usd(it.booked).unwrap_or_default();
        all = (all.0.plus(&it.tokens), all.1.plus(booked), all.2 && known);
        let costs = (it.reported, it.computed, money(booked.0, known));
        line(&mut text, &name, &model(it), &it.tokens, costs);
    }
    if receipts.len() > 1 {
        line(&mut text, "", "all calls", &all.0, (None, None, money(all.1.0, all.2)));
    }
    if !all.2 {
        let _ = writeln!(
            text,
            "{}",
            style.faint(
                "~ cost not reported: counted as seen before ralph ended the call, otherwise as the estimate"
            )
        );
    }
    text
}

fn model(it: &CallReceipt) -> String {
    let name = plain(it.model.as_deref().unwrap_or(&it.agent));
    match name.chars().count() {
        ..=18 => name,
        long => format!("…{}", name.chars().skip(long - 17).collect::<String>()),
    }
}

fn line(
    text: &mut String,
    name: &str,
    model: &str,
    used: &Usage,
    (reported, computed, booked): (Option<f64>, Option<f64>, String),
) {
    let usd = |cost: Option<f64>| match cost.and_then(Micro::from_usd) {
        Some(cost) => cost.to_string(),
        None => "-".into(),
    };
    let _ = writeln!(
        text,
        "{name:>5}  {model:<18}  {:>6}  {:>6}  {:>6}  {:>8}  {:>8}  {booked:>8}",
        tokens(used.input),
        tokens(used.cache_read.saturating_add(used.cache_write)),
        tokens(used.output),
        usd(reported),
        usd(computed),
    );
}

/// `950`, `12.3k`, `4.5M`.
fn tokens(n: u64) -> String {
    match n {
        ..1_000 => n.to_string(),
        1_000..1_000_000 => format!("{}.{}k", n / 1_000, n % 1_000 / 100),
        1_000_000..10_000_000_000 => format!("{}.{}M", n / 1_000_000, n % 1_000_000 / 100_000),
        _ => format!("{}G", n / 1_000_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_fit_their_column() {
        for (n, text) in [(0, "0"), (999, "999"), (1000, "1.0k"), (123_456, "123.4k"), (1_500_000, "1.5M")] {
            assert_eq!(tokens(n), text);
        }
        assert!(tokens(9_999_999_999).len() <= 7);
    }
}
