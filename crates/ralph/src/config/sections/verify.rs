//! `[verify]`: how the work is verified.

use crate::config::key::{Combine, Key, Section, Shape};
use crate::config::kind::{Kind, Word};
use ralph_rules::policy::Oracle;

pub const VERIFY: Section = Section {
    name: "verify",
    about: "How the work is verified.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "verify.commands",
            Kind::Commands(|s, _, commands| s.verify = commands),
            "Commands that must all pass before the work counts as done. ralph runs them with `sh -c` in the workspace, \
             after every process of the agent has ended.",
        )
        .default("[]")
        .flag("--verify", "CMD"),
        Key::new(
            "verify.timeout",
            Kind::Limit(|s, _, ms| s.policy.verify_timeout = ms),
            "Maximum time for one verify command.",
        )
        .default("\"10m\""),
        Key::new(
            "verify.oracle",
            Kind::OneOf(ORACLE),
            "What happens when tests or the files that run them changed: \"guard\" verifies completion with the original \
             tests as well, \"flag\" reports the change, \"allow\" ignores it and compares nothing.",
        )
        .default("\"guard\"")
        .combine(Combine::Tighten),
        Key::new(
            "verify.oracle_paths",
            Kind::Globs(|s, _, globs| s.oracle_paths = globs),
            "Extra files to treat as tests, in gitignore syntax. A leading ! excludes files, in your own file only.",
        )
        .default("[]")
        .combine(Combine::AddsUp),
        Key::new(
            "verify.work_paths",
            Kind::Globs(|s, _, globs| s.work_paths = globs),
            "Files that are work although ralph would treat them as tests or test configuration, in gitignore syntax.",
        )
        .default("[]")
        .combine(Combine::AddsUp),
        Key::new(
            "verify.setup",
            Kind::Commands(|s, _, commands| s.verify_setup = commands),
            "Commands that prepare the clean copy in which ralph checks that the work is needed, such as \"npm ci\". \
             Needed only if the verify commands depend on files that git ignores.",
        )
        .default("[]"),
        Key::new(
            "verify.map_time",
            Kind::MapTime(|s, _, time| s.policy.map_time = time),
            "How long a run may take, once its work is graded, to find the parts of the change that no check notices; \
             also the limit of `ralph verify --map`. \"auto\" takes at most as long as the verifications before it; \
             \"0s\" skips it in a run and sets no limit for the command.",
        )
        .default("\"0s\""),
    ],
};

/// The strictest first.
const ORACLE: &[Word] = &[
    Word::new("guard", |s| s.policy.oracle = Oracle::Guard),
    Word::new("flag", |s| s.policy.oracle = Oracle::Flag),
    Word::new("allow", |s| s.policy.oracle = Oracle::Allow),
];
