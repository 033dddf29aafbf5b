//! `RALPH_*` as a layer: each variable is read as the flag of the same name, and what it says is a setting like any other.

use super::keys::{KEYS, Key, Kind};
use super::source::{Origin, Source};
use crate::env::Env;
use crate::problem::{Code, Problem};
use crate::values;
use toml::{Table, Value};

/// What the variables set; none where they set nothing.
pub fn source(env: &Env) -> Result<Option<Source>, Problem> {
    let mut table = Table::new();
    for key in KEYS {
        let Some(name) = key.variable() else { continue };
        let Some(text) = env.settings.get(&name) else { continue };
        let value = value(key, text).map_err(|why| wrong(&name, text, &why, key))?;
        let (section, own) = key.parts();
        let place = match section {
            "" => &mut table,
            _ => match table.entry(section).or_insert_with(|| Value::Table(Table::new())) {
                Value::Table(inner) => inner,
                _ => continue,
            },
        };
        place.insert(own.into(), value);
    }
    let any = !table.is_empty();
    Ok(any.then(|| Source { origin: Origin::Environment, table, text: String::new() }))
}

fn value(key: &Key, text: &str) -> Result<Value, String> {
    let words = || Value::String(text.trim().to_string());
    Ok(match key.kind {
        Kind::Count => Value::Integer(values::count(text)?.into()),
        Kind::Number => Value::Integer(values::count_or_none(text)?.into()),
        Kind::Dollars => Value::Float(values::money(text)?.usd()),
        Kind::Time | Kind::Span => values::span(text).map(|_| words())?,
        Kind::Promise => Value::String(values::promise(text)?),
        Kind::Texts => lines(text),
        Kind::OneOf(allowed) if !allowed.contains(&text.trim()) => {
            return Err(format!("write one of {}", allowed.join(", ")));
        }
        _ => words(),
    })
}

/// Several commands or paths: one a line.
fn lines(text: &str) -> Value {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Value::Array(lines.map(|line| Value::String(line.into())).collect())
}

fn wrong(name: &str, text: &str, why: &str, key: &Key) -> Problem {
    let problem = Problem::new(Code::Usage, format!("{name}: `{text}`: {why}"));
    match key.kind {
        Kind::OneOf(allowed) => match crate::nearest::nearest(text.trim(), allowed.iter().copied()) {
            Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
            None => problem,
        },
        _ => problem,
    }
}
