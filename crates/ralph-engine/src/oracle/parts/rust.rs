//! Tests inside Rust sources: `#[cfg(test)] mod name { … }`. The module is the oracle's, the rest of the file is work.

use std::ops::Range;

/// One module of tests.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Module {
    name: String,
    /// From its attribute to its closing brace.
    span: Range<usize>,
}

const ATTRIBUTE: &str = "#[cfg(test)]";

/// The modules' texts, in the order of their names.
pub fn tests(text: &str) -> Vec<&str> {
    let mut found = modules(text);
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found.into_iter().filter_map(|module| text.get(module.span)).collect()
}

/// The new file with the baseline's modules: in the place of those of the same name, or at the end.
pub fn put_back(baseline: &str, now: &str) -> String {
    let mut old = modules(baseline);
    let (mut made, mut from) = (String::with_capacity(now.len()), 0);
    for module in modules(now) {
        made.push_str(now.get(from..module.span.start).unwrap_or_default());
        if let Some(at) = old.iter().position(|other| other.name == module.name) {
            made.push_str(baseline.get(old.remove(at).span).unwrap_or_default());
        }
        from = module.span.end;
    }
    made.push_str(now.get(from..).unwrap_or_default());
    for module in old {
        made.push('\n');
        made.push_str(baseline.get(module.span).unwrap_or_default());
        made.push('\n');
    }
    made
}

fn modules(text: &str) -> Vec<Module> {
    if !text.contains(ATTRIBUTE) {
        return Vec::new();
    }
    let code = blanked(text);
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(at) = code.get(from..).and_then(|rest| rest.find(ATTRIBUTE)).map(|at| at + from) {
        from = at + ATTRIBUTE.len();
        if let Some((name, end)) = module(&code, from) {
            found.push(Module { name, span: at..end });
            from = end;
        }
    }
    found
}

/// The name and the end of the module that follows, past other attributes.
fn module(code: &str, mut from: usize) -> Option<(String, usize)> {
    loop {
        let rest = code.get(from..)?;
        from += rest.len() - rest.trim_start().len();
        let rest = code.get(from..)?;
        if !rest.starts_with("#[") {
            break;
        }
        from += rest.find(']')? + 1;
    }
    let head = code.get(from..)?;
    let words = head.get(..head.find(['{', ';', '}'])?)?;
    let name = words.split_whitespace().skip_while(|word| *word != "mod").nth(1)?;
    let (mut depth, mut at) = (0_i64, from + words.len());
    for (offset, byte) in code.get(at..)?.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth <= 0 {
            at += offset + 1;
            break;
        }
    }
    (depth == 0 && code.get(..at)?.ends_with('}')).then(|| (name.to_owned(), at))
}

/// The same length, with comments, strings and characters blanked out, so that a brace is a brace.
fn blanked(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = skipped(bytes, at);
        if let Some(hidden) = code.get_mut(at..end) {
            hidden.fill(b' ');
        }
        at = end.max(at + 1);
    }
    String::from_utf8(code).unwrap_or_default()
}

/// Where what begins here and is no code ends; `at` itself where it is code.
fn skipped(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let word_before =
        at.checked_sub(1).and_then(|b| bytes.get(b)).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    match rest {
        [b'/', b'/', ..] => at + memchr::memchr(b'\n', rest).unwrap_or(rest.len()),
        [b'/', b'*', ..] => at + comment(rest),
        [b'"', ..] => at + string(rest),
        [b'r', b'"' | b'#', ..] if !word_before => at + raw_string(rest).unwrap_or(0),
        [b'\'', b'\\', ..] => {
            at + 3 + memchr::memchr(b'\'', rest.get(3..).unwrap_or_default()).map_or(0, |n| n + 1)
        }
        [b'\'', _, b'\'', ..] => at + 3,
        [first, ..] if !first.is_ascii() => at + 1,
        _ => at,
    }
}

fn comment(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(pair) = rest.get(at..at + 2) {
        match pair {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

/// `r#"…"#`; none where it is only a name like `r#type`.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let hashes = rest.iter().skip(1).take_while(|b| **b == b'#').count();
    rest.get(1 + hashes).filter(|b| **b == b'"')?;
    let close = [&b"\""[..], &b"#".repeat(hashes)].concat();
    let from = 2 + hashes;
    let end =
        memchr::memmem::find(rest.get(from..)?, &close).map_or(rest.len(), |at| from + at + close.len());
    Some(end)
}
