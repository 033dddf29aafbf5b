//! Reads a decision table: paragraphs of `key value` lines. `document` and `section` hold until the next one, `row`
//! begins a row, `policy` changes numbers, each `agent` line is an iteration, `then` is what must follow, `but` says in
//! words where ralph settles otherwise than the document. `text NAME` with `| ` lines is a message to use in a row.

use std::collections::BTreeMap;

/// A row of a table.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub document: String,
    pub section: String,
    /// The row, in the document's own words.
    pub name: String,
    pub policy: Words,
    pub agent: Vec<Words>,
    pub then: Vec<String>,
    pub but: String,
    pub line: usize,
}

/// `key=value` words; a bare word has an empty value.
pub type Words = BTreeMap<String, String>;

/// A whole table.
#[derive(Debug, Default)]
pub struct Table {
    pub rows: Vec<Row>,
    pub texts: BTreeMap<String, String>,
}

pub fn read(table: &str) -> Table {
    let mut found = Table::default();
    let (mut document, mut section, mut text) = (String::new(), String::new(), String::new());
    for (line, written) in (1..).zip(table.lines()) {
        if let Some(more) = written.strip_prefix('|') {
            let to = found.texts.entry(text.clone()).or_default();
            to.push_str(more.strip_prefix(' ').unwrap_or(more));
            to.push('\n');
            continue;
        }
        if written.trim().is_empty() || written.starts_with('#') {
            continue;
        }
        let (key, value) = written.split_once(' ').unwrap_or((written, ""));
        let value = value.trim().to_string();
        if let "document" | "section" | "text" | "row" = key {
            match key {
                "document" => document = value,
                "section" => section = value,
                "text" => text = value,
                _ => found.rows.push(Row {
                    document: document.clone(),
                    section: section.clone(),
                    name: value,
                    line,
                    ..Row::default()
                }),
            }
            continue;
        }
        let row = found.rows.last_mut().unwrap_or_else(|| panic!("line {line}: no row yet"));
        match key {
            "policy" => row.policy = words(&value),
            "agent" => row.agent.extend(again(words(&value))),
            "then" => row.then = value.split_whitespace().map(Into::into).collect(),
            "but" => row.but = value,
            _ => panic!("line {line}: `{key}` is no key of a table"),
        }
    }
    for row in &found.rows {
        assert!(!row.document.is_empty() && !row.section.is_empty(), "line {}: no document", row.line);
        assert!(!row.agent.is_empty() && !row.then.is_empty(), "line {}: nothing happens", row.line);
    }
    found
}

fn words(text: &str) -> Words {
    text.split_whitespace()
        .map(|word| word.split_once('=').unwrap_or((word, "")))
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect()
}

/// `times=3` is the same iteration three times.
fn again(mut iteration: Words) -> Vec<Words> {
    let times = iteration.remove("times").map_or(1, |n| n.parse().expect("a number"));
    vec![iteration; times]
}
