//! Finds the status blocks in a message and decides which one, if any, is the agent's claim: the last complete block, if
//! nothing but white space, its fence and the promise follow it. `field.rs` reads its fields, `claim.rs` reconciles it
//! with the promise.

use super::field;
use super::lint::{Code, Lint};
use super::message_lines::{Line, LineKind, Message};
use super::promise::is_promise;
use super::status::{END, HEAD, Status};

/// The role of a line in a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Head,
    End,
    /// `RALPH_STATUS:` alone on its line: the older, YAML-like form.
    Header,
    /// Similar to a delimiter, but not exact.
    Like,
    /// A whole block on one line.
    Squeezed,
    Nothing,
}

/// A block or an attempt at one: lines `first..=last` of the message.
struct Block {
    first: usize,
    last: usize,
    complete: bool,
    status: Option<Status>,
    lints: Vec<Lint>,
}

/// The status blocks of a message.
pub(super) struct Found {
    /// The block that is a claim.
    pub status: Option<Status>,
    /// A block was attempted but is not readable, or a misplaced one says EXIT_SIGNAL false.
    pub attempted: bool,
    /// Broken rules.
    pub lints: Vec<Lint>,
    /// The lines of every block and every attempt, as index ranges (first, last), in order.
    spans: Vec<(usize, usize)>,
    /// The span of the block that ends the message and the fence around it.
    closing: Option<((usize, usize), Option<usize>)>,
}

impl Found {
    /// Whether the line is part of a block, readable or not.
    pub(super) fn covers(&self, at: usize) -> bool {
        let after = self.spans.partition_point(|(first, _)| *first <= at);
        after.checked_sub(1).and_then(|nth| self.spans.get(nth)).is_some_and(|(_, last)| at <= *last)
    }

    /// The numbers of the first and last line of the block that counts.
    pub(super) fn lines(&self, message: &Message<'_>) -> Option<(usize, usize)> {
        let ((first, last), _) = self.closing.filter(|_| self.status.is_some())?;
        Some((number(message, first), number(message, last)))
    }

    /// Whether the line is part of the block that ends the message, or of the fence around it.
    pub(super) fn closes(&self, at: usize, line: &Line<'_>) -> bool {
        self.closing.is_some_and(|((first, last), fence)| {
            (first..=last).contains(&at) || fence.is_some_and(|id| line.kind == LineKind::FenceEdge(id))
        })
    }
}

/// Reads all blocks of the message. `wanted` is the run's promise, which may follow the block.
pub(super) fn find(message: &Message<'_>, wanted: &str) -> Found {
    let blocks = scan(message);
    let spans: Vec<_> = blocks.iter().map(|block| (block.first, block.last)).collect();
    let mut found = Found { status: None, attempted: false, lints: Vec::new(), spans, closing: None };
    found.lints.extend(about_all(message, &blocks));
    let unreadable = blocks.iter().any(|block| block.status.is_none());
    match blocks.into_iter().rfind(|block| block.complete) {
        Some(block) => match misplaced(message, &block, wanted) {
            None => {
                found.closing = Some(((block.first, block.last), fence_of(message, block.first)));
                found.attempted = block.status.is_none();
                found.status = block.status;
                found.lints.extend(block.lints);
            }
            Some(lint) => {
                // In a fence it is an example; otherwise its EXIT_SIGNAL false still counts.
                let shown = fence_of(message, block.first).is_some();
                let denies =
                    !shown && block.status.as_ref().is_some_and(|status| status.exit_signal == Some(false));
                found.attempted = unreadable || denies;
                found.lints.push(lint);
                if block.status.is_none() {
                    found.lints.extend(block.lints);
                }
            }
        },
        None => match loose_exit(message, &found) {
            Some(lint) => {
                found.attempted = true;
                found.lints.push(lint);
            }
            None => found.attempted = unreadable,
        },
    }
    found
}

/// Lints about the message as a whole, each code once.
fn about_all(message: &Message<'_>, blocks: &[Block]) -> Vec<Lint> {
    let mut lints = Vec::new();
    for code in [Code::UnterminatedBlock, Code::ChangedDelimiter] {
        let of_code = |block: &&Block| !block.complete && block.lints.iter().any(|lint| lint.code == code);
        let first = blocks.iter().find(of_code).and_then(|block| block.lints.first());
        lints.extend(first.cloned());
    }
    let mut complete = blocks.iter().filter(|block| block.complete);
    if let Some(last) = complete.next_back().filter(|_| complete.next().is_some()) {
        lints.push(Lint::new(Code::MultipleBlocks, number(message, last.first), "the last one counts"));
    }
    lints
}

/// An EXIT_SIGNAL line in plain text, with no delimiters at all.
fn loose_exit(message: &Message<'_>, found: &Found) -> Option<Lint> {
    let mut lines = message.lines.iter().enumerate();
    let (_, line) = lines.find(|(at, line)| {
        line.kind == LineKind::Prose && field::is_exact_exit(line.text) && !found.covers(*at)
    })?;
    Some(Lint::new(Code::ChangedDelimiter, line.number, line.text))
}

