//! The tools Codex uses, in a few words each. Commands are most of them, and what they print is most of its output:
//! their items are understood without being parsed. `reader.rs` keeps which of them run.

use crate::codex::event::{Change, Item};
use crate::json::{Field, split_string};
use crate::reader::Activity;
use crate::text::short;
use std::borrow::Cow;

/// A command's item, as far as it can be understood without being parsed.
pub enum Command<'a> {
    /// It starts.
    Started {
        /// The item's id.
        id: &'a str,
        /// What is run.
        command: Field<'a>,
    },
    /// It ended.
    Ended {
        /// The item's id.
        id: &'a str,
        /// Whether it reported an error.
        failed: bool,
    },
}

/// Such an item from its two ends. What it printed lies between them, and no quote in it stands without a backslash.
pub fn command(item: &str) -> Option<Command<'_>> {
    let (id, rest) = item.strip_prefix(r#"{"id":""#)?.split_once('"')?;
    let rest = rest.strip_prefix(r#","type":"command_execution","command":"#)?;
    let end = rest.strip_suffix(r#""}"#)?;
    let end = end.get(end.ceil_char_boundary(end.len().saturating_sub(64))..)?;
    match end.rsplit_once(r#","status":""#)?.1 {
        "completed" => Some(Command::Ended { id, failed: false }),
        "failed" => Some(Command::Ended { id, failed: true }),
        "in_progress" => Some(Command::Started { id, command: split_string(rest)?.0 }),
        _ => None,
    }
}

/// What a command does, in a few words.
pub fn shell(command: Field<'_>) -> Activity {
    let detail = command.head(800).map(|t| short(&t, 200)).unwrap_or_default();
    Activity::Tool { name: "shell".to_owned(), detail, file: None }
}

/// What a tool does, in a few words.
pub fn describe(kind: &str, item: &Item<'_>) -> Activity {
    let words = |f: Field<'_>| f.head(800).map(|t| short(&t, 200)).unwrap_or_default();
    let (name, detail, file) = match kind {
        "command_execution" => return shell(item.command),
        "file_change" => {
            let changes: Vec<Change<'_>> = item.changes.read().unwrap_or_default();
            let file = changes.first().and_then(|change| change.path.head(4096)).map(Cow::into_owned);
            ("edit".to_owned(), short(file.as_deref().unwrap_or_default(), 200), file)
        }
        "mcp_tool_call" => (format!("{}.{}", words(item.server), words(item.tool)), String::new(), None),
        "collab_tool_call" => (words(item.tool), words(item.prompt), None),
        _ => (kind.to_owned(), words(item.query), None),
    };
    Activity::Tool { name: short(&name, 100), detail, file }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_known_by_the_two_ends_of_its_item() {
        let item = |output: &str, status: &str| {
            format!(
                r#"{{"id":"item_1","type":"command_execution","command":"ls \"a\"","aggregated_output":"{output}","exit_code":0,"status":"{status}"}}"#
            )
        };
        let failed = |text: &str| match command(text) {
            Some(Command::Ended { id: "item_1", failed }) => Some(failed),
            _ => None,
        };
        assert_eq!(failed(&item(&"x".repeat(9000), "completed")), Some(false));
        assert_eq!(failed(&item(r#"\",\"status\":\"completed"#, "failed")), Some(true));
        assert_eq!(failed(&item("", "declined")), None, "left to the parser");
        match command(&item("", "in_progress")) {
            Some(Command::Started { id: "item_1", command }) => {
                assert_eq!(command.text().unwrap(), "ls \"a\"");
            }
            _ => panic!("it starts"),
        }
        for other in ["", "{}", r#"{"id":"item_1","type":"agent_message","text":"status"}"#] {
            assert!(command(other).is_none(), "{other}");
        }
    }
}
