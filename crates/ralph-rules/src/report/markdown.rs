//! Writes a report as Markdown. Section names and order are those of the loop wrapper this report replaces; figures it
//! did not have follow within each section.

use super::{Agent, Group, Overall, Report, Typical};
use crate::counting::counted;
use crate::money::Micro;
use std::fmt::Write;

impl Report {
    /// The whole report.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        let span = match self.from == self.to {
            true => self.to.clone(),
            false => format!("{} to {}", self.from, self.to),
        };
        let _ = writeln!(text, "# Ralph Loop Performance Report - {span}");
        if self.overall.loops == 0 {
            let when = if self.from == self.to { "on this day" } else { "in this period" };
            let _ = writeln!(text, "\nNo runs {when}.");
            if self.scripted_runs > 0 {
                let _ = writeln!(text, "{}.", self.scripted());
            }
            return text;
        }
        overall(&mut text, &self.overall);
        if self.scripted_runs > 0 {
            let _ = writeln!(text, "- {}", self.scripted());
        }
        let _ = writeln!(text, "\n## By Skill");
        self.by_skill.iter().for_each(|group| skill(&mut text, group));
        if !self.stories.is_empty() {
            let _ = writeln!(text, "\n## Stories");
        }
        for story in &self.stories {
            let _ = writeln!(text, "- {}: {}", cell(&story.title), story.grade);
        }
        agents(&mut text, &self.by_agent);
        self.waste(&mut text);
        let _ = writeln!(text, "\n## Abort Reasons");
        if self.abort_reasons.is_empty() {
            let _ = writeln!(text, "- None");
        }
        for (reason, times) in &self.abort_reasons {
            let _ = writeln!(text, "- {reason}: {times}");
        }
        let _ = writeln!(text, "\n## Alerts");
        if self.alerts.is_empty() {
            let _ =
                writeln!(text, "⚠️ None {}", if self.from == self.to { "today" } else { "in this period" });
        }
        for alert in &self.alerts {
            let _ = writeln!(text, "- ⚠️ {}", cell(alert));
        }
        text
    }

    /// What the other figures leave out.
    fn scripted(&self) -> String {
        format!("Not counted: {} of the scripted agent (sim)", counted(self.scripted_runs, "run"))
    }

    fn waste(&self, text: &mut String) {
        let (waste, known) = (&self.waste, self.overall.cost_is_complete);
        let _ = writeln!(text, "\n## Waste");
        let (idle, retry) = (usd(waste.idle_cost, known), usd(waste.retry_cost, known));
        let _ = writeln!(text, "- Iterations after the last progress: {} ({idle})", waste.idle_iterations);
        let _ = writeln!(text, "- Retries after provider failures: {} ({retry})", waste.retries);
        let _ = writeln!(text, "- Waits for a limit: {}", waste.limits);
    }
}

fn overall(text: &mut String, all: &Overall) {
    let mark = |good: bool| if good { "✅" } else { "❌" };
    let _ = writeln!(text, "\n## Overall Stats");
    let _ = writeln!(text, "- Total runs: {}", all.loops);
    if all.open > 0 {
        let _ = writeln!(text, "- Still open: {}", all.open);
    }
    let on = mark(all.completion_on_target);
    let _ = writeln!(text, "- Completion rate: {:.0}% {on} (target: >70%)", all.completion_rate);
    let _ = writeln!(text, "- Proven or tested: {} of {} completed", all.verified, all.completed);
    if !all.grades.is_empty() {
        let grades = all.grades.iter().map(|(grade, runs)| format!("{grade} {runs}"));
        let _ = writeln!(text, "- Grades: {}", grades.collect::<Vec<_>>().join(", "));
    }
    let known = all.cost_is_complete;
    let (iterations, cost) = typical(&all.typical, known);
    let _ = writeln!(text, "- Avg iterations: {iterations}\n- Avg cost: {cost}");
    if all.not_completed.loops > 0 {
        let (iterations, cost) = typical(&all.not_completed.typical, known);
        let loops = all.not_completed.loops;
        let _ = writeln!(text, "- Not completed: {loops}, avg iterations {iterations}, avg cost {cost}");
    }
    let _ = writeln!(text, "- Total cost: {}", usd(all.cost, known));
    match all.cost_per_verified {
        Some(cost) => writeln!(text, "- Cost per verified task: {}", usd(cost, known)),
        None => writeln!(text, "- Cost per verified task: - (none verified)"),
    }
    .ok();
    let on = mark(all.stall_on_target);
    let _ = writeln!(text, "- Stall rate: {:.0}% {on} (target: <20%)", all.stall_rate);
    let _ = writeln!(text, "- Tests fixed: {}", all.tests_fixed);
    if all.claims > 0 {
        let _ = writeln!(text, "- Claims that held: {} of {}", all.claims_held, all.claims);
    }
    if !all.work_types.is_empty() {
        let work = all.work_types.iter().map(|(work, iterations)| format!("{work} {iterations}"));
        let _ = writeln!(text, "- Iterations by work type: {}", work.collect::<Vec<_>>().join(", "));
    }
}

