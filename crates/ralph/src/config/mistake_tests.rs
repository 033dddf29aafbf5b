//! Mistakes: each with file, line and column, what is wrong and what was probably meant; all of them at once.

use super::test_layers::Layers;
use crate::problem::{Code, Problem};

fn problems(text: &str) -> Vec<Problem> {
    let layers = Layers::with(&[("project", text)]);
    let workspace = layers.workspace().display().to_string();
    let strip = |problem: Problem| Problem {
        message: problem.message.replace(&format!("{workspace}/"), ""),
        ..problem
    };
    layers.check().problems.into_iter().map(strip).collect()
}

/// Each text has one mistake, which is told so.
fn told(cases: &[(&str, &str)]) {
    for (text, message) in cases {
        let found = problems(text);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!((found[0].message.as_str(), found[0].code), (*message, Code::Config), "{text}");
    }
}

#[test]
fn mistakes_are_told_with_their_place() {
    told(&[
        ("[run]\nmax_iteration = 3\n", "ralph.toml:2:1: unknown key `max_iteration` in [run]"),
        ("[runn]\n", "ralph.toml:1:2: unknown key `runn`"),
        ("\u{feff}[runn]\n", "ralph.toml:1:2: unknown key `runn`"),
        ("[run]\r\n  x = 1\r\n", "ralph.toml:2:3: unknown key `x` in [run]"),
        (
            "[run]\nmax_iterations = \"3\"\n",
            "ralph.toml:2:18: `run.max_iterations` must be a whole number above 0, not \"3\"",
        ),
        (
            "[run]\nmax_iterations = 0\n",
            "ralph.toml:2:18: `run.max_iterations` must be a whole number above 0, not 0",
        ),
        (
            "[run]\nmax_iterations = -3\n",
            "ralph.toml:2:18: `run.max_iterations` must be a whole number above 0, not -3",
        ),
        ("[run]\nmax_iterations = 1\nmax_iterations = 2\n", "ralph.toml:3:1: duplicate key"),
        (
            "[otel]\nendpoint = \"localhost:4318\"\n",
            "ralph.toml:2:12: `otel.endpoint` must be the address of a collector, such as \"http://localhost:4318\", \
             not \"localhost:4318\"",
        ),
        (
            "[otel]\nendpoint = \"https://me:sesame@example.org\"\n",
            "ralph.toml:2:12: `otel.endpoint` cannot be used: it contains an @, as before a user name and a password",
        ),
        (
            "[otel]\nendpoint = \"http://localhost:4318\"\n",
            "ralph.toml:2:1: `otel.endpoint` cannot be set in a project's file",
        ),
        (
            "[otel]\nheaders = { Host = \"a\" }\n",
            "ralph.toml:2:1: `otel.headers` contains Host, which ralph sets itself",
        ),
        (
            "[run]\nmax_cost_usd = nan\n",
            "ralph.toml:2:16: `run.max_cost_usd` must be an amount in dollars above 0, such as 5.0, not nan",
        ),
        ("[run]\nmax_cost_usd = 1e400\n", "ralph.toml:2:16: floating-point number overflowed"),
        (
            "[run]\ntimeout = \"5\"\n",
            "ralph.toml:2:11: `run.timeout` must be a duration above 0 such as \"90s\", \"15m\" or \"1h30m\", not \"5\"",
        ),
        ("run = 5\n", "ralph.toml:1:7: `run` must be a table, written [run]"),
        ("ladder = 5\n", "ralph.toml:1:10: `ladder` must be a table, written [[ladder]]"),
        ("agents.claude = 5\n", "ralph.toml:1:17: `agents.claude` must be a table"),
        (
            "[gate]\nuntil = \"x\"\n",
            "ralph.toml:2:9: `gate.until` must be \"claimed\" or \"verified\", not \"x\"",
        ),
        (
            "preset = \"clasic\"\n",
            "ralph.toml:1:10: `preset` must be \"strict\", \"classic\", \"analyzer\" or \"wrapper\", not \"clasic\"",
        ),
        (
            "[gate]\nmarker_file = \"../done\"\n",
            "ralph.toml:2:15: `gate.marker_file` must be a path within the workspace, such as \"done.txt\", not \"../done\"",
        ),
    ]);
}

