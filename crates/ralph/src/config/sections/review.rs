//! `[review]`: a second agent that reads finished work.

use crate::config::key::{Key, Section, Shape};
use crate::config::kind::Kind;

pub const REVIEW: Section = Section {
    name: "review",
    about: "A second agent that reads proven work, without write access, before a run ends.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "review.agent",
            Kind::Agent(|s, _, name| s.review.agent = Some(name)),
            "Agent that reviews; if omitted, nobody does.",
        ),
        Key::new(
            "review.model",
            Kind::Text(|s, _, model| s.review.model = Some(model)),
            "Model of the reviewer; if omitted, the agent's model.",
        ),
        Key::new(
            "review.rounds",
            Kind::Count(|s, _, n| s.review.rounds = n),
            "Maximum number of reviews in one run.",
        )
        .default("2"),
    ],
};
