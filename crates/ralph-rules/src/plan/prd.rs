//! prd.json in its five dialects: `stories` or `userStories`, each with `passes`, or a `status` where there is none. The
//! next story is the one with the lowest priority number whose dependencies are met. Unknown fields are left alone.

use super::Unreadable;
use super::item::{Dependency, Item, Tick, TickKind, name_items};
use super::json_nodes::Node;
use super::places::Places;
use serde::Deserialize;
use serde_json::{Value, error::Category};

/// What a prd.json must look like to be read at all; the stories themselves are read from the nodes.
#[derive(Deserialize)]
struct Prd {
    stories: Option<Vec<Story>>,
    #[serde(rename = "userStories")]
    user_stories: Option<Vec<Story>>,
}

#[derive(Deserialize)]
#[serde(expecting = "a story, an object with `title` and `passes`")]
struct Story {
    #[serde(default, rename = "id")]
    _id: Value,
    #[serde(rename = "passes")]
    _passes: Option<bool>,
    #[serde(rename = "status")]
    _status: Option<String>,
}

/// Reads the stories.
pub(super) fn items(bytes: &[u8]) -> Result<Vec<Item>, Unreadable> {
    validate(bytes)?;
    let broken = || Unreadable { line: 1, column: 1, what: "the JSON cannot be read".into() };
    let root = Node::parse(bytes).ok_or_else(broken)?;
    let reader = StoryReader { bytes, places: Places::of(bytes) };
    let lists = ["stories", "userStories"].into_iter().filter_map(|name| root.field(name));
    let nodes: Vec<&Node> = lists.flat_map(Node::elements).collect();
    let mut items: Vec<Item> = nodes.iter().map(|node| reader.item(node)).collect();
    let words: Vec<String> = items.iter().map(|item| item.tick.now.clone()).collect();
    items.iter_mut().for_each(|item| name_states(&mut item.tick, &words));
    reader.blocks(&nodes, &mut items);
    name_items(&mut items);
    Ok(items)
}

/// Says what is wrong with a text that is no prd.json, and where.
fn validate(bytes: &[u8]) -> Result<(), Unreadable> {
    let before = bytes.iter().take_while(|b| b.is_ascii_whitespace()).count();
    if bytes.get(before).is_some_and(|b| *b != b'{') {
        // A list would be taken for the object's fields in their order.
        let (line, column) = Places::of(bytes).at(before);
        let what = "expected an object with `stories` or `userStories`".into();
        return Err(Unreadable { line, column, what });
    }
    let prd: Prd = serde_json::from_slice(bytes).map_err(|e| unreadable(&e))?;
    // Fields that are skipped may hold anything.
    if let Err(error) = std::str::from_utf8(bytes) {
        let (line, column) = Places::of(bytes).at(error.valid_up_to());
        return Err(Unreadable { line, column, what: "the text is not UTF-8".into() });
    }
    if prd.stories.is_none() && prd.user_stories.is_none() {
        let what = "neither `stories` nor `userStories` found".into();
        return Err(Unreadable { line: 1, column: 1, what });
    }
    Ok(())
}

struct StoryReader<'a> {
    bytes: &'a [u8],
    places: Places,
}

