//! Whether a value fits a schema, as far as our own schemas go.

use serde_json::Value;

/// What does not fit, with the place.
pub fn misfits(value: &Value, schema: &Value, place: &str, found: &mut Vec<String>) {
    if let Some(any) = schema.get("anyOf").and_then(Value::as_array) {
        let fits = any.iter().any(|one| {
            let mut inner = Vec::new();
            misfits(value, one, place, &mut inner);
            inner.is_empty()
        });
        if !fits {
            found.push(format!("{place}: {value} is none of what it may be"));
        }
        return;
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        if !words.contains(value) {
            found.push(format!("{place}: {value} is not among {words:?}"));
        }
        return;
    }
    let right = match schema.get("type").and_then(Value::as_str) {
        None => true,
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("null") => value.is_null(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some(other) => panic!("{place}: type {other}"),
    };
    if !right {
        found.push(format!("{place}: {value} is no {}", schema["type"]));
        return;
    }
    for (n, item) in value.as_array().into_iter().flatten().enumerate() {
        if let Some(items) = schema.get("items") {
            misfits(item, items, &format!("{place}[{n}]"), found);
        }
    }
    inside(value, schema, place, found);
}

fn inside(value: &Value, schema: &Value, place: &str, found: &mut Vec<String>) {
    let Some(map) = value.as_object() else { return };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !map.contains_key(name) {
            found.push(format!("{place}.{name} is missing"));
        }
    }
    for (name, inner) in map {
        let place = format!("{place}.{name}");
        match (schema["properties"].get(name), &schema["additionalProperties"]) {
            (Some(schema), _) => misfits(inner, schema, &place, found),
            (None, Value::Bool(false)) => found.push(format!("{place} is not described")),
            (None, any @ Value::Object(_)) => misfits(inner, any, &place, found),
            (None, _) => {}
        }
    }
}
