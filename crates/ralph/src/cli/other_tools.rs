//! What people type who know another tool: scripts that run an agent in a loop, git, process managers. Each word with
//! what ralph calls it.

/// Words typed as a command.
const COMMANDS: &[(&str, &str)] = &[
    ("version", "ralph --version"),
    ("loop start go begin exec execute launch fix work build", "ralph run"),
    ("init-project setup enable new create bootstrap import install", "ralph init"),
    ("monitor dashboard top tui", "ralph watch"),
    ("follow tail live", "ralph logs -f"),
    ("cost costs spend spending usage bill budget summary", "ralph report"),
    ("ls ps runs history", "ralph list"),
    ("show info state progress", "ralph status"),
    ("abort kill cancel halt quit end", "ralph stop"),
    ("revert rollback restore discard", "ralph undo"),
    ("reset reset-circuit circuit-reset unlock breaker", "ralph circuit reset"),
    ("circuit-status", "ralph circuit status"),
    ("check test validate prove", "ralph verify"),
    ("approve merge commit apply keep", "ralph accept"),
    ("retry restart rerun recover", "ralph resume"),
    ("clean cleanup gc delete remove rm", "ralph prune"),
    ("set get setting settings configure configuration options env", "ralph config show"),
    ("lint", "ralph config check"),
    ("why reason trace debug", "ralph explain"),
    ("pricing model models", "ralph prices"),
    ("say tell ask message msg", "ralph hint"),
    ("diagnose health", "ralph doctor"),
    ("completion autocomplete", "ralph completions bash"),
    ("manual docs", "ralph man"),
    ("example examples tutorial try", "ralph demo"),
];

/// Words typed as a flag, of whatever command.
const FLAGS: &[(&str, &str)] = &[
    ("--monitor --dashboard", "ralph run --watch"),
    ("--follow --live --tail --watch", "ralph logs -f"),
    ("--status", "ralph status"),
    ("--reset-circuit --circuit-reset --auto-reset-circuit", "ralph circuit reset"),
    ("--circuit-status", "ralph circuit status"),
    ("--calls --max-calls --rate-limit --calls-limit", "ralph run --calls-per-hour N"),
    (
        "--max-loops --max-iters --iterations --loops --max-turns --limit-iterations -n",
        "ralph run --max-iterations N",
    ),
    ("--budget --max-budget --max-budget-usd --cost --cost-limit --max-spend", "ralph run --max-cost USD"),
    ("--completion-promise --done --signal", "ralph run --promise TEXT"),
    ("--continue --resume --session --session-id", "ralph resume"),
    ("--no-continue --reset-session --new --clean --restart --no-resume", "ralph run --fresh"),
    ("--task --message -m -p", "ralph run 'the task'"),
    ("--prompt-file --file -f", "ralph run --prompt FILE"),
    ("--test --tests --check --test-command --verify-command", "ralph run --verify CMD"),
    ("--output-format --format --output", "--json"),
    ("--background --daemon -d", "ralph run --detach"),
    ("--provider --tool --cli --backend", "ralph run --agent NAME"),
    ("--dangerously-skip-permissions --yolo --allowed-tools --permission-mode", "ralph run … -- AGENT-FLAGS"),
    ("--init --setup", "ralph init"),
    ("--list --history", "ralph list"),
    ("--logs --log", "ralph logs"),
    ("--stop --kill", "ralph stop"),
    ("--cwd --dir --workdir --workspace --path", "-C DIR"),
    ("--debug --log-level", "-v"),
    ("--force --assume-yes --no-confirm", "--yes"),
    ("--no-color --no-colors", "--color never"),
];

/// What to type instead of this command.
pub fn command(typed: &str) -> Option<&'static str> {
    meant(COMMANDS, typed)
}

/// What to type instead of this flag.
pub fn flag(typed: &str) -> Option<&'static str> {
    meant(FLAGS, typed.split('=').next().unwrap_or(typed))
}

fn meant(table: &[(&str, &'static str)], typed: &str) -> Option<&'static str> {
    let typed = typed.to_lowercase();
    let is_listed = |words: &str| words.split(' ').any(|word| word == typed);
    table.iter().find(|(words, _)| is_listed(words)).map(|(_, instead)| *instead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::help::whole;
    use clap::Command;

    fn commands(command: &Command) -> Vec<String> {
        command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect()
    }

    #[test]
    fn no_word_is_ralphs_own_and_each_has_one_meaning() {
        let known = commands(&whole());
        let mut seen = Vec::new();
        for word in COMMANDS.iter().chain(FLAGS).flat_map(|(words, _)| words.split(' ')) {
            assert!(!known.iter().any(|name| name == word), "{word} is a command");
            assert!(!seen.contains(&word), "{word} is listed twice");
            seen.push(word);
        }
    }

    #[test]
    fn what_is_suggested_exists() {
        let whole = whole();
        for (words, instead) in COMMANDS.iter().chain(FLAGS) {
            let Some(line) = instead.strip_prefix("ralph ") else { continue };
            let mut command = &whole;
            for word in line.split(' ').take_while(|word| *word != "…") {
                if let Some(inner) = command.find_subcommand(word) {
                    command = inner;
                } else if let Some(name) = word.strip_prefix("--") {
                    let known = command.get_arguments().any(|arg| arg.get_long() == Some(name));
                    assert!(known || name == "version", "{words}: {instead}");
                }
            }
            assert!(command.get_name() != "ralph" || *instead == "ralph --version", "{words}: {instead}");
        }
    }
}
