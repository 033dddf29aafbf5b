//! The figures of a benchmark in one aligned table, a line as soon as its figure is known, each beside its limit with a word
//! for how they compare. Times are only reported: no benchmark fails because a machine is busy.
#![allow(clippy::print_stdout)]

/// The figures so far.
#[derive(Debug)]
pub struct Table {
    counts_hold: bool,
}

/// What a figure is held against.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// It may be at most this.
    Most(f64),
    /// It should be at least this.
    Least(f64),
    /// As `Most`, and the same on every machine.
    Count(f64),
    /// Nothing is asked; this is what it stands beside.
    Beside(f64),
}

impl Table {
    /// Prints the head.
    #[must_use]
    pub fn start() -> Table {
        println!("{:<54} {:>9} {:>11} {:>6}  unit", "figure", "measured", "limit", "ratio");
        Table { counts_hold: true }
    }

    /// One figure, its limit and how they compare.
    pub fn row(&mut self, name: &str, measured: f64, limit: &Limit, unit: &str) {
        let (sign, bound, holds) = match *limit {
            Limit::Most(bound) | Limit::Count(bound) => ("≤", bound, Some(measured <= bound)),
            Limit::Least(bound) => ("≥", bound, Some(measured >= bound)),
            Limit::Beside(bound) => ("", bound, None),
        };
        let ratio = if bound == 0.0 { "-".to_string() } else { format!("{:.2}", measured / bound) };
        let verdict = match holds {
            Some(true) => "held",
            Some(false) => "over",
            None => "",
        };
        let bound = format!("{sign} {}", number(bound));
        println!("{name:<54} {:>9} {bound:>11} {ratio:>6}  {unit:<8} {verdict}", number(measured));
        self.counts_hold &= !matches!(limit, Limit::Count(_)) || holds == Some(true);
    }

    /// Something to know about the figures around it.
    pub fn note(&mut self, text: &str) {
        println!("  {text}");
    }

    /// No count is over its limit.
    #[must_use]
    pub fn counts_hold(&self) -> bool {
        self.counts_hold
    }
}

fn number(value: f64) -> String {
    if value == 0.0 || value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}
