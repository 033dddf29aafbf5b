//! The rows that a run leaves in the outbox: one for each target.

use crate::config::Config;
use crate::target::Kind;
use ralph_engine::notes::NoteMaker;
use ralph_rules::next::Next;
use ralph_rules::notice::{Event, notice};
use ralph_rules::record::{Decision, Fact, Ms, Record};
use ralph_rules::state::State;
use ralph_store::{OutboxRow, RunRow};
use ralph_view::note::Note;

/// The event of a row for a receiver of traces.
const TRACE: &str = "trace";

/// Makes the rows.
#[derive(Clone, Debug)]
pub struct Notes {
    config: Config,
}

/// What a row is about.
struct About<'a> {
    run: &'a str,
    seq: u64,
    at: Ms,
}

impl Notes {
    /// For the targets of a configuration; none if it has no targets.
    pub fn of(config: &Config) -> Option<Notes> {
        (!config.targets.is_empty()).then(|| Notes { config: config.clone() })
    }

    /// The rows for a run whose process is gone.
    pub fn of_crash(&self, row: &RunRow, now: Ms) -> Vec<OutboxRow> {
        let about = About { run: &row.id, seq: row.head, at: now };
        let mut rows = self.notes(&about, Event::Crashed, &Note::of_crash(row, now));
        rows.extend(self.traces(&about));
        rows
    }

    fn notes(&self, about: &About<'_>, event: Event, note: &Note) -> Vec<OutboxRow> {
        if !self.config.on.contains(&event) {
            return Vec::new();
        }
        let held = self.config.quiet.and_then(|quiet| quiet.ends(about.at, &self.config.zone));
        let body = serde_json::to_string(note).unwrap_or_default();
        let targets = self.config.targets.iter().filter(|target| !matches!(target.kind, Kind::Traces(_)));
        let row = |target: String| OutboxRow {
            due: held.unwrap_or(about.at),
            digest: held.map(|end| end.to_string()),
            body: body.clone(),
            ..about.row(event.name(), target)
        };
        targets.map(|target| row(target.id())).collect()
    }

    fn traces(&self, about: &About<'_>) -> Vec<OutboxRow> {
        let targets = self.config.targets.iter().filter(|target| matches!(target.kind, Kind::Traces(_)));
        targets.map(|target| about.row(TRACE, target.id())).collect()
    }
}

impl About<'_> {
    fn row(&self, event: &str, target: String) -> OutboxRow {
        OutboxRow {
            id: format!("{}/{}/{event}/{target}", self.run, self.seq),
            run: self.run.into(),
            seq: self.seq,
            event: event.into(),
            target,
            at: self.at,
            due: self.at,
            digest: None,
            body: String::new(),
        }
    }
}

impl NoteMaker for Notes {
    fn rows(&self, state: &State, record: &Record) -> Vec<OutboxRow> {
        let Some(start) = state.start.as_deref() else { return Vec::new() };
        let about = About { run: &start.run, seq: record.seq, at: record.at };
        let mut rows = match notice(state, record) {
            Some(found) => Note::of(&found, state, record)
                .map(|note| self.notes(&about, found.event, &note))
                .unwrap_or_default(),
            None => Vec::new(),
        };
        if let Fact::Decided(Decision { next: Next::Exit(_), .. }) = &record.fact {
            rows.extend(self.traces(&about));
        }
        rows
    }
}
