//! Secrets from a file: `.env` and its like (`NAME=value`, `name: value`), JSON (every text in it), or a plain key file.
//! What the file is is told by what is in it. Read with a bound, and only a regular file.

use super::{Secret, env};
use ralph_os::{Links, read_regular};
use ralph_rules::secret_env::{is_secret_value, password_in_address};
use serde_json::Value;
use std::io::{self, ErrorKind};
use std::path::Path;

/// A file of secrets larger than this is a mistake.
pub const MOST: u64 = 1 << 20;

/// The secrets in this file, by the names they have there; none where there is no such file. `sure` takes every value
/// that is no ordinary word; else a value's name must say that it is secret.
pub fn secrets_in_file(path: &Path, sure: bool) -> io::Result<Vec<(String, Secret)>> {
    let bytes = match read_regular(path, MOST, Links::Follow).map_err(io::Error::from) {
        Ok(bytes) => bytes,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(error),
    };
    let own = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(secrets(&own, &bytes, sure))
}

fn secrets(own: &str, bytes: &[u8], sure: bool) -> Vec<(String, Secret)> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return vec![(own.to_owned(), Secret::new(bytes.trim_ascii()))];
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let found = values(own, text);
    if !sure {
        return env::secrets_in_env(found, &[]);
    }
    let passwords = found.iter().filter_map(|(name, value)| {
        let password = password_in_address(value)?;
        Some((name.clone(), password.to_owned()))
    });
    let passwords: Vec<_> = passwords.collect();
    let all = found.into_iter().chain(passwords).filter(|(_, value)| is_secret_value(value.trim()));
    all.map(|(name, value)| (name, Secret::new(value.trim()))).collect()
}

/// Names and values, as the file pairs them.
fn values(own: &str, text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
        leaves(own, value, &mut found);
        return found;
    }
    if text.contains("-----BEGIN ") && !text.trim_start().starts_with(char::is_alphanumeric) {
        return vec![(own.to_owned(), text.trim().to_owned())];
    }
    let mut rest = text;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = after;
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';', '[']) {
            continue;
        }
        let Some((name, value)) = pair(line) else {
            found.push((own.to_owned(), unquoted(line)));
            continue;
        };
        // A value in double quotes may go on over several lines: a private key in a `.env`.
        let open = value.strip_prefix('"').filter(|inside| closing(inside).is_none());
        match open.and_then(|inside| Some((inside, closing(rest)?))) {
            Some((inside, end)) => {
                let (more, after) = rest.split_at(end);
                found.push((name.to_owned(), unescaped(&format!("{inside}\n{more}"))));
                rest = after.split_once('\n').map_or("", |(_, after)| after);
            }
            None => found.push((name.to_owned(), unquoted(value))),
        }
    }
    found
}

/// `NAME=value` or `name: value`; a name has no spaces.
fn pair(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let split = line.split_once('=').or_else(|| line.split_once(": "));
    let (name, value) = split.map(|(name, value)| (name.trim(), value.trim()))?;
    let named =
        !name.is_empty() && !name.contains(char::is_whitespace) && !value.trim_matches('=').is_empty();
    named.then_some((name, value))
}

/// Where the closing double quote is.
fn closing(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends.then_some(at)
    })
}

/// Without quotes, or without the remark behind it.
fn unquoted(value: &str) -> String {
    if let Some(inside) = value.strip_prefix('"')
        && let Some(end) = closing(inside)
    {
        return unescaped(inside.get(..end).unwrap_or_default());
    }
    if let Some(inside) = value.strip_prefix('\'')
        && let Some((inside, _)) = inside.split_once('\'')
    {
        return inside.to_owned();
    }
    value.split_once(" #").map_or(value, |(value, _)| value).trim_end().to_owned()
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, (c == '\\').then(|| chars.next()).flatten()) {
            (_, None) => out.push(c),
            (_, Some('n')) => out.push('\n'),
            (_, Some('r')) => out.push('\r'),
            (_, Some('t')) => out.push('\t'),
            (_, Some(other)) => out.push(other),
        }
    }
    out
}

