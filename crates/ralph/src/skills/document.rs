//! A SKILL.md: front matter, the method as text, `## Completion Criteria` and `## Ralph Integration`. Pure. Only front
//! matter is required; `skill.rs` says what else a loop needs.

use super::fault::Fault;
use super::front_matter::{self, Field};
use super::markdown::{Fence, Part, checkboxes, outline};
use crate::values;

/// A section that a loop needs.
pub const CRITERIA: &str = "Completion Criteria";
/// The section with the promise and the settings.
pub const INTEGRATION: &str = "Ralph Integration";
/// The words behind the fence of the settings.
pub const BLOCK: &str = "toml ralph";

/// The longest name.
const NAME: usize = 64;

/// What a SKILL.md says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// `name`.
    pub name: Field,
    /// `description`.
    pub description: String,
    /// The inner text of the promise.
    pub promise: Option<String>,
    /// What must be true at the end.
    pub criteria: Vec<String>,
    /// The first and the last byte of the `toml ralph` block.
    pub block: Option<(usize, usize)>,
    /// The byte at which the text after the front matter begins.
    pub body: usize,
    /// The byte of the heading of the criteria.
    pub criteria_at: Option<usize>,
    /// The byte of the heading of the integration.
    pub integration_at: Option<usize>,
}

/// Reads a SKILL.md, or says everything that is wrong with it, in order.
pub fn read(text: &str) -> Result<Document, Vec<Fault>> {
    let front = front_matter::read(text).map_err(|fault| vec![fault])?;
    let mut faults = Vec::new();
    let mut document = Document { body: front.end, ..Document::default() };
    match named(front.name) {
        Ok(name) => document.name = name,
        Err(fault) => faults.push(fault),
    }
    match described(front.description) {
        Ok(description) => document.description = description,
        Err(fault) => faults.push(fault),
    }
    let (parts, fences) = outline(text, front.end);
    match only(&parts, CRITERIA) {
        Ok(Some(part)) => {
            document.criteria_at = Some(part.at);
            document.criteria = checkboxes(text, (part.at, part.end), &fences);
        }
        Ok(None) => {}
        Err(fault) => faults.push(fault),
    }
    let integration = only(&parts, INTEGRATION).unwrap_or_else(|fault| {
        faults.push(fault);
        None
    });
    document.integration_at = integration.map(|part| part.at);
    match block(&fences, integration) {
        Ok(found) => document.block = found.map(|fence| fence.content),
        Err(fault) => faults.push(fault),
    }
    match integration.map_or(Ok(None), |part| promise(text, part, &fences)) {
        Ok(promise) => document.promise = promise,
        Err(fault) => faults.push(fault),
    }
    faults.sort_by_key(|fault| fault.at);
    if faults.is_empty() { Ok(document) } else { Err(faults) }
}

fn named(name: Option<Field>) -> Result<Field, Fault> {
    let hint = "use lower-case letters, digits and hyphens, at most 64, as in `name: code-review`";
    let Some(name) = name else { return Err(Fault::new(0, "`name` is missing in the front matter", hint)) };
    match is_name(&name.text) {
        true => Ok(name),
        false => Err(Fault::new(name.at, format!("`{}` is not a valid name", shortened(&name.text)), hint)),
    }
}

/// Whether a skill can have this name. It is the name of a directory, too.
pub fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=NAME).contains(&text.len())
        && text.chars().all(plain)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

fn shortened(text: &str) -> String {
    text.chars().take(NAME).collect()
}

fn described(description: Option<Field>) -> Result<String, Fault> {
    let hint = "say in a sentence what it does and when to use it: agents choose skills by it";
    match description {
        Some(field) if !field.text.trim().is_empty() => Ok(field.text.trim().to_owned()),
        Some(field) => Err(Fault::new(field.at, "`description` is empty", hint)),
        None => Err(Fault::new(0, "`description` is missing in the front matter", hint)),
    }
}

/// The part with this title, if there is one.
fn only<'p, 'a>(parts: &'p [Part<'a>], title: &str) -> Result<Option<&'p Part<'a>>, Fault> {
    let mut same = parts.iter().filter(|part| part.title.eq_ignore_ascii_case(title));
    match (same.next(), same.next()) {
        (_, Some(second)) => {
            Err(Fault::new(second.at, format!("a second section \"{title}\""), "merge it with the first"))
        }
        (first, None) => Ok(first),
    }
}

/// The settings, which belong into the integration.
fn block<'f, 'a>(
    fences: &'f [Fence<'a>],
    integration: Option<&Part<'_>>,
) -> Result<Option<&'f Fence<'a>>, Fault> {
    let is_ours = |fence: &&Fence<'_>| fence.info.split_whitespace().eq(BLOCK.split_whitespace());
    let mut ours = fences.iter().filter(is_ours);
    let Some(first) = ours.next() else { return Ok(None) };
    let inside = integration.is_some_and(|part| (part.at..part.end).contains(&first.at));
    match ours.next() {
        Some(second) => {
            Err(Fault::new(second.at, format!("a second `{BLOCK}` block"), "merge it with the first"))
        }
        None if !inside => {
            let what = format!("a `{BLOCK}` block outside \"## {INTEGRATION}\"");
            Err(Fault::new(first.at, what, format!("move it below the heading \"## {INTEGRATION}\"")))
        }
        None if !first.closed => Err(Fault::new(
            first.at,
            format!("the `{BLOCK}` block is not closed"),
            "close it with a line of ```",
        )),
        None => Ok(Some(first)),
    }
}

/// The promise of the integration, outside its settings. It may be repeated, but not differ.
fn promise(text: &str, part: &Part<'_>, fences: &[Fence<'_>]) -> Result<Option<String>, Fault> {
    let (open, close) = ("<promise>", "</promise>");
    let is_settings = |at: usize| {
        let inside = |fence: &&Fence<'_>| (fence.at..fence.end).contains(&at);
        fences
            .iter()
            .find(inside)
            .is_some_and(|fence| fence.info.split_whitespace().eq(BLOCK.split_whitespace()))
    };
    let mut found: Option<String> = None;
    let section = text.get(part.at..part.end).unwrap_or_default();
    for (start, _) in section.match_indices(open).filter(|(start, _)| !is_settings(part.at + start)) {
        let rest = section.get(start + open.len()..).unwrap_or_default();
        let at = part.at + start;
        let hint = "write it on one line, such as <promise>COMPLETE</promise>";
        let Some((inner, _)) = rest.split_once(close) else {
            return Err(Fault::new(at, "this promise is not closed", hint));
        };
        let inner = values::promise(inner).map_err(|why| Fault::new(at, why, hint))?;
        if found.as_ref().is_some_and(|first| *first != inner) {
            return Err(Fault::new(at, format!("a second promise, `{inner}`"), "a skill has one promise"));
        }
        found = Some(inner);
    }
    Ok(found)
}
