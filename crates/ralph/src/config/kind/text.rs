//! A flag or a variable → the TOML value that it stands for.

use super::Kind;
use crate::values;
use toml::Value;

impl Kind {
    /// One text as a value. Lists are written one item per line.
    pub fn parse_text(&self, text: &str) -> Result<Value, String> {
        Ok(match self {
            Kind::Count(_) => Value::Integer(values::count(text)?.into()),
            Kind::Number(_) | Kind::Percent(_) => Value::Integer(values::count_or_none(text)?.into()),
            Kind::LargeNumber(_) => Value::Integer(
                text.trim().parse().map_err(|_| "use a whole number; 0 means no limit".to_string())?,
            ),
            Kind::Dollars(_) | Kind::Rate(_) => Value::Float(values::money(text)?.usd()),
            Kind::Duration(_) | Kind::Limit(_) => {
                values::span(text).map(|_| Value::String(text.trim().into()))?
            }
            Kind::Promise(_) => Value::String(values::promise(text)?),
            Kind::Switch(_) => {
                Value::Boolean(text.trim().parse().map_err(|_| "use true or false".to_string())?)
            }
            Kind::Texts(_) | Kind::Commands(_) | Kind::Globs(_) => {
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                Value::Array(lines.map(|line| Value::String(line.into())).collect())
            }
            _ => Value::String(text.trim().into()),
        })
    }

    /// Whether it holds a list, so that its flag may be given several times.
    pub fn is_list(&self) -> bool {
        matches!(self, Kind::Texts(_) | Kind::Commands(_) | Kind::Globs(_))
    }
}
