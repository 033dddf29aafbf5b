//! `[protect]`, `[undo]` and `[redact]`: what the agent must not change, what is saved before it works, what must stay
//! secret.

use crate::config::key::{Combine, Key, Section, Shape};
use crate::config::kind::{Kind, Word};
use ralph_rules::policy::OnViolation;

pub const PROTECT: Section = Section {
    name: "protect",
    about: "Files the agent must not change.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "protect.paths",
            Kind::Globs(|s, _, globs| s.protect = globs),
            "Paths the agent must not change, in gitignore syntax, besides the built-in ones. A leading ! exempts a path, \
             in your own file only.",
        )
        .default("[]")
        .flag("--protect", "GLOB")
        .combine(Combine::AddsUp),
        Key::new(
            "protect.on_violation",
            Kind::OneOf(ON_VIOLATION),
            "What happens when a protected path was changed: \"abort\" ends the run, \"restore\" restores the path and \
             continues, at most three times.",
        )
        .default("\"abort\"")
        .combine(Combine::Tighten),
    ],
};

/// The strictest first.
const ON_VIOLATION: &[Word] = &[
    Word::new("abort", |s| s.policy.on_violation = OnViolation::Abort),
    Word::new("restore", |s| s.policy.on_violation = OnViolation::Restore).own_only(),
];

pub const UNDO: Section = Section {
    name: "undo",
    about: "Snapshots of the workspace, for `ralph undo`.",
    shape: Shape::Table,
    keys: &[Key::new(
        "undo.required",
        Kind::Switch(|s, _, on| s.policy.undo_required = on),
        "Whether the agent is called only after a snapshot was taken. If false, a run continues without one and says so.",
    )
    .default("false")
    .combine(Combine::Tighten)],
};

pub const REDACT: Section = Section {
    name: "redact",
    about: "Secrets to hide in transcripts, prompts, views and on the screen, in addition to those that ralph recognizes.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "redact.files",
            Kind::Texts(|s, _, files| s.redact_files = files),
            "Files in which every value is secret, in addition to .env: NAME=value lines, JSON, or plain keys.",
        )
        .default("[]")
        .combine(Combine::AddsUp),
        Key::new(
            "redact.env",
            Kind::Texts(|s, _, names| s.redact_env = names),
            "Environment variables whose values are secret although their names do not contain KEY, TOKEN, SECRET, \
             PASSWORD or a similar word.",
        )
        .default("[]")
        .combine(Combine::AddsUp),
    ],
};