/// Every text of a JSON value, named by its nearest key.
fn leaves(name: &str, value: Value, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => found.push((name.to_owned(), text)),
        Value::Array(items) => items.into_iter().for_each(|item| leaves(name, item, found)),
        Value::Object(fields) => fields.into_iter().for_each(|(key, value)| leaves(&key, value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode};

    fn found(text: &str, sure: bool) -> Vec<(String, String)> {
        let shown = |(name, value): (String, Secret)| (name, value.expose_text().unwrap().to_owned());
        secrets("own", text.as_bytes(), sure).into_iter().map(shown).collect()
    }

    fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn every_kind_of_file_is_read() {
        let table: &[(&str, &[(&str, &str)])] = &[
            (
                "A=alpha-7-bravo\r\nexport B='x y z 9#1' # no\n#C=nothing-9\n",
                &[("A", "alpha-7-bravo"), ("B", "x y z 9#1")],
            ),
            ("\u{feff}A=plain-9-value # a remark\n", &[("A", "plain-9-value")]),
            ("A=\"one\\ntwo\\\"3\" # x\nPORT=3000\nMODE=production\n", &[("A", "one\ntwo\"3")]),
            (
                "K=\"-----BEGIN X-----\nabc=\n-----END X-----\"\nB=second-9\n",
                &[("K", "-----BEGIN X-----\nabc=\n-----END X-----"), ("B", "second-9")],
            ),
            (
                "[default]\naws_secret_access_key = wJalr/XUtn9FEMI\n",
                &[("aws_secret_access_key", "wJalr/XUtn9FEMI")],
            ),
            ("token: zulu77-november\n", &[("token", "zulu77-november")]),
            (
                "//registry.example/:_authToken=abc123def456\n",
                &[("//registry.example/:_authToken", "abc123def456")],
            ),
            ("zulu77-november\n", &[("own", "zulu77-november")]),
            ("dGFuZ28tRm94dHJvdA==\n", &[("own", "dGFuZ28tRm94dHJvdA==")]),
            (
                "-----BEGIN KEY-----\nMIIB=\n-----END KEY-----\n",
                &[("own", "-----BEGIN KEY-----\nMIIB=\n-----END KEY-----")],
            ),
            (
                r#"{"type":"service_account","a":{"key":"zulu77-\"x"},"n":[7,"mike-88-oscar"]}"#,
                &[("key", "zulu77-\"x"), ("n", "mike-88-oscar")],
            ),
            (
                "DB=postgres://u:pass-9-word@h/d\n",
                &[("DB", "postgres://u:pass-9-word@h/d"), ("DB", "pass-9-word")],
            ),
            ("A=\"never closed 9\n", &[("A", "\"never closed 9")]),
            ("", &[]),
        ];
        for (text, expected) in table {
            let mut expected = pairs(expected);
            let mut found = found(text, true);
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn where_it_is_not_sure_the_name_must_say_so() {
        assert_eq!(
            found("APP_NAME=my-cool-app1\nAPI_KEY=zulu77-november\n", false),
            pairs(&[("API_KEY", "zulu77-november")])
        );
    }

    #[test]
    fn what_is_no_small_regular_file_is_refused_and_none_is_none() {
        let dir = tempfile::tempdir().unwrap();
        rustix::fs::mkfifoat(CWD, dir.path().join("pipe"), Mode::RUSR | Mode::WUSR).unwrap();
        std::fs::write(dir.path().join("large"), vec![b'x'; 2 << 20]).unwrap();
        for name in ["pipe", "large", "."] {
            assert!(secrets_in_file(&dir.path().join(name), true).is_err(), "{name}");
        }
        assert_eq!(secrets_in_file(&dir.path().join("none"), true).unwrap(), []);
        assert_eq!(secrets_in_file(&dir.path().join("large/none"), true).unwrap(), []);
        std::fs::write(dir.path().join("binary"), b"\xff\xfe\x00key-9").unwrap();
        let binary = secrets_in_file(&dir.path().join("binary"), true).unwrap();
        assert_eq!(binary, [("binary".to_owned(), Secret::new(b"\xff\xfe\x00key-9".to_vec()))]);
    }
}
