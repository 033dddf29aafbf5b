//! One line of a script into one action. Free text runs to the end of the line; all other lines may end in a
//! comment. Messages say what would be right. Failure classes are read by `fail`.

use super::action::{Action, Class, CostSays, Fail, Reset};
use super::split_lines::Line;
use super::values::{all, duration, first, free, micro, pair, size};
use crate::claim::Claim;
use crate::price::Tokens;
use std::time::Duration;

/// Every word a line can start with; `help.txt` has one row for each (kept so by a test).
#[rustfmt::skip]
pub const NAMES: [&str; 36] = [
    "say", "message", "claim", "recommendation", "echo-prompt", "echo-system", "raw", "stderr",
    "write", "append", "replace", "delete", "mkdir", "run", "commit", "deny", "secret",
    "spend", "tokens", "cost", "sleep",
    "hang", "flood", "longline", "garble", "lie", "linger", "daemonise", "setsid-child", "ignore-term", "ignore-stdin",
    "cut", "crash", "exit", "exit-code", "fail",
];

/// What a detached child does when the script names no command: outlive any test, but not the day. With `exec`,
/// so that no shell stays beside it.
const SLEEPER: &str = "exec sleep 600";

type Parsed = Result<Action, String>;

/// Reads one line.
pub fn action(line: &Line) -> Parsed {
    let (name, rest) = line.text.split_once(char::is_whitespace).unwrap_or((&line.text, ""));
    let read = talk(name, rest, line)
        .or_else(|| files(name, rest, line))
        .or_else(|| money(name, rest))
        .or_else(|| trouble(name, rest))
        .or_else(|| ends(name, rest));
    let free_text = ["say", "message", "raw", "stderr", "write", "append", "run", "commit"];
    match read {
        Some(Ok(_)) if line.body.is_some() && !free_text.contains(&name) => {
            Err(format!("{name} does not take text with <<WORD"))
        }
        Some(read) => read.map_err(|why| format!("{name}: {why}")),
        None => Err(unknown(name)),
    }
}

/// What it says.
fn talk(name: &str, rest: &str, line: &Line) -> Option<Parsed> {
    Some(match name {
        "say" => text(rest, line).map(Action::Say),
        "message" => text(rest, line).map(Action::Message),
        "raw" => text(rest, line).map(Action::Raw),
        "stderr" => text(rest, line).map(Action::Stderr),
        "claim" => all(rest).and_then(|words| Claim::parse(&words)).map(Action::Claim),
        "recommendation" => free(rest).map(Action::Recommendation),
        "echo-prompt" => all(rest).and_then(|words| match words.as_slice() {
            [] => Ok(Action::EchoPrompt { last: false }),
            [word] if word == "final" => Ok(Action::EchoPrompt { last: true }),
            _ => Err("use echo-prompt or echo-prompt final".to_owned()),
        }),
        "echo-system" => nothing(rest, Action::EchoSystem),
        _ => return None,
    })
}

/// What it does with tools.
fn files(name: &str, rest: &str, line: &Line) -> Option<Parsed> {
    Some(match name {
        "write" => path_and_text(rest, line).map(|(path, text)| Action::Write { path, text }),
        "append" => path_and_text(rest, line).map(|(path, text)| Action::Append { path, text }),
        "replace" => {
            words(rest, "PATH \"old\" \"new\"").map(|[path, old, new]| Action::Replace { path, old, new })
        }
        "delete" => words(rest, "PATH").map(|[path]| Action::Delete(path)),
        "mkdir" => words(rest, "PATH").map(|[path]| Action::Mkdir(path)),
        "run" => command(rest, line).map(Action::Run),
        "commit" => text(rest, line).map(Action::Commit),
        "deny" => deny(rest),
        "secret" => all(rest).and_then(|names| match names.is_empty() {
            true => Err("name the environment variables to print".to_owned()),
            false => Ok(Action::Secret(names)),
        }),
        _ => return None,
    })
}

