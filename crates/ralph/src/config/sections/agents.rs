//! `[agent]`, `[agents.NAME]` and `[[ladder]]`: which agent works, and how it is started.

use crate::config::key::{Combine, Key, Section, Shape};
use crate::config::kind::Kind;

pub const AGENT: Section = Section {
    name: "agent",
    about: "Which agent works.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "agent.name",
            Kind::Agent(|s, _, name| s.agent = name),
            "Agent to use. `ralph agents` lists them.",
        )
        .default("\"claude\"")
        .flag("--agent", "NAME"),
        Key::new(
            "agent.model",
            Kind::Text(|s, _, model| s.model = Some(model)),
            "Model to use; if omitted, the agent's own default.",
        )
        .flag("--model", "MODEL")
        .per_agent(),
        Key::new(
            "agent.rotate",
            Kind::Agents(|s, _, names| s.rotate = names),
            "Agents that take turns, one iteration each, instead of agent.name; each uses the model of its own \
             [agents.NAME]. Cannot be used with [[ladder]]; `--agent` turns it off, and so does an empty list.",
        ),
    ],
};

pub const AGENTS: Section = Section {
    name: "agents",
    about: "Settings for one agent, by its name.",
    shape: Shape::PerAgent,
    keys: &[
        Key::new(
            "agents.*.command",
            Kind::Text(|s, at, program| s.agent_mut(at).command = Some(program)),
            "Program to start instead of the agent's usual one.",
        ),
        Key::new(
            "agents.*.args",
            Kind::Texts(|s, at, args| s.agent_mut(at).args = args),
            "Extra arguments for the agent, before those typed after `--`.",
        ),
        Key::new(
            "agents.*.model",
            Kind::Text(|s, at, model| s.agent_mut(at).model = Some(model)),
            "Model for this agent; takes precedence over agent.model.",
        ),
        Key::new(
            "agents.*.env",
            Kind::Variables(|s, at, env| s.agent_mut(at).env = env),
            "Environment variables for this agent. Names that start with RALPH_ are reserved.",
        )
        .combine(Combine::AddsUp),
        Key::new(
            "agents.*.timeout",
            Kind::Limit(|s, at, ms| s.agent_mut(at).timeout = Some(ms)),
            "Maximum time for one call of this agent; takes precedence over run.timeout.",
        ),
    ],
};

pub const LADDER: Section = Section {
    name: "ladder",
    about: "Agents or models to switch to, one after the other, while a run makes no progress; after progress the run \
            returns to its own agent. The nearest file's list replaces all others.",
    shape: Shape::List,
    keys: &[
        Key::new(
            "ladder.agent",
            Kind::Agent(|s, at, name| s.rung_mut(at).agent = Some(name)),
            "Agent of this rung; if omitted, the run's agent.",
        ),
        Key::new(
            "ladder.model",
            Kind::Text(|s, at, model| s.rung_mut(at).model = Some(model)),
            "Model of this rung; if omitted, the agent's model.",
        ),
        Key::new(
            "ladder.args",
            Kind::Texts(|s, at, args| s.rung_mut(at).args = args),
            "Extra arguments for the agent on this rung.",
        ),
    ],
};
