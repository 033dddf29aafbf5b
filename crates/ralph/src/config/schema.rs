//! The JSON Schema of a config file, made from the declarations. Editors find it by the `#:schema` line.

use super::instances::most_entries;
use super::key::{Key, Section, Shape};
use super::kind::Kind;
use super::sections::SECTIONS;
use ralph_rules::notice::Event;
use serde_json::{Map, Value, json};

/// The whole schema as text.
pub fn schema_text() -> String {
    format!("{:#}\n", schema())
}

fn schema() -> Value {
    let mut properties = Map::new();
    for section in SECTIONS {
        match section.name {
            "" => properties.extend(section.keys.iter().map(|key| (key.name.to_string(), value(key)))),
            name if name.contains('.') => {}
            name => {
                properties.insert(name.into(), whole(section));
            }
        }
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

fn whole(section: &Section) -> Value {
    let mut properties: Map<String, Value> =
        section.keys.iter().map(|key| (key.parts().1.into(), value(key))).collect();
    let own_name = |list: &Section| Some(list.name.strip_prefix(section.name)?.strip_prefix('.')?.to_owned());
    properties.extend(SECTIONS.iter().filter_map(|list| Some((own_name(list)?, whole(list)))));
    let table = json!({
        "description": section.about, "type": "object", "additionalProperties": false, "properties": properties,
    });
    match section.shape {
        Shape::Table => table,
        Shape::PerAgent | Shape::PerModel => {
            json!({"description": section.about, "type": "object", "additionalProperties": table})
        }
        Shape::List => {
            json!({"description": section.about, "type": "array", "maxItems": most_entries(section), "items": table})
        }
    }
}

fn value(key: &Key) -> Value {
    let duration = r"^\s*([0-9]+(ms|s|sec|m|min|h|d)\s*)+$";
    let mut value = match key.kind {
        Kind::Count(_) => json!({"type": "integer", "minimum": 1}),
        Kind::Number(_) | Kind::LargeNumber(_) => json!({"type": "integer", "minimum": 0}),
        Kind::Percent(_) => json!({"type": "integer", "minimum": 0, "maximum": 100}),
        Kind::Dollars(_) => json!({"type": "number", "exclusiveMinimum": 0}),
        Kind::Rate(_) => json!({"type": "number", "minimum": 0}),
        Kind::Duration(_) | Kind::Limit(_) => json!({"type": "string", "pattern": duration}),
        Kind::MapTime(_) => json!({"anyOf": [{"const": "auto"}, {"type": "string", "pattern": duration}]}),
        Kind::Retention(_) => {
            json!({"anyOf": [{"enum": ["forever", "0"]}, {"type": "string", "pattern": duration}]})
        }
        Kind::Text(_) | Kind::WorkspaceFile(_) | Kind::WorkspaceDir(_) => json!({"type": "string"}),
        Kind::Agent(_) => json!({"enum": ralph_agents::registry::names().collect::<Vec<_>>()}),
        Kind::Agents(_) => {
            let names = ralph_agents::registry::names().collect::<Vec<_>>();
            json!({"type": "array", "items": {"enum": names}})
        }
        Kind::Promise(_) => json!({"type": "string", "pattern": "^[^<>\\r\\n]+$"}),
        Kind::JsonFile(_) => json!({"type": "string", "pattern": "\\.json$"}),
        Kind::JsonLinesFile(_) => json!({"type": "string", "pattern": "\\.jsonl$"}),
        Kind::Phrases(_) => json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
        Kind::Texts(_) | Kind::Commands(_) | Kind::Globs(_) => {
            json!({"type": "array", "items": {"type": "string"}})
        }
        Kind::Events(_) => json!({"type": "array", "items": {"enum": Event::ALL.map(Event::name)}}),
        Kind::Quiet(_) => {
            json!({"type": "string", "pattern": "^[0-9]{1,2}:[0-9]{2} *- *[0-9]{1,2}:[0-9]{2}$"})
        }
        Kind::Url(_) => json!({"type": "string", "pattern": "^https?://"}),
        Kind::Argv(_) => json!({"type": "array", "items": {"type": "string"}, "minItems": 1}),
        Kind::Switch(_) => json!({"type": "boolean"}),
        Kind::OneOf(_) | Kind::Means(_) | Kind::Format(_) => json!({"enum": key.kind.words()}),
        Kind::Variables(_) | Kind::Headers(_) => {
            json!({"type": "object", "additionalProperties": {"type": "string"}})
        }
        Kind::OtlpEndpoint(_) => json!({"type": "string", "pattern": "^[hH][tT][tT][pP][sS]?://"}),
        Kind::Sandbox(kind) => kind.schema(),
    };
    let default = key.built_in().and_then(|default| serde_json::to_value(default).ok());
    if let Value::Object(map) = &mut value {
        map.insert("description".into(), key.doc.into());
        map.extend(default.map(|default| ("default".to_string(), default)));
    }
    value
}
