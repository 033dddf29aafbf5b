//! Makes lines for screens of what an agent's reader found in a call's output, and knows what the agent does at the moment
//! and what the call has cost so far. Texts are safe to show and bounded, whatever the agent printed.

use crate::activity_line::{ActivityLine, LineKind, ToolState, inside, thinking_after};
use crate::board::Doing;
use crate::event_parts;
use crate::plain::{plain, plain_lines};
use ralph_agents::{Activity, ReaderEvent, Spent};
use ralph_engine::redact::Redactor;
use ralph_rules::prompt::head;
use ralph_rules::record::Ms;
use std::collections::VecDeque;
use std::sync::Arc;

/// Most bytes of one line's text, with the mark that it was cut.
const TEXT: usize = 4 * 1024 - '…'.len_utf8();
/// Most bytes of a tool's name.
const NAME: usize = 200;
/// Most bytes of what is said to be done now.
const DOING: usize = 300;
/// Most tools that are taken to run at once; not every agent tells when one ends.
const RUNNING: usize = 100;

/// What a call said and did so far, as far as later lines need it.
pub(crate) struct ActivityLog {
    workspace: String,
    redactor: Arc<Redactor>,
    lines: u64,
    /// Tools that run, the first started first.
    running: VecDeque<ActivityLine>,
    /// What was said or done last, where no tool runs.
    last: Option<Doing>,
    spent: Option<Spent>,
    /// Bytes are missing, and with them perhaps usage.
    missed: bool,
}

impl ActivityLog {
    /// Of a call in this workspace.
    pub(crate) fn new(workspace: &str, redactor: Arc<Redactor>) -> ActivityLog {
        ActivityLog {
            workspace: workspace.into(),
            redactor,
            lines: 0,
            running: VecDeque::new(),
            last: None,
            spent: None,
            missed: false,
        }
    }

    /// The events of one line of output; `give` gets the lines to show.
    pub(crate) fn events(
        &mut self,
        line: &[u8],
        events: &[ReaderEvent],
        at: Option<Ms>,
        mut give: impl FnMut(ActivityLine),
    ) {
        for event in events {
            match event {
                ReaderEvent::Activity(activity) => {
                    // Redacted again: text that arrived in several pieces is whole only here.
                    let shown = self.activity(line, self.redactor.activity(activity.clone()), at);
                    shown.into_iter().for_each(&mut give);
                }
                ReaderEvent::Spent(spent) => self.spent = Some(*spent),
                _ => {}
            }
        }
    }

    fn activity(&mut self, line: &[u8], activity: Activity, at: Option<Ms>) -> Option<ActivityLine> {
        match activity {
            Activity::Said { text } => {
                let whole = event_parts::event(line).and_then(|event| event_parts::whole(&event, &text));
                let text = whole.map_or(text, |whole| self.redactor.redact(&whole).into_owned());
                self.last = Some(Doing { text: plain(&head(text.trim(), DOING)), since: at });
                Some(self.line(LineKind::Said, bounded(&text, plain_lines), at))
            }
            Activity::Tool { name, detail, .. } => {
                let text = bounded(&inside(&self.workspace, &detail), plain);
                let tool = self.line(LineKind::Tool, text, at);
                let name = plain(&head(name.trim(), NAME));
                let tool = ActivityLine { name, tool: Some(ToolState::Runs), ..tool };
                if self.running.len() >= RUNNING {
                    self.running.pop_front();
                }
                self.running.push_back(tool.clone());
                Some(tool)
            }
            Activity::ToolEnded { failed } => self.tool_ended(failed, at),
            Activity::Retrying { why } => Some(self.note(&format!("the agent's client retries: {why}"), at)),
            Activity::Noise { text } => Some(self.note(&text, at)),
            Activity::Began { model, .. } => model.map(|model| self.note(&format!("model {model}"), at)),
        }
    }

    /// A tool ended. Agents do not say which: it is taken to be the one that started first.
    fn tool_ended(&mut self, failed: bool, at: Option<Ms>) -> Option<ActivityLine> {
        let tool = self.running.pop_front()?;
        let text = head(&thinking_after(&words(&tool), failed), DOING);
        self.last = Some(Doing { text, since: at });
        let state = if failed { ToolState::Failed } else { ToolState::Done };
        Some(ActivityLine { tool: Some(state), ..tool })
    }

    /// Bytes are missing here.
    pub(crate) fn missed(&mut self, bytes: u64) -> ActivityLine {
        self.missed = true;
        self.note(&format!("{bytes} bytes of the output left out here"), None)
    }

    /// The call ended, and whatever it started with it.
    pub(crate) fn call_ended(&mut self) -> Vec<ActivityLine> {
        self.last = None;
        let done = |tool| ActivityLine { tool: Some(ToolState::Done), ..tool };
        self.running.drain(..).map(done).collect()
    }

    /// The tool that started last and still runs, otherwise what was said or done last.
    pub(crate) fn doing(&self) -> Option<Doing> {
        let tool = |tool: &ActivityLine| Doing { text: head(&words(tool), DOING), since: tool.at };
        self.running.back().map(tool).or_else(|| self.last.clone())
    }

    /// Usage told so far.
    pub(crate) fn spent(&self) -> Option<Spent> {
        self.spent
    }

    /// Micro-dollars so far; none where a part of them would be a guess.
    pub(crate) fn live_micro(&self) -> Option<i64> {
        self.spent.filter(|spent| !spent.guessed && !self.missed).map(|spent| spent.total.0)
    }

    fn note(&mut self, text: &str, at: Option<Ms>) -> ActivityLine {
        self.line(LineKind::Note, bounded(text, plain), at)
    }

    fn line(&mut self, kind: LineKind, text: String, at: Option<Ms>) -> ActivityLine {
        self.lines += 1;
        ActivityLine { n: self.lines, at, kind, name: String::new(), text, tool: None }
    }
}

/// A tool in words.
fn words(tool: &ActivityLine) -> String {
    format!("{} {}", tool.name, tool.text).trim_end().into()
}

/// A text made safe, and no longer than a line's may be: what is unsafe gets longer by that.
fn bounded(text: &str, safe: fn(&str) -> String) -> String {
    head(&safe(&head(text.trim(), TEXT)), TEXT)
}