/// What it costs.
fn money(name: &str, rest: &str) -> Option<Parsed> {
    Some(match name {
        "spend" => all(rest).and_then(|words| spend(&words)),
        "tokens" => all(rest).and_then(|words| tokens(&words)).map(Action::Tokens),
        "cost" => words(rest, "truth|nan|negative|none|huge|AMOUNT").and_then(|[word]| cost(&word)),
        "sleep" => words(rest, "DURATION").and_then(|[word]| duration(&word)).map(Action::Sleep),
        _ => return None,
    })
}

/// How it misbehaves while it works.
fn trouble(name: &str, rest: &str) -> Option<Parsed> {
    let or_sleeper = |text: &str| if text.trim().is_empty() { Ok(SLEEPER.to_owned()) } else { free(text) };
    Some(match name {
        "hang" => all(rest).and_then(|words| match words.as_slice() {
            [] => Ok(Action::Hang(None)),
            [word] => duration(word).map(Some).map(Action::Hang),
            _ => Err("use hang or hang DURATION".to_owned()),
        }),
        "flood" => words(rest, "SIZE").and_then(|[word]| size(&word)).map(Action::Flood),
        "longline" => words(rest, "SIZE").and_then(|[word]| size(&word)).map(Action::LongLine),
        "linger" => words(rest, "DURATION").and_then(|[word]| duration(&word)).map(Action::Linger),
        "daemonise" => or_sleeper(rest).map(Action::Daemonise),
        "setsid-child" => or_sleeper(rest).map(Action::SetsidChild),
        "ignore-term" => nothing(rest, Action::IgnoreTerm),
        "ignore-stdin" => nothing(rest, Action::IgnoreStdin),
        "garble" => nothing(rest, Action::Garble),
        "lie" => nothing(rest, Action::Lie),
        _ => return None,
    })
}

/// How it ends.
fn ends(name: &str, rest: &str) -> Option<Parsed> {
    let code = |[word]: [String; 1]| {
        word.parse().map_err(|_| format!("{word} is not a valid exit code; use 0 to 255"))
    };
    Some(match name {
        "cut" => nothing(rest, Action::Exit(0)),
        "crash" => nothing(rest, Action::Crash),
        "exit" => words(rest, "CODE").and_then(code).map(Action::Exit),
        "exit-code" => words(rest, "CODE").and_then(code).map(Action::ExitCode),
        "fail" => all(rest).and_then(|words| fail(&words)).map(Action::Fail),
        _ => return None,
    })
}

/// Free text, on the line or below it.
fn text(rest: &str, line: &Line) -> Result<String, String> {
    match &line.body {
        Some(body) if rest.trim().is_empty() => Ok(body.text.trim_end_matches('\n').to_owned()),
        Some(body) => {
            Err(format!("give the text either on the line or below it with <<{}, not both", body.end))
        }
        None => free(rest),
    }
}

/// A shell command; one with a here-document of its own gets it back.
fn command(rest: &str, line: &Line) -> Result<String, String> {
    match &line.body {
        Some(body) if !rest.trim().is_empty() => {
            Ok(format!("{} <<{}\n{}{}", rest.trim(), body.end, body.text, body.end))
        }
        _ => text(rest, line),
    }
}

/// A path, and what goes into the file: always whole lines.
fn path_and_text(rest: &str, line: &Line) -> Result<(String, String), String> {
    let (path, rest) = first(rest)?.ok_or("use PATH TEXT, or PATH <<END with the text below")?;
    match &line.body {
        Some(body) if rest.trim().is_empty() => Ok((path, body.text.clone())),
        _ => Ok((path, text(rest, line)? + "\n")),
    }
}

fn deny(rest: &str) -> Parsed {
    let (tool, rest) = first(rest)?.ok_or("name the tool, such as Bash")?;
    let detail = if rest.trim().is_empty() { "make install".to_owned() } else { free(rest)? };
    Ok(Action::Deny { tool, detail })
}

