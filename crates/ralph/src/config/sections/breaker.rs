//! `[breaker]`: when a run without progress is stopped.

use crate::config::key::{Key, Section, Shape};
use crate::config::kind::{Kind, Word};
use ralph_rules::policy::Decline;

pub const BREAKER: Section = Section {
    name: "breaker",
    about: "When a run without progress is stopped. `ralph analyze` uses the same values.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "breaker.half_open_after",
            Kind::Count(|s, _, n| s.policy.breaker.half_open_after = n),
            "Number of iterations without progress after which the agent is asked to try another approach.",
        )
        .default("3"),
        Key::new(
            "breaker.open_after",
            Kind::Number(|s, _, n| s.policy.breaker.open_after = n),
            "Number of further iterations without progress after which the run is stopped; 0 stops it at once.",
        )
        .default("1"),
        Key::new(
            "breaker.stuck",
            Kind::Number(|s, _, n| s.policy.breaker.stuck = n),
            "Number of times in a row that the same error means stuck: the agent is told how to debug, and the ladder \
             climbs a rung; 0 means never. Values from breaker.same_error on have no effect, because the run is stopped \
             first.",
        )
        .default("3"),
        Key::new(
            "breaker.same_error",
            Kind::Count(|s, _, n| s.policy.breaker.same_error = n),
            "Number of times the same error may occur before the run is stopped.",
        )
        .default("5"),
        Key::new(
            "breaker.saturation",
            Kind::Number(|s, _, n| s.policy.breaker.saturation = n),
            "Number of iterations in a row that change only tests before the run is stopped; 0 means never.",
        )
        .default("3"),
        Key::new(
            "breaker.denials",
            Kind::Number(|s, _, n| s.policy.breaker.denials = n),
            "Number of iterations in a row with refused tools and no progress before the run is stopped; 0 means never.",
        )
        .default("3"),
        Key::new(
            "breaker.decline",
            Kind::OneOf(DECLINE),
            "What happens when the agent's answers get much shorter: \"warn\" notes it, \"open\" stops the run.",
        )
        .default("\"warn\""),
        Key::new(
            "breaker.decline_below",
            Kind::Percent(|s, _, n| s.policy.breaker.decline_below = n),
            "Percentage of the average length of the final messages before it, below which a final message is much \
             shorter; 30 means that it shrank by more than 70 %. 0 means never.",
        )
        .default("30"),
        Key::new(
            "breaker.cooldown",
            Kind::Limit(|s, _, ms| s.policy.breaker.cooldown = Some(ms)),
            "Time after which an open breaker closes by itself; if omitted, only `ralph circuit reset` closes it.",
        ),
    ],
};

const DECLINE: &[Word] = &[
    Word::new("warn", |s| s.policy.breaker.decline = Decline::Warn),
    Word::new("open", |s| s.policy.breaker.decline = Decline::Open),
];
