//! What a hook answers, in the words of each client. Claude Code takes context beside a line for the user; for Codex and
//! Qwen Code the reason of a block is the context.

use super::Event;
use crate::plain::plain;
use crate::problem::Problem;
use ralph_agents::Client;
use serde_json::{Value, json};
use std::path::Path;

/// Clients cut longer context to a preview.
const MOST: usize = 9_000;

/// What a hook answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// For the agent.
    pub context: Option<String>,
    /// One line for the user.
    pub line: Option<String>,
    /// Why what the user typed is not passed on.
    pub refused: Option<String>,
}

impl Answer {
    /// Something went wrong. What the user typed is refused with all that is known; otherwise one line says why, and the
    /// session may end.
    pub fn failed(event: Event, problem: &Problem) -> Answer {
        match event {
            Event::Prompt => Answer { refused: Some(in_words(problem)), ..Answer::default() },
            Event::Stop => Answer { line: Some(in_a_line(problem)), ..Answer::default() },
        }
    }

    /// The answer as the client reads it; none if there is nothing to say.
    pub fn json(self, event: Event, client: Client) -> Option<String> {
        let mut answer = serde_json::Map::new();
        if let Some(refused) = self.refused {
            answer.insert("decision".into(), "block".into());
            answer.insert("reason".into(), refused.into());
        }
        if let Some(line) = self.line {
            let one_line = line.split_whitespace().collect::<Vec<_>>().join(" ");
            answer.insert("systemMessage".into(), format!("ralph: {one_line}").into());
        }
        match (self.context, event, client) {
            (None, ..) => {}
            (Some(context), Event::Stop, Client::Codex | Client::Qwen) => {
                answer.insert("decision".into(), "block".into());
                answer.insert("reason".into(), context.into());
            }
            (Some(context), ..) => {
                let name = if event == Event::Stop { "Stop" } else { "UserPromptSubmit" };
                let own = json!({"hookEventName": name, "additionalContext": context});
                answer.insert("hookSpecificOutput".into(), own);
            }
        }
        (!answer.is_empty()).then(|| Value::Object(answer).to_string())
    }
}

/// All that is known of a problem.
fn in_words(problem: &Problem) -> String {
    let mut text = format!("ralph: {}", problem.message);
    let excerpt = problem.excerpt.iter().map(|excerpt| excerpt.0.clone());
    let causes = problem.causes.iter().filter(|cause| **cause != problem.message);
    let causes = causes.map(|cause| format!("  because: {cause}"));
    let hints = problem.hints.iter().map(|hint| format!("  hint: {hint}"));
    for line in excerpt.chain(causes).chain(hints) {
        text.push('\n');
        text.push_str(&line);
    }
    text.replace("ralph run … ", "/ralph:loop … ")
}

fn in_a_line(problem: &Problem) -> String {
    let cause = problem.causes.iter().find(|cause| **cause != problem.message);
    let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
    plain(&format!("{}{cause}", problem.message))
}

/// Context that no client cuts: whole lines from both ends, and where the rest is.
pub fn fitting(context: &str, rest: &Path) -> String {
    if context.len() <= MOST {
        return context.to_owned();
    }
    let note = |lines: usize| format!("[{lines} lines left out; all of it is in {}]\n", rest.display());
    let room = MOST.saturating_sub(note(usize::MAX).len());
    let lines: Vec<&str> = context.split_inclusive('\n').collect();
    // The end says why the work was not accepted, and what the user asks for.
    let head = fit(lines.iter(), room / 2);
    let end = fit(lines.iter().skip(head.0).rev(), room - head.1);
    let left_out = lines.len() - head.0 - end.0;
    let first = lines.iter().take(head.0).copied().collect::<String>();
    let last = lines.iter().skip(lines.len() - end.0).copied().collect::<String>();
    format!("{first}{}{last}", note(left_out))
}

/// How many lines fit, and their length.
fn fit<'a>(lines: impl Iterator<Item = &'a &'a str>, room: usize) -> (usize, usize) {
    let mut taken = (0, 0);
    for line in lines {
        if taken.1 + line.len() > room {
            break;
        }
        taken = (taken.0 + 1, taken.1 + line.len());
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Code;

    fn answer() -> Answer {
        Answer { context: Some("go on".into()), line: Some("two\nlines".into()), refused: None }
    }

    #[test]
    fn each_client_is_answered_in_its_own_words() {
        let stop = |client| answer().json(Event::Stop, client).unwrap();
        let claude = r#"{"hookSpecificOutput":{"additionalContext":"go on","hookEventName":"Stop"},"systemMessage":"ralph: two lines"}"#;
        let block = r#"{"decision":"block","reason":"go on","systemMessage":"ralph: two lines"}"#;
        assert_eq!(stop(Client::Claude), claude);
        assert_eq!((stop(Client::Codex), stop(Client::Qwen)), (block.into(), block.into()));
        for client in Client::ALL {
            let begun = answer().json(Event::Prompt, client).unwrap();
            assert!(begun.contains("UserPromptSubmit") && !begun.contains("decision"), "{begun}");
            let refused = Answer { refused: Some("no".into()), ..Answer::default() };
            let refused = refused.json(Event::Prompt, client).unwrap();
            assert_eq!(refused, r#"{"decision":"block","reason":"no"}"#);
            assert_eq!(Answer::default().json(Event::Stop, client), None, "nothing to say is no output");
        }
    }

    #[test]
    fn a_failure_refuses_what_was_typed_and_never_holds_a_session() {
        let problem = Problem::new(Code::Busy, "no room").hint("add it: ralph run … --max-cost 5");
        let refused = Answer::failed(Event::Prompt, &problem);
        let words = "ralph: no room\n  hint: add it: /ralph:loop … --max-cost 5";
        assert_eq!(refused, Answer { refused: Some(words.into()), ..Answer::default() });
        let ended = Answer::failed(Event::Stop, &problem);
        assert_eq!(ended, Answer { line: Some("no room".into()), ..Answer::default() });
    }

    #[test]
    fn long_context_is_cut_to_whole_lines_of_both_ends() {
        let rest = Path::new("/state/001.a1.prompt.md");
        let short = "a\n".repeat(MOST / 2);
        assert_eq!(fitting(&short, rest), short);
        let long: String = (0..3000).map(|n| format!("line {n} ü\n")).collect();
        let cut = fitting(&long, rest);
        assert!(cut.len() <= MOST && cut.len() > MOST - 200, "{} bytes", cut.len());
        assert!(cut.starts_with("line 0 ü\n") && cut.ends_with("line 2999 ü\n"));
        assert!(cut.contains("lines left out; all of it is in /state/001.a1.prompt.md]\n"), "{cut}");
        let one_line = "x".repeat(2 * MOST);
        assert_eq!(fitting(&one_line, rest), "[1 lines left out; all of it is in /state/001.a1.prompt.md]\n");
    }
}
