//! A run as it happens, in calm lines, and what it is doing now. Whoever shows them decides where: the terminal of
//! `ralph run`, a monitor or a page. Each run has a value of its own, so any number can be followed at once.

mod fact_lines;

use crate::activity_line::{inside, thinking_after};
use crate::agent_output::AgentOutput;
use crate::fact_text::{clock_until, money, reason_words, review_title, seconds};
use crate::plain::{plain, plain_lines};
use crate::run_receipt::receipt;
use crate::style::Style;
use ralph_agents::Activity;
use ralph_engine::outcome::outcome;
use ralph_engine::run_state::{RunState, is_between_steps};
use ralph_rules::money::Micro;
use ralph_rules::next::{Next, Wake, next};
use ralph_rules::objection::Objection;
use ralph_rules::prompt::head;
use ralph_rules::record::{Check, Decision, Fact, Ms, Record, Seen};
use ralph_rules::state::{Phase, State};
use ralph_rules::step::Step;

/// Follows one run.
pub struct RunLines {
    style: Style,
    state: State,
    /// What is being done now; empty where that is not known.
    doing: String,
    /// Since when, UTC.
    since: Ms,
    /// It waits or is paused.
    held: bool,
    costs: Vec<i64>,
    output: AgentOutput,
    /// Ctrl-C reaches the run: it is this process's own.
    own: bool,
    lines: Vec<String>,
}

/// What a record adds to the screen.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NewLines {
    /// Lines that stay, in order.
    pub lines: Vec<String>,
    /// The closing receipt, where the run ended.
    pub receipt: Option<String>,
}

impl RunLines {
    /// Of a run of which this was written before.
    pub fn new(records: &[Record], style: Style) -> RunLines {
        RunLines {
            style,
            state: State::of(records),
            doing: String::new(),
            since: 0,
            held: false,
            costs: records.iter().filter_map(cost_of).collect(),
            output: AgentOutput::default(),
            own: true,
            lines: Vec::new(),
        }
    }

    /// Of a run in another process, which is only watched.
    #[must_use]
    pub fn of_another_process(self) -> RunLines {
        RunLines { own: false, ..self }
    }

    /// One more record, at this time of day.
    pub fn record(&mut self, record: &Record, now: Ms) -> NewLines {
        self.held = false;
        let woke = is_between_steps(&self.state) && matches!(record.fact, Fact::Seen(Seen::Woke));
        self.state.apply(record);
        self.costs.extend(cost_of(record));
        let mut closing = None;
        match &record.fact {
            Fact::Decided(decision) => closing = self.decided(decision),
            Fact::Seen(seen) => {
                self.seen(seen);
                let wait = next(&self.state).next;
                if let (false, Next::Wait { wake: Wake { at: Some(at), .. } }) = (woke, wait) {
                    self.since = record.at;
                    let left = seconds((at - now).max(0));
                    let until = self.clock_until(at, now);
                    self.line(format!("  waiting {left} before the next call, until {until}"));
                }
            }
        }
        NewLines { lines: std::mem::take(&mut self.lines), receipt: closing }
    }

    /// The call under way has spent so much so far, by its transcript: a record may have less.
    pub fn spent(&mut self, total: Micro) {
        if matches!(self.state.phase, Phase::Calling { .. } | Phase::Ending) {
            self.state.budget.live = self.state.budget.live.max(total);
        }
    }

    /// The agent does something: the words for it, where there are any.
    pub fn activity(&mut self, activity: &Activity) -> Option<String> {
        let words = match activity {
            Activity::Said { text } => {
                self.output.said(text.trim());
                head(text.trim(), 300)
            }
            Activity::Tool { name, detail, .. } => {
                let words = format!("{name} {}", head(&self.inside(detail), 200));
                self.output.tool(&words);
                words
            }
            Activity::ToolEnded { failed } => {
                self.output.tool_ended(*failed);
                self.doing = self.after_tool();
                return None;
            }
            Activity::Retrying { why } => format!("the agent's client retries: {why}"),
            _ => return None,
        };
        let line = format!("  · {}", plain_lines(&words).replace('\n', "\n    "));
        self.doing = words;
        Some(line)
    }

    /// Nothing happened for a while: a run that waits counts down.
    pub fn tick(&mut self, now: Ms) {
        let doing = match RunState::of(&self.state) {
            RunState::Waiting { until: Some(at) } => {
                let (until, left) = (self.clock_until(at, now), seconds((at - now).max(0)));
                format!("waiting until {until} ({left} left){}", self.why_it_waits())
            }
            RunState::Paused => "paused before the next call".into(),
            _ => return,
        };
        if !std::mem::replace(&mut self.held, true) {
            self.since = self.state.at;
        }
        self.doing = doing;
    }

    /// Where the run is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What is being done now; empty where that is not known.
    pub fn doing(&self) -> &str {
        &self.doing
    }

    /// Since when, UTC milliseconds.
    pub fn since(&self) -> Ms {
        self.since
    }

    /// For how long, in milliseconds.
    pub fn elapsed(&self, now: Ms) -> Ms {
        now.saturating_sub(self.since).max(0)
    }

    /// The iteration under way, or the last one.
    pub fn iteration(&self) -> u32 {
        self.state.calls.id.iteration.max(self.state.calls.done)
    }

    /// What the agent said and did lately.
    pub fn output(&self) -> &AgentOutput {
        &self.output
    }

