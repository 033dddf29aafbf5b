//! A run told for people: what the agent said, its tools, what verification printed, what was decided. Nothing an agent
//! printed reaches the terminal as it is.

use super::out::{Gone, Out};
use super::piece;
use super::story::Teller;
use super::transcript::Transcript;
use crate::plain::{plain, plain_lines};
use crate::show::{clock_time, fact_words, reason_words};
use crate::style::Style;
use ralph_agents::{Activity, ReaderEvent};
use ralph_rules::next::Next;
use ralph_rules::prompt::{head, tail};
use ralph_rules::record::{Attempt, CheckOutcome, Decision, Fact, Record, RunStarted, Seen, Verified};
use ralph_rules::state::State;
use ralph_rules::step::Step;

/// What is shown of a tool's main argument.
const SHORT: usize = 200;
/// What is shown of arguments and results where they are asked for.
const LONG: usize = 16 * 1024;
/// What is shown of one message.
const MESSAGE: usize = 64 * 1024;
/// What is shown of a failing verification's output.
const PRINTED: usize = 2 * 1024;
/// What is shown of stderr.
const STDERR: usize = 2 * 1024;

/// Prints lines.
pub struct Lines {
    out: Out,
    style: Style,
    /// With the arguments and results of tools.
    tools: bool,
    zone: String,
    /// Its path, with a slash at its end.
    workspace: String,
}

impl Lines {
    /// To stdout.
    pub fn new(style: Style, tools: bool) -> Lines {
        Lines { out: Out::new(), style, tools, zone: "UTC".into(), workspace: String::new() }
    }

    fn heading(&mut self, record: &Record, id: Attempt, rung: u32, state: &State) -> Result<(), Gone> {
        let again = if id.attempt > 1 { format!(", attempt {}", id.attempt) } else { String::new() };
        let who = state.start.as_ref().map(|start| start.rung(rung).title()).unwrap_or_default();
        let title = self.style.strong(format!("Iteration {}{again}", id.iteration));
        let facts = self.style.faint(plain(&format!("{} {who}", clock_time(record.at, &self.zone))));
        self.out.line(&format!("\n{title}  {facts}"))
    }

    /// Paths of the workspace without it.
    fn inside(&self, text: &str) -> String {
        if self.workspace.len() > 1 { text.replace(&self.workspace, "") } else { text.into() }
    }

    fn facts(&mut self, seen: &Seen) -> Result<(), Gone> {
        for words in fact_words(seen) {
            self.out.line(&format!("  {}", self.style.faint(words)))?;
        }
        Ok(())
    }

    fn verified(&mut self, verified: &Verified) -> Result<(), Gone> {
        let words = fact_words(&Seen::Verified(verified.clone()));
        for (n, words) in words.iter().enumerate() {
            let result = verified.results.get(n);
            let passed = result.is_some_and(|result| result.how == CheckOutcome::Passed);
            let mark = if passed { self.style.good("✓") } else { self.style.bad("✗") };
            self.out.line(&format!("  {mark} {words}"))?;
            if let Some(result) = result.filter(|_| !passed || self.tools) {
                self.block(tail(&result.tail, PRINTED))?;
            }
        }
        Ok(())
    }

    /// Somebody else's text, below what it belongs to.
    fn block(&mut self, text: &str) -> Result<(), Gone> {
        for line in plain_lines(text.trim_end()).lines() {
            self.out.line(&format!("    {} {line}", self.style.faint("│")))?;
        }
        Ok(())
    }

    fn decided(&mut self, record: &Record, decision: &Decision, state: &State) -> Result<(), Gone> {
        let what = match &decision.next {
            Next::Do(Step::Call { id, rung, .. }) => return self.heading(record, *id, *rung, state),
            Next::Do(Step::Admit { .. }) => "go on".into(),
            Next::Interrupt(_) => "ending the agent".into(),
            Next::Exit(ending) => format!("end with {} (exit {})", ending.name(), ending.exit_code()),
            _ => return Ok(()),
        };
        let words = decision.reasons.iter().map(reason_words).collect::<Vec<_>>().join("; ");
        match words.is_empty() {
            true if what == "go on" => Ok(()),
            true => self.out.line(&format!("  {} {what}", self.style.note("→"))),
            false => self.out.line(&format!("  {} {what}: {words}", self.style.note("→"))),
        }
    }

