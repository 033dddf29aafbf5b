//! A second reader of blocks and promises, slow and obvious, written from the words of the rules alone; both read
//! random messages made of nasty pieces and must agree on what is claimed. It shares no code with the real one.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use proptest::prelude::*;
use ralph_rules::claim::{Exit, read};

const HEAD: &str = "---RALPH_STATUS---";
const END: &str = "---END_RALPH_STATUS---";

/// "CRLF, indentation and bold marks are tolerated."
fn bare(line: &str) -> String {
    line.replace('*', "").trim().to_uppercase()
}

/// The lines, each with "is it shown rather than said" and the number of its fence, if it is in one.
struct Lines {
    text: Vec<String>,
    quoted: Vec<bool>,
    fence: Vec<Option<usize>>,
    edge: Vec<bool>,
}

fn lines(message: &str) -> Lines {
    let text: Vec<String> =
        message.split('\n').map(|l| l.trim().to_owned()).filter(|l| !l.is_empty()).collect();
    let mut out = Lines {
        quoted: vec![false; text.len()],
        fence: vec![None; text.len()],
        edge: vec![false; text.len()],
        text,
    };
    let mut at = 0;
    let mut fences = 0;
    while at < out.text.len() {
        let line = out.text[at].clone();
        if line.starts_with('>') {
            out.quoted[at] = true;
        } else if line.starts_with("<!--") {
            while at < out.text.len() {
                out.quoted[at] = true;
                if out.text[at].contains("-->") {
                    break;
                }
                at += 1;
            }
        } else if line.starts_with("```") || line.starts_with("~~~") {
            let ticks = line.chars().take_while(|c| line.starts_with(*c)).count();
            let mark: String = line.chars().take(ticks).collect();
            let closes = |l: &String| l.starts_with(&mark) && l.chars().all(|c| line.starts_with(c));
            let close = (at + 1..out.text.len()).find(|n| closes(&out.text[*n]));
            out.edge[at] = true;
            let last = close.unwrap_or(out.text.len());
            for inside in at + 1..last {
                // A fence that is never closed is none, yet no new one opens in it and nothing in it is a quote.
                out.fence[inside] = close.map(|_| fences);
            }
            if let Some(close) = close {
                out.edge[close] = true;
            }
            fences += 1;
            at = last;
        }
        at += 1;
    }
    out
}

impl Lines {
    fn said(&self, at: usize) -> bool {
        !self.quoted[at] && !self.edge[at]
    }
}

/// The complete blocks, and whether a head or an end stands alone.
fn blocks(lines: &Lines) -> (Vec<(usize, usize)>, bool) {
    let is = |at: usize, mark: &str| lines.said(at) && bare(&lines.text[at]) == mark;
    let mut blocks: Vec<(usize, usize)> = Vec::new();
    let mut open: Option<usize> = None;
    let mut broken = false;
    for at in 0..lines.text.len() {
        if is(at, HEAD) {
            broken |= open.is_some();
            open = Some(at);
        } else if is(at, END) {
            match open.take() {
                Some(first) => blocks.push((first, at)),
                None => broken = true,
            }
        }
    }
    broken |= open.is_some();
    (blocks, broken)
}

/// What the block of these lines says of EXIT_SIGNAL: nothing where it is unreadable.
fn exit_signal(lines: &[String]) -> Option<bool> {
    let mut said: Vec<String> = Vec::new();
    for line in lines {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = bare(value.trim_matches('_'));
        if value.contains('|') || value.starts_with('<') && value.ends_with('>') {
            return None;
        }
        if bare(key).trim_matches('_') == "EXIT_SIGNAL" {
            said.push(value);
        }
    }
    let first = said.first()?;
    Some(first == "TRUE" && said.iter().all(|value| value == first))
}

