//! A note about a run for somebody who is not watching: what it says, as data, as a title and as a text. A note leaves the
//! machine, so it has no prompt, output, diff, path or variable in it: the last name of the workspace and the first line
//! of the task are all that is not ralph's own. Title and text begin with a word of ralph's, so that neither `-` nor `@`
//! comes first where one is an argument.

use crate::fact_text::{clock_until, money};
use crate::next_steps::first_command;
use crate::plain::plain;
use crate::run_state::{RunState, short_id};
use ralph_engine::outcome::outcome;
use ralph_engine::rows::task_title;
use ralph_rules::money::Micro;
use ralph_rules::next::Next;
use ralph_rules::notice::{Event, Notice};
use ralph_rules::prompt::head;
use ralph_rules::record::{Decision, Fact, Ms, Record};
use ralph_rules::state::State;
use ralph_store::RunRow;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Longest name of a workspace or an agent, in bytes.
const NAME: usize = 60;
/// Longest first line of a task, in bytes.
const TASK: usize = 120;

/// A note about a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// What it is about: `completed`, `blocked` …
    pub event: String,
    /// When, UTC milliseconds.
    pub at: Ms,
    /// The run's id.
    pub run: String,
    /// The last name of the workspace's path.
    pub workspace: String,
    /// First line of the task.
    pub task: String,
    /// The agent.
    pub agent: String,
    /// The run's state: RUNNING, WAITING, COMPLETED …
    pub status: String,
    /// Why it is so, in ralph's words.
    pub why: String,
    /// The grade of a completed run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    /// Iterations so far.
    pub iterations: u32,
    /// Dollars booked so far.
    #[serde(rename = "costUSD")]
    pub cost_usd: f64,
    /// False when a part of the cost is unknown.
    pub cost_is_complete: bool,
    /// When a wait ends, as a time of day in the run's zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The command to type next.
    pub next: String,
}

impl Note {
    /// The note for a record of a run; none before the run has started.
    pub fn of(notice: &Notice, state: &State, record: &Record) -> Option<Note> {
        let start = state.start.as_deref()?;
        let short = short_id(&start.run);
        let (status, proof, next) = match &record.fact {
            Fact::Decided(Decision { next: Next::Exit(ending), reasons }) => {
                let ended = outcome(state, *ending, reasons);
                let proof = ending.grade.map(|grade| grade.name().to_owned());
                (RunState::Ended(ending.status()), proof, first_command(&ended, state, short))
            }
            _ if notice.until.is_some() => {
                (RunState::Waiting { until: notice.until }, None, format!("ralph status {short}"))
            }
            _ => (RunState::Running, None, format!("ralph status {short}")),
        };
        Some(Note {
            event: notice.event.name().into(),
            at: notice.at,
            run: start.run.clone(),
            workspace: last_name(&start.workspace),
            task: one_line(task_title(&start.prompt), TASK),
            agent: one_line(&start.rung(state.ladder.rung).name, NAME),
            status: status.name().into(),
            why: notice.why.clone(),
            proof,
            iterations: state.calls.done,
            cost_usd: state.budget.spent.usd(),
            cost_is_complete: state.budget.unpriced == 0,
            until: notice.until.map(|until| clock_until(until, notice.at, &start.zone)),
            next,
        })
    }

    /// The note for a run whose process is gone.
    pub fn of_crash(row: &RunRow, now: Ms) -> Note {
        Note {
            event: Event::Crashed.name().into(),
            at: now,
            run: row.id.clone(),
            workspace: last_name(&row.workspace),
            task: one_line(&row.task, TASK),
            agent: one_line(&row.agent, NAME),
            status: RunState::Crashed.name().into(),
            why: "its process is gone and wrote no ending".into(),
            proof: None,
            iterations: row.iterations,
            cost_usd: Micro(row.cost_micro).usd(),
            cost_is_complete: row.cost_complete,
            until: None,
            next: format!("ralph resume {}", short_id(&row.id)),
        }
    }

