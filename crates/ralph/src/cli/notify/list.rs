//! `ralph notify list`: targets, and what became of notes.

use crate::cli::runs;
use crate::plain::plain;
use crate::print::{print, print_json};
use crate::problem::Problem;
use crate::show::ago;
use ralph_engine::clock::utc;
use ralph_notify::{Config, Target, ended, next_attempt_of, why_waiting};
use ralph_rules::notice::Event;
use ralph_store::{OutboxEntry, OutboxFilter, OutboxState, Store, StoreError};
use serde_json::{Value, json};
use std::fmt::Write;

/// Closed notes that are shown.
const CLOSED: u32 = 20;

/// What is known of a target.
struct Known<'a> {
    target: &'a Target,
    problem: Option<String>,
    missing_program: Option<&'static str>,
    ended: Option<i64>,
}

/// Lists targets and notes.
pub fn list(config: &Config, as_json: bool, store: &dyn Store) -> Result<u8, Problem> {
    let (targets, notes) = found(config, store).map_err(|e| runs::broken(&e))?;
    match as_json {
        true => print_json(&data(config, &targets, &notes))?,
        false => print(&words(config, &targets, &notes)),
    }
    Ok(0)
}

fn found<'a>(
    config: &'a Config,
    store: &dyn Store,
) -> Result<(Vec<Known<'a>>, Vec<OutboxEntry>), StoreError> {
    let mut targets = Vec::new();
    for target in &config.targets {
        let ended = ended(store, &target.id())?;
        let (problem, missing_program) = (target.problem(), target.missing_program());
        targets.push(Known { target, problem, missing_program, ended });
    }
    let of = |state, limit| OutboxFilter { state: Some(state), limit, ..OutboxFilter::default() };
    let mut notes = store.outbox(&of(OutboxState::Pending, None))?;
    for state in [OutboxState::Failed, OutboxState::Dropped, OutboxState::Sent] {
        notes.extend(store.outbox(&of(state, Some(CLOSED)))?);
    }
    Ok((targets, notes))
}

fn data(config: &Config, targets: &[Known<'_>], notes: &[OutboxEntry]) -> Value {
    let target = |known: &Known<'_>| {
        let (target, id) = (known.target, known.target.id());
        let pending = notes.iter().filter(|n| n.row.target == id && n.state == OutboxState::Pending).count();
        json!({
            "id": id, "number": config.number(target), "kind": target.word(), "name": target.shown(),
            "pending": pending,
            "problem": known.problem.as_deref().or(known.missing_program), "endedAt": known.ended,
        })
    };
    let now = utc();
    let note = |entry: &OutboxEntry| {
        json!({
            "id": entry.row.id, "run": entry.row.run, "event": entry.row.event, "target": entry.row.target,
            "at": entry.row.at, "state": entry.state.name(), "failures": entry.attempts,
            "waits": why_waiting(entry, config, now),
            "nextAttempt": next_attempt_of(entry, config, now), "triedAt": entry.tried, "answer": entry.answer,
        })
    };
    json!({
        "v": 1,
        "on": config.on.iter().map(|event| event.name()).collect::<Vec<_>>(),
        "quiet": config.quiet.map(|quiet| quiet.to_string()),
        "targets": targets.iter().map(target).collect::<Vec<_>>(),
        "notes": notes.iter().map(note).collect::<Vec<_>>(),
    })
}

fn words(config: &Config, targets: &[Known<'_>], notes: &[OutboxEntry]) -> String {
    let mut text = String::new();
    if targets.is_empty() {
        text.push_str("Nobody is notified: [[notify.to]] is not set in your config.toml.\n");
    } else {
        let on: Vec<&str> = config.on.iter().copied().map(Event::name).collect();
        let _ = writeln!(text, "Events: {}", on.join(", "));
    }
    if let Some(quiet) = config.quiet {
        let _ = writeln!(text, "Quiet: {quiet} ({})", config.zone);
    }
    let now = utc();
    for known in targets {
        let state = match (&known.problem, known.missing_program, known.ended) {
            (Some(problem), _, _) => format!("cannot be reached from here: {problem}"),
            (_, Some(missing), _) => missing.into(),
            (_, _, Some(at)) => format!(
                "ended: it answered 410 {}; `ralph notify test` revives it once it accepts notes again",
                ago(now - at)
            ),
            _ => "ready".into(),
        };
        let number = config.number(known.target).map(|number| number.to_string()).unwrap_or_default();
        let _ = writeln!(text, "{number:>3}  {}: {}", plain(&known.target.shown()), plain(&state));
    }
    for (state, heading) in [
        (OutboxState::Pending, "Waiting"),
        (OutboxState::Failed, "Failed"),
        (OutboxState::Dropped, "Not sent"),
        (OutboxState::Sent, "Sent"),
    ] {
        let rows: Vec<&OutboxEntry> = notes.iter().filter(|entry| entry.state == state).collect();
        if !rows.is_empty() {
            let _ = writeln!(text, "\n{heading}:");
        }
        for entry in rows {
            let _ = writeln!(text, "{}", line(entry, config, now));
        }
    }
    text
}

fn line(entry: &OutboxEntry, config: &Config, now: i64) -> String {
    let row = &entry.row;
    let target = config.target(&row.target).map_or_else(|| row.target.clone(), |target| config.shown(target));
    let what = format!("{:<9} {:<9} run {}", ago(now - row.at), row.event, runs::short(&row.run));
    let said = why_waiting(entry, config, now).or_else(|| {
        let times = if entry.attempts > 1 { format!(" ({} times)", entry.attempts) } else { String::new() };
        Some(entry.answer.clone()? + &times)
    });
    let said = said.map(|said| format!(", {}", plain(&said))).unwrap_or_default();
    format!("  {what}  {}{said}", plain(&target))
}
