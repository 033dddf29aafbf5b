//! How layers combine, class by class, and what ceilings, presets and agents' own values do to the result.

use super::key::{Combine, Shape};
use super::test_layers::{LAYERS, Layers, row_name, section_of};
use super::{Config, Preset, find, keys};
use ralph_rules::money::Micro;
use ralph_rules::policy::{OnViolation, Oracle, Policy};
use toml::Value;

fn load(files: &[(&str, &str)]) -> Config {
    Layers::with(files).load().unwrap()
}

fn value_of(config: &Config, name: &str) -> Option<Value> {
    config.setting(name).and_then(|setting| setting.value)
}

/// Two values for a key; none where it has only one word to choose.
fn two(kind: &super::kind::Kind, default: &str) -> Option<[String; 2]> {
    let first = kind.example(default);
    let words: Vec<String> =
        kind.words().unwrap_or_default().iter().map(|word| format!("\"{word}\"")).collect();
    let second = match words.is_empty() {
        true => [
            "3.5",
            "8",
            "\"80s\"",
            "\"more\"",
            "\"gemini\"",
            "\"more.json\"",
            "[\"more\"]",
            "[\"~/more\"]",
            "\"9GB\"",
            "true",
            "{ MORE = \"x\" }",
        ]
        .into_iter()
        .find(|value| {
            let value: toml::Table = format!("x = {value}").parse().unwrap();
            kind.change(&value["x"]).is_ok() && value["x"].to_string() != first
        })
        .map(Into::into),
        false => words.into_iter().find(|word| *word != first),
    };
    Some([first, second?])
}