/// Why a complete block is not at the end of the message, if it is not.
fn misplaced(message: &Message<'_>, block: &Block, wanted: &str) -> Option<Lint> {
    let fence = fence_of(message, block.first);
    let mut edges = 0;
    for line in message.lines.iter().skip(block.last + 1) {
        let bare = line.text.trim_start_matches(['`', '~']).is_empty();
        let edge = matches!(line.kind, LineKind::FenceEdge(_)) && bare && edges == 0;
        if !edge && !is_promise(line.text, wanted) {
            return Some(Lint::new(Code::TextAfterBlock, line.number, line.text));
        }
        edges += usize::from(edge);
    }
    let inside = |line: &&Line<'_>| fence.is_some_and(|id| line.kind == LineKind::Code(id));
    let before = message.lines.get(..block.first)?;
    let other = before.iter().rev().take_while(inside).find(|line| !is_promise(line.text, wanted))?;
    Some(Lint::new(Code::QuotedBlock, other.number, other.text))
}

/// One pass over the lines; blocks never overlap.
fn scan(message: &Message<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<usize> = None;
    let mut at = 0;
    while let Some(line) = message.lines.get(at) {
        match (mark(line), open) {
            (Mark::Head, _) => {
                if let Some(first) = open.replace(at) {
                    blocks.push(unterminated(message, first, at - 1));
                }
            }
            (Mark::End, Some(first)) => {
                blocks.push(dashed(message, first, at));
                open = None;
            }
            (Mark::End | Mark::Squeezed, None) => blocks.push(attempt(message, at)),
            (Mark::Like, None) if leads_to_field(message, at) => blocks.push(attempt(message, at)),
            (Mark::Header, None) => {
                let block = header(message, at);
                at = block.last;
                blocks.push(block);
            }
            _ => {}
        }
        at += 1;
    }
    if let Some(first) = open {
        blocks.push(unterminated(message, first, message.lines.len() - 1));
    }
    blocks
}

fn mark(line: &Line<'_>) -> Mark {
    let shortest = "RALPHSTATUS".len();
    if matches!(line.kind, LineKind::Quote | LineKind::FenceEdge(_)) || line.text.len() < shortest {
        return Mark::Nothing;
    }
    let starts = line.text.get(..HEAD.len()).is_some_and(|head| head.eq_ignore_ascii_case(HEAD));
    if line.text.len() > 64 {
        return if starts && line.text.contains("EXIT_SIGNAL") { Mark::Squeezed } else { Mark::Nothing };
    }
    let text: String = line.text.chars().filter(|c| *c != '*').collect();
    let text = text.trim();
    let letters: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    match letters.to_ascii_uppercase().as_str() {
        "RALPHSTATUS" if text.eq_ignore_ascii_case(HEAD) => Mark::Head,
        "RALPHSTATUS" if text.eq_ignore_ascii_case("RALPH_STATUS:") => Mark::Header,
        "ENDRALPHSTATUS" if text.eq_ignore_ascii_case(END) => Mark::End,
        // In back ticks or quotation marks it is mentioned, not used.
        "RALPHSTATUS" if !text.starts_with(['`', '"', '\'', '“']) => Mark::Like,
        _ if starts && text.contains("EXIT_SIGNAL") => Mark::Squeezed,
        _ => Mark::Nothing,
    }
}

fn leads_to_field(message: &Message<'_>, at: usize) -> bool {
    let next = message.lines.get(at + 1);
    next.is_some_and(|line| line.kind != LineKind::Quote && field::is_field(line.text))
}

fn fence_of(message: &Message<'_>, at: usize) -> Option<usize> {
    message.lines.get(at).and_then(|line| message.fence(line))
}

fn number(message: &Message<'_>, at: usize) -> usize {
    message.lines.get(at).map_or(0, |line| line.number)
}

fn unterminated(message: &Message<'_>, first: usize, last: usize) -> Block {
    let lints = vec![Lint::new(Code::UnterminatedBlock, number(message, first), "no end line")];
    Block { first, last, complete: false, status: None, lints }
}

fn attempt(message: &Message<'_>, at: usize) -> Block {
    let text = message.lines.get(at).map_or("", |line| line.text);
    let lints = vec![Lint::new(Code::ChangedDelimiter, number(message, at), text)];
    Block { first: at, last: at, complete: false, status: None, lints }
}

/// A block between its two delimiters. Lines in another fence or in a quote are not fields of it.
fn dashed(message: &Message<'_>, first: usize, last: usize) -> Block {
    let home = fence_of(message, first);
    let lines = message.lines.get(first + 1..last).unwrap_or_default();
    let own = lines.iter().map(|line| {
        let elsewhere =
            message.fence(line) != home || matches!(line.kind, LineKind::Quote | LineKind::FenceEdge(_));
        (line.number, if elsewhere { "" } else { line.text })
    });
    let (mut status, mut lints) = field::read(own, number(message, first));
    if fence_of(message, last) != home {
        status = None;
        lints.push(Lint::new(Code::StrayText, number(message, last), "a code fence cuts the block"));
    }
    for (at, exact) in [(first, HEAD), (last, END)] {
        if let Some(line) = message.lines.get(at).filter(|line| line.text != exact) {
            lints.push(Lint::new(Code::LooseFormat, line.number, line.text));
        }
    }
    Block { first, last, complete: true, status, lints }
}

/// The YAML-like form: it ends at the first line, also an empty one, that is not `KEY: value`.
fn header(message: &Message<'_>, first: usize) -> Block {
    let start = number(message, first);
    let kind = message.lines.get(first).map(|line| line.kind);
    let rest = message.lines.iter().skip(first + 1).enumerate();
    let own = rest.take_while(|(nth, line)| {
        line.number == start + nth + 1 && Some(line.kind) == kind && field::pair(line.text).is_some()
    });
    let own: Vec<_> = own.map(|(_, line)| (line.number, line.text)).collect();
    let last = first + own.len();
    let (status, lints) = field::read(own.into_iter(), start);
    Block { first, last, complete: true, status, lints }
}