    /// Whether it waits for a moment.
    pub fn is_waiting(&self) -> bool {
        self.held && matches!(RunState::of(&self.state), RunState::Waiting { .. })
    }

    /// What each call cost, in micro-dollars.
    pub fn costs(&self) -> &[i64] {
        &self.costs
    }

    fn line(&mut self, text: String) {
        self.lines.push(text);
    }

    fn decided(&mut self, decision: &Decision) -> Option<String> {
        match &decision.next {
            Next::Do(Step::Inspect { .. } | Step::Extend { .. }) => self.alerts(&decision.reasons),
            Next::Do(Step::Admit { review: true, .. }) => {}
            Next::Do(Step::Call { review: true, .. }) => {
                let title = review_title(&self.state);
                self.line(format!("\n{}", self.style.strong(title)));
                self.begin("starting the reviewer");
            }
            Next::Do(Step::Call { id, rung, .. }) => self.iteration_head(id.iteration, id.attempt, *rung),
            Next::Do(Step::Verify { check, .. }) => self.begin(match check {
                Check::Baseline => "verifying before the first iteration",
                Check::InRoom(_) => "proving: checking that the green needs the work",
                _ => "verifying",
            }),
            Next::Do(Step::Map { .. }) => {
                self.begin("mapping: checking which parts of the change a check notices");
            }
            Next::Do(Step::Compare) => self.begin("comparing the changes"),
            Next::Do(Step::Plan { grant: Some(grant), .. }) => {
                let words = plain(&format!("story done, {}: {}", grant.grade, grant.title));
                self.line(format!("  {} {}", self.style.good("✓"), self.style.good(words)));
            }
            Next::Do(Step::Admit { .. } | Step::Plan { .. }) if self.state.calls.done > 0 => {
                self.reasons("continuing", &decision.reasons);
            }
            Next::Do(Step::Recover { .. }) => self.begin("checking how the last call ended"),
            Next::Interrupt(_) if matches!(self.state.phase, Phase::Calling { .. }) => {
                self.reasons("stopping the agent", &decision.reasons);
            }
            Next::Interrupt(_) => self.reasons("stopping", &decision.reasons),
            Next::Exit(ending) => {
                self.doing.clear();
                let result = outcome(&self.state, *ending, &decision.reasons);
                return Some(receipt(&result, &self.state, self.style));
            }
            _ => {}
        }
        None
    }

    /// A limit that comes near is said when it does.
    fn alerts(&mut self, reasons: &[Objection]) {
        for alert in reasons.iter().filter(|o| o.is_alert()) {
            self.line(format!("  {} {}", self.style.warn("!"), self.style.warn(reason_words(alert))));
        }
    }

    fn iteration_head(&mut self, iteration: u32, attempt: u32, rung: u32) {
        let Some(start) = &self.state.start else { return };
        let (most, cap) = (start.policy.max_iterations, start.policy.max_cost);
        let spent = self.state.budget.spent;
        let again = if attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
        let title = || start.rung(rung).title();
        let who = match rung {
            _ if start.rotate => format!(", {}", title()),
            0 => String::new(),
            rung => format!(", rung {rung}: {}", title()),
        };
        let title = self.style.strong(format!("Iteration {iteration} of {most}{again}{}", plain(&who)));
        let so_far = money(spent.0, self.state.budget.unpriced == 0);
        let facts = format!("{so_far} of {cap}, {} so far", seconds(self.state.ran));
        // 80 % of the money or 90 % of the iterations: worth a look.
        let scarce =
            spent.0 >= cap.0 / 5 * 4 || iteration > 1 && u64::from(iteration) * 10 > u64::from(most) * 9;
        let facts =
            if scarce { self.style.warn(facts + ": near the limit") } else { self.style.faint(facts) };
        self.line(format!("\n{title}  {facts}"));
        self.begin("starting the agent");
    }

    fn begin(&mut self, doing: &str) {
        self.doing = doing.into();
        self.since = self.state.at;
    }

    /// What the agent does once a tool has ended: another one still runs, or it thinks.
    fn after_tool(&self) -> String {
        match (self.output.running_tool(), self.output.ended_tool()) {
            (Some(words), _) => words.into(),
            (None, Some((words, failed))) => thinking_after(words, failed),
            (None, None) => "thinking".into(),
        }
    }

    fn clock_until(&self, at: Ms, now: Ms) -> String {
        let zone = self.state.start.as_ref().map_or("UTC", |start| start.zone.as_str());
        clock_until(at, now, zone)
    }

    fn reasons(&mut self, what: &str, reasons: &[Objection]) {
        // What the status block says wrongly is for the agent and for `explain`; here the gate has said what matters.
        let shown = reasons.iter().filter(|o| !o.is_alert() && !o.is_lie());
        let words = shown.map(reason_words).collect::<Vec<_>>().join("; ");
        if !words.is_empty() {
            self.line(format!("  {} {what}: {words}", self.style.note("→")));
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
        inside_workspace(&self.state, text)
    }
}

/// A text with the paths of the run's workspace made relative.
pub(crate) fn inside_workspace(state: &State, text: &str) -> String {
    state.start.as_ref().map_or_else(|| text.into(), |start| inside(&start.workspace, text))
}

/// What a call cost, where the record closes one.
fn cost_of(record: &Record) -> Option<i64> {
    match &record.fact {
        Fact::Seen(Seen::CallEnded(call)) => Some(call.charged.0),
        Fact::Seen(Seen::CallLost(lost)) => Some(lost.charged.0),
        _ => None,
    }
}
