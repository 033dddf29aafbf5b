//! A run's log for people: what the agent said, its tools, what verification printed, what was decided. Whatever an
//! agent printed is made safe for a terminal first.

use crate::activity_line::inside;
use crate::event_parts;
use crate::fact_text::{clock_time, ending_words, fact_words, reason_words, review_title};
use crate::plain::{plain, plain_lines};
use crate::story::StoryVisitor;
use crate::style::Style;
use ralph_agents::{Activity, ReaderEvent};
use ralph_engine::transcript::{Followed, Follower};
use ralph_rules::next::Next;
use ralph_rules::prompt::{head, tail};
use ralph_rules::record::{Attempt, CheckOutcome, Decision, Fact, Record, RunStarted, Seen, Verified};
use ralph_rules::state::State;
use ralph_rules::step::Step;
use std::io::{self, Write};

/// How much is shown of a tool's main argument.
const SHORT: usize = 200;
/// How much is shown of arguments and results where they are asked for.
const LONG: usize = 16 * 1024;
/// How much is shown of one message.
const MESSAGE: usize = 64 * 1024;
/// How much is shown of a failing verification's output.
const PRINTED: usize = 2 * 1024;
/// How much is shown of stderr.
const STDERR: usize = 2 * 1024;

/// The word for one more iteration.
const CONTINUING: &str = "continuing";

/// Writes lines for people.
pub struct LogLines<W> {
    out: W,
    style: Style,
    /// With the arguments and results of tools.
    tools: bool,
    zone: String,
    workspace: String,
}

impl<W: Write> LogLines<W> {
    /// To this writer.
    pub fn new(out: W, style: Style, tools: bool) -> LogLines<W> {
        LogLines { out, style, tools, zone: "UTC".into(), workspace: String::new() }
    }

    fn heading(&mut self, record: &Record, id: Attempt, rung: u32, state: &State) -> io::Result<()> {
        let again = if id.attempt > 1 { format!(", attempt {}", id.attempt) } else { String::new() };
        let who = state.start.as_ref().map(|start| start.rung(rung).title()).unwrap_or_default();
        let title = self.style.strong(format!("Iteration {}{again}", id.iteration));
        let facts = self.style.faint(plain(&format!("{} {who}", clock_time(record.at, &self.zone))));
        writeln!(self.out, "\n{title}  {facts}")
    }

    fn review_heading(&mut self, record: &Record, state: &State) -> io::Result<()> {
        let title = self.style.strong(review_title(state));
        let facts = self.style.faint(clock_time(record.at, &self.zone));
        writeln!(self.out, "\n{title}  {facts}")
    }

    fn facts(&mut self, seen: &Seen) -> io::Result<()> {
        for words in fact_words(seen) {
            writeln!(self.out, "  {}", self.style.faint(words))?;
        }
        Ok(())
    }

    fn verified(&mut self, verified: &Verified) -> io::Result<()> {
        let words = fact_words(&Seen::Verified(verified.clone()));
        for (n, words) in words.iter().enumerate() {
            let result = verified.results.get(n);
            let passed = result.is_some_and(|result| result.how == CheckOutcome::Passed);
            let mark = if passed { self.style.good("✓") } else { self.style.bad("✗") };
            writeln!(self.out, "  {mark} {words}")?;
            if let Some(result) = result.filter(|_| !passed || self.tools) {
                self.block(tail(&result.tail, PRINTED))?;
            }
        }
        Ok(())
    }

    /// Somebody else's text, below what it belongs to.
    fn block(&mut self, text: &str) -> io::Result<()> {
        for line in plain_lines(text.trim_end()).lines() {
            writeln!(self.out, "    {} {line}", self.style.faint("│"))?;
        }
        Ok(())
    }

    fn decided(&mut self, record: &Record, decision: &Decision, state: &State) -> io::Result<()> {
        let what = match &decision.next {
            Next::Do(Step::Call { review: true, .. }) => return self.review_heading(record, state),
            Next::Do(Step::Admit { review: true, .. }) => "review".into(),
            Next::Do(Step::Call { id, rung, .. }) => return self.heading(record, *id, *rung, state),
            Next::Do(Step::Admit { .. } | Step::Plan { .. }) => CONTINUING.into(),
            Next::Interrupt(_) => "stopping the agent".into(),
            Next::Exit(ending) => format!("end: {} (exit {})", ending.name(), ending.exit_code()),
            _ => return Ok(()),
        };
        let words = match &decision.next {
            Next::Exit(ending) => ending_words(ending, &decision.reasons),
            _ => decision.reasons.iter().map(reason_words).collect::<Vec<_>>().join("; "),
        };
        match words.is_empty() {
            true if what == CONTINUING => Ok(()),
            true => writeln!(self.out, "  {} {what}", self.style.note("→")),
            false => writeln!(self.out, "  {} {what}: {words}", self.style.note("→")),
        }
    }

