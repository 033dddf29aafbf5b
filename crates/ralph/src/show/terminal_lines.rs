//! What a person sees during `run`: calm lines on stderr that stay. On a terminal a few more below them
//! (`live_screen.rs`) are rewritten with the run's status and what the agent does now; on a pipe nothing is.

use super::live_screen::{LiveScreen, LiveStatus};
use crate::print::RunOutput;
use ralph_agents::Activity;
use ralph_engine::clock::utc;
use ralph_engine::watch::Watcher;
use ralph_rules::money::Micro;
use ralph_rules::record::{Fact, Record, Seen};
use ralph_rules::state::State;
use ralph_view::run_lines::RunLines;
use std::collections::VecDeque;

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verbosity {
    /// Only the receipt.
    Quiet,
    /// A few lines an iteration.
    Normal,
    /// Also what the agent does.
    Verbose,
}

/// Lines that are printed of what happened before this process looked.
const CAUGHT_UP: usize = 12;

/// Counts the calls of all runs in the last hour, where that can be known.
pub type CallsLastHour = Box<dyn FnMut(&State) -> Option<i64> + Send>;

/// Prints the lines of one run.
pub struct TerminalLines {
    verbosity: Verbosity,
    run: RunLines,
    calls: Option<i64>,
    calls_last_hour: CallsLastHour,
    screen: LiveScreen,
    out: RunOutput,
}

impl TerminalLines {
    /// Prints to `out`, around the screen where there is one.
    pub fn new(
        verbosity: Verbosity,
        screen: LiveScreen,
        calls_last_hour: CallsLastHour,
        run: RunLines,
        out: RunOutput,
    ) -> TerminalLines {
        TerminalLines { verbosity, run, calls: None, calls_last_hour, screen, out }
    }

    /// What was written before this process looked: only the last lines of it are printed.
    pub fn catch_up(&mut self, records: &[Record]) {
        let mut lines = VecDeque::new();
        for record in records {
            lines.extend(self.run.record(record, record.at).lines);
            let old = lines.len().saturating_sub(CAUGHT_UP);
            lines.drain(..old);
        }
        for line in lines {
            self.line(&line);
        }
        self.calls = (self.calls_last_hour)(self.run.state());
        self.draw();
    }

    /// The call under way of a run in another process has spent so much so far.
    pub fn spent(&mut self, total: Micro) {
        self.run.spent(total);
    }

    fn line(&mut self, text: &str) {
        if self.verbosity != Verbosity::Quiet {
            self.screen.line(text);
        }
    }

    fn draw(&mut self) {
        if !self.run.doing().is_empty() {
            self.screen.draw(&LiveStatus {
                state: self.run.state(),
                doing: self.run.doing(),
                elapsed: self.run.elapsed(utc()),
                waiting: self.run.is_waiting(),
                calls: self.calls,
                costs: self.run.costs(),
                iteration: self.run.iteration(),
                output: self.run.output(),
            });
        }
    }
}

impl Watcher for TerminalLines {
    fn record(&mut self, record: &Record) {
        let new = self.run.record(record, utc());
        if let Fact::Seen(Seen::Admitted(_) | Seen::Refused(_)) = &record.fact {
            self.calls = (self.calls_last_hour)(self.run.state()).or(self.calls);
        }
        for line in &new.lines {
            self.line(line);
        }
        match new.receipt {
            Some(receipt) => {
                let receipt = self.screen.wrapped(&receipt);
                self.screen.close();
                self.out.stderr(&format!("\n{receipt}"));
            }
            None => self.draw(),
        }
    }

    fn activity(&mut self, activity: &Activity) {
        if let Some(line) = self.run.activity(activity)
            && self.verbosity == Verbosity::Verbose
        {
            self.line(&line);
        }
        self.draw();
    }

    fn tick(&mut self) {
        self.run.tick(utc());
        self.draw();
    }
}
