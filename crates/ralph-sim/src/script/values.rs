//! Parses the values of a line: quoted words, sizes, durations, amounts, `key=value`.

use std::time::Duration;

/// The first word and what follows it; `None` at the end of the line or at a comment.
pub fn first(text: &str) -> Result<Option<(String, &str)>, String> {
    let text = text.trim_start();
    match text.chars().next() {
        None | Some('#') => Ok(None),
        Some('"') => double_quoted(text).map(Some),
        Some('\'') => {
            let inner = text.strip_prefix('\'').unwrap_or(text);
            let (word, rest) = inner.split_once('\'').ok_or("a ' is never closed")?;
            Ok(Some((word.to_owned(), rest)))
        }
        Some(_) => {
            let end = text.find(char::is_whitespace).unwrap_or(text.len());
            let (word, rest) = text.split_at(end);
            Ok(Some((word.to_owned(), rest)))
        }
    }
}

fn double_quoted(text: &str) -> Result<(String, &str), String> {
    let mut word = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((word, text.get(at + 1..).unwrap_or(""))),
            '\\' => match chars.next() {
                Some((_, 'n')) => word.push('\n'),
                Some((_, 't')) => word.push('\t'),
                Some((_, other)) => word.push(other),
                None => break,
            },
            _ => word.push(c),
        }
    }
    Err("a \" is never closed".to_owned())
}

/// All words of a line, up to a comment.
pub fn all(mut text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    while let Some((word, rest)) = first(text)? {
        words.push(word);
        text = rest;
    }
    Ok(words)
}

/// Free text: as it stands, or without its quotes if it is one quoted word.
pub fn free(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.starts_with('"')
        && let Ok((word, rest)) = double_quoted(text)
        && rest.is_empty()
    {
        return Ok(word);
    }
    if text.is_empty() { Err("text is missing".to_owned()) } else { Ok(text.to_owned()) }
}

/// `100MB`, `64KiB`, `512`.
pub fn size(word: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(word);
    let unit: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "kib" => 1 << 10,
        "m" | "mb" => 1_000_000,
        "mib" => 1 << 20,
        "g" | "gb" => 1_000_000_000,
        "gib" => 1 << 30,
        _ => return Err(format!("{word} is not a valid size; use 512, 64KiB or 100MB")),
    };
    let number: u64 =
        number.parse().map_err(|_| format!("{word} is not a valid size; use 512, 64KiB or 100MB"))?;
    number.checked_mul(unit).ok_or_else(|| format!("{word} is too large"))
}

/// `200ms`, `1.5s`, `2m`, `1h`.
pub fn duration(word: &str) -> Result<Duration, String> {
    let wrong = || format!("{word} is not a valid duration; use 200ms, 1.5s, 2m or 1h");
    let (number, unit) = split_unit(word);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())
}

/// Dollars as micro-dollars: `0.40`, `$1.25`.
pub fn micro(word: &str) -> Result<u64, String> {
    let wrong = || format!("{word} is not a valid amount; use dollars, such as 0.40");
    let (whole, part) =
        word.trim_start_matches('$').split_once('.').unwrap_or((word.trim_start_matches('$'), ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || part.len() > 6 || !digits(whole) || !digits(part) {
        return Err(wrong());
    }
    let part: u64 = format!("{part:0<6}").parse().map_err(|_| wrong())?;
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    whole.checked_mul(1_000_000).and_then(|w| w.checked_add(part)).ok_or_else(wrong)
}

/// The two sides of `key=value`.
pub fn pair(word: &str) -> Result<(&str, &str), String> {
    word.split_once('=').ok_or_else(|| format!("{word} is not valid; use key=value"))
}

fn split_unit(word: &str) -> (&str, &str) {
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    word.split_at(end)
}
