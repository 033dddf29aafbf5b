//! `[gate]`: when a run counts as done.

use crate::config::key::{Combine, Key, Section, Shape};
use crate::config::kind::{Kind, Word};
use ralph_rules::grade::Grade;
use ralph_rules::policy::Until;

pub const GATE: Section = Section {
    name: "gate",
    about: "When a run counts as done. `ralph analyze` uses the same values, without verification.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "gate.until",
            Kind::OneOf(UNTIL),
            "What ends a run: \"claimed\" needs the agent's claim and proof of it, \"verified\" only needs the verify \
             commands to pass, whatever the agent says.",
        )
        .default("\"claimed\""),
        Key::new(
            "gate.indicators",
            Kind::Number(|s, _, n| {
                s.policy.gate.explicit_alone = n == 0;
                if n > 0 {
                    s.policy.gate.indicators = n;
                }
            }),
            "Number of distinct signs of completion needed when there is no verify command; 0 accepts an explicit \
             signal alone.",
        )
        .default("2"),
        Key::new(
            "gate.exit_signals",
            Kind::Count(|s, _, n| s.policy.gate.exit_signals = n),
            "Number of explicit completion signals in a row that are needed.",
        )
        .default("1"),
        Key::new(
            "gate.done_signals",
            Kind::Number(|s, _, n| s.policy.gate.done_signals = n),
            "Number of iterations in a row with enough signs of completion that end a run without an explicit signal. With 0 \
             (the default) they never do if there is no verify command, and two are needed if it passes.",
        )
        .default("0"),
        Key::new(
            "gate.block_as_one",
            Kind::Switch(|s, _, on| s.policy.gate.block_as_one = on),
            "Whether the fields of one status block count as one sign of completion when there is no verify command.",
        )
        .default("true"),
        Key::new(
            "gate.promise",
            Kind::Promise(|s, _, text| s.policy.gate.promise = text),
            "Text inside the <promise> tag with which the agent says that all is done.",
        )
        .default("\"COMPLETE\"")
        .flag("--promise", "TEXT"),
        Key::new(
            "gate.require",
            Kind::OneOf(REQUIRE),
            "The least grade that completes a run: \"proven\", \"tested\", \"unbroken\" or \"revised\". Less ends with \
             NEEDS_REVIEW (exit 2).",
        )
        .default("\"unbroken\"")
        .combine(Combine::Tighten),
        Key::new(
            "gate.ask_for_test",
            Kind::Number(|s, _, n| s.policy.gate.ask_for_test = n),
            "How often the agent is asked for a test that fails without its work, if no test shows the work; 0 never asks.",
        )
        .default("1"),
        Key::new(
            "gate.marker_file",
            Kind::WorkspaceFile(|s, _, file| s.policy.gate.marker_file = Some(file)),
            "File in the workspace that counts as an explicit completion signal when the agent creates it.",
        ),
    ],
};

const UNTIL: &[Word] = &[
    Word::new("claimed", |s| s.policy.gate.until = Until::Claimed),
    Word::new("verified", |s| s.policy.gate.until = Until::Verified),
];

/// The strictest first.
const REQUIRE: &[Word] = &[
    Word::new("proven", |s| s.policy.gate.require = Grade::Proven),
    Word::new("tested", |s| s.policy.gate.require = Grade::Tested),
    Word::new("unbroken", |s| s.policy.gate.require = Grade::Unbroken),
    Word::new("revised", |s| s.policy.gate.require = Grade::Revised),
];