    fn activity(&mut self, activity: &Activity, line: &[u8], nth: usize) -> io::Result<()> {
        match activity {
            Activity::Said { text } => {
                let whole = event_parts::event(line).and_then(|event| event_parts::whole(&event, text));
                let text = head(whole.as_deref().unwrap_or(text).trim(), MESSAGE);
                for line in plain_lines(&text).lines() {
                    writeln!(self.out, "  {line}")?;
                }
                Ok(())
            }
            Activity::Tool { name, detail, .. } => {
                let detail = if self.tools {
                    String::new()
                } else {
                    plain(&head(&inside(&self.workspace, detail), SHORT))
                };
                let name = self.style.note(plain(name));
                writeln!(self.out, "{}", format!("  ● {name} {detail}").trim_end())?;
                let given = if self.tools { event_parts::event(line) } else { None };
                let given = given.and_then(|event| event_parts::arguments(&event).into_iter().nth(nth));
                given.map_or(Ok(()), |given| self.block(&head(&given, LONG)))
            }
            Activity::ToolEnded { failed } => self.tool_ended(*failed, line),
            Activity::Retrying { why } => {
                writeln!(self.out, "  {}", self.style.warn(plain(&format!("retrying: {why}"))))
            }
            Activity::Noise { text } => writeln!(self.out, "  {}", self.style.faint(plain(text))),
            Activity::Began { .. } => Ok(()),
        }
    }

    fn tool_ended(&mut self, failed: bool, line: &[u8]) -> io::Result<()> {
        if !failed && !self.tools {
            return Ok(());
        }
        let text = event_parts::event(line).and_then(|event| event_parts::result(&event)).unwrap_or_default();
        if failed {
            let first = if self.tools { "" } else { text.trim().lines().next().unwrap_or_default() };
            let words = plain(&format!("failed {}", head(first, SHORT)));
            writeln!(self.out, "    {}", self.style.bad(words))?;
        }
        if self.tools { self.block(&head(&text, LONG)) } else { Ok(()) }
    }
}

impl<W: Write> StoryVisitor for LogLines<W> {
    fn run_started(&mut self, start: &RunStarted) {
        self.zone.clone_from(&start.zone);
        self.workspace.clone_from(&start.workspace);
    }

    fn record(&mut self, record: &Record, state: &State) -> io::Result<()> {
        match &record.fact {
            Fact::Decided(decision) => self.decided(record, decision, state),
            Fact::Seen(Seen::Verified(verified)) => self.verified(verified),
            Fact::Seen(Seen::Admitted(_) | Seen::Extended(_) | Seen::Spent(_) | Seen::Woke) => Ok(()),
            Fact::Seen(seen) => self.facts(seen),
        }
    }

    fn transcript_line(&mut self, _id: Attempt, line: &[u8], events: &[ReaderEvent]) -> io::Result<()> {
        // A reader shows only the first lines of plain text; here all of them count.
        if events.is_empty() && !matches!(line.trim_ascii_start().first(), None | Some(b'{' | b'[')) {
            return writeln!(self.out, "  {}", plain(&head(&String::from_utf8_lossy(line), MESSAGE)));
        }
        let mut tools = 0;
        for event in events {
            if let ReaderEvent::Activity(activity) = event {
                self.activity(activity, line, tools)?;
                tools += usize::from(matches!(activity, Activity::Tool { .. }));
            }
        }
        Ok(())
    }

    fn call_closed(&mut self, _id: Attempt, mut stderr: Follower, lost: bool) -> io::Result<()> {
        if lost {
            let words = "no transcript (pruned, or the call never started)";
            writeln!(self.out, "  {}", self.style.faint(words))?;
        }
        let mut last = Vec::new();
        let _ = stderr.read::<io::Error>(u64::MAX, |followed| {
            if let Followed::Bytes { bytes, .. } = followed {
                last.extend_from_slice(bytes);
                let excess = last.len().saturating_sub(STDERR);
                last.drain(..excess);
            }
            Ok(())
        });
        let text = String::from_utf8_lossy(&last);
        if text.trim().is_empty() {
            return Ok(());
        }
        writeln!(self.out, "  {}", self.style.faint("stderr:"))?;
        self.block(&text)
    }

    fn caught_up(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
