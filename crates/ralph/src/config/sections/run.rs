//! `[run]`: limits of a run and of its calls.

use crate::config::key::{Key, Section, Shape};
use crate::config::kind::Kind;

pub const RUN: Section = Section {
    name: "run",
    about: "Limits of a run and of each call.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "run.max_iterations",
            Kind::Count(|s, _, n| s.max_iterations = Some(n)),
            "Maximum number of iterations; required, a run does not start without it.",
        )
        .flag("--max-iterations", "N")
        .ceiling("ceilings.max_iterations"),
        Key::new(
            "run.max_cost_usd",
            Kind::Dollars(|s, _, usd| s.max_cost = Some(usd)),
            "Maximum cost of a run in dollars; required, a run does not start without it.",
        )
        .flag("--max-cost", "USD")
        .ceiling("ceilings.max_cost_usd"),
        Key::new(
            "run.max_time",
            Kind::Limit(|s, _, ms| s.policy.max_time = Some(ms)),
            "Maximum duration of a run, waiting included.",
        )
        .flag("--max-time", "DUR"),
        Key::new(
            "run.timeout",
            Kind::Limit(|s, _, ms| s.policy.timeout = ms),
            "Maximum time for one call of the agent.",
        )
        .default("\"15m\"")
        .flag("--timeout", "DUR")
        .per_agent(),
        Key::new(
            "run.idle_timeout",
            Kind::Limit(|s, _, ms| s.policy.idle_timeout = ms),
            "Maximum time without output from the agent; a running tool does not count as idle.",
        )
        .default("\"5m\"")
        .flag("--idle-timeout", "DUR"),
        Key::new(
            "run.max_wait",
            Kind::Duration(|s, _, ms| s.policy.max_wait = ms),
            "Maximum total time to wait for a provider's rate limits and outages.",
        )
        .default("\"6h\""),
        Key::new(
            "run.pause_between",
            Kind::Duration(|s, _, ms| s.policy.pause_between = ms),
            "Pause between two iterations.",
        )
        .default("\"0s\""),
        Key::new(
            "run.calls_per_hour",
            Kind::Number(|s, _, n| s.policy.calls_per_hour = (n > 0).then_some(n)),
            "Maximum number of calls in any hour, over all your runs; 0 means no limit.",
        )
        .default("100")
        .flag("--calls-per-hour", "N"),
        Key::new(
            "run.tokens_per_hour",
            Kind::LargeNumber(|s, _, n| s.policy.tokens_per_hour = (n > 0).then_some(n)),
            "Maximum number of tokens in any hour, over all your runs; 0 means no limit.",
        )
        .default("0"),
    ],
};
