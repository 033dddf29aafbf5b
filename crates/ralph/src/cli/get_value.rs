//! `--get KEY`: one value of a command's JSON, for shell scripts that have no JSON reader.

use crate::nearest::nearest;
use crate::print::{print, print_json};
use crate::problem::{Code, Problem};
use serde_json::Value;

/// Prints the whole value, or what is at `key`, such as `ralph_status.status` or `errors.0.text`: a text as it is, nothing
/// for null, and lists and tables as JSON on one line.
pub fn print_value(value: &Value, key: Option<&str>) -> Result<(), Problem> {
    let Some(key) = key else { return print_json(value) };
    let text = match find(value, key)? {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    print(&(text + "\n"));
    Ok(())
}

/// The value at a path. Below null, and beyond the end of a list, there is null: what could be there is not known.
fn find<'a>(value: &'a Value, key: &str) -> Result<&'a Value, Problem> {
    let mut found = value;
    let mut above = String::new();
    for part in key.split('.') {
        found = match found {
            Value::Object(fields) => fields.get(part).ok_or_else(|| unknown(key, &above, part, fields))?,
            Value::Array(items) => {
                let at: usize = part.parse().map_err(|_| {
                    Problem::new(Code::Usage, format!("there is no value `{key}`"))
                        .hint(format!("{above} is a list; count its items from 0: `{above}.0`"))
                })?;
                items.get(at).unwrap_or(&Value::Null)
            }
            Value::Null => return Ok(&Value::Null),
            _ => {
                return Err(Problem::new(Code::Usage, format!("there is no value `{key}`"))
                    .hint(format!("{above} has no parts")));
            }
        };
        above = if above.is_empty() { part.to_owned() } else { format!("{above}.{part}") };
    }
    Ok(found)
}

fn unknown(key: &str, above: &str, part: &str, fields: &serde_json::Map<String, Value>) -> Problem {
    let problem = Problem::new(Code::Usage, format!("there is no value `{key}`"));
    let names = fields.keys().map(String::as_str);
    let place = if above.is_empty() { String::new() } else { format!("{above}.") };
    match nearest(part, names.clone()) {
        Some(near) => problem.hint(format!("did you mean `{place}{near}`?")),
        None => problem.hint(format!("there are: {}", names.collect::<Vec<_>>().join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_path_names_one_value() {
        let value = json!({"a": {"b": "text", "list": [1, {"c": true}]}, "none": null});
        for (key, found) in [
            ("a.b", json!("text")),
            ("a.list.0", json!(1)),
            ("a.list.1.c", json!(true)),
            ("a.list.7.c", Value::Null),
            ("none", Value::Null),
            ("none.below", Value::Null),
        ] {
            assert_eq!(find(&value, key).unwrap(), &found, "{key}");
        }
        for (key, hint) in [
            ("a.lst", "did you mean `a.list`?"),
            ("", "there are: a, none"),
            ("a.b.c", "a.b has no parts"),
            ("a.list.x", "a.list is a list; count its items from 0: `a.list.0`"),
        ] {
            assert_eq!(find(&value, key).unwrap_err().hints, [hint], "{key}");
        }
    }
}
