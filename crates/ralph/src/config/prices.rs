//! `[prices."MODEL"]`: the user's own prices, in dollars per million tokens. Only in the user's or the system's file:
//! a price is what the limits on money are measured with, so a project may not set one.

use ralph_rules::money::{Micro, Price};
use ralph_rules::prices::{Prices, Row, normal};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// The prices of one file, by model.
pub type PriceKeys = BTreeMap<Model, ModelPrice>;

/// A model's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Model(pub String);

/// What one model costs. What a cached token costs and is not said costs as much as a fresh one.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)]
pub struct ModelPrice {
    pub input: Rate,
    pub output: Rate,
    pub cache_read: Option<Rate>,
    pub cache_write: Option<Rate>,
}

/// Dollars per million tokens; 0 is free of charge.
#[derive(Clone, Copy, Debug)]
pub struct Rate(i64);

impl ModelPrice {
    fn price(self) -> Price {
        let ModelPrice { input, output, cache_read, cache_write } = self;
        let (cache_read, cache_write) = (cache_read.unwrap_or(input), cache_write.unwrap_or(input));
        Price { input: input.0, output: output.0, cache_read: cache_read.0, cache_write: cache_write.0 }
    }
}

/// These prices with those of a file over them.
pub fn over(prices: Prices, keys: &PriceKeys, path: &Path) -> Prices {
    keys.iter().fold(prices, |prices, (model, price)| {
        let source = path.display().to_string();
        prices.with(Row { model: model.0.clone(), price: price.price(), long: None, source, as_of: None })
    })
}

impl<'de> Deserialize<'de> for Model {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        if normal(&name).is_empty() {
            return Err(D::Error::custom(format!("{name:?} is no name of a model")));
        }
        Ok(Model(name))
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(RateVisitor)
    }
}

struct RateVisitor;

impl Visitor<'_> for RateVisitor {
    type Value = Rate;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dollars per million tokens as a number, like 3.0")
    }

    fn visit_i64<E: Error>(self, dollars: i64) -> Result<Rate, E> {
        let dollars = i32::try_from(dollars).map_err(|_| E::custom(format!("{dollars} is no price")))?;
        self.visit_f64(f64::from(dollars))
    }

    fn visit_f64<E: Error>(self, dollars: f64) -> Result<Rate, E> {
        Micro::from_usd(dollars).map(|micro| Rate(micro.0)).ok_or_else(|| {
            E::custom(format!("{dollars} is no price; write dollars per million tokens, like 3.0"))
        })
    }
}
