//! The tools an agent uses: what each is doing in a few words, which are still running, which were refused.

use crate::json::{Field, lenient};
use crate::reader::Activity;
use crate::reply::Denial;
use crate::text::short;
use serde::Deserialize;
use std::collections::VecDeque;

/// Tools remembered as running; more than that at once is a confused stream.
const RUNNING: usize = 64;
/// Refusals kept by name; a call that is refused more often is refused for the same reasons.
const KEPT: usize = 100;
/// How much of a tool's main argument is shown.
const DETAIL: usize = 200;

/// Tools that run, tools that were refused.
#[derive(Debug, Default)]
pub struct Tools {
    running: VecDeque<(String, Denial)>,
    refused: Vec<Denial>,
}

impl Tools {
    /// A tool starts.
    pub fn start(&mut self, id: &str, name: &str, input: Field<'_>) -> Activity {
        let (detail, file) = main_argument(input);
        self.start_as(id, Activity::Tool { name: short(name, 100), detail, file })
    }

    /// A tool starts that is described already.
    pub fn start_as(&mut self, id: &str, tool: Activity) -> Activity {
        if self.running.len() >= RUNNING {
            self.running.pop_front();
        }
        if let Activity::Tool { name, detail, .. } = &tool {
            let what = Denial { tool: name.clone(), detail: detail.clone() };
            self.running.push_back((id.to_owned(), what));
        }
        tool
    }

    /// Whether this tool runs.
    pub fn is_running(&self, id: &str) -> bool {
        self.running.iter().any(|(running, _)| running == id)
    }

    /// The tool that started last, if it still runs.
    pub fn latest(&self) -> Option<&Denial> {
        self.running.back().map(|(_, what)| what)
    }

    /// Forgets the tool that started last; says whether there was one.
    pub fn end_latest(&mut self) -> bool {
        self.running.pop_back().is_some()
    }

    /// A tool ended; `refused` where its result says that it was not allowed.
    pub fn end(&mut self, id: &str, failed: bool, refused: bool) -> Activity {
        let at = self.running.iter().position(|(running, _)| running == id);
        if let Some((_, what)) = at.and_then(|at| self.running.remove(at))
            && refused
        {
            self.refuse(what);
        }
        Activity::ToolEnded { failed }
    }

    /// The client says it refused a tool; its result will end it.
    pub fn denied(&mut self, id: &str, name: &str) {
        let known = self.running.iter().find(|(running, _)| running == id).map(|(_, what)| what.clone());
        self.refuse(known.unwrap_or_else(|| Denial { tool: short(name, 100), detail: String::new() }));
    }

    /// The refusals seen on the way, for streams whose end does not list them.
    pub fn into_refused(self) -> Vec<Denial> {
        self.refused
    }

    fn refuse(&mut self, what: Denial) {
        if self.refused.len() < KEPT && self.refused.last() != Some(&what) {
            self.refused.push(what);
        }
    }
}

/// The refusals as the terminal event lists them.
pub fn listed(field: Field<'_>) -> Option<Vec<Denial>> {
    #[derive(Deserialize)]
    struct Denied<'a> {
        #[serde(borrow, default)]
        tool_name: Field<'a>,
        #[serde(borrow, default)]
        tool_input: Field<'a>,
    }
    let listed: Vec<Denied<'_>> = field.read()?;
    let denial = |d: &Denied<'_>| Denial {
        tool: short(&d.tool_name.text().unwrap_or_default(), 100),
        detail: main_argument(d.tool_input).0,
    };
    Some(listed.iter().take(KEPT).map(denial).collect())
}

lenient! {
    /// The arguments by which tools are described.
    struct Input<'a> {
        command,
        file_path | "filePath" | "absolute_path",
        notebook_path,
        path | "dir_path",
        pattern,
        url,
        query,
        skill,
        description,
        prompt,
    }
}

/// A tool's main argument in a few words, and the file it works on.
fn main_argument(input: Field<'_>) -> (String, Option<String>) {
    let input: Input<'_> = input.read().unwrap_or_default();
    let words = |f: Field<'_>| f.head(DETAIL * 4).filter(|t| !t.is_empty()).map(|t| short(&t, DETAIL));
    // A path beside a pattern or a command is where to look, not what is worked on.
    let searches = input.pattern.0.is_some() || input.command.0.is_some();
    let path = if searches { Field::default() } else { input.path };
    let file = [input.file_path, input.notebook_path, path].into_iter().find_map(|f| f.head(4096));
    let detail = [
        input.command,
        input.file_path,
        input.notebook_path,
        input.pattern,
        input.url,
        input.query,
        input.path,
        input.skill,
        input.description,
        input.prompt,
    ];
    let detail = detail.into_iter().find_map(words).unwrap_or_default();
    (detail, file.filter(|f| !f.is_empty()).map(|f| f.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(raw: &str) -> Field<'_> {
        serde_json::from_str(raw).unwrap()
    }

    #[test]
    fn the_main_argument_is_named() {
        for (input, detail, file) in [
            (r#"{"command":"ls\n -l","description":"list"}"#, "ls -l", None),
            (r#"{"file_path":"/a/b.rs","content":"…"}"#, "/a/b.rs", Some("/a/b.rs")),
            (r#"{"pattern":"fn main","path":"src"}"#, "fn main", None),
            (r#"{"path":"a.txt","content":"…"}"#, "a.txt", Some("a.txt")),
            (r#"{"filePath":"a.txt","content":"…"}"#, "a.txt", Some("a.txt")),
            (r#"{"absolute_path":"/a.txt"}"#, "/a.txt", Some("/a.txt")),
            (r#"{"unheard":1}"#, "", None),
            ("[]", "", None),
        ] {
            assert_eq!(main_argument(field(input)), (detail.into(), file.map(str::to_owned)), "{input}");
        }
    }

    #[test]
    fn a_refusal_seen_twice_is_one_and_knows_its_command() {
        let mut tools = Tools::default();
        tools.start("t1", "Bash", field(r#"{"command":"rm x"}"#));
        tools.denied("t1", "Bash");
        assert_eq!(tools.end("t1", true, true), Activity::ToolEnded { failed: true });
        assert_eq!(tools.into_refused(), [Denial { tool: "Bash".into(), detail: "rm x".into() }]);
    }

    #[test]
    fn a_confused_stream_does_not_grow_the_memory() {
        let mut tools = Tools::default();
        for n in 0..10_000 {
            tools.start(&n.to_string(), "Read", field("{}"));
            tools.denied("unknown", &n.to_string());
        }
        assert!(tools.running.len() <= RUNNING && tools.refused.len() <= KEPT);
    }
}
