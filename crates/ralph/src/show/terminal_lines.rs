//! What a person sees during `run`: calm lines on stderr that stay. On a terminal a few more below them (`live_screen.rs`) are
//! rewritten with how the run stands and what the agent does now; on a pipe nothing is.

use super::live_screen::{Live, Now};
use crate::plain::{plain, plain_lines};
use crate::print::say;
use crate::style::Style;
use ralph_agents::Activity;
use ralph_engine::clock::utc;
use ralph_engine::outcome::outcome;
use ralph_engine::watch::Watcher;
use ralph_rules::next::{Next, Wake, next};
use ralph_rules::objection::Objection;
use ralph_rules::prompt::head;
use ralph_rules::record::{Check, CheckOutcome, Decision, Fact, Ms, Record, Seen};
use ralph_rules::state::{Phase, State};
use ralph_rules::step::Step;
use ralph_view::fact_text::{fact_words, money, reason_words, seconds};
use ralph_view::run_receipt::receipt;
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
    style: Style,
    state: State,
    doing: String,
    since: Instant,
    waiting: bool,
    /// It waits or is paused.
    held: bool,
    costs: Vec<i64>,
    calls: Option<i64>,
    hour: Hour,
    live: Live,
}

/// Says how many calls all runs made in the last hour, where that can be known.
pub type Hour = Box<dyn FnMut(&State) -> Option<i64> + Send>;

impl Human {
    /// One that prints in this way, of a run that stands so. `costs` are those of its calls so far.
    pub fn new(mode: Mode, live: Live, hour: Hour, style: Style, state: State, costs: Vec<i64>) -> Human {
        let (doing, since) = (String::new(), Instant::now());
        Human {
            mode,
            style,
            state,
            doing,
            since,
            waiting: false,
            held: false,
            costs,
            calls: None,
            hour,
            live,
        }
    }

    fn line(&mut self, text: &str) {
        if self.mode != Mode::Quiet {
            self.live.line(text);
        }
    }

    fn show_now(&mut self) {
        if !self.doing.is_empty() {
            let elapsed = Ms::try_from(self.since.elapsed().as_millis()).unwrap_or(Ms::MAX);
            self.live.draw(&Now {
                state: &self.state,
                doing: &self.doing,
                elapsed,
                waiting: self.waiting,
                calls: self.calls,
                costs: &self.costs,
            });
        }
    }

    /// A limit that comes near is said when it does.
    fn alerts(&mut self, reasons: &[Objection]) {
        for alert in reasons.iter().filter(|o| o.is_alert()) {
            self.line(&format!("  {} {}", self.style.warn("!"), self.style.warn(reason_words(alert))));
        }
    }

    fn decided(&mut self, decision: &Decision) {
        match &decision.next {
            Next::Do(Step::Inspect { .. } | Step::Extend { .. }) => self.alerts(&decision.reasons),
            Next::Do(Step::Call { id, rung, .. }) => self.iteration_head(id.iteration, id.attempt, *rung),
            Next::Do(Step::Verify { check, .. }) => self.begin(match check {
                Check::Baseline => "verifying before the first iteration",
                _ => "verifying",
            }),
            Next::Do(Step::Admit { .. }) if self.state.calls.done > 0 => {
                self.reasons("go on", &decision.reasons);
            }
            Next::Do(Step::Recover { .. }) => self.begin("finding out what became of the last call"),
            Next::Interrupt(_) => self.reasons("ending the agent", &decision.reasons),
            Next::Exit(ending) => {
                self.doing.clear();
                self.live.close();
                let result = outcome(&self.state, *ending, &decision.reasons);
                say(&format!("\n{}", receipt(&result, &self.state, self.style)));
            }
            _ => {}
        }
    }

    fn iteration_head(&mut self, iteration: u32, attempt: u32, rung: u32) {
        let Some(start) = &self.state.start else { return };
        let (most, cap) = (start.policy.max_iterations, start.policy.max_cost);
        let spent = self.state.budget.spent;
        let again = if attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
        let who =
            if rung > 0 { format!(", rung {rung}: {}", start.rung(rung).title()) } else { String::new() };
        let title = self.style.strong(format!("Iteration {iteration} of {most}{again}{}", plain(&who)));
        let so_far = money(spent.0, self.state.budget.unpriced == 0);
        let facts = format!("{so_far} of {cap}, {} so far", seconds(self.state.ran));
        // 80 % of the money or 90 % of the iterations: worth a look.
        let scarce =
            spent.0 >= cap.0 / 5 * 4 || iteration > 1 && u64::from(iteration) * 10 > u64::from(most) * 9;
        let facts =
            if scarce { self.style.warn(facts + ": near the limit") } else { self.style.faint(facts) };
        self.line(&format!("\n{title}  {facts}"));
        self.begin("the agent starts");
    }

    fn begin(&mut self, doing: &str) {
        self.doing = doing.into();
        self.since = Instant::now();
        self.show_now();
    }

    fn reasons(&mut self, what: &str, reasons: &[Objection]) {
        let words = reasons.iter().filter(|o| !o.is_alert()).map(reason_words).collect::<Vec<_>>().join("; ");
        if !words.is_empty() {
            let arrow = self.style.note("→");
            self.line(&format!("  {arrow} {what}: {words}"));
        }
    }