fn spend(words: &[String]) -> Parsed {
    let (amount, rest) = words.split_first().ok_or("use dollars, such as 0.40 or 0.05 x10 every 50ms")?;
    let micro = micro(amount)?;
    let (mut times, mut every) = (1, Duration::ZERO);
    let mut rest = rest.iter();
    while let Some(word) = rest.next() {
        if let Some(count) = word.strip_prefix('x').and_then(|n| n.parse().ok()) {
            times = count;
        } else if word == "every" {
            every = duration(rest.next().ok_or("every needs a duration")?)?;
        } else {
            return Err(format!("{word} is not valid; use 0.05 x10 every 50ms"));
        }
    }
    Ok(Action::Spend { micro, times, every })
}

fn tokens(words: &[String]) -> Result<Tokens, String> {
    let mut tokens = Tokens::default();
    for word in words {
        let (key, value) = pair(word)?;
        let count = value.parse().map_err(|_| format!("{value} is not a number of tokens"))?;
        match key {
            "in" => tokens.input = count,
            "out" => tokens.output = count,
            "cache-read" => tokens.cache_read = count,
            "cache-write" => tokens.cache_write = count,
            _ => return Err(format!("unknown key {key}; use in, out, cache-read or cache-write")),
        }
    }
    if words.is_empty() { Err("use in=8000 out=400".to_owned()) } else { Ok(tokens) }
}

fn cost(word: &str) -> Parsed {
    Ok(Action::Cost(match word {
        "truth" => CostSays::Truth,
        "nan" => CostSays::Nan,
        "none" => CostSays::Nothing,
        "negative" => CostSays::Amount(-1.5),
        "huge" => CostSays::Amount(1e300),
        _ => CostSays::Amount(word.parse().ok().filter(|n: &f64| n.is_finite()).ok_or_else(|| {
            format!("unknown value {word}; use truth, nan, negative, none, huge or an amount")
        })?),
    }))
}

fn fail(words: &[String]) -> Result<Fail, String> {
    let known = || Class::ALL.map(|(name, _)| name).join(", ");
    let (name, options) = words.split_first().ok_or_else(|| format!("name a class: {}", known()))?;
    let class = Class::ALL.iter().find(|(known, _)| known == name).map(|(_, class)| *class);
    let class = class.ok_or_else(|| format!("unknown class {name}; use one of {}", known()))?;
    let mut fail = Fail { class, reset: None, weekly: false, status: None };
    for option in options {
        match pair(option)? {
            ("reset", value) => fail.reset = Some(reset(value)?),
            ("window", "week") => fail.weekly = true,
            ("window", "5h") => fail.weekly = false,
            ("status", value) => {
                fail.status = Some(value.parse().map_err(|_| format!("{value} is not an HTTP status"))?);
            }
            _ => {
                return Err(format!(
                    "unknown option {option}; use reset=+5s, reset=EPOCH, window=5h|week or status=N"
                ));
            }
        }
    }
    Ok(fail)
}

fn reset(value: &str) -> Result<Reset, String> {
    match value.strip_prefix('+') {
        Some(after) => duration(after).map(Reset::After),
        None => value
            .parse()
            .map(Reset::At)
            .map_err(|_| format!("{value} is not a valid reset time; use +5s or seconds since 1970")),
    }
}

/// Exactly so many words.
fn words<const N: usize>(rest: &str, usage: &str) -> Result<[String; N], String> {
    all(rest)?.try_into().map_err(|_| format!("write {usage}"))
}

fn nothing(rest: &str, action: Action) -> Parsed {
    if all(rest)?.is_empty() { Ok(action) } else { Err("unexpected text after the action".to_owned()) }
}

fn unknown(name: &str) -> String {
    let near = NAMES
        .iter()
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((_, known)) => format!("unknown action {name}; did you mean {known}? (--help lists all)"),
        None => format!("unknown action {name} (--help lists all)"),
    }
}
