//! A shape: `name: type -- words`, one field a line, what is inside a field indented below it.

use crate::dir;
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::fs;

/// The names of all shapes.
pub fn names() -> Vec<String> {
    let files = fs::read_dir(dir()).unwrap().map(|entry| entry.unwrap().path());
    let shapes = files.filter(|path| path.extension().is_some_and(|end| end == "shape"));
    let mut names: Vec<String> =
        shapes.map(|path| path.file_stem().unwrap().to_str().unwrap().into()).collect();
    names.sort();
    names
}

/// One shape.
pub struct Shape {
    name: String,
    about: String,
    /// The whole is a list of these.
    list: bool,
    fields: Vec<Field>,
    /// Further fields may come that are not described.
    open: bool,
    text: String,
}

struct Field {
    name: String,
    optional: bool,
    kind: String,
    words: String,
    inner: Vec<Field>,
    open: bool,
}

impl Shape {
    pub fn read(name: &str) -> Shape {
        let text = fs::read_to_string(dir().join(format!("{name}.shape"))).unwrap();
        let about: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# ")).collect();
        let lines: Vec<&str> =
            text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).collect();
        let list = lines.first() == Some(&"[]");
        let mut rest = &lines[usize::from(list)..];
        let (fields, open) = fields(&mut rest, 0);
        assert!(rest.is_empty(), "{name}: {rest:?}");
        Shape { name: name.into(), about: about.join(" "), list, fields, open, text }
    }

    pub fn schema(&self) -> Value {
        let mut whole = object(&self.fields, self.open);
        if self.list {
            whole = json!({"type": "array", "items": whole});
        }
        let map = whole.as_object_mut().unwrap();
        map.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
        map.insert("title".into(), self.name.clone().into());
        map.insert("description".into(), self.about.clone().into());
        whole
    }

    pub fn page(&self) -> String {
        let mut page = format!("\n## {}\n\n{}\n\n```text\n", self.name, self.about);
        for line in self.text.lines().filter(|line| !line.starts_with('#')) {
            let _ = writeln!(page, "{line}");
        }
        page + "```\n"
    }
}

fn fields(rest: &mut &[&str], depth: usize) -> (Vec<Field>, bool) {
    let (mut found, mut open) = (Vec::new(), false);
    while let Some(line) = rest.first() {
        if line.len() - line.trim_start().len() != depth * 2 {
            break;
        }
        *rest = &rest[1..];
        if line.trim() == "..." {
            open = true;
            continue;
        }
        let (head, words) = line.split_once(" -- ").unwrap_or((line, ""));
        let (name, kind) = head.split_once(": ").unwrap_or_else(|| panic!("{line}"));
        let (inner, inner_open) = fields(rest, depth + 1);
        let name = name.trim();
        found.push(Field {
            name: name.trim_end_matches('?').into(),
            optional: name.ends_with('?'),
            kind: kind.trim().into(),
            words: words.trim().into(),
            inner,
            open: inner_open,
        });
    }
    (found, open)
}

fn object(fields: &[Field], open: bool) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|field| (field.name.clone(), value(field))).collect();
    let required: Vec<&str> =
        fields.iter().filter(|field| !field.optional).map(|field| field.name.as_str()).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": open})
}

fn value(field: &Field) -> Value {
    let (kind, nullable) = match field.kind.strip_suffix('?') {
        Some(kind) => (kind, true),
        None => (field.kind.as_str(), false),
    };
    let simple = |kind: &str| match kind {
        "string" | "bool" | "int" | "number" => {
            json!({"type": kind.replace("bool", "boolean").replace("int", "integer")})
        }
        "any" => json!({}),
        words => {
            json!({"enum": words.split('|').map(|word| serde_json::from_str::<Value>(word.trim()).unwrap()).collect::<Vec<_>>()})
        }
    };
    let mut made = match kind {
        "{}" => object(&field.inner, field.open),
        "[]" => json!({"type": "array", "items": object(&field.inner, field.open)}),
        list if list.starts_with('[') => {
            json!({"type": "array", "items": simple(list.trim_matches(['[', ']']))})
        }
        kind => simple(kind),
    };
    if nullable {
        made = json!({"anyOf": [made, {"type": "null"}]});
    }
    if !field.words.is_empty() {
        made.as_object_mut().unwrap().insert("description".into(), field.words.clone().into());
    }
    made
}