/// Mean and p95 of iterations and of cost.
fn typical(of: &Typical, known: bool) -> (String, String) {
    let (Some(iterations), Some(cost)) = (of.avg_iterations, of.avg_cost) else {
        return ("- (none completed)".into(), "- (none completed)".into());
    };
    let (p95, p95_cost) = (of.p95_iterations.unwrap_or(0), of.p95_cost.unwrap_or(0.0));
    (format!("{iterations:.1} (p95: {p95})"), format!("{} (p95: {})", usd(cost, known), usd(p95_cost, known)))
}

fn skill(text: &mut String, group: &Group) {
    let _ = writeln!(text, "### {}", group.skill.as_deref().map_or_else(|| "No skill".into(), title));
    let _ = writeln!(text, "- Runs: {}", group.loops);
    let _ = writeln!(text, "- Completion: {:.0}%", group.completion_rate);
    let avg = group.avg_iterations.map_or_else(|| "- (none completed)".into(), |avg| format!("{avg:.1}"));
    let _ = writeln!(text, "- Avg iterations: {avg}\n");
}

fn agents(text: &mut String, agents: &[Agent]) {
    let _ = writeln!(text, "## By Agent and Model");
    let _ = writeln!(
        text,
        "| Agent | Model | Runs | Calls | Input | Cached | Output | Cost | Claims that held |"
    );
    let _ = writeln!(text, "|---|---|--:|--:|--:|--:|--:|--:|--:|");
    for a in agents {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            cell(&a.agent),
            a.model.as_deref().map_or_else(|| "-".into(), cell),
            a.loops,
            a.calls,
            a.usage.input,
            a.usage.cache_read.saturating_add(a.usage.cache_write),
            a.usage.output,
            usd(a.cost, a.cost_is_complete),
            if a.claims > 0 { format!("{} of {}", a.claims_held, a.claims) } else { "-".into() },
        );
    }
}

/// `systematic-debugging` → `Systematic Debugging`, `tdd` → `TDD`.
fn title(name: &str) -> String {
    let words = name.split(['-', '_', '/', ' ']).filter(|word| !word.is_empty());
    let words = words.map(|word| {
        let mut letters = word.chars();
        match letters.next() {
            _ if word.len() <= 3 => word.to_uppercase(),
            Some(first) => first.to_uppercase().chain(letters).collect(),
            None => String::new(),
        }
    });
    cell(&words.collect::<Vec<_>>().join(" "))
}

/// Text for a table cell or list item: control characters and `|` become spaces.
fn cell(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || c == '|' { ' ' } else { c }).collect()
}

/// An amount in dollars; `~` marks one that is partly estimated.
fn usd(amount: f64, complete: bool) -> String {
    let amount = Micro::from_usd(amount).unwrap_or_default();
    format!("{}{amount}", if complete { "" } else { "~" })
}
