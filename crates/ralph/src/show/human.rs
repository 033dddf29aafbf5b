//! What a person sees during `run`: calm lines on stderr. On a terminal one last line is rewritten with what the agent
//! does now; on a pipe nothing is.

use crate::cli::say;
use crate::show::{fact_words, money, receipt, seconds};
use crate::style::Style;
use ralph_agents::Activity;
use ralph_engine::clock::utc;
use ralph_engine::outcome::outcome;
use ralph_engine::watch::Watcher;
use ralph_rules::next::{Next, next};
use ralph_rules::objection::Objection;
use ralph_rules::prompt::head;
use ralph_rules::record::{Check, Decision, Fact, Ms, Record, Seen};
use ralph_rules::state::{Phase, State};
use ralph_rules::step::Step;
use std::time::Instant;

/// How much is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Only the receipt.
    Quiet,
    /// A few lines an iteration.
    Calm,
    /// Also what the agent does.
    Verbose,
}

/// Prints calm lines.
pub struct Human {
    mode: Mode,
    terminal: bool,
    style: Style,
    state: State,
    doing: String,
    since: Instant,
    live: bool,
}

impl Human {
    /// One that prints in this way.
    pub fn new(mode: Mode, terminal: bool, style: Style) -> Human {
        let state = State::default();
        Human { mode, terminal, style, state, doing: String::new(), since: Instant::now(), live: false }
    }

    fn line(&mut self, text: &str) {
        if self.mode == Mode::Quiet {
            return;
        }
        self.clear();
        say(&format!("{text}\n"));
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.live) {
            say("\r\x1b[K");
        }
    }

    /// The one line that is rewritten.
    fn show_now(&mut self) {
        if !self.terminal || self.mode == Mode::Quiet || self.doing.is_empty() {
            return;
        }
        let width = rustix::termios::tcgetwinsize(std::io::stderr()).map_or(80, |w| usize::from(w.ws_col));
        let elapsed = Ms::try_from(self.since.elapsed().as_millis()).unwrap_or(Ms::MAX);
        let text = format!("  {} {}", seconds(elapsed), self.doing.replace(['\n', '\r', '\t'], " "));
        let text: String = text.chars().filter(|c| !c.is_control()).take(width.saturating_sub(1)).collect();
        say(&format!("\r\x1b[K{}", self.style.faint(text)));
        self.live = true;
    }

    fn decided(&mut self, decision: &Decision) {
        match &decision.next {
            Next::Do(Step::Call { id, .. }) => self.iteration_head(id.iteration, id.attempt),
            Next::Do(Step::Verify { check, .. }) => self.begin(match check {
                Check::Baseline => "verifying before the first iteration",
                _ => "verifying",
            }),
            Next::Do(Step::Admit { .. }) if self.state.calls.done > 0 => self.reasons("go on", &decision.because),
            Next::Do(Step::Recover { .. }) => self.begin("finding out what became of the last call"),
            Next::End(_) => self.reasons("ending the agent", &decision.because),
            Next::Leave(ending) => {
                self.clear();
                let result = outcome(&self.state, *ending, &decision.because);
                say(&format!("\n{}", receipt(&result, &self.state, self.style)));
            }
            _ => {}
        }
    }

    fn iteration_head(&mut self, iteration: u32, attempt: u32) {
        let Some(start) = &self.state.start else { return };
        let policy = &start.policy;
        let again = if attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
        let text = format!(
            "\n{}  {}",
            self.style.strong(format!("Iteration {iteration} of {}{again}", policy.max_iterations)),
            self.style.faint(format!(
                "{} of {}, {} so far",
                money(self.state.budget.spent.0, self.state.budget.unpriced == 0),
                policy.max_cost,
                seconds(self.state.ran)
            ))
        );
        self.line(&text);
        self.begin("the agent starts");
    }

    fn begin(&mut self, doing: &str) {
        self.doing = doing.into();
        self.since = Instant::now();
        self.show_now();
    }

    fn reasons(&mut self, what: &str, because: &[Objection]) {
        let words = because.iter().map(Objection::say).collect::<Vec<_>>().join("; ");
        if !words.is_empty() {
            let arrow = self.style.note("→");
            self.line(&format!("  {arrow} {what}: {words}"));
        }
    }

    fn seen(&mut self, seen: &Seen) {
        match seen {
            Seen::RunStarted(start) => {
                let verify = if start.verify.is_empty() { "nothing".into() } else { start.verify.join(" && ") };
                let id = start.run.get(start.run.len().saturating_sub(8)..).unwrap_or_default().to_string();
                let text = format!("Run {} with {}, verified by {verify}", self.style.strong(id), start.agent.name);
                self.line(&text);
            }
            Seen::CallEnded(_) | Seen::CallLost(_) | Seen::Inspected(_) | Seen::Refused(_) | Seen::Asked(_) | Seen::Resumed(_) => {
                self.doing.clear();
                for words in fact_words(seen) {
                    self.line(&format!("  {words}"));
                }
            }
            Seen::Verified(verified) => {
                self.doing.clear();
                let passed = verified.passed();
                let mark = if passed { self.style.good("✓") } else { self.style.bad("✗") };
                let before = if verified.check == Check::Baseline { "before: " } else { "" };
                for words in fact_words(seen) {
                    self.line(&format!("  {mark} {before}{words}"));
                }
            }
            _ => {}
        }
    }

    /// While the run waits, the countdown is what it does now.
    fn waiting(&mut self) {
        let between = matches!(self.state.phase, Phase::Ready | Phase::Inspected | Phase::Judging | Phase::Refused(_));
        if !between || self.state.ending.is_some() {
            return;
        }
        if let Next::Keep { wake } = next(&self.state).next {
            self.doing = match wake.at {
                Some(at) => format!("waiting, {} left", seconds((at - utc()).max(0))),
                None if self.state.person.paused => "paused; `ralph continue` goes on".into(),
                None => return,
            };
        }
    }
}

impl Watcher for Human {
    fn record(&mut self, record: &Record) {
        let waited = matches!(self.state.phase, Phase::Ready | Phase::Inspected | Phase::Judging | Phase::Refused(_));
        if let Fact::Decided(decision) = &record.fact {
            self.state.apply(record);
            self.decided(decision);
        } else if let Fact::Seen(seen) = &record.fact {
            self.state.apply(record);
            self.seen(seen);
            let now = next(&self.state).next;
            if let (false, Next::Keep { wake: ralph_rules::next::Wake { at: Some(at), .. } }) = (waited && matches!(seen, Seen::Woke), now) {
                self.since = Instant::now();
                self.line(&format!("  waiting {} before the next call", seconds((at - utc()).max(0))));
            }
        }
    }

    fn activity(&mut self, activity: &Activity) {
        let words = match activity {
            Activity::Said { text } => head(text.trim(), 300),
            Activity::Tool { name, detail, .. } => format!("{name} {}", head(detail, 200)),
            Activity::Retrying { why } => format!("the agent's client tries again: {why}"),
            _ => return,
        };
        if self.mode == Mode::Verbose {
            self.line(&format!("  · {}", words.replace('\n', "\n    ")));
        }
        self.doing = words;
        self.show_now();
    }

    fn tick(&mut self) {
        self.waiting();
        self.show_now();
    }
}