impl StoryReader<'_> {
    fn item(&self, node: &Node) -> Item {
        let words = |names: &[&str]| {
            let found = names.iter().filter_map(|name| node.field(name)).map(|node| node.words(self.bytes));
            found.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default()
        };
        let status = words(&["status"]).trim().to_ascii_lowercase();
        let passes = node.field("passes").and_then(|node| node.value(self.bytes).as_bool());
        let is_done = || matches!(status.as_str(), "done" | "completed" | "complete");
        let (line, column) = self.places.at(node.from);
        Item {
            id: words(&["id"]),
            title: words(&["title", "name"]),
            text: words(&["description"]),
            criteria: self.texts(node, &["acceptanceCriteria", "acceptance_criteria"]),
            verify: self.texts(node, &["verify", "completionCriteria"]),
            priority: node.field("priority").and_then(|node| priority(&node.value(self.bytes))),
            depends_on: self.dependencies(node),
            blocked: passes != Some(true) && status == "blocked",
            // `passes` decides where it is written; the word of `status` only where it is not.
            done: passes.unwrap_or_else(is_done),
            optional: node.field("optional").is_some_and(|node| node.value(self.bytes) == true),
            tick: self.tick(node),
            line,
            column,
            ..Item::default()
        }
    }

    /// A text, or a list of texts or of objects with a `description`.
    fn texts(&self, node: &Node, names: &[&str]) -> Vec<String> {
        let fields = names.iter().filter_map(|name| node.field(name));
        let each = |node: &Node| match node.field("description") {
            Some(text) => text.words(self.bytes),
            None => node.words(self.bytes),
        };
        let all = fields.flat_map(|node| match node.elements() {
            [] => vec![each(node)],
            list => list.iter().map(each).collect(),
        });
        all.filter(|text| !text.trim().is_empty()).collect()
    }

    fn dependencies(&self, node: &Node) -> Vec<Dependency> {
        let nested = node.field("dependencies");
        let direct = ["dependsOn", "depends_on"].into_iter();
        let fields = direct.clone().filter_map(|name| node.field(name));
        let fields = fields.chain(nested.iter().flat_map(|node| {
            let inner = direct.clone().filter_map(|name| node.field(name));
            inner.chain((!node.elements().is_empty()).then_some(*node)).collect::<Vec<_>>()
        }));
        fields.flat_map(|node| self.names(node)).collect()
    }

    /// Ids in a list, or a single one.
    fn names(&self, node: &Node) -> Vec<Dependency> {
        let single = std::slice::from_ref(node);
        let list = if node.elements().is_empty() { single } else { node.elements() };
        let named = list.iter().map(|node| (node.words(self.bytes), self.places.at(node.from)));
        let named = named.filter(|(on, _)| !on.trim().is_empty());
        named.map(|(on, (line, column))| Dependency { on, line, column }).collect()
    }

    /// A story that blocks another one is what the other depends on.
    fn blocks(&self, nodes: &[&Node], items: &mut [Item]) {
        let ids: Vec<String> = items.iter().map(|item| item.id.clone()).collect();
        for (node, id) in nodes.iter().zip(&ids).filter(|(_, id)| !id.is_empty()) {
            let Some(blocks) = node.field("dependencies").and_then(|node| node.field("blocks")) else {
                continue;
            };
            for Dependency { on: other, line, column } in self.names(blocks) {
                let known =
                    |item: &&mut Item| item.id == other && item.depends_on.iter().all(|d| d.on != *id);
                if let Some(item) = items.iter_mut().find(known) {
                    item.depends_on.push(Dependency { on: id.clone(), line, column });
                }
            }
        }
    }

    fn tick(&self, node: &Node) -> Tick {
        let (kind, at) = match (node.field("passes"), node.field("status")) {
            (Some(passes), status) if status.is_none() || !passes.value(self.bytes).is_null() => {
                (TickKind::Passes, (passes.from, passes.to))
            }
            (_, Some(status)) => (TickKind::Status, (status.from, status.to)),
            _ => (TickKind::Absent, (node.from + 1, node.from + 1)),
        };
        let now = String::from_utf8_lossy(self.bytes.get(at.0..at.1).unwrap_or_default()).into_owned();
        let (done, open) = match kind {
            TickKind::Absent if node.fields().is_empty() => ("\"passes\": true", ""),
            TickKind::Absent => ("\"passes\": true, ", ""),
            _ => ("true", "false"),
        };
        Tick { from: at.0, to: at.1, kind, now, done: done.into(), open: open.into() }
    }
}

/// The words that this plan uses for a story's status.
fn name_states(tick: &mut Tick, words: &[String]) {
    if tick.kind != TickKind::Status {
        return;
    }
    let uses = |word: &str| words.iter().any(|other| other.trim_matches('"').eq_ignore_ascii_case(word));
    let completed = ["completed", "pending", "failed", "blocked"].into_iter().any(uses) && !uses("done");
    let (done, open) = if completed { ("completed", "pending") } else { ("done", "open") };
    (tick.done, tick.open) = (format!("\"{done}\""), format!("\"{open}\""));
}

/// A number, `P1`, or a word; the lowest comes first.
pub(super) fn priority(value: &Value) -> Option<i64> {
    let Value::String(text) = value else { return value.as_i64() };
    let text = text.trim().to_ascii_lowercase();
    match text.as_str() {
        "critical" | "urgent" | "highest" => Some(0),
        "high" => Some(1),
        "medium" | "normal" => Some(2),
        "low" => Some(3),
        "lowest" => Some(4),
        other => other.strip_prefix('p').unwrap_or(other).parse().ok(),
    }
}

pub(super) fn unreadable(error: &serde_json::Error) -> Unreadable {
    let said = error.to_string();
    let what = match error.classify() {
        Category::Eof => "the JSON ends too early".into(),
        // The place is told apart from the words.
        _ => said.rsplit_once(" at line ").map_or(said.clone(), |(words, _)| words.to_string()),
    };
    Unreadable { line: error.line().max(1), column: error.column().max(1), what }
}
