//! One run on a page: how it ended and why, its strip, what was verified, its iterations, what it changed.

use super::markup::Markup;
use super::page;
use super::strip_svg::strip_svg;
use crate::card::{Card, Tone};
use crate::change_data::ChangeData;
use crate::conditions::Condition;
use crate::fact_text::{clock_until, seconds};
use crate::iteration_parts::Verification;
use crate::run_detail::{EndNote, IterationView, RunDetail};
use ralph_rules::counting::counted;
use ralph_rules::record::Ms;

/// What a page about one run is made of.
pub struct RunPage<'a> {
    /// The run.
    pub detail: &'a RunDetail,
    /// Its latest verifications.
    pub verifications: &'a [Verification],
    /// What it changed, if that is known.
    pub changes: Option<&'a ChangeData>,
    /// The time, UTC milliseconds.
    pub now: Ms,
}

/// The page.
pub fn run_page(run: &RunPage<'_>) -> String {
    let detail = run.detail;
    let card = &detail.card;
    page(&format!("{} · {} · ralph", card.run.row.task, card.word), |page| {
        page.element("h1", &[], &card.run.row.task);
        page.element("p", &[("class", "meta")], &meta(detail, run.now));
        match &detail.note {
            Some(end) => note(page, end),
            None => state(page, card),
        }
        strip_svg(page, &card.strip);
        conditions(page, &detail.conditions);
        limits(page, detail);
        iterations(page, &detail.iterations);
        verifications(page, run.verifications);
        if let Some(changes) = run.changes {
            changed(page, changes);
        }
        let made = clock_until(run.now, run.now, &detail.zone);
        page.element("p", &[("class", "faint")], &format!("Made by ralph at {made} ({}).", detail.zone));
    })
}

fn meta(detail: &RunDetail, now: Ms) -> String {
    let row = &detail.card.run.row;
    let started = started(row.started, now, &detail.zone);
    let verify = match detail.verify.is_empty() {
        true => "no verify command".to_owned(),
        false => format!("verified by {}", detail.verify.join(" && ")),
    };
    format!(
        "{} · {} · {verify} · started {started} · run {}",
        detail.card.name, detail.who, detail.card.short
    )
}

/// A moment of the past: with its date if that is another day.
pub(super) fn started(at: Ms, now: Ms, zone: &str) -> String {
    clock_until(at, at.min(now) - 30 * 3_600_000, zone)
}

pub(super) fn tone_class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "note good",
        Tone::Need => "note need",
        Tone::Bad => "note bad",
        Tone::Live => "note live",
        Tone::Wait | Tone::Quiet => "note",
    }
}

fn note(page: &mut Markup, end: &EndNote) {
    page.open("section", &[("class", tone_class(end.tone))]);
    page.element("h2", &[], &end.title);
    page.element("p", &[], &end.text);
    page.open("table", &[]);
    for command in &end.commands {
        page.raw("<tr><td>");
        page.element("code", &[], &command.command);
        page.raw("</td>");
        page.element("td", &[], &command.what);
        page.raw("</tr>\n");
    }
    page.close("table");
    page.close("section");
}

fn state(page: &mut Markup, card: &Card) {
    page.open("section", &[("class", tone_class(card.tone))]);
    page.element("h2", &[], &card.word);
    page.element("p", &[], &card.line);
    page.close("section");
}

fn conditions(page: &mut Markup, conditions: &[Condition]) {
    if conditions.is_empty() {
        return;
    }
    page.element("h2", &[], "What it takes to be proven");
    page.raw("<table>\n");
    for condition in conditions {
        let mark = match condition.holds {
            Some(true) => "✓ holds",
            Some(false) => "✗ does not hold",
            None => "○ open",
        };
        page.raw("<tr>");
        page.element("td", &[("class", "mark")], mark);
        page.element("td", &[], &condition.what);
        page.element("td", &[("class", "faint")], &condition.detail);
        page.raw("</tr>\n");
    }
    page.raw("</table>\n");
}

fn limits(page: &mut Markup, detail: &RunDetail) {
    let limits: Vec<String> = detail
        .limits
        .iter()
        .map(|meter| format!("{} {} of {}", meter.name, meter.used_text, meter.limit_text))
        .collect();
    page.element(
        "p",
        &[("class", "faint")],
        &format!("{}; breaker {}.", limits.join(", "), detail.breaker.state),
    );
    for before in &detail.seen_before {
        page.element(
            "p",
            &[("class", "faint")],
            &format!("The latest error is not new here: {}.", before.text),
        );
    }
}

fn iterations(page: &mut Markup, iterations: &[IterationView]) {
    if iterations.is_empty() {
        return;
    }
    page.element("h2", &[], "Iterations");
    page.raw("<table>\n<tr><th class=\"number\">#</th><th>What came of it</th><th>Why</th><th class=\"number\">Files</th>");
    page.raw("<th class=\"number\">Time</th><th class=\"number\">Cost</th></tr>\n");
    for it in iterations.iter().rev() {
        let who = it.who.as_ref().map(|who| format!(" ({who})")).unwrap_or_default();
        page.raw("<tr>");
        page.element("td", &[("class", "number")], &it.bar.n.to_string());
        page.element("td", &[], &format!("{}{who}", it.bar.outcome.words()));
        page.element("td", &[], &it.why);
        page.element("td", &[("class", "number")], &it.bar.files.to_string());
        page.element("td", &[("class", "number")], &seconds(it.bar.ms));
        page.element("td", &[("class", "number")], &it.bar.cost());
        page.raw("</tr>\n");
    }
    page.raw("</table>\n");
}

fn verifications(page: &mut Markup, verifications: &[Verification]) {
    if verifications.is_empty() {
        return;
    }
    page.element("h2", &[], "The last verification");
    for verification in verifications {
        let how = if verification.passed { "passed" } else { "did not pass" };
        page.element("h3", &[], &format!("{}: {how}", crate::fact_text::capital(&verification.check)));
        for result in &verification.results {
            let exit = result.exit.map(|exit| format!(", exit code {exit}")).unwrap_or_default();
            page.element("p", &[], &format!("{}{exit} ({})", result.command, seconds(result.ms)));
            if !result.tail.trim().is_empty() {
                page.lines("pre", &[], &result.tail);
            }
        }
    }
}

fn changed(page: &mut Markup, changes: &ChangeData) {
    page.element("h2", &[], "What it changed");
    if changes.files.is_empty() {
        page.element("p", &[], "No file.");
    }
    for file in &changes.files {
        let lines = match (file.added, file.removed) {
            (Some(added), Some(removed)) => format!(" (+{added} -{removed})"),
            _ => String::new(),
        };
        page.element("h3", &[], &format!("{} {}{lines}", file.path, file.change));
        match (&file.diff, &file.not_shown) {
            (Some(diff), _) if !diff.is_empty() => page.lines("pre", &[], diff),
            (_, Some(why)) => page.element("p", &[("class", "faint")], why),
            _ => {}
        }
    }
    if changes.truncated {
        let shown = counted(changes.files.len() as u64, "file");
        page.element(
            "p",
            &[("class", "faint")],
            &format!("{shown} shown; some changes are too large for a report."),
        );
    }
}