#[test]
fn the_nearest_layer_wins() {
    let mut tried = 0;
    for key in keys().filter(|key| key.combine == Combine::Nearest) {
        let Some([far, near]) = two(&key.kind, key.default) else { continue };
        for pair in LAYERS.windows(2) {
            let mut layers = Layers::new();
            if !layers.set(pair[0], key, &far) || !layers.set(pair[1], key, &near) {
                continue;
            }
            tried += 1;
            let row = layers.load().unwrap().setting(&row_name(key)).unwrap();
            assert_eq!((row.value.unwrap().to_string(), row.layer), (near.clone(), pair[1]), "{}", key.name);
            // A list replaces those of other layers as a whole.
            let said = if section_of(key).shape == Shape::List { 1 } else { 2 };
            assert_eq!(row.said.len(), said, "{}", key.name);
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn what_adds_up_adds_up_over_all_layers() {
    for key in keys().filter(|key| key.combine == Combine::AddsUp) {
        let [far, near] = two(&key.kind, key.default).unwrap();
        for pair in LAYERS.windows(2) {
            let mut layers = Layers::new();
            if !layers.set(pair[0], key, &far) || !layers.set(pair[1], key, &near) {
                continue;
            }
            let row = layers.load().unwrap().setting(&row_name(key)).unwrap();
            let value = row.value.unwrap();
            let count = value.as_array().map(Vec::len).or(value.as_table().map(toml::Table::len));
            assert_eq!((count, row.said.len()), (Some(2), 2), "{}: {value}", key.name);
            assert!(row.from.contains(", "), "{}", row.from);
        }
    }
    let config = load(&[
        ("user", "[protect]\npaths = [\"a\"]\n[verify]\noracle_paths = [\"x/\"]"),
        ("project", "[protect]\npaths = [\"b\"]\n[verify]\noracle_paths = [\"y/\"]"),
    ]);
    assert_eq!(config.settings.protect, ["a", "b"]);
    assert_eq!(config.settings.oracle_paths, ["x/", "y/"]);
    assert_eq!(value_of(&config, "verify.oracle_paths").unwrap().to_string(), "[\"x/\", \"y/\"]");
}

#[test]
fn variables_for_an_agent_add_up_and_the_nearest_wins_name_by_name() {
    let config = load(&[
        ("user", "[agents.claude.env]\nA = \"far\"\nB = \"far\""),
        ("project", "[agents.claude.env]\nB = \"near\"\nC = \"near\""),
    ]);
    let env: Vec<(String, String)> = config.settings.agent_env("claude");
    let words: Vec<String> = env.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(words, ["A=far", "B=near", "C=near"]);
}

#[test]
fn a_project_may_only_tighten_what_happens_when_tests_change() {
    use Oracle::{Allow, Flag, Guard};
    for (own, project, expected, warned) in [
        ("", "", Guard, false),
        ("flag", "", Flag, false),
        ("allow", "", Allow, false),
        ("allow", "flag", Flag, false),
        ("allow", "guard", Guard, false),
        ("", "allow", Guard, true),
        ("flag", "allow", Flag, true),
    ] {
        let text = |word: &str| match word {
            "" => String::new(),
            word => format!("[verify]\noracle = \"{word}\""),
        };
        let config = load(&[("user", &text(own)), ("project", &text(project))]);
        let shown = value_of(&config, "verify.oracle").unwrap();
        let word = format!("{expected:?}").to_lowercase();
        assert_eq!(
            (config.settings.policy.oracle, shown.as_str()),
            (expected, Some(word.as_str())),
            "{own} {project}"
        );
        assert_eq!(!config.warnings().is_empty(), warned, "{own} {project}");
        let mut earlier = Policy { oracle: Allow, ..Policy::strict(1, Micro(1)) };
        config.cap(&mut earlier);
        assert_eq!(earlier.oracle, expected, "a resumed run obeys the same");
    }
}

#[test]
fn a_project_may_abort_where_the_user_restores() {
    let own = ("user", "[protect]\non_violation = \"restore\"");
    let stricter = ("project", "[protect]\non_violation = \"abort\"");
    assert_eq!(load(&[own]).settings.policy.on_violation, OnViolation::Restore);
    assert_eq!(load(&[own, stricter]).settings.policy.on_violation, OnViolation::Abort);
}

#[test]
fn only_the_users_own_file_may_loosen() {
    for text in [
        "[ceilings]\nmax_iterations = 100",
        "[ceilings]\ndaily_cost_usd = 1",
        "[protect]\npaths = [\"!.env\"]",
        "[verify]\noracle_paths = [\"!tests/\"]",
        "[protect]\non_violation = \"restore\"",
        "[sandbox]\nmode = \"off\"",
        "[prices.sonnet]\ninput = 1\noutput = 1",
    ] {
        assert!(Layers::with(&[("project", text)]).load().is_err(), "{text}");
        assert!(Layers::with(&[("local", text)]).load().is_err(), "{text}");
        assert!(Layers::with(&[("user", text)]).load().is_ok(), "{text}");
        assert!(Layers::with(&[("system", text)]).load().is_ok(), "{text}");
    }
}

#[test]
fn what_is_above_a_ceiling_is_lowered_and_said() {
    let mut layers = Layers::with(&[("user", "[ceilings]\nmax_iterations = 7")]);
    layers.flag("--max-iterations", "300");
    layers.flag("--max-cost", "30");
    let config = layers.load().unwrap();
    assert_eq!(
        (config.settings.max_iterations, config.settings.max_cost),
        (Some(7), Some(Micro(10_000_000)))
    );
    assert_eq!(value_of(&config, "run.max_iterations"), Some(Value::Integer(7)));
    let said = config.warnings();
    assert!(said[0].starts_with("run.max_iterations = 300 is above the ceiling of 7 (set by /"), "{said:?}");
    assert!(said[0].ends_with("ralph/config.toml:2); using 7"), "{said:?}");
    let cost = "run.max_cost_usd = $30.00 is above the ceiling of $10.00 (ralph's default); using $10.00";
    assert_eq!(said[1], cost);
    let mut earlier = Policy::strict(300, Micro(30_000_000));
    assert_eq!(config.cap(&mut earlier), said, "a resumed run is told the same");
    assert_eq!((earlier.max_iterations, earlier.max_cost), (7, Micro(10_000_000)));
}

#[test]
fn the_user_may_raise_a_ceiling() {
    let mut layers = Layers::with(&[("user", "[ceilings]\nmax_iterations = 500\ndaily_cost_usd = 1")]);
    layers.flag("--max-iterations", "300");
    let config = layers.load().unwrap();
    assert_eq!((config.settings.max_iterations, config.warnings().len()), (Some(300), 0));
    assert_eq!(config.settings.policy.daily_cost, Micro(1_000_000));
}

#[test]
fn what_is_set_wins_over_a_preset_wherever_it_is_set() {
    let files = [
        ("user", "[breaker]\nopen_after = 2\n[gate]\nindicators = 3"),
        ("project", "preset = \"wrapper\"\n[gate]\npromise = \"DONE\"\n[plan]\nfile = \"TODO.md\""),
    ];
    let settings = load(&files).settings;
    let breaker = &settings.policy.breaker;
    assert_eq!((settings.preset, breaker.half_open_after, breaker.open_after), (Preset::Wrapper, 5, 2));
    assert_eq!((settings.policy.gate.indicators, settings.policy.gate.explicit_alone), (3, false));
    assert_eq!((settings.policy.gate.promise.as_str(), breaker.saturation), ("DONE", 0));
    assert_eq!(settings.plan.as_deref(), Some("TODO.md"));
    let mut typed = Layers::with(&files);
    typed.flag("--preset", "classic");
    let config = typed.load().unwrap();
    let breaker = &config.settings.policy.breaker;
    assert_eq!(
        (config.settings.preset, breaker.half_open_after, breaker.open_after),
        (Preset::Classic, 3, 2)
    );
    assert_eq!(config.setting("breaker.decline").unwrap().from, "preset classic");
}

#[test]
fn what_is_set_for_one_agent_is_merged_key_by_key() {
    let settings = load(&[
        ("user", "[agents.codex]\nmodel = \"big\"\ntimeout = \"5m\""),
        ("project", "[agents.codex]\nargs = [\"--x\"]"),
    ])
    .settings;
    let own = &settings.agents["codex"];
    assert_eq!(
        (own.model.as_deref(), own.timeout, own.args.as_slice()),
        (Some("big"), Some(300_000), &["--x".to_string()][..])
    );
    assert_eq!((settings.model, settings.policy.timeout), (None, 900_000), "another agent works");
}

#[test]
fn the_chosen_agents_own_values_win_unless_others_are_typed() {
    let text = "[run]\ntimeout = \"9m\"\n[agent]\nmodel = \"any\"\n[agents.claude]\nmodel = \"own\"\ntimeout = \"5m\"\n";
    let config = load(&[("project", text)]);
    assert_eq!((config.settings.model.as_deref(), config.settings.policy.timeout), (Some("own"), 300_000));
    let row = config.setting("run.timeout").unwrap();
    assert_eq!((row.value, row.from.as_str(), row.said.len()), (Some("5m".into()), "ralph.toml:7", 2));
    for layer in ["environment", "flag"] {
        let mut layers = Layers::with(&[("project", text)]);
        layers.set(layer, find("run.timeout").unwrap(), "\"7m\"");
        layers.set(layer, find("agent.model").unwrap(), "\"typed\"");
        let settings = layers.load().unwrap().settings;
        assert_eq!((settings.model.as_deref(), settings.policy.timeout), (Some("typed"), 420_000), "{layer}");
    }
}

#[test]
fn the_nearest_ladder_replaces_the_others() {
    let settings = load(&[
        ("user", "[[ladder]]\nmodel = \"a\"\nargs = [\"--x\"]\n[[ladder]]\nmodel = \"b\""),
        ("project", "[[ladder]]\nagent = \"codex\""),
    ])
    .settings;
    assert_eq!(settings.ladder.len(), 1);
    let rung = &settings.ladder[&1];
    assert_eq!((rung.agent.as_deref(), rung.model.as_deref(), rung.args.len()), (Some("codex"), None, 0));
}

#[test]
fn rungs_keep_their_order() {
    let text: String = (1..=10).map(|n| format!("[[ladder]]\nmodel = \"m{n}\"\n")).collect();
    let models: Vec<String> =
        load(&[("project", &text)]).settings.ladder.into_values().filter_map(|rung| rung.model).collect();
    assert_eq!(models, (1..=10).map(|n| format!("m{n}")).collect::<Vec<_>>());
}

#[test]
fn the_users_prices_stand_over_the_table() {
    let config = load(&[
        ("system", "[prices.\"openai/gpt-5\"]\ninput = 9\noutput = 9\ncache_read = 9"),
        ("user", "[prices.\"gpt-5\"]\ninput = 2\noutput = 20.5\ncache_write = 0"),
    ]);
    let prices = config.settings.prices();
    let row = prices.find("openai/gpt-5").unwrap();
    assert_eq!((row.price.input, row.price.output), (2_000_000, 20_500_000));
    assert_eq!((row.price.cache_read, row.price.cache_write), (2_000_000, 0));
    assert!(row.source.ends_with("config.toml") && row.as_of.is_none());
}

#[test]
fn an_empty_list_of_commands_sets_nothing() {
    let config =
        load(&[("project", "[verify]\ncommands = [\"make test\"]"), ("local", "[verify]\ncommands = []")]);
    assert_eq!(config.settings.verify, ["make test"]);
    assert_eq!(config.setting("verify.commands").unwrap().from, "ralph.toml:2");
}
