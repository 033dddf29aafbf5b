//! Values that a config file writes in its own way. A wrong one is refused where it stands.

use crate::values;
use ralph_rules::money::Micro;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// A duration such as `"15m"`; zero is allowed.
#[derive(Clone, Copy, Debug)]
pub struct Duration(pub i64);

/// A duration above zero.
#[derive(Clone, Copy, Debug)]
pub struct Limit(pub i64);

/// Dollars above zero, as a number.
#[derive(Clone, Copy, Debug)]
pub struct Dollars(pub Micro);

/// The completion promise's inner text.
#[derive(Clone, Debug)]
pub struct Promise(pub String);

/// The name of a variable that an agent gets.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Variable(pub String);

impl<'de> Deserialize<'de> for Variable {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        if name.is_empty() || name.contains(['=', '\0']) {
            return Err(D::Error::custom(format!("{name:?} is no name of a variable")));
        }
        if name.starts_with("RALPH_") {
            return Err(D::Error::custom(format!("{name} is ralph's own: it finds its processes by it")));
        }
        Ok(Variable(name))
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        super::parse_duration(&String::deserialize(from)?).map(Duration).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        values::span(&String::deserialize(from)?).map(Limit).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Promise {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        values::promise(&String::deserialize(from)?).map(Promise).map_err(D::Error::custom)
    }
}

/// A path within the workspace.
#[derive(Clone, Debug)]
pub struct Inside(pub String);

impl<'de> Deserialize<'de> for Inside {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let inside = std::path::Path::new(&text)
            .components()
            .all(|part| matches!(part, std::path::Component::Normal(_) | std::path::Component::CurDir));
        match text.trim() {
            "" => Err(D::Error::custom("a file needs a name, like .ralph-complete")),
            _ if !inside => Err(D::Error::custom(format!(
                "`{text}` is outside the workspace; write a path within it, like .ralph-complete"
            ))),
            _ => Ok(Inside(text)),
        }
    }
}

/// Where a view lies: a JSON file within the workspace.
#[derive(Clone, Debug)]
pub struct View(pub String);

impl<'de> Deserialize<'de> for View {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let Inside(text) = Inside::deserialize(from)?;
        match text.ends_with(".json") {
            true => Ok(View(text.trim_start_matches("./").into())),
            false => Err(D::Error::custom(format!(
                "`{text}` is no name for a view, which is JSON; write it like .ralph-session.json"
            ))),
        }
    }
}

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Amount)
    }
}

/// Reads `5` as well as `5.0`.
struct Amount;

impl Visitor<'_> for Amount {
    type Value = Dollars;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dollars as a number, like 5.0")
    }

    fn visit_i64<E: Error>(self, dollars: i64) -> Result<Dollars, E> {
        let dollars =
            i32::try_from(dollars).map_err(|_| E::custom(format!("{dollars} is no amount of money")))?;
        self.visit_f64(f64::from(dollars))
    }

    fn visit_f64<E: Error>(self, dollars: f64) -> Result<Dollars, E> {
        let amount = Micro::from_usd(dollars).filter(|amount| *amount > Micro::ZERO);
        amount
            .map(Dollars)
            .ok_or_else(|| E::custom(format!("{dollars} is no amount of money above 0; write it like 5.0")))
    }
}
