//! Each preset against its document: the numbers, and every row of its tables and data-flow examples, judged by the rules
//! under the fragment as it is built in, in a run and by `ralph analyze`. The walker is the rules' own.

#[path = "../../../ralph-rules/tests/tables/analyzed.rs"]
mod analyzed;
#[path = "../../../ralph-rules/tests/journal/mod.rs"]
mod journal;
#[path = "../../../ralph-rules/tests/tables/read.rs"]
mod read;
#[path = "../../../ralph-rules/tests/tables/walk.rs"]
mod walk;

use super::Preset;
use super::test_layers::Layers;
use analyzed::{FILES, agrees};
use ralph_rules::money::Micro;
use ralph_rules::policy::{Ceilings, Decline, Policy};
use walk::walk;

const MANY: u32 = 20;
const RICH: Micro = Micro(50_000_000);

/// The numbers under a preset, with nothing set besides.
fn policy(preset: Preset) -> Policy {
    let mut layers = Layers::new();
    layers.flag("--preset", preset.name());
    layers.load().unwrap().settings.policy(MANY, RICH)
}

#[test]
fn strict_is_the_default_written_out() {
    assert_eq!(policy(Preset::Strict), Policy::strict(MANY, RICH));
    let text = include_str!("presets/strict.toml");
    for key in [
        "until",
        "indicators",
        "exit_signals",
        "done_signals",
        "block_as_one",
        "promise",
        "half_open_after",
        "open_after",
        "stuck",
        "decline_below",
    ] {
        assert!(text.contains(&format!("\n{key} = ")), "{key} is not written out");
    }
    walk(include_str!("../../../ralph-rules/tests/tables/gate.txt"), &policy(Preset::Strict));
}

#[test]
fn classic_walks_its_document() {
    let policy = policy(Preset::Classic);
    let breaker = &policy.breaker;
    assert_eq!((breaker.half_open_after + breaker.open_after, breaker.same_error), (3, 5));
    assert_eq!((100 - breaker.decline_below, breaker.decline), (70, Decline::Open));
    assert_eq!((policy.gate.exit_signals, policy.gate.done_signals), (2, 2));
    assert_eq!((policy.calls_per_hour, policy.timeout), (Some(100), 15 * 60_000));
    let table = include_str!("../../tests/presets/classic.txt");
    assert!(walk(table, &policy) >= 18);
    assert!(agrees(table, &policy, &[]) >= 13);
}

#[test]
fn analyzer_walks_its_document() {
    let policy = policy(Preset::Analyzer);
    let breaker = &policy.breaker;
    assert_eq!((breaker.half_open_after, breaker.same_error, breaker.saturation), (3, 5, 3));
    assert_eq!((breaker.stuck, 100 - breaker.decline_below, breaker.decline), (3, 70, Decline::Warn));
    assert!(policy.gate.explicit_alone && policy.gate.indicators == 2);
    let table = include_str!("../../tests/presets/analyzer.txt");
    assert!(walk(table, &policy) >= 15);
    assert!(agrees(table, &policy, &[]) >= 11);
}

#[test]
fn wrapper_walks_its_document() {
    let policy = policy(Preset::Wrapper);
    let breaker = &policy.breaker;
    assert_eq!((breaker.half_open_after + breaker.open_after, breaker.same_error), (5, 5));
    assert_eq!((policy.gate.promise.as_str(), policy.pause_between), ("COMPLETE", 500));
    let ceilings =
        Ceilings { max_iterations: 50, max_cost: Micro(10_000_000), daily_cost: Micro(50_000_000) };
    assert_eq!(Ceilings::default(), ceilings);
    for path in ["src/auth/", "src/payments/", "migrations/", ".env"] {
        assert!(ralph_tree::Protect::DEFAULTS.contains(&path), "{path}");
    }
    let table = include_str!("../../tests/presets/wrapper.txt");
    assert!(walk(table, &policy) >= 13);
    let differ =
        [("5 consecutive iterations with zero progress", FILES), ("5 with escalateToDeepDebug", FILES)];
    assert!(agrees(table, &policy, &differ) >= 6);
}

#[test]
fn no_preset_touches_what_protects() {
    for preset in [Preset::Strict, Preset::Classic, Preset::Analyzer, Preset::Wrapper] {
        for entry in preset.layer().unwrap().entries {
            let (section, _) = entry.key.parts();
            assert!(["run", "verify", "gate", "breaker"].contains(&section), "{}", entry.name);
            assert_eq!(entry.key.combine, super::Combine::Nearest, "{}", entry.name);
            assert_ne!(entry.name, "verify.commands");
        }
    }
}
