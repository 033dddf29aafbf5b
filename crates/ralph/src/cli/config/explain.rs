//! `ralph config explain`: one key in full, or the keys of a section in a line each.

use super::{as_json, layers};
use crate::cli::Here;
use crate::config::about;
use crate::config::effective::{self, Setting};
use crate::config::keys::{self, KEYS, Key, Kind, Who};
use crate::nearest::nearest;
use crate::plain::plain;
use crate::print::{print, print_json};
use crate::problem::{Code, Problem};
use serde_json::{Value, json};
use std::fmt::Write;

/// Explains a key, a section, or lists all.
pub fn explain(wanted: Option<&str>, as_data: bool, here: &Here) -> Result<u8, Problem> {
    if let Some(key) = wanted.and_then(keys::find) {
        let name = wanted.unwrap_or(key.name).to_string();
        let setting = effective::setting(key, name, &layers(here)?, &here.workspace);
        match as_data {
            true => print_json(&data(key, &setting))?,
            false => print(&words(key, &setting)),
        }
        return Ok(0);
    }
    let inside = |key: &&Key| wanted.is_none_or(|section| in_section(key, section));
    let listed: Vec<&Key> = KEYS.iter().filter(inside).collect();
    if listed.is_empty() {
        return Err(unknown(wanted.unwrap_or_default()));
    }
    match as_data {
        true => print_json(&listed.iter().map(|key| row(key)).collect::<Vec<Value>>())?,
        false => print(&list(&listed)),
    }
    Ok(0)
}

fn in_section(key: &Key, section: &str) -> bool {
    let own = key.parts().0;
    own == section || own.trim_end_matches(".*") == section
}

fn unknown(wanted: &str) -> Problem {
    let problem = Problem::new(Code::Usage, format!("there is no key `{wanted}`"));
    // The last part alone is what people remember.
    let short = KEYS.iter().find(|key| key.parts().1 == wanted).map(|key| key.name.to_string());
    let meant = short.or_else(|| nearest(wanted, KEYS.iter().map(|key| key.name)));
    let problem = match meant {
        Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
        None => problem,
    };
    problem.hint("`ralph config explain` lists every key")
}

fn list(keys: &[&Key]) -> String {
    let mut text = String::new();
    let mut section = None;
    for key in keys {
        let own = key.parts().0;
        if section != Some(own) {
            let about = about(own.trim_end_matches(".*"));
            let head = match own {
                "" => String::new(),
                "ladder" => format!("\n[[ladder]]  {about}\n"),
                _ => format!("\n[{}]  {about}\n", shown(own)),
            };
            text.push_str(&head);
            section = Some(own);
        }
        let _ = writeln!(text, "  {:<24} {}", shown(key.name), key.doc);
    }
    text.trim_start_matches('\n').to_string()
}

fn words(key: &Key, setting: &Setting) -> String {
    let mut text = format!("{}\n  {}\n\n", setting.name, key.doc);
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<10} {value}");
    };
    row("holds", &key.holds());
    row("like", &written(key, &setting.name));
    row("default", if key.default.is_empty() { "none" } else { key.default });
    let now = setting.value.as_ref().map_or("nothing".to_string(), |value| plain(&value.to_string()));
    row("now", &format!("{now} ({})", plain(&setting.from())));
    if let Some(why) = &setting.lowered {
        row("", &plain(why));
    }
    let adds = key.who == Who::Adds;
    for (_, place, value) in setting.said.iter().skip(usize::from(!adds)) {
        row(
            if adds { "said" } else { "also said" },
            &format!("{} ({})", plain(&value.to_string()), plain(place)),
        );
    }
    row("set by", &set_by(key));
    text
}

/// A name stands for any.
fn shown(name: &str) -> String {
    let any = if name.starts_with("prices") { "MODEL" } else { "NAME" };
    name.replace('*', any)
}

/// How it is written in a file.
fn written(key: &Key, name: &str) -> String {
    match name.rsplit_once('.') {
        Some(("ladder", own)) => format!("[[ladder]] {own} = {}", key.example()),
        Some((section, own)) => format!("[{section}] {own} = {}", key.example()),
        None => format!("{name} = {}", key.example()),
    }
}

/// Everything that may set a key, the strongest first.
fn set_by(key: &Key) -> String {
    let mut ways = Vec::new();
    if let Some(variable) = key.variable() {
        ways.push(format!("{} of `ralph run`", key.flag));
        ways.push(variable);
    }
    match key.who {
        Who::Own => ways.push("your own config.toml or the system's, never a project".into()),
        Who::Adds => ways.push("any config file; what all say adds up".into()),
        Who::Tightens => ways.push("any config file; a project only to make it stricter".into()),
        Who::Nearest => ways.push("any config file".into()),
    }
    ways.join(", ")
}

fn row(key: &Key) -> Value {
    let words = if let Kind::OneOf(words) = key.kind { Some(words) } else { None };
    json!({
        "key": key.name, "doc": key.doc, "holds": key.holds(), "oneOf": words,
        "default": effective::default(key), "flag": Some(key.flag).filter(|flag| !flag.is_empty()),
        "variable": key.variable(), "onlyOwn": key.who == Who::Own,
    })
}

fn data(key: &Key, setting: &Setting) -> Value {
    let mut value = row(key);
    if let (Value::Object(row), Value::Object(now)) = (&mut value, as_json(setting)) {
        row.extend(now);
    }
    value
}