    fn seen(&mut self, seen: &Seen) {
        match seen {
            Seen::CallEnded(call) => self.costs.push(call.charged.0),
            Seen::CallLost(lost) => self.costs.push(lost.charged.0),
            Seen::Admitted(_) | Seen::Refused(_) => self.calls = (self.hour)(&self.state).or(self.calls),
            _ => {}
        }
        match seen {
            Seen::RunStarted(_) => self.title("with"),
            Seen::Resumed(_) => self.title("goes on with"),
            Seen::Admitted(admitted) => {
                if let Some(mistake) = &admitted.template_failed {
                    let words = plain(&format!("a template failed, ralph's own was used: {mistake}"));
                    self.line(&format!("  {}", self.style.warn(words)));
                }
            }
            Seen::CallEnded(_) | Seen::CallLost(_) | Seen::Inspected(_) | Seen::Refused(_) => {
                self.doing.clear();
                self.facts(seen);
            }
            // The agent goes on with what it does.
            Seen::Asked(_) | Seen::PolicyChanged(_) => self.facts(seen),
            Seen::Verified(verified) => {
                self.doing.clear();
                let before = match verified.check {
                    Check::Baseline => "before: ",
                    Check::AsIs => "",
                    Check::WithBaselineOracle => "with the tests as they were: ",
                };
                for (n, words) in fact_words(seen).into_iter().enumerate() {
                    let passed =
                        verified.results.get(n).is_some_and(|result| result.how == CheckOutcome::Passed);
                    let mark = if passed { self.style.good("✓") } else { self.style.bad("✗") };
                    self.line(&format!("  {mark} {before}{words}"));
                }
            }
            _ => {}
        }
    }

    fn facts(&mut self, seen: &Seen) {
        for words in fact_words(seen) {
            self.line(&format!("  {words}"));
        }
    }

    fn title(&mut self, goes: &str) {
        let Some(start) = &self.state.start else { return };
        let verify =
            if start.verify.is_empty() { "nothing".into() } else { plain(&start.verify.join(" && ")) };
        let id = start.run.get(start.run.len().saturating_sub(8)..).unwrap_or_default();
        let text = format!("Run {} {goes} {}, verified by {verify}", self.style.strong(id), start.agent.name);
        self.line(&text);
    }

    /// Between two calls: what is next may be a wait.
    fn is_between(&self) -> bool {
        matches!(self.state.phase, Phase::Ready | Phase::Inspected | Phase::Judging | Phase::Refused(_))
    }

    /// While the run waits, the countdown is what it does now.
    fn waiting(&mut self) {
        if !self.is_between() || self.state.ending.is_some() {
            return;
        }
        if let Next::Wait { wake } = next(&self.state).next {
            if !std::mem::replace(&mut self.held, true) {
                self.since = Instant::now();
            }
            self.waiting = wake.at.is_some();
            self.doing = match wake.at {
                Some(at) => format!("waiting, {} left{}", seconds((at - utc()).max(0)), self.why_it_waits()),
                None if self.state.person.paused => "paused before the next call".into(),
                None => return,
            };
        }
    }

    fn why_it_waits(&self) -> String {
        match (&self.state.phase, &self.state.faults.last) {
            (Phase::Refused(refused), _) => format!(": {} of {} in this hour", refused.total, refused.cap),
            (_, Some(fault)) => format!(": {}", fault.class.words()),
            _ => String::new(),
        }
    }

    /// A tool's argument without the workspace's own path.
    fn inside(&self, text: &str) -> String {
        let workspace = self.state.start.as_ref().map(|s| format!("{}/", s.workspace)).unwrap_or_default();
        if workspace.len() > 1 { text.replace(&workspace, "") } else { text.into() }
    }
}

impl Watcher for Human {
    fn record(&mut self, record: &Record) {
        (self.waiting, self.held) = (false, false);
        let woke = self.is_between() && matches!(record.fact, Fact::Seen(Seen::Woke));
        self.state.apply(record);
        match &record.fact {
            Fact::Decided(decision) => self.decided(decision),
            Fact::Seen(seen) => {
                self.seen(seen);
                let wait = next(&self.state).next;
                if let (false, Next::Wait { wake: Wake { at: Some(at), .. } }) = (woke, wait) {
                    self.since = Instant::now();
                    self.line(&format!("  waiting {} before the next call", seconds((at - utc()).max(0))));
                }
            }
        }
    }

    fn activity(&mut self, activity: &Activity) {
        let words = match activity {
            Activity::Said { text } => head(text.trim(), 300),
            Activity::Tool { name, detail, .. } => format!("{name} {}", head(&self.inside(detail), 200)),
            Activity::Retrying { why } => format!("the agent's client tries again: {why}"),
            _ => return,
        };
        if self.mode == Mode::Verbose {
            self.line(&format!("  · {}", plain_lines(&words).replace('\n', "\n    ")));
        }
        self.doing = words;
        self.show_now();
    }

    fn tick(&mut self) {
        self.waiting();
        self.show_now();
    }
}
