//! `RALPH_*` as a layer: each variable is read as the flag of the same name.

use super::flags::SANDBOX_FLAGS;
use super::key::Key;
use super::kind::Mismatch;
use super::origin::{Entry, Layer, Origin};
use super::sections::keys;
use crate::env::Env;
use crate::problem::{Code, Problem};

/// Every variable that is a setting, and what it sets.
pub fn variables() -> impl Iterator<Item = (String, String)> {
    keys().filter_map(|key| {
        let lines = if key.kind.is_list() { "; one per line" } else { "" };
        Some((key.variable()?, format!("{} (same as {}{lines})", key.summary(), key.flag?.name)))
    })
}

/// What the variables set, or those of `[sandbox]` alone, and what is wrong with them.
pub fn layer(env: &Env, sandbox_only: bool) -> (Layer, Vec<Problem>) {
    let counts = |key: &Key| !sandbox_only || SANDBOX_FLAGS.contains(&key.name);
    let (mut entries, mut problems) = (Vec::new(), Vec::new());
    let counted: Vec<_> = keys().filter(|key| counts(key)).filter_map(Key::variable).collect();
    for name in env.not_utf8.iter().filter(|name| counted.contains(name)) {
        let problem = Problem::new(Code::Usage, format!("{name} is not valid UTF-8"));
        problems.push(problem.hint("set it again as plain text, or unset it"));
    }
    for key in keys().filter(|key| counts(key)) {
        let Some((name, text)) = key.variable().and_then(|name| env.settings.get_key_value(&name)) else {
            continue;
        };
        let value = key
            .kind
            .parse_text(text)
            .map_err(|_| Mismatch::new(format!("must be {}, not `{}`", key.kind.holds(), text.trim())));
        match value.and_then(|value| key.kind.change(&value).map(|_| value)) {
            Ok(value) => entries.push(Entry::new(key, value)),
            Err(Mismatch { what, hint }) => {
                let explain =
                    || format!("correct it, or unset {name}; see `ralph config explain {}`", key.name);
                let problem = Problem::new(Code::Usage, format!("{name} {what}"));
                problems.push(problem.hint(hint.unwrap_or_else(explain)));
            }
        }
    }
    (Layer { origin: Origin::Environment, entries }, problems)
}
