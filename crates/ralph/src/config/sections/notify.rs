//! `[notify]` and `[[notify.to]]`: who hears about runs while nobody watches. Only in the user's own file: a project, which
//! an agent could have written, must neither start programs nor send anything anywhere.

use crate::config::key::{Combine, Key, Section, Shape};
use crate::config::kind::Kind;

pub const NOTIFY: Section = Section {
    name: "notify",
    about: "Notes about runs for people who are not watching. See docs/notifications.md.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "notify.on",
            Kind::Events(|s, _, events| s.notify.on = events),
            "What is noted: \"started\", \"completed\", \"stopped\", \"blocked\" (a person has to decide), \"waiting\" (for \
             10 minutes or more), \"budget\" (a limit is close), \"crashed\".",
        )
        .default("[\"completed\", \"stopped\", \"blocked\", \"waiting\", \"crashed\"]")
        .combine(Combine::OwnOnly),
        Key::new(
            "notify.quiet",
            Kind::Quiet(|s, _, quiet| s.notify.quiet = Some(quiet)),
            "Hours in which nothing is sent, in your time zone; what happened then arrives as one digest when they are over.",
        )
        .combine(Combine::OwnOnly),
    ],
};

pub const NOTIFY_TO: Section = Section {
    name: "notify.to",
    about: "Who gets notes, one table each: the desktop, a command or a webhook. `ralph notify test` tries them.",
    shape: Shape::List,
    keys: &[
        Key::new(
            "notify.to.desktop",
            Kind::Switch(|s, at, on| s.notify_mut(at).desktop = on),
            "Show notes on the desktop, with notify-send or osascript.",
        )
        .combine(Combine::OwnOnly),
        Key::new(
            "notify.to.command",
            Kind::Argv(|s, at, argv| s.notify_mut(at).command = argv),
            "Program to start with a note, and its arguments; {title} and {text} stand for the note's. No shell is involved.",
        )
        .combine(Combine::OwnOnly),
        Key::new(
            "notify.to.webhook",
            Kind::Url(|s, at, url| s.notify_mut(at).webhook = Some(url)),
            "Address to send notes to with POST. https only; redirects are not followed.",
        )
        .combine(Combine::OwnOnly),
        Key::new(
            "notify.to.url_env",
            Kind::Text(|s, at, name| s.notify_mut(at).url_env = Some(name)),
            "Environment variable with the webhook's address, instead of webhook.",
        )
        .combine(Combine::OwnOnly),
        Key::new(
            "notify.to.url_file",
            Kind::Text(|s, at, file| s.notify_mut(at).url_file = Some(file)),
            "File with the webhook's address, instead of webhook; relative to config.toml, readable by you alone.",
        )
        .combine(Combine::OwnOnly),
        Key::new(
            "notify.to.secret_file",
            Kind::Text(|s, at, file| s.notify_mut(at).secret_file = Some(file)),
            "File with the secret (whsec_…) that requests are signed with by the Standard Webhooks specification; relative \
             to config.toml, readable by you alone.",
        )
        .combine(Combine::OwnOnly),
        Key::new(
            "notify.to.format",
            Kind::Format(|s, at, format| s.notify_mut(at).format = format),
            "What the webhook's body looks like (default: standard).",
        )
        .combine(Combine::OwnOnly),
        Key::new(
            "notify.to.allow_private",
            Kind::Switch(|s, at, on| s.notify_mut(at).allow_private = on),
            "Whether the webhook may be on this machine or in a private network, where http:// is allowed, too (default: \
             false).",
        )
        .combine(Combine::OwnOnly),
    ],
};
