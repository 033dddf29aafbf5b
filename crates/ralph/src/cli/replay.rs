//! `ralph replay`: replay a run's decisions from its journal and compare. Under the same rules a difference is a bug.

use super::{Here, runs};
use crate::print::{print, print_json};
use crate::problem::Problem;
use ralph_rules::RULES;
use ralph_rules::record::Decision;
use ralph_rules::replay::Difference;
use ralph_rules::state::State;
use ralph_view::fact_text::decision_words;
use serde_json::json;
use std::fmt::Write;

/// The command's arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run id (default: the latest run here).
    run: Option<String>,
    /// Fail on any difference, even if the run used other rules.
    #[arg(long)]
    strict: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Prints where the rules answer differently today.
pub fn replay(args: &Args, here: &Here) -> Result<u8, Problem> {
    let store = runs::store(&here.home()?)?;
    let row = runs::find(&store, args.run.as_deref(), here)?;
    let records = runs::records(&store, &row.id)?;
    let found = ralph_rules::replay::replay(&records);
    let rules = State::of(records.first()).start.map_or(RULES, |s| s.rules);
    let differ = !found.differences.is_empty();
    let code = match (differ, rules == RULES) {
        (true, true) => 70,
        (true, false) if args.strict => 1,
        _ => 0,
    };
    if args.json {
        let list: Vec<_> = found
            .differences
            .iter()
            .map(|d| json!({"seq": d.seq, "written": d.written, "today": d.today}))
            .collect();
        let value = json!({"run": row.id, "rules": rules, "rulesToday": RULES, "decisions": found.decisions, "differences": list});
        return print_json(&value).map(|()| code);
    }
    let mut text = format!("{} decisions of run {} replayed", found.decisions, runs::short(&row.id));
    if differ {
        let verdict = if rules == RULES {
            "differ under the same rules, which is a bug in ralph"
        } else {
            "would be decided differently today"
        };
        let _ = writeln!(text, ": {} {verdict}.", found.differences.len());
        found.differences.iter().for_each(|d| text.push_str(&difference(d)));
    } else {
        text.push_str(": all identical.\n");
    }
    print(&text);
    Ok(code)
}

fn difference(d: &Difference) -> String {
    let words = |decision: &Decision| decision_words(&decision.next);
    let written = d.written.as_ref().map_or_else(|| "wait".into(), words);
    format!("  record {}: recorded: {written}; today: {}\n", d.seq, words(&d.today))
}
