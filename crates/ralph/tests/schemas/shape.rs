//! A shape: `name: type -- words`, one field a line, what is inside a field indented below it. `@name` stands for another
//! shape, `[type]` for a list, `{type}` for an object with any names.

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
    body: Body,
    text: String,
}

enum Body {
    /// Fields, and whether further ones may come that are not described.
    Object(Vec<Field>, bool),
    /// A list of such objects.
    List(Vec<Field>, bool),
    /// One type, in terms of other shapes.
    Type(String),
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
        let mut rest = lines.as_slice();
        let body = match lines.first().copied() {
            Some("[]") => {
                rest = &lines[1..];
                let (fields, open) = fields(&mut rest, 0);
                Body::List(fields, open)
            }
            Some(kind) if kind.trim_start_matches('[').starts_with('@') => {
                rest = &lines[1..];
                Body::Type(kind.into())
            }
            _ => {
                let (fields, open) = fields(&mut rest, 0);
                Body::Object(fields, open)
            }
        };
        assert!(rest.is_empty(), "{name}: {rest:?}");
        Shape { name: name.into(), about: about.join(" "), body, text }
    }

    /// What it says it describes.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The schema of one object, even where the whole is a list of them.
    fn item(&self) -> Value {
        match &self.body {
            Body::Object(fields, open) | Body::List(fields, open) => object(fields, *open),
            Body::Type(kind) => typed(kind),
        }
    }

    pub fn schema(&self) -> Value {
        let mut whole = match self.body {
            Body::List(..) => json!({"type": "array", "items": self.item()}),
            _ => self.item(),
        };
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
    let mut made = match kind {
        "{}" => object(&field.inner, field.open),
        "[]" => json!({"type": "array", "items": object(&field.inner, field.open)}),
        kind => typed(kind),
    };
    if nullable {
        made = json!({"anyOf": [made, {"type": "null"}]});
    }
    if !field.words.is_empty() {
        made.as_object_mut().unwrap().insert("description".into(), field.words.clone().into());
    }
    made
}

/// The schema of a type that is written on one line.
fn typed(kind: &str) -> Value {
    let within = |open, close| kind.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
    if let Some(item) = within('[', ']') {
        return json!({"type": "array", "items": typed(item)});
    }
    if let Some(value) = within('{', '}') {
        return json!({"type": "object", "additionalProperties": typed(value)});
    }
    let alternatives = || kind.split('|').map(str::trim);
    match kind {
        "string" | "bool" | "int" | "number" => {
            json!({"type": kind.replace("bool", "boolean").replace("int", "integer")})
        }
        "any" => json!({}),
        shapes if shapes.starts_with('@') => {
            let mut each: Vec<Value> =
                alternatives().map(|name| Shape::read(name.trim_start_matches('@')).item()).collect();
            if each.len() == 1 { each.remove(0) } else { json!({"anyOf": each}) }
        }
        _ => {
            let words: Vec<Value> = alternatives().map(|word| serde_json::from_str(word).unwrap()).collect();
            json!({"enum": words})
        }
    }
}
