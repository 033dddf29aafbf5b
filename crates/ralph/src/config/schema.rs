//! The JSON Schema of a config file, made from the table of keys. Editors read it by the `#:schema` line.

use super::keys::{KEYS, Key, Kind};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The whole schema.
pub fn schema() -> Value {
    let mut properties = Map::new();
    for key in KEYS.iter().filter(|key| key.parts().0.is_empty()) {
        properties.insert(key.name.into(), value(key));
    }
    let sections: BTreeSet<&str> =
        KEYS.iter().map(|key| key.parts().0).filter(|name| !name.is_empty()).collect();
    for name in sections {
        let outer = name.trim_end_matches(".*");
        let inner = section(name);
        let whole = match outer {
            "agents" | "prices" => {
                json!({"description": about(outer), "type": "object", "additionalProperties": inner})
            }
            "ladder" => json!({"description": about(outer), "type": "array", "maxItems": 10, "items": inner}),
            _ => inner,
        };
        properties.insert(outer.into(), whole);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ralph configuration",
        "description": "ralph.toml, ralph.local.toml, or your own config.toml.",
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    })
}

/// The same as text, with a line end.
pub fn schema_text() -> String {
    format!("{:#}\n", schema())
}

/// The keys of one section.
fn section(name: &str) -> Value {
    let keys = KEYS.iter().filter(|key| key.parts().0 == name);
    let properties: Map<String, Value> = keys.map(|key| (key.parts().1.into(), value(key))).collect();
    let about = about(name.trim_end_matches(".*"));
    json!({"description": about, "type": "object", "additionalProperties": false, "properties": properties})
}

/// What a section is about.
pub fn about(section: &str) -> &'static str {
    match section {
        "run" => "Limits of a run and of its calls.",
        "agent" => "Who works.",
        "agents" => "What is set for one agent, by its name.",
        "ladder" => "Who works where the run is stuck, one rung after the other; on progress it goes back.",
        "verify" => "What proves the work.",
        "gate" => "What ends a run as done.",
        "breaker" => "When stagnation stops a run.",
        "protect" => "What no agent may touch.",
        "redact" => {
            "What is hidden from transcripts, prompts, views and the screen, besides what names and shapes tell."
        }
        "sandbox" => "How the agent is contained.",
        "prompt" => "What the agent is told.",
        "plan" => "A list of tasks that binds.",
        "ceilings" => {
            "Numbers that only your own or the system's file may set; everything else is lowered to them."
        }
        "prices" => {
            "Your own prices by model, in dollars per million tokens; only your own or the system's file may set them."
        }
        _ => "",
    }
}

fn value(key: &Key) -> Value {
    let time = r"^\s*([0-9]+(ms|s|sec|m|min|h|d)\s*)+$";
    let mut value = match key.kind {
        Kind::Count => json!({"type": "integer", "minimum": 1}),
        Kind::Number => json!({"type": "integer", "minimum": 0}),
        Kind::Dollars => json!({"type": "number", "exclusiveMinimum": 0}),
        Kind::Rate => json!({"type": "number", "minimum": 0}),
        Kind::Time | Kind::Span => json!({"type": "string", "pattern": time}),
        Kind::Text => json!({"type": "string"}),
        Kind::Promise => json!({"type": "string", "pattern": "^[^<>\\r\\n]+$"}),
        Kind::JsonFile => json!({"type": "string", "pattern": "\\.json$"}),
        Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Switch => json!({"type": "boolean"}),
        Kind::OneOf(words) => json!({"enum": words}),
        Kind::Names => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        Kind::Open => json!({}),
    };
    let default = super::effective::default(key).and_then(|default| serde_json::to_value(default).ok());
    if let Value::Object(map) = &mut value {
        map.insert("description".into(), key.doc.into());
        map.extend(default.map(|default| ("default".to_string(), default)));
    }
    value
}