/// "The last complete block wins; one that is followed by more than white space and a closing fence, or stands in a
/// fence among other text, is no claim. An attempted but unreadable one is an explicit no. The promise counts alone on
/// the last line; the block may stand before or after it and decides."
fn reference(message: &str) -> Exit {
    const PROMISE: &str = "<promise>COMPLETE</promise>";
    let lines = lines(message);
    let said = |at: usize| lines.said(at);
    let (blocks, broken) = blocks(&lines);
    let own = |first: usize, last: usize| -> Vec<String> {
        let same = |at: &usize| said(*at) && lines.fence[*at] == lines.fence[first];
        (first + 1..last).filter(same).map(|at| lines.text[at].clone()).collect()
    };
    let value = |(first, last): (usize, usize)| {
        exit_signal(&own(first, last)).filter(|_| lines.fence[first] == lines.fence[last])
    };
    let unreadable = broken || blocks.iter().any(|block| value(*block).is_none());
    let mut closing: Option<(usize, usize)> = None;
    let mut attempted = unreadable;
    let mut claim = None;
    if let Some((first, last)) = blocks.last().copied() {
        let mut fences = 0;
        let mut follows = false;
        for at in last + 1..lines.text.len() {
            let bare_edge = lines.edge[at] && lines.text[at].trim_matches(['`', '~']).is_empty();
            if bare_edge && fences == 0 {
                fences = 1;
            } else if lines.text[at] != PROMISE {
                follows = true;
            }
        }
        let inside = |at: &usize| lines.fence[*at].is_some() && lines.fence[*at] == lines.fence[first];
        let among = (0..first).rev().take_while(inside).any(|at| lines.text[at] != PROMISE);
        let signal = value((first, last));
        if !follows && !among {
            closing = Some((first, last));
            attempted = signal.is_none();
            claim = signal;
        } else if lines.fence[first].is_none() && signal == Some(false) {
            attempted = true;
        }
    }
    if let Some(signal) = claim {
        return if signal { Exit::True } else { Exit::False };
    }
    if attempted {
        return Exit::False;
    }
    // The fields without any block: somebody tried.
    let loose = |at: usize| said(at) && in_prose(&lines, at) && is_exit_line(&lines.text[at]);
    if blocks.is_empty() && (0..lines.text.len()).any(loose) {
        return Exit::False;
    }
    let skipped = |at: usize| closing.is_some_and(|(first, last)| (first..=last).contains(&at));
    let mut kept = (0..lines.text.len()).rev().filter(|at| !skipped(*at));
    let given = kept.next().is_some_and(|at| said(at) && in_prose(&lines, at) && lines.text[at] == PROMISE);
    if given { Exit::True } else { Exit::Absent }
}

/// EXIT_SIGNAL with a value, spelled exactly but for bold marks.
fn is_exit_line(line: &str) -> bool {
    line.split_once(':').is_some_and(|(key, _)| key.replace('*', "").trim() == "EXIT_SIGNAL")
}

/// Neither in a fence nor after one that was never closed.
fn in_prose(lines: &Lines, at: usize) -> bool {
    let edges = (0..at).filter(|n| lines.edge[*n]).count();
    edges % 2 == 0
}

fn message() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        HEAD,
        HEAD,
        END,
        END,
        "**---RALPH_STATUS---**",
        "  ---end_ralph_status---  ",
        "STATUS: COMPLETE",
        "STATUS: IN_PROGRESS | COMPLETE | BLOCKED",
        "TASKS_COMPLETED_THIS_LOOP: <number>",
        "TESTS_STATUS: PASSING",
        "EXIT_SIGNAL: true",
        "EXIT_SIGNAL: true",
        "EXIT_SIGNAL: false",
        "exit_signal: TRUE",
        "**EXIT_SIGNAL:** true",
        "EXIT_SIGNAL: yes",
        "RECOMMENDATION: Shipped it.",
        "```",
        "```text",
        "````",
        "~~~",
        "> quoted",
        "> EXIT_SIGNAL: true",
        "<!-- hidden",
        "-->",
        "<promise>COMPLETE</promise>",
        "<promise>DONE</promise>",
        "It works.",
        "",
    ]);
    let whole = prop::sample::select(vec![
        "---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---",
        "---RALPH_STATUS---\nSTATUS: IN_PROGRESS\nEXIT_SIGNAL: false\n---END_RALPH_STATUS---",
        "```\n---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---\n```",
        "It works.\n\n<promise>COMPLETE</promise>",
    ]);
    let part = prop_oneof![3 => piece, 1 => whole];
    let end = prop::sample::select(vec!["\n", "\r\n", "\n\n"]);
    prop::collection::vec((part, end), 0..14)
        .prop_map(|parts| parts.into_iter().map(|(part, end)| format!("{part}{end}")).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_readers_hear_the_same(text in message()) {
        prop_assert_eq!(read(&text, "COMPLETE").exit, reference(&text), "{}", text);
    }
}
