//! Turns a plan into a prd.json that ralph reads: from Markdown, from any dialect of prd.json, or from the issues that
//! `gh issue list --json number,title,body,labels` prints. Fields that ralph does not know are kept as they are.

use super::json_nodes::{Kind, Node};
use super::prd::priority;
use super::{Item, Unreadable, is_json, markdown, prd};
use regex::Regex;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A plan in ralph's own form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    fields: Fields,
    stories: Vec<Fields>,
}

/// Fields in the order they are written.
#[derive(Clone, Debug, Default, PartialEq)]
struct Fields(Vec<(String, Value)>);

impl Fields {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    fn add(&mut self, name: &str, value: Value) {
        let empty = value.is_null() || value == "" || value.as_array().is_some_and(Vec::is_empty);
        if !empty && !self.has(name) {
            self.0.push((name.to_owned(), value));
        }
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl Serialize for Imported {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (key, value) in &self.fields.0 {
            map.serialize_entry(key, value)?;
        }
        map.serialize_entry("userStories", &self.stories)?;
        map.end()
    }
}

impl Imported {
    /// How many stories there are.
    pub fn stories(&self) -> usize {
        self.stories.len()
    }

    /// The text of the new prd.json.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// Reads a plan in any form. `name` tells Markdown from JSON.
pub fn import(name: &str, bytes: &[u8]) -> Result<Imported, Unreadable> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = bytes.iter().find(|b| !b.is_ascii_whitespace());
    match first {
        Some(b'[') if is_json(name) => issues(bytes),
        _ if is_json(name) => from_prd(bytes),
        _ => Ok(from_markdown(bytes)),
    }
}

fn from_markdown(bytes: &[u8]) -> Imported {
    let items = markdown::items(bytes);
    let taken: BTreeSet<&str> = items.iter().map(|item| item.id.as_str()).collect();
    let numbered = (1..).map(|n: u32| format!("S-{n:03}")).filter(|id| !taken.contains(id.as_str()));
    let mut ids: BTreeMap<&str, String> = BTreeMap::new();
    let mut free = numbered;
    for item in &items {
        let id = if item.id.is_empty() { free.next().unwrap_or_default() } else { item.id.clone() };
        ids.insert(&item.key, id);
    }
    let stories = items.iter().map(|item| from_item(item, &ids)).collect();
    Imported { fields: Fields::default(), stories }
}

fn from_item(item: &Item, ids: &BTreeMap<&str, String>) -> Fields {
    let mut story = Fields::default();
    let on = item.depends_on.iter().map(|d| ids.get(d.on.as_str()).unwrap_or(&d.on).clone());
    story.add("id", ids.get(item.key.as_str()).cloned().into());
    story.add("title", item.title.clone().into());
    story.add("description", item.text.clone().into());
    story.add("acceptanceCriteria", item.criteria.clone().into());
    story.add("verify", item.verify.clone().into());
    story.add("priority", item.priority.into());
    story.add("dependsOn", on.collect::<Vec<_>>().into());
    story.add("optional", if item.optional { true.into() } else { Value::Null });
    story.add("passes", item.done.into());
    story
}

/// Every field stays; what a reader needs and is missing is added.
fn from_prd(bytes: &[u8]) -> Result<Imported, Unreadable> {
    let items = prd::items(bytes)?;
    let root = Node::parse(bytes);
    let fields = root.iter().flat_map(Node::fields);
    let others = fields.filter(|(key, _)| !matches!(key.as_str(), "stories" | "userStories"));
    let others = Fields(others.map(|(key, node)| (key.clone(), node.value(bytes))).collect());
    let lists = ["stories", "userStories"].into_iter();
    let nodes = lists.filter_map(|name| root.as_ref()?.field(name)).flat_map(Node::elements);
    let taken: BTreeSet<&str> = items.iter().map(|item| item.id.as_str()).collect();
    let mut free = (1..).map(|n: u32| format!("S-{n:03}")).filter(|id| !taken.contains(id.as_str()));
    let story = |(node, item): (&Node, &Item)| {
        let mut story = Fields(Vec::new());
        if item.id.is_empty() {
            story.add("id", free.next().unwrap_or_default().into());
        }
        let known = node.fields().iter().filter(|(key, _)| !(key == "id" && item.id.is_empty()));
        let kept = known.filter(|(key, node)| key != "passes" || node.value(bytes).is_boolean());
        story.0.extend(kept.map(|(key, node)| (key.clone(), node.value(bytes))));
        story.add("passes", item.done.into());
        story
    };
    let stories = nodes.zip(&items).map(story).collect();
    Ok(Imported { fields: others, stories })
}

/// The list that `gh issue list --json …` prints.
fn issues(bytes: &[u8]) -> Result<Imported, Unreadable> {
    let _: Vec<BTreeMap<String, Value>> =
        serde_json::from_slice(bytes).map_err(|error| prd::unreadable(&error))?;
    let root = Node::parse(bytes);
    let list: Vec<&Node> =
        root.iter().flat_map(Node::elements).filter(|n| matches!(n.kind, Kind::Object(_))).collect();
    let numbers: BTreeSet<String> =
        list.iter().filter_map(|node| Some(node.field("number")?.words(bytes))).collect();
    let stories = list.iter().map(|node| issue(node, bytes, &numbers)).collect();
    Ok(Imported { fields: Fields::default(), stories })
}

/// One issue: its open questions are the checkboxes of its text, its dependencies those that the text names.
fn issue(node: &Node, bytes: &[u8], numbers: &BTreeSet<String>) -> Fields {
    let words = |name: &str| node.field(name).map(|node| node.words(bytes)).unwrap_or_default();
    let (number, body) = (words("number"), words("body"));
    let labels: Vec<String> = node
        .field("labels")
        .into_iter()
        .flat_map(Node::elements)
        .map(|label| label.field("name").unwrap_or(label).words(bytes))
        .collect();
    let criteria: Vec<String> = markdown::items(body.as_bytes()).iter().map(Item::label).collect();
    let mut story = Fields::default();
    story.add("id", format!("GH-{number}").into());
    story.add("title", words("title").into());
    story.add("description", body.clone().into());
    story.add("acceptanceCriteria", criteria.into());
    story.add("priority", labels.iter().find_map(|label| priority_of(label)).into());
    story.add("dependsOn", depends_on(&body, &number, numbers).into());
    story.add("labels", labels.into());
    story.add("passes", json!(words("state").eq_ignore_ascii_case("closed")));
    let known = ["title", "body", "labels"];
    let others = node.fields().iter().filter(|(key, _)| !known.contains(&key.as_str()));
    others.for_each(|(key, node)| story.add(key, node.value(bytes)));
    story
}

/// `P1`, `priority: high`, `priority/1`.
fn priority_of(label: &str) -> Option<i64> {
    let label = label.trim().to_ascii_lowercase();
    let named = label.strip_prefix("priority").map(|rest| rest.trim_start_matches([':', '/', '-', ' ', '=']));
    let level = label.strip_prefix('p').filter(|rest| rest.len() == 1 && rest.parse::<u8>().is_ok());
    named.or(level).and_then(|word| priority(&Value::from(word)))
}

/// Issues of the same list that the text says must come first.
fn depends_on(body: &str, number: &str, numbers: &BTreeSet<String>) -> Vec<String> {
    let Ok(pattern) = Regex::new(r"(?i)\b(?:depends on|blocked by)\b:?((?:[\s,]*(?:and\s+)?#\d+)+)") else {
        return Vec::new();
    };
    let named = pattern.captures_iter(body).filter_map(|found| Some(found.get(1)?.as_str().to_owned()));
    let all: Vec<String> = named.collect();
    let each = all.iter().flat_map(|list| list.split('#').skip(1));
    let digits = each.map(|n| n.chars().take_while(char::is_ascii_digit).collect::<String>());
    let known: BTreeSet<String> = digits.filter(|n| n != number && numbers.contains(n)).collect();
    known.into_iter().map(|n| format!("GH-{n}")).collect()
}
