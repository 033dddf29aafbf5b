//! `[sandbox]`, `[sandbox.verify]` and `[sandbox.container]`: what the agent and the verification see and may do. An agent
//! could have written a project's file, so it may raise the mode, hide more and narrow the network, and nothing else.

use crate::config::key::{Combine, Key, Section, Shape};
use crate::config::kind::{Kind, SandboxKind, Word};
use ralph_sandbox::policy::{ContainerEngine, HomeView, Mode, NetworkRule, VerifyNetwork};

pub const SANDBOX: Section = Section {
    name: "sandbox",
    about: "How the agent and the verification are contained. See docs/sandbox.md.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "sandbox.mode",
            Kind::OneOf(MODE),
            "Sandbox for agent and verification: \"auto\", \"require\", \"strict\", \"container\" or \"off\". \"auto\" takes the \
             strongest one that proves itself here, \"require\" does not start without one that holds files, protected paths \
             and processes, \"strict\" also narrows home, network and environment, \"container\" uses your own image, \"off\" \
             contains nothing.",
        )
        .default("\"auto\"")
        .flag("--sandbox", "MODE")
        .combine(Combine::Tighten),
        Key::new(
            "sandbox.home",
            Kind::OneOf(HOME),
            "How much of your home directory is seen, always without keys, credentials, browser profiles and histories: \
             \"tools\" shows dot directories and what PATH names, \"all\" everything, \"none\" only what PATH names.",
        )
        .default("\"tools\"")
        .combine(Combine::OwnOnly),
        Key::new(
            "sandbox.readable",
            Kind::Sandbox(SandboxKind::Paths(|s, _, paths| s.sandbox.readable = paths)),
            "Further paths that are seen read-only, absolute or beginning with ~/. A socket can be connected to.",
        )
        .default("[]")
        .combine(Combine::OwnOnly),
        Key::new(
            "sandbox.writable",
            Kind::Sandbox(SandboxKind::Paths(|s, _, paths| s.sandbox.writable = paths)),
            "Further paths that the agent and the verification write for real, absolute or beginning with ~/.",
        )
        .default("[]")
        .combine(Combine::OwnOnly),
        Key::new(
            "sandbox.hide",
            Kind::Sandbox(SandboxKind::Paths(|s, _, paths| s.sandbox.hide = paths)),
            "Further paths that are hidden, absolute or beginning with ~/.",
        )
        .default("[]")
        .combine(Combine::AddsUp),
        Key::new(
            "sandbox.network",
            Kind::OneOf(NETWORK),
            "Network inside the sandbox: \"open\", \"hosts\" or \"off\". \"hosts\" reaches the agent's own hosts and \
             sandbox.hosts.",
        )
        .default("\"open\"")
        .flag("--network", "RULE")
        .combine(Combine::Tighten),
        Key::new(
            "sandbox.hosts",
            Kind::Sandbox(SandboxKind::Hosts(|s, _, hosts| s.sandbox.hosts = hosts)),
            "Hosts that are reached with network = \"hosts\" besides the agent's own: a name, *.name for the names below it, \
             each with :port for a port other than 80 and 443.",
        )
        .default("[]")
        .combine(Combine::OwnOnly),
        Key::new(
            "sandbox.env",
            Kind::Sandbox(SandboxKind::Names(|s, _, names| s.sandbox.env = names)),
            "Environment variables that are passed on although they look secret.",
        )
        .default("[]")
        .combine(Combine::OwnOnly),
        Key::new(
            "sandbox.processes",
            Kind::LargeNumber(|s, _, most| s.sandbox.processes = most),
            "Most processes at a time; 0 means no limit.",
        )
        .default("4096")
        .combine(Combine::OwnOnly),
        Key::new(
            "sandbox.memory",
            Kind::Sandbox(SandboxKind::Size(|s, at, bytes| {
                (s.sandbox.memory, s.sandbox.memory_is_set) = (bytes, at.is_set);
            })),
            "Most memory of all processes together, where this system lets ralph limit it; \"0\" means no limit.",
        )
        .default("\"8GiB\"")
        .combine(Combine::OwnOnly),
    ],
};

/// The strictest first. Which engine and image a container has is the user's choice alone.
const MODE: &[Word] = &[
    Word::new("container", |s| s.sandbox.mode = Mode::Container).own_only(),
    Word::new("strict", |s| s.sandbox.mode = Mode::Strict),
    Word::new("require", |s| s.sandbox.mode = Mode::Require),
    Word::new("auto", |s| s.sandbox.mode = Mode::Auto),
    Word::new("off", |s| s.sandbox.mode = Mode::Off).own_only(),
];

const HOME: &[Word] = &[
    Word::new("tools", |s| s.sandbox.home = HomeView::Tools),
    Word::new("all", |s| s.sandbox.home = HomeView::All),
    Word::new("none", |s| s.sandbox.home = HomeView::None),
];

/// The strictest first.
const NETWORK: &[Word] = &[
    Word::new("off", |s| s.sandbox.network = NetworkRule::Off),
    Word::new("hosts", |s| s.sandbox.network = NetworkRule::Hosts),
    Word::new("open", |s| s.sandbox.network = NetworkRule::Open),
];

pub const VERIFY: Section = Section {
    name: "sandbox.verify",
    about: "What is different for the verification.",
    shape: Shape::Table,
    keys: &[Key::new(
        "sandbox.verify.network",
        Kind::OneOf(VERIFY_NETWORK),
        "What of the network the verification reaches: \"same\" as sandbox.network, without the agent's own hosts; or \
         \"open\", \"hosts\", \"off\". With mode = \"strict\" always nothing.",
    )
    .default("\"same\"")
    .combine(Combine::OwnOnly)],
};

const VERIFY_NETWORK: &[Word] = &[
    Word::new("same", |s| s.sandbox.verify_network = VerifyNetwork::Same),
    Word::new("open", |s| s.sandbox.verify_network = VerifyNetwork::Is(NetworkRule::Open)),
    Word::new("hosts", |s| s.sandbox.verify_network = VerifyNetwork::Is(NetworkRule::Hosts)),
    Word::new("off", |s| s.sandbox.verify_network = VerifyNetwork::Is(NetworkRule::Off)),
];

pub const CONTAINER: Section = Section {
    name: "sandbox.container",
    about: "The container of mode = \"container\".",
    shape: Shape::Table,
    keys: &[
        Key::new("sandbox.container.engine", Kind::OneOf(ENGINE), "Program that runs the container.")
            .default("\"podman\"")
            .combine(Combine::OwnOnly),
        Key::new(
            "sandbox.container.image",
            Kind::Text(|s, _, image| s.sandbox.container.image = image),
            "Image to run in; it must have the agent and what the verification needs.",
        )
        .default("\"\"")
        .combine(Combine::OwnOnly),
    ],
};

const ENGINE: &[Word] = &[
    Word::new("podman", |s| s.sandbox.container.engine = ContainerEngine::Podman),
    Word::new("docker", |s| s.sandbox.container.engine = ContainerEngine::Docker),
];
