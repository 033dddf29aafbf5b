//! What belongs to a checkbox in Markdown: the indented lines below it. A bullet is an acceptance criterion, unless it
//! begins with `verify:`, `depends on:` or `priority:`; other text describes the item. A checkbox below another one is
//! an item of its own, and the outer one depends on it.

use super::item::{Dependency, Item, name_items};
use super::markdown::after_marker;
use serde_json::Value;

/// Longest id that is recognized.
const ID: usize = 32;

/// The items read so far, and which of them are still open for details.
#[derive(Default)]
pub(super) struct Outline {
    items: Vec<Item>,
    /// Indentation and position of the items that the next line may belong to.
    around: Vec<(usize, usize)>,
    /// Outer and inner item.
    nested: Vec<(usize, usize)>,
}

impl Outline {
    /// A heading ends every item.
    pub fn heading(&mut self) {
        self.around.clear();
    }

    pub fn item(&mut self, line: &str, item: Item) {
        let indent = indentation(line);
        self.around.retain(|(outer, _)| *outer < indent);
        let at = self.items.len();
        self.nested.extend(self.around.last().map(|(_, outer)| (*outer, at)));
        self.around.push((indent, at));
        self.items.push(item);
    }

    /// Any other line, with its number.
    pub fn line(&mut self, line: &str, number: usize) {
        if line.trim().is_empty() {
            return;
        }
        let indent = indentation(line);
        self.around.retain(|(outer, _)| *outer < indent);
        let Some(item) = self.around.last().and_then(|(_, at)| self.items.get_mut(*at)) else { return };
        let bullet = after_marker(line);
        let text = bullet.unwrap_or(line).trim();
        match field(text) {
            Some(("verify", value)) => item.verify.push(value.trim_matches('`').to_owned()),
            Some(("priority", value)) => item.priority = super::prd::priority(&number_or_text(value)),
            Some(("depends on", value)) => item.depends_on.extend(names(value, line, number)),
            _ if bullet.is_some() => item.criteria.push(text.to_owned()),
            _ if item.text.is_empty() => text.clone_into(&mut item.text),
            _ => item.text = format!("{}\n{text}", item.text),
        }
    }

    pub fn items(mut self) -> Vec<Item> {
        name_items(&mut self.items);
        for (outer, inner) in self.nested {
            let Some(Item { key, line, column, .. }) = self.items.get(inner) else { continue };
            let dependency = Dependency { on: key.clone(), line: *line, column: *column };
            if let Some(item) = self.items.get_mut(outer) {
                item.depends_on.push(dependency);
            }
        }
        self.items
    }
}

/// White space before a line; a tab counts as four.
fn indentation(line: &str) -> usize {
    let space = line.bytes().take_while(|b| matches!(b, b' ' | b'\t'));
    space.map(|b| if b == b'\t' { 4 } else { 1 }).sum()
}

/// `verify: cargo test`: the name in lower case, and its value.
fn field(text: &str) -> Option<(&'static str, &str)> {
    let (name, value) = text.split_once(':')?;
    let name = name.trim_matches(|c: char| c == '*' || c == '_' || c.is_whitespace()).to_ascii_lowercase();
    let value = value.trim_start_matches(['*', '_']).trim();
    let known = match name.as_str() {
        "verify" => "verify",
        "priority" => "priority",
        "depends on" | "dependson" | "depends_on" => "depends on",
        _ => return None,
    };
    (!value.is_empty()).then_some((known, value))
}

fn number_or_text(value: &str) -> Value {
    value.parse::<i64>().map_or_else(|_| Value::from(value), Value::from)
}

fn names(value: &str, line: &str, number: usize) -> Vec<Dependency> {
    let named = value.split([',', ';']).map(|name| name.trim().trim_matches('`').to_owned());
    let column = line.find(value).map_or(1, |at| at + 1);
    named.filter(|on| !on.is_empty()).map(|on| Dependency { on, line: number, column }).collect()
}

/// `US-001: Login` has an id; `Note: read this` and `http://…` have none.
pub(super) fn id_and_title(text: &str) -> (String, String) {
    let whole = || (String::new(), text.to_owned());
    let bare = text.trim_start_matches("**");
    let Some((id, title)) = bare.split_once(':') else { return whole() };
    let id = id.trim_end_matches("**");
    let is_id = id.len() <= ID
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        && id.bytes().any(|b| b.is_ascii_digit())
        && id.bytes().any(|b| !b.is_ascii_digit());
    let title = title.trim_start_matches("**").trim();
    if is_id && !title.is_empty() && !title.starts_with("//") {
        (id.to_owned(), title.to_owned())
    } else {
        whole()
    }
}
