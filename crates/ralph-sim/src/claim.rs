//! The status block and the promise at the end of the final message. Whether they are true is up to the script.

use std::collections::BTreeMap;

/// One `claim` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// A status block.
    Block(Block),
    /// `<promise>TEXT</promise>` on the last line.
    Promise(String),
    /// No block and no promise.
    None,
}

/// A status block, with the fields a script sets otherwise than usual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    status: Status,
    fields: BTreeMap<&'static str, String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Progress,
    Complete,
    Blocked,
}

/// What the agent knows about its own call when it writes the block.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// Files it changed.
    pub files: usize,
    /// Whether its last command succeeded; `None` if it ran none.
    pub tests: Option<bool>,
}

/// The words of a `claim` line that set a field, and the field's name in the block, in the block's order.
const FIELDS: [(&str, &str); 6] = [
    ("status", "STATUS"),
    ("tasks", "TASKS_COMPLETED_THIS_LOOP"),
    ("files", "FILES_MODIFIED"),
    ("tests", "TESTS_STATUS"),
    ("type", "WORK_TYPE"),
    ("exit", "EXIT_SIGNAL"),
];

impl Claim {
    /// Reads the words after `claim`.
    pub fn parse(words: &[String]) -> Result<Claim, String> {
        let usage = "use progress, complete, blocked, none or promise [TEXT]";
        let (kind, rest) = words.split_first().ok_or(usage)?;
        let status = match kind.as_str() {
            "progress" => Status::Progress,
            "complete" => Status::Complete,
            "blocked" => Status::Blocked,
            "none" if rest.is_empty() => return Ok(Claim::None),
            "promise" if rest.is_empty() => return Ok(Claim::Promise("COMPLETE".to_owned())),
            "promise" => return Ok(Claim::Promise(rest.join(" "))),
            _ => return Err(format!("unknown claim {kind}; {usage}")),
        };
        let mut fields = BTreeMap::new();
        for word in rest {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let (key, _) = FIELDS.iter().find(|(known, _)| *known == key).ok_or_else(|| {
                format!("{word} is not valid; fields are set with status= tasks= files= tests= type= exit=")
            })?;
            fields.insert(*key, value.to_owned());
        }
        Ok(Claim::Block(Block { status, fields }))
    }
}

impl Block {
    /// The honest block of work that goes on: what an agent says when the script says nothing.
    pub fn progress() -> Block {
        Block { status: Status::Progress, fields: BTreeMap::new() }
    }

    /// A block that claims everything is done.
    pub fn complete() -> Block {
        Block { status: Status::Complete, fields: BTreeMap::new() }
    }

    /// What the agent says before the block when the script gives no message. None of ralph's completion
    /// phrases is in it, so that a script decides alone what counts.
    pub fn default_message(&self) -> &'static str {
        match self.status {
            Status::Progress => "Part of the work is in place. I will go on with the next step.",
            Status::Complete => "The change you asked for is in place.",
            Status::Blocked => "I cannot go on.",
        }
    }

    /// The block as text.
    pub fn text(&self, facts: Facts, recommendation: Option<&str>) -> String {
        let mut text = "---RALPH_STATUS---\n".to_owned();
        for (key, name) in FIELDS {
            let value = self.fields.get(key).cloned().unwrap_or_else(|| self.usual(key, facts));
            text.push_str(&format!("{name}: {value}\n"));
        }
        let usual = match self.status {
            Status::Progress => "Next: go on with the remaining work",
            Status::Complete => "Ready for review",
            Status::Blocked => "Blocked: a person is needed",
        };
        text.push_str(&format!(
            "RECOMMENDATION: {}\n---END_RALPH_STATUS---",
            recommendation.unwrap_or(usual)
        ));
        text
    }

    fn usual(&self, key: &str, facts: Facts) -> String {
        let complete = self.status == Status::Complete;
        match key {
            "status" => match self.status {
                Status::Progress => "IN_PROGRESS".to_owned(),
                Status::Complete => "COMPLETE".to_owned(),
                Status::Blocked => "BLOCKED".to_owned(),
            },
            "tasks" => u8::from(complete).to_string(),
            "files" => facts.files.to_string(),
            "tests" if complete => "PASSING".to_owned(),
            "tests" => match facts.tests {
                Some(true) => "PASSING".to_owned(),
                Some(false) => "FAILING".to_owned(),
                None => "NOT_RUN".to_owned(),
            },
            "type" => "IMPLEMENTATION".to_owned(),
            _ => complete.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(words: &str) -> Block {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        match Claim::parse(&words).unwrap() {
            Claim::Block(block) => block,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_block_has_its_seven_fields_in_order() {
        let text = block("complete").text(Facts { files: 2, tests: None }, None);
        assert_eq!(
            text,
            "---RALPH_STATUS---\nSTATUS: COMPLETE\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 2\n\
             TESTS_STATUS: PASSING\nWORK_TYPE: IMPLEMENTATION\nEXIT_SIGNAL: true\n\
             RECOMMENDATION: Ready for review\n---END_RALPH_STATUS---"
        );
    }

    #[test]
    fn progress_tells_how_the_last_command_ended_and_fields_can_be_set() {
        let facts = Facts { files: 0, tests: Some(false) };
        let text = block("progress exit=true files=<number>").text(facts, Some("Look again"));
        for line in
            ["STATUS: IN_PROGRESS", "TESTS_STATUS: FAILING", "EXIT_SIGNAL: true", "FILES_MODIFIED: <number>"]
        {
            assert!(text.contains(line), "{line} in {text}");
        }
        assert!(text.contains("RECOMMENDATION: Look again\n"));
    }
}
