//! Whether the ledger agrees with the journals: each difference is a row, and so is each run without a journal.

use super::Row;
use crate::cli::{Here, runs};
use crate::problem::Code;
use ralph_engine::audit::audit;
use ralph_store::{Database, Store};

/// Differences that are listed; the last row counts the others.
const MOST: usize = 20;

/// One row if everything agrees, otherwise one for each difference; and one for each run that lost its journal.
pub fn rows(store: &Database, here: &Here) -> Vec<Row> {
    let home = here.home();
    let is_active = |run: &str| {
        let row = store.run(run).ok().flatten();
        row.zip(home.as_ref().ok()).is_some_and(|(row, home)| runs::is_running(&row, home))
    };
    let audit = match audit(store, &is_active) {
        Ok(audit) => audit,
        Err(error) => return vec![Row::of("ledger", &runs::broken(&error))],
    };
    let mut rows = match audit.differences.is_empty() {
        true => vec![Row::ok("ledger", agreement(audit.calls, audit.runs))],
        false => {
            let remedy = "if the database was damaged, `ralph doctor --restore` returns to its newest copy";
            listed(&audit.differences, ["difference", "differences"], |fact| {
                Row::bad("ledger", Code::Journal, fact, remedy)
            })
        }
    };
    let counted = "its cost is counted; it cannot be resumed";
    let runs = ["run without a journal", "runs without a journal"];
    rows.extend(listed(&audit.without_journal, runs, |fact| Row::warn("ledger", fact, counted)));
    rows
}

fn agreement(calls: usize, runs: usize) -> String {
    let calls = if calls == 1 { "1 call agrees".to_owned() } else { format!("{calls} calls agree") };
    let runs = if runs == 1 { "journal of 1 run".to_owned() } else { format!("journals of {runs} runs") };
    format!("{calls} with the {runs}")
}

/// A row for each fact, up to the limit; what they are is told as one and as many.
fn listed(facts: &[String], [one, many]: [&str; 2], row: impl Fn(String) -> Row) -> Vec<Row> {
    let more = match facts.len().saturating_sub(MOST) {
        0 => None,
        1 => Some(format!("1 more {one}")),
        more => Some(format!("{more} more {many}")),
    };
    facts.iter().take(MOST).cloned().chain(more).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_many_are_told_apart() {
        assert_eq!(agreement(0, 0), "0 calls agree with the journals of 0 runs");
        assert_eq!(agreement(1, 1), "1 call agrees with the journal of 1 run");
        assert_eq!(agreement(3, 2), "3 calls agree with the journals of 2 runs");
        let last = |count: usize| {
            let rows = listed(&vec!["x".into(); count], ["fault", "faults"], |fact| Row::ok("ledger", fact));
            (rows.len(), rows.last().map(|row| row.fact.clone()).unwrap_or_default())
        };
        assert_eq!(last(MOST), (MOST, "x".into()));
        assert_eq!(last(MOST + 1), (MOST + 1, "1 more fault".into()));
        assert_eq!(last(MOST + 2), (MOST + 1, "2 more faults".into()));
    }
}