    /// A note that is about no run, to see whether notes arrive.
    pub fn of_test(now: Ms) -> Note {
        Note {
            event: "test".into(),
            at: now,
            workspace: "no workspace".into(),
            task: "See whether notes arrive".into(),
            agent: "no agent".into(),
            status: "TEST".into(),
            why: "you asked for it with `ralph notify test`".into(),
            cost_is_complete: true,
            next: "ralph notify list".into(),
            ..Note::default()
        }
    }

    /// One line: `ralph: completed in parser`.
    pub fn title(&self) -> String {
        let what = if self.event == Event::Budget.name() { "limit is close" } else { &self.event };
        match self.run.is_empty() {
            true => format!("ralph: {what}"),
            false => format!("ralph: {what} in {}", self.workspace),
        }
    }

    /// A few lines.
    pub fn text(&self) -> String {
        let about = match self.run.is_empty() {
            true => "ralph test note".to_owned(),
            false => {
                format!("ralph run {} in {} ({}): {}", self.short(), self.workspace, self.agent, self.task)
            }
        };
        let until = self.until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
        let proof = self.proof.as_ref().map(|proof| format!(", {proof}")).unwrap_or_default();
        format!("{about}\n{}{until}{proof}: {}\n{}\nNext: {}", self.status, self.why, self.used(), self.next)
    }

    /// One line of a digest.
    pub fn line(&self) -> String {
        let (short, workspace) = (self.short(), &self.workspace);
        format!("ralph run {short} in {workspace}: {}, {} ({})", self.status, self.why, self.used())
    }

    fn short(&self) -> &str {
        short_id(&self.run)
    }

    fn used(&self) -> String {
        let s = if self.iterations == 1 { "" } else { "s" };
        let micro = Micro::from_usd(self.cost_usd).unwrap_or(Micro::ZERO);
        format!("{} iteration{s}, {}", self.iterations, money(micro.0, self.cost_is_complete))
    }
}

/// The last name of a path; a root has none.
fn last_name(path: &str) -> String {
    let name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned());
    one_line(&name.unwrap_or_else(|| "workspace".into()), NAME)
}

fn one_line(text: &str, bytes: usize) -> String {
    plain(&head(text.trim(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crashed(workspace: &str, task: &str) -> Note {
        let row = RunRow {
            id: "0198c1d2-aaaa-7bbb-8ccc-12341f0f7559".into(),
            workspace: workspace.into(),
            task: task.into(),
            agent: "claude".into(),
            iterations: 3,
            cost_micro: 420_000,
            cost_complete: true,
            ..RunRow::default()
        };
        Note::of_crash(&row, 1_794_700_800_000)
    }

    #[test]
    fn a_note_says_what_happened_and_what_to_type() {
        let note = crashed("/home/me/src/parser", "Fix the parser");
        assert_eq!(note.title(), "ralph: crashed in parser");
        let expected = "ralph run 1f0f7559 in parser (claude): Fix the parser\n\
                        CRASHED: its process is gone and wrote no ending\n\
                        3 iterations, $0.42\n\
                        Next: ralph resume 1f0f7559";
        assert_eq!(note.text(), expected);
        assert!(!note.text().contains("/home"));
        let again: Note = serde_json::from_str(&serde_json::to_string(&note).unwrap()).unwrap();
        assert_eq!(again, note);
    }

    #[test]
    fn hostile_names_stay_one_line_of_plain_text_and_never_come_first() {
        let long = "x".repeat(10_000);
        for (workspace, task) in [
            ("/w/-rf", "--help"),
            ("/w/@all", "@channel look"),
            ("/w/a\nb", "one\ntwo\x1b[31m\u{202e}"),
            ("/", ""),
            (long.as_str(), long.as_str()),
        ] {
            let note = crashed(workspace, task);
            assert!(note.title().starts_with("ralph: ") && note.text().starts_with("ralph run "), "{note:?}");
            assert_eq!(note.text().lines().count(), 4, "{note:?}");
            assert!(!note.text().contains(['\x1b', '\u{202e}']));
            assert!(note.text().len() < 600, "{}", note.text().len());
        }
    }
}