    fn activity(&mut self, activity: &Activity, line: &[u8], nth: usize) -> Result<(), Gone> {
        match activity {
            Activity::Said { text } => {
                let whole = piece::event(line).and_then(|event| piece::whole(&event, text));
                let text = head(whole.as_deref().unwrap_or(text).trim(), MESSAGE);
                for line in plain_lines(&text).lines() {
                    self.out.line(&format!("  {line}"))?;
                }
                Ok(())
            }
            Activity::Tool { name, detail, .. } => {
                let detail =
                    if self.tools { String::new() } else { plain(&head(&self.inside(detail), SHORT)) };
                let name = self.style.note(plain(name));
                self.out.line(format!("  ● {name} {detail}").trim_end())?;
                let given = if self.tools { piece::event(line) } else { None };
                let given = given.and_then(|event| piece::arguments(&event).into_iter().nth(nth));
                given.map_or(Ok(()), |given| self.block(&head(&given, LONG)))
            }
            Activity::ToolEnded { failed } => self.tool_ended(*failed, line),
            Activity::Retrying { why } => {
                self.out.line(&format!("  {}", self.style.warn(plain(&format!("tries again: {why}")))))
            }
            Activity::Noise { text } => self.out.line(&format!("  {}", self.style.faint(plain(text)))),
            Activity::Began { .. } => Ok(()),
        }
    }

    fn tool_ended(&mut self, failed: bool, line: &[u8]) -> Result<(), Gone> {
        if !failed && !self.tools {
            return Ok(());
        }
        let text = piece::event(line).and_then(|event| piece::result(&event)).unwrap_or_default();
        if failed {
            let first = if self.tools { "" } else { text.trim().lines().next().unwrap_or_default() };
            let words = plain(&format!("failed {}", head(first, SHORT)));
            self.out.line(&format!("    {}", self.style.bad(words)))?;
        }
        if self.tools { self.block(&head(&text, LONG)) } else { Ok(()) }
    }
}

impl Teller for Lines {
    fn began(&mut self, start: &RunStarted) {
        self.zone.clone_from(&start.zone);
        self.workspace = format!("{}/", start.workspace);
    }

    fn record(&mut self, record: &Record, state: &State) -> Result<(), Gone> {
        match &record.fact {
            Fact::Decided(decision) => self.decided(record, decision, state),
            Fact::Seen(Seen::Verified(verified)) => self.verified(verified),
            Fact::Seen(Seen::Admitted(_) | Seen::Extended(_) | Seen::Spent(_) | Seen::Woke) => Ok(()),
            Fact::Seen(seen) => self.facts(seen),
        }
    }

    fn line(&mut self, _id: Attempt, line: &[u8], heard: &[ReaderEvent]) -> Result<(), Gone> {
        // A reader shows only the first lines of plain text; here all of them count.
        if heard.is_empty() && !matches!(line.trim_ascii_start().first(), None | Some(b'{' | b'[')) {
            return self.out.line(&format!("  {}", plain(&head(&String::from_utf8_lossy(line), MESSAGE))));
        }
        let mut tools = 0;
        for heard in heard {
            if let ReaderEvent::Activity(activity) = heard {
                self.activity(activity, line, tools)?;
                tools += usize::from(matches!(activity, Activity::Tool { .. }));
            }
        }
        Ok(())
    }

    fn closed(&mut self, _id: Attempt, mut stderr: Transcript, lost: bool) -> Result<(), Gone> {
        if lost {
            let words = "what it printed is not kept any more (pruned, or never begun)";
            self.out.line(&format!("  {}", self.style.faint(words)))?;
        }
        let mut last = Vec::new();
        let _ = stderr.read::<std::io::Error>(|piece| {
            last.extend_from_slice(piece);
            let excess = last.len().saturating_sub(STDERR);
            last.drain(..excess);
            Ok(())
        });
        let text = String::from_utf8_lossy(&last);
        if text.trim().is_empty() {
            return Ok(());
        }
        self.out.line(&format!("  {}", self.style.faint("on stderr:")))?;
        self.block(&text)
    }

    fn caught_up(&mut self) -> Result<(), Gone> {
        self.out.flush()
    }
}
