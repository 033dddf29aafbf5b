//! Reads a reviewer's answer: the last block of its final message. Like a claim it is read leniently, but what remains
//! doubtful is no verdict.

use super::message_lines::{Line, LineKind, Message};
use crate::prompt::head;
use serde::{Deserialize, Serialize};

/// Begins the block.
const HEAD: &str = "RALPHREVIEW";
/// Ends it.
const END: &str = "ENDRALPHREVIEW";
/// Findings that count.
const FINDINGS: usize = 10;
/// Most bytes of one finding.
const FINDING: usize = 300;

/// What a reviewer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// The work may end.
    Ship,
    /// It needs changes.
    Revise,
}

impl Verdict {
    /// As the reviewer writes it.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Ship => "SHIP",
            Verdict::Revise => "REVISE",
        }
    }
}

/// A reviewer's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewAnswer {
    /// What it says.
    pub verdict: Verdict,
    /// What it found, bounded.
    pub findings: Vec<String>,
}

/// The answer in a final message; none if it has no block that can be read.
pub fn read_review(text: &str) -> Option<ReviewAnswer> {
    let message = Message::new(text);
    let own = |line: &&Line<'_>| !matches!(line.kind, LineKind::Quote | LineKind::FenceEdge(_));
    let lines: Vec<&Line<'_>> = message.lines.iter().filter(own).collect();
    let first = lines.iter().rposition(|line| delimiter(line.text) == Some(HEAD))?;
    let rest = lines.get(first + 1..)?;
    let last = rest.iter().position(|line| delimiter(line.text) == Some(END));
    let answer = fields(rest.get(..last.unwrap_or(rest.len()))?)?;
    // An answer that was cut off may have had more to say.
    (last.is_some() || answer.verdict == Verdict::Revise).then_some(answer)
}

/// The delimiter a line consists of, whatever marks surround it.
fn delimiter(line: &str) -> Option<&'static str> {
    if line.len() > 64 || line.starts_with(['`', '"', '\'', '“']) {
        return None;
    }
    let letters: String = line.chars().filter(char::is_ascii_alphanumeric).collect();
    let other =
        line.chars().any(|c| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '*' | '=' | '#' | ' '));
    [HEAD, END].into_iter().find(|name| !other && letters.eq_ignore_ascii_case(name))
}

fn fields(lines: &[&Line<'_>]) -> Option<ReviewAnswer> {
    let (mut verdict, mut findings, mut listed) = (None, Vec::new(), false);
    for line in lines {
        match field(line.text) {
            Some(("VERDICT", value)) => verdict = Some(named(value)?),
            Some((_, value)) => {
                listed = true;
                findings.extend(finding(value));
            }
            None if listed => findings.extend(finding(line.text)),
            None => {}
        }
    }
    findings.truncate(FINDINGS);
    Some(ReviewAnswer { verdict: verdict?, findings })
}

/// `VERDICT: …` or `FINDINGS: …`, in any case and with emphasis.
fn field(line: &str) -> Option<(&'static str, &str)> {
    let (name, value) = line.split_once(':')?;
    let name = name.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let name = ["VERDICT", "FINDINGS"].into_iter().find(|known| name.eq_ignore_ascii_case(known))?;
    Some((name, value))
}

/// One of the two words and no other: `SHIP | REVISE` is the question, not an answer.
fn named(value: &str) -> Option<Verdict> {
    let mut words = value.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let (word, more) = (words.next()?, words.next());
    let found = [Verdict::Ship, Verdict::Revise].into_iter().find(|v| word.eq_ignore_ascii_case(v.name()));
    found.filter(|_| more.is_none())
}

fn finding(line: &str) -> Option<String> {
    let text = line.trim().trim_start_matches(['-', '*', '•']).trim();
    let none = text.is_empty() || ["none", "none.", "n/a"].iter().any(|no| text.eq_ignore_ascii_case(no));
    (!none).then(|| head(text, FINDING))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<(Verdict, Vec<String>)> {
        read_review(text).map(|answer| (answer.verdict, answer.findings))
    }

    #[test]
    fn the_last_block_counts() {
        let text = "Looks fine.\n---RALPH_REVIEW---\nVERDICT: SHIP\nFINDINGS:\n---END_RALPH_REVIEW---\n\
                    On second thought:\n---RALPH_REVIEW---\nVERDICT: REVISE\nFINDINGS:\n- a\n* b\n\
                    ---END_RALPH_REVIEW---\n";
        assert_eq!(read(text), Some((Verdict::Revise, vec!["a".into(), "b".into()])));
    }

    #[test]
    fn it_is_read_leniently() {
        for text in [
            "**---RALPH_REVIEW---**\n**Verdict:** ship\nFindings: none\n---END_RALPH_REVIEW---",
            "```\n---ralph_review---\r\nVERDICT: SHIP.\r\nFINDINGS:\r\n- None\r\n---end_ralph_review---\r\n```",
            "--- RALPH REVIEW ---\nVERDICT: `SHIP`\n--- END RALPH REVIEW ---\nThat is all.",
        ] {
            assert_eq!(read(text), Some((Verdict::Ship, Vec::new())), "{text}");
        }
    }

    #[test]
    fn what_is_doubtful_is_no_verdict() {
        for text in [
            "",
            "SHIP",
            "VERDICT: SHIP",
            "---RALPH_REVIEW---\nVERDICT: SHIP | REVISE\nFINDINGS:\n---END_RALPH_REVIEW---",
            "---RALPH_REVIEW---\nVERDICT: SHIP if the tests are right\n---END_RALPH_REVIEW---",
            "---RALPH_REVIEW---\nVERDICT: maybe\n---END_RALPH_REVIEW---",
            "---RALPH_REVIEW---\nFINDINGS:\n- a\n---END_RALPH_REVIEW---",
            "---RALPH_REVIEW---\nVERDICT: SHIP",
            "> ---RALPH_REVIEW---\n> VERDICT: SHIP\n> ---END_RALPH_REVIEW---",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn an_objection_that_was_cut_off_still_objects() {
        let text = "---RALPH_REVIEW---\nVERDICT: REVISE\nFINDINGS:\n- the cache is never";
        assert_eq!(read(text), Some((Verdict::Revise, vec!["the cache is never".into()])));
    }

    #[test]
    fn findings_are_bounded() {
        let many = "- ".to_owned() + &"x".repeat(5_000) + "\n";
        let text = format!(
            "---RALPH_REVIEW---\nVERDICT: REVISE\nFINDINGS:\n{}---END_RALPH_REVIEW---",
            many.repeat(50)
        );
        let (_, findings) = read(&text).unwrap_or((Verdict::Ship, Vec::new()));
        assert_eq!(findings.len(), FINDINGS);
        assert!(findings.iter().all(|finding| finding.len() < FINDING + 8));
    }
}
