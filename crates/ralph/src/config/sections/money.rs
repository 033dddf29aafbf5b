//! `[ceilings]` and `[prices."MODEL"]`: money. Limits are only worth something if a project, which an agent could have
//! written, can neither raise them nor change the prices they are measured with.

use crate::config::key::{Combine, Key, Section, Shape};
use crate::config::kind::Kind;

pub const CEILINGS: Section = Section {
    name: "ceilings",
    about: "Upper bounds for what a project, a variable or a flag may ask for; larger values are lowered, with a warning.",
    shape: Shape::Table,
    keys: &[
        Key::new(
            "ceilings.max_iterations",
            Kind::Count(|s, _, n| s.ceilings.max_iterations = n),
            "Upper bound for run.max_iterations.",
        )
        .default("50")
        .combine(Combine::OwnOnly),
        Key::new(
            "ceilings.max_cost_usd",
            Kind::Dollars(|s, _, usd| s.ceilings.max_cost = usd),
            "Upper bound for run.max_cost_usd.",
        )
        .default("10.0")
        .combine(Combine::OwnOnly),
        Key::new(
            "ceilings.daily_cost_usd",
            Kind::Dollars(|s, _, usd| {
                s.ceilings.daily_cost = usd;
                s.policy.daily_cost = usd;
            }),
            "Maximum cost per day over all your runs.",
        )
        .default("50.0")
        .combine(Combine::OwnOnly),
    ],
};

pub const PRICES: Section = Section {
    name: "prices",
    about: "Your own prices for a model, in dollars per million tokens.",
    shape: Shape::PerModel,
    keys: &[
        Key::new("prices.*.input", Kind::Rate(|s, at, usd| s.price_mut(at).input = usd), "Price of input.")
            .combine(Combine::OwnOnly),
        Key::new(
            "prices.*.output",
            Kind::Rate(|s, at, usd| s.price_mut(at).output = usd),
            "Price of output.",
        )
        .combine(Combine::OwnOnly),
        Key::new(
            "prices.*.cache_read",
            Kind::Rate(|s, at, usd| s.price_mut(at).cache_read = Some(usd)),
            "Price of input read from the cache; if omitted, the price of input.",
        )
        .combine(Combine::OwnOnly),
        Key::new(
            "prices.*.cache_write",
            Kind::Rate(|s, at, usd| s.price_mut(at).cache_write = Some(usd)),
            "Price of input written to the cache; if omitted, the price of input.",
        )
        .combine(Combine::OwnOnly),
    ],
};
