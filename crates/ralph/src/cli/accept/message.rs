//! The message of a commit that `ralph accept` makes: the task's first line, then what the receipt says.

use ralph_rules::record::CheckOutcome;
use ralph_rules::state::State;
use ralph_store::RunRow;
use ralph_view::fact_text::money;
use ralph_view::plain::plain;

/// Longer subjects are cut at a word.
const SUBJECT: usize = 72;

/// The first line.
pub fn subject(row: &RunRow) -> String {
    let line = plain(row.task.trim_start_matches(['#', ' ']).trim());
    let line = line.trim_end_matches(['.', ':']);
    match line {
        "" => format!("Work of ralph run {}", row.id),
        line if line.chars().count() <= SUBJECT => line.to_owned(),
        line => {
            let cut: String = line.chars().take(SUBJECT - 1).collect();
            let cut = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
            format!("{}…", cut.trim_end())
        }
    }
}

/// The whole message.
pub fn message(row: &RunRow, state: &State) -> String {
    let mut lines = vec![subject(row), String::new()];
    let ending = state.ending;
    lines.push(match ending.and_then(|ending| ending.grade) {
        Some(grade) => format!("Grade: {grade} ({})", grade.meaning()),
        None => format!("Ended with: {}", ending.map_or("", |ending| ending.name())),
    });
    lines.push(format!("Verification: {}", verification(state)));
    let iterations = match state.calls.done {
        1 => "1 iteration".to_owned(),
        n => format!("{n} iterations"),
    };
    let agent = state.start.as_ref().map(|start| start.agent.title()).unwrap_or_default();
    let cost = money(state.budget.spent.0, state.budget.unpriced == 0);
    lines.push(format!("Cost: {cost} in {iterations} with {}", plain(&agent)));
    lines.push(format!("Ralph-Run: {}", row.id));
    lines.join("\n") + "\n"
}

fn verification(state: &State) -> String {
    if !state.verifies() {
        return "no verify command".into();
    }
    let Some(verified) = state.checks.shown() else { return "not run".into() };
    let words = verified.results.iter().map(|result| {
        let how = if result.how == CheckOutcome::Passed { "passed" } else { "did not pass" };
        format!("`{}` {how}", plain(&result.command))
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_one_short_line() {
        let long =
            "Make every single one of the tests in the parser pass without touching the public interface";
        for (task, wanted) in [
            ("# Fix the parser.", "Fix the parser"),
            ("", "Work of ralph run r"),
            (long, "Make every single one of the tests in the parser pass without touching…"),
        ] {
            let row = RunRow { id: "r".into(), task: task.into(), ..RunRow::default() };
            assert_eq!(subject(&row), wanted);
        }
    }
}
