//! What the receipt says about protected paths: what was restored, what was not, and where the other version is now; and
//! which settings of other programs the run changed.

use ralph_engine::receipt::obeyed_words;
use ralph_rules::record::Violation;
use ralph_rules::state::State;
use std::collections::BTreeSet;

/// Paths named in a row.
const NAMES: usize = 8;

/// Rows of the receipt, each with its name.
pub fn protected_rows(state: &State) -> Vec<(&'static str, String)> {
    let trees = &state.trees;
    let left: BTreeSet<&str> = trees.violations.iter().map(|v| v.path.as_str()).collect();
    let restored = trees.touched.iter().filter(|v| !left.contains(v.path.as_str())).map(by_change);
    let by_tools = trees.by_tools.iter().map(by_tool);
    let rows = [
        ("restored", listed(restored.chain(by_tools))),
        ("left as is", listed(trees.violations.iter().map(by_change))),
    ];
    let mut rows: Vec<_> = rows.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    if let Some(folder) = trees.quarantine.as_ref().filter(|_| !rows.is_empty()) {
        rows.push(("quarantine", format!("the agent's version: {folder}")));
    }
    let obeyed = listed(trees.obeyed.iter().cloned());
    rows.extend(obeyed.map(|names| ("read first", obeyed_words(&names))));
    rows
}

fn by_change(violation: &Violation) -> String {
    match violation.commit.as_deref().and_then(|commit| commit.get(..10)) {
        Some(commit) => format!("{} ({} {commit})", violation.path, violation.how.words()),
        None => format!("{} ({})", violation.path, violation.how_words()),
    }
}

fn by_tool(violation: &Violation) -> String {
    format!("{} (changed by {})", violation.path, violation.tool.as_deref().unwrap_or_default())
}

/// The first of very many names; none without any.
fn listed(names: impl Iterator<Item = String>) -> Option<String> {
    let mut seen = BTreeSet::new();
    let names: Vec<String> = names.filter(|name| seen.insert(name.clone())).collect();
    let more = names.len().saturating_sub(NAMES);
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    let first = names.into_iter().take(NAMES).collect::<Vec<_>>().join(", ");
    (!first.is_empty()).then(|| first + &tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_rules::record::How;

    #[test]
    fn what_was_restored_and_what_was_not() {
        let mut state = State::default();
        assert!(protected_rows(&state).is_empty());
        let env = Violation::new(".env", How::Modified);
        let commit = Violation {
            commit: Some("0123456789abcdef".into()),
            ..Violation::new("migrations/1.sql", How::InHistory)
        };
        let husky = Violation { tool: Some("husky".into()), ..Violation::new(".git/config", How::Modified) };
        let keys = ["a.a", "b.b", "c.c", "d.d"].map(ToOwned::to_owned).to_vec();
        let config = Violation { keys, ..Violation::new(".git/config", How::Modified) };
        state.trees.touched = vec![env.clone(), commit.clone(), env, config];
        state.trees.violations = vec![commit];
        state.trees.by_tools = vec![husky];
        state.trees.quarantine = Some("/q/001.1".into());
        let rows = protected_rows(&state);
        let restored =
            ".env (modified), .git/config (modified: a.a, b.b, c.c, …), .git/config (changed by husky)";
        assert_eq!(rows[0], ("restored", restored.into()));
        assert_eq!(rows[1], ("left as is", "migrations/1.sql (in a commit 0123456789)".into()));
        assert_eq!(rows[2], ("quarantine", "the agent's version: /q/001.1".into()));
    }

    #[test]
    fn what_other_programs_obey_is_to_be_read_first() {
        let mut state = State::default();
        state.trees.obeyed = [".envrc", ".vscode/tasks.json"].map(ToOwned::to_owned).into();
        let value = ".envrc, .vscode/tasks.json: other programs run what these files say";
        assert_eq!(protected_rows(&state), [("read first", value.into())]);
    }
}