#[test]
fn mistakes_in_agents_and_rules_are_told_with_their_place() {
    told(&[
        ("[[ladder]]\nx = 1\n", "ralph.toml:2:1: unknown key `x` in [[ladder]]"),
        ("[run]\n[[ladder]]\n", "ralph.toml:2:1: rung 1 changes nothing"),
        ("[run]\n[[pattern]]\nname = \"a\"\n", "ralph.toml:2:1: pattern 1 has no `phrases`"),
        ("[run]\n[[analyzer]]\nname = \"a\"\n", "ralph.toml:2:1: analyzer 1 has no `command`"),
        (
            "[[pattern]]\nphrases = [\" \"]\nname = \"a\"\nmeans = \"done\"\n",
            "ralph.toml:2:11: `pattern.1.phrases` must be a list of phrases, such as [\"release candidate\"], not [\" \"]",
        ),
        (
            "[[pattern]]\nmeans = \"proof\"\nname = \"a\"\nphrases = [\"b\"]\n",
            "ralph.toml:2:9: `pattern.1.means` must be \"done\", \"object\" or \"note\", not \"proof\"",
        ),
        (
            "[agent]\nrotate = [\"cluade\", \"codex\"]\n",
            "ralph.toml:2:10: `agent.rotate` names an unknown agent: \"cluade\"",
        ),
        (
            "[[ladder]]\nagent = \"cluade\"\n",
            "ralph.toml:2:9: `ladder.1.agent` names an unknown agent: \"cluade\"",
        ),
        ("[agent]\nname = \"cluade\"\n", "ralph.toml:2:8: `agent.name` names an unknown agent: \"cluade\""),
        ("[agents.smi]\n", "ralph.toml:1:9: `agents.smi` names an unknown agent: \"smi\""),
        (
            "[agents.sim.env]\nRALPH_RUN = \"x\"\n",
            "ralph.toml:1:13: `agents.sim.env` contains RALPH_RUN, but names that start with RALPH_ are reserved",
        ),
        (
            "[ceilings]\nmax_iterations = 9\n",
            "ralph.toml:2:1: `ceilings.max_iterations` cannot be set in a project's file",
        ),
        (
            "[sandbox]\nmode = \"off\"\n",
            "ralph.toml:2:1: `sandbox.mode` cannot be \"off\" in a project's file",
        ),
        ("notify = 1\n", "ralph.toml:1:10: `notify` must be a table, written [notify]"),
        (
            "[notify]\nquiet = \"22:00-07:00\"\n",
            "ralph.toml:2:1: `notify.quiet` cannot be set in a project's file",
        ),
        (
            "[protect]\npaths = [\"!a\"]\n",
            "ralph.toml:2:1: `protect.paths` can only add paths in a project's file, not exempt any with `!`",
        ),
        (
            "[verify]\ncommands = [\" \"]\n",
            "ralph.toml:2:12: `verify.commands` contains an empty command, which proves nothing",
        ),
    ]);
}

#[test]
fn a_broken_price_is_told_with_its_place() {
    for (text, message) in [
        (
            "[prices.x]\ninput = -1\noutput = 2\n",
            ":2:9: `prices.x.input` must be a price in dollars per million tokens",
        ),
        (
            "[prices.x]\ninput = inf\noutput = 2\n",
            ":2:9: `prices.x.input` must be a price in dollars per million tokens",
        ),
        ("[prices.x]\ninput = 3\n", ":1:9: `prices.x` has no `output`; both input and output are required"),
        (
            "[prices.x]\ninput = 3\noutput = 2\ncached = 1\n",
            ":4:1: unknown key `cached` in [prices.\"MODEL\"]",
        ),
        ("[prices.\"\"]\ninput = 3\noutput = 2\n", ":1:9: \"\" is not the name of a model"),
    ] {
        let found = Layers::with(&[("user", text)]).check().problems;
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].message.contains(message), "{text}: {}", found[0].message);
    }
}

#[test]
fn typos_get_suggestions() {
    for (text, hint) in [
        ("[run]\nmax_iteration = 3\n", "did you mean `max_iterations`?"),
        ("[gates]\n", "did you mean `gate`?"),
        ("[gate]\nuntil = \"verifed\"\n", "did you mean \"verified\"?"),
        ("preset = \"clasic\"\n", "did you mean \"classic\"?"),
        ("[agents.cluade]\n", "did you mean \"claude\"?"),
        ("[agent]\nname = \"cluade\"\n", "did you mean \"claude\"?"),
        ("[[ladder]]\nagent = \"cluade\"\n", "did you mean \"claude\"?"),
        ("[agent]\nname = \"zzzzzz\"\n", "agents are: claude, "),
        ("[run]\npromise = \"X\"\n", "did you mean `gate.promise`? It belongs in another table"),
    ] {
        let found = problems(text);
        assert!(found[0].hints.iter().any(|h| h.starts_with(hint)), "{text}: {:?}", found[0].hints);
    }
}

#[test]
fn every_problem_of_every_layer_is_found() {
    let mut layers = Layers::with(&[
        ("user", "[agent]\nname = \"cluade\"\n[run]\ntimeout = 5\n"),
        ("project", "zzz = 1\n[ceilings]\nmax_iterations = 9\n[gate]\nuntil = \"x\"\n"),
        ("local", "[run\n"),
    ]);
    layers.set("environment", super::find("run.max_cost_usd").unwrap(), "plenty");
    let found = layers.check().problems;
    let messages: Vec<&str> = found.iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages.len(), 7, "{messages:#?}");
    for (message, place) in messages.iter().zip([
        "config.toml:2:8:",
        "config.toml:4:11:",
        "ralph.toml:1:1:",
        "ralph.toml:3:1:",
        "ralph.toml:5:9:",
        "ralph.local.toml:1:",
    ]) {
        assert!(message.contains(place), "{message} is not at {place}");
    }
    assert!(messages[6].starts_with("RALPH_MAX_COST must be an amount in dollars"), "{}", messages[6]);
    let first = layers.load().unwrap_err();
    assert!(
        first.hints.contains(&"`ralph config check` lists all 7 problems".to_string()),
        "{:?}",
        first.hints
    );
}

#[test]
fn a_message_stays_short_whatever_was_written() {
    let nested = format!("a = {}", "[".repeat(100_000));
    let long = format!("[run]\nmax_cost_usd = \"{}\"\n", "y".repeat(3000));
    for text in [nested.as_str(), long.as_str()] {
        assert!(
            problems(text).iter().all(|problem| problem.message.len() < 300),
            "{:?}",
            problems(text)[0].message
        );
    }
}
