//! `ralph config explain`: one key in full, or the keys of a section in a line each.

use super::as_json;
use crate::cli::{Here, named_skill};
use crate::config::{self, ANALYZE_FLAGS, Combine, Key, SANDBOX_FLAGS, SECTIONS, Section, Setting, Shape};
use crate::nearest::nearest;
use crate::plain::plain;
use crate::print::{print, print_json};
use crate::problem::{Code, Problem};
use serde_json::{Value, json};
use std::fmt::Write;

/// Explains a key, a section, or lists all.
pub fn explain(
    (wanted, skill): (Option<&str>, Option<&str>),
    as_data: bool,
    here: &Here,
) -> Result<u8, Problem> {
    if let Some(name) = wanted.filter(|name| config::find(name).is_some()) {
        let setting = named_skill::config_with(skill, here)?.setting(name).ok_or_else(|| unknown(name))?;
        match as_data {
            true => print_json(&data(&setting))?,
            false => print(&words(&setting)),
        }
        return Ok(0);
    }
    let listed: Vec<&Section> =
        SECTIONS.iter().filter(|section| wanted.is_none_or(|name| is_asked(section, name))).collect();
    if listed.is_empty() || wanted == Some("") {
        return Err(unknown(wanted.unwrap_or_default()));
    }
    match as_data {
        true => {
            let keys = listed.iter().flat_map(|section| section.keys);
            print_json(&keys.map(row).collect::<Vec<Value>>())?;
        }
        false => print(&list(&listed)),
    }
    Ok(0)
}

/// The section of this name, and the lists within it.
fn is_asked(section: &Section, name: &str) -> bool {
    section.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn unknown(wanted: &str) -> Problem {
    let problem = Problem::new(Code::Usage, format!("unknown key `{wanted}`"));
    // People remember the last part.
    let short = config::keys().find(|key| key.parts().1 == wanted).map(|key| key.name.to_string());
    let meant = short.or_else(|| nearest(wanted, config::keys().map(|key| key.name)));
    let problem = match meant {
        Some(meant) => problem.hint(format!("did you mean `{meant}`?")),
        None => problem,
    };
    problem.hint("`ralph config explain` lists every key")
}

fn list(sections: &[&Section]) -> String {
    let mut text = String::new();
    for section in sections {
        if !section.name.is_empty() {
            let _ = writeln!(text, "\n{}  {}", section.heading(), section.about);
        }
        for key in section.keys {
            let _ = writeln!(text, "  {:<24} {}", shown(key.name), key.doc);
        }
    }
    text.trim_start_matches('\n').to_string()
}

fn words(setting: &Setting) -> String {
    let key = setting.key;
    let mut text = format!("{}\n  {}\n\n", setting.name, key.doc);
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<10} {value}");
    };
    row("type", &key.kind.holds());
    row("example", &written(key, &setting.name));
    row("default", if key.default.is_empty() { "none" } else { key.default });
    let now = setting.shown().map_or("not set".to_string(), |value| plain(&value.to_string()));
    row("value", &format!("{now} ({})", plain(&setting.from)));
    if let Some(why) = &setting.note {
        row("", &plain(why));
    }
    let adds = key.combine == Combine::AddsUp;
    for said in &setting.said {
        let line = format!("{} ({})", plain(&key.kind.shown(&said.value).to_string()), plain(&said.place));
        match said.place == setting.from {
            _ if adds => row("from", &line),
            true => {}
            false => row("overridden", &line),
        }
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
    let example = key.kind.example(key.default);
    match name.rsplit_once('.') {
        Some((_, own)) if SECTIONS.iter().any(|s| s.shape == Shape::List && s.name == key.section()) => {
            format!("[[{}]] {own} = {example}", key.section())
        }
        Some((section, own)) => format!("[{section}] {own} = {example}"),
        None => format!("{name} = {example}"),
    }
}

/// Everything that may set a key, the strongest first.
fn set_by(key: &Key) -> String {
    let mut ways = Vec::new();
    if let (Some(flag), Some(variable)) = (key.flag, key.variable()) {
        ways.push(format!("`ralph run {}`", flag.name));
        if ANALYZE_FLAGS.contains(&key.name) {
            ways.push(format!("`ralph analyze {}`", flag.name));
        }
        if SANDBOX_FLAGS.contains(&key.name) {
            ways.extend(["resume", "verify"].map(|command| format!("`ralph {command} {}`", flag.name)));
        }
        ways.push(variable);
    }
    ways.push(match key.combine {
        Combine::OwnOnly => "your own or the system's config.toml".into(),
        _ => "any config file".into(),
    });
    match key.rule() {
        "" => ways.join(", "),
        rule => format!("{}. {rule}", ways.join(", ")),
    }
}

fn row(key: &Key) -> Value {
    json!({
        "key": key.name, "doc": key.doc, "holds": key.kind.holds(), "oneOf": key.kind.words(),
        "default": key.built_in(), "flag": key.flag.map(|flag| flag.name),
        "variable": key.variable(), "onlyOwn": key.combine == Combine::OwnOnly,
    })
}

fn data(setting: &Setting) -> Value {
    let mut value = row(setting.key);
    if let (Value::Object(row), Value::Object(now)) = (&mut value, as_json(setting)) {
        row.extend(now);
    }
    value
}
