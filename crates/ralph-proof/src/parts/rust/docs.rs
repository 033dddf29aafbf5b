//! Doc comments and the examples in them.

use super::attributes::{self, Run};
use super::lex::{Hides, Lexed};
use super::outline::{Block, Item, Kind};
use super::scan::Found;
use super::sig::signature;
use std::ops::Range;

/// Doc comments that belong to one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocBlock {
    /// They document what they are in.
    pub inner: bool,
    /// What is compiled or run: each fence with its info string.
    pub examples: Vec<String>,
}

/// The doc comments that stand for themselves; those of a test become part of it.
pub fn attach(
    lexed: &Lexed<'_>,
    blocks: &[Block],
    tests: &mut [Found],
    attribute_docs: &[(Range<usize>, bool)],
) -> Vec<Item> {
    let mut items = Vec::new();
    let mut around = Around::new(blocks);
    for (spans, inner) in grouped(lexed, tests, attribute_docs) {
        let (Some(first), Some(last)) = (spans.first(), spans.last()) else { continue };
        let span = first.start..last.end;
        let after = lexed.code.get(span.end..).unwrap_or_default();
        let next = span.end + (after.len() - after.trim_start().len());
        let belongs = tests.binary_search_by_key(&next, |test| test.span.start).ok().filter(|_| !inner);
        if let Some(test) = belongs.and_then(|index| tests.get_mut(index)) {
            test.span.start = span.start;
            continue;
        }
        let block = around.block_at(span.start);
        let name = if inner { "//!".to_owned() } else { format!("doc {}", documented(&lexed.code, next)) };
        let key = (blocks.get(block).map_or(0, |block| block.hash), name, 0);
        let kind = Kind::Doc(DocBlock { inner, examples: examples(&lines(lexed.text, &spans)) });
        items.push(Item { span, key, block, kind });
    }
    items
}

fn documented(code: &str, at: usize) -> String {
    let item = match attributes::run(code, at) {
        Run::Outer(run) => run.end,
        _ => at,
    };
    signature(code.get(item..).unwrap_or_default())
}

/// Doc comments outside of tests; those with nothing between them belong together.
fn grouped(
    lexed: &Lexed<'_>,
    tests: &[Found],
    attribute_docs: &[(Range<usize>, bool)],
) -> Vec<(Vec<Range<usize>>, bool)> {
    let comments = lexed.hidden.iter().filter_map(|(span, hides)| match hides {
        Hides::OuterDoc => Some((span.clone(), false)),
        Hides::InnerDoc => Some((span.clone(), true)),
        _ => None,
    });
    let mut docs: Vec<_> = comments.chain(attribute_docs.iter().cloned()).collect();
    docs.sort_by_key(|(span, _)| span.start);
    let (mut groups, mut test) = (Vec::<(Vec<Range<usize>>, bool)>::new(), 0);
    for (span, inner) in docs {
        while tests.get(test).is_some_and(|test| test.span.end <= span.start) {
            test += 1;
        }
        if tests.get(test).is_some_and(|test| test.span.start <= span.start) {
            continue;
        }
        let adjacent = groups.last_mut().filter(|(spans, before)| {
            let end = spans.last().map_or(0, |span| span.end);
            *before == inner && lexed.code.get(end..span.start).is_some_and(|code| code.trim().is_empty())
        });
        match adjacent {
            Some((spans, _)) => spans.push(span),
            None => groups.push((vec![span], inner)),
        }
    }
    groups
}

/// Finds the blocks around positions that only grow.
struct Around<'a> {
    blocks: &'a [Block],
    open: Vec<usize>,
    next: usize,
}

impl<'a> Around<'a> {
    fn new(blocks: &'a [Block]) -> Around<'a> {
        Around { blocks, open: vec![0], next: 1 }
    }

    fn block_at(&mut self, at: usize) -> usize {
        while let Some(block) = self.blocks.get(self.next).filter(|block| block.header.end < at) {
            self.leave(block.header.end);
            self.open.push(self.next);
            self.next += 1;
        }
        self.leave(at);
        self.open.last().copied().unwrap_or(0)
    }

    fn leave(&mut self, at: usize) {
        while self.open.len() > 1 {
            let closed =
                self.open.last().and_then(|top| self.blocks.get(*top)).is_some_and(|top| top.close < at);
            if !closed {
                return;
            }
            self.open.pop();
        }
    }
}

/// The documentation itself, without the signs of comments.
fn lines(text: &str, spans: &[Range<usize>]) -> Vec<String> {
    let mut lines = Vec::new();
    for span in spans {
        let raw = text.get(span.clone()).unwrap_or_default();
        if raw.starts_with("//") {
            lines.extend(raw.get(3..).map(str::to_owned));
        } else if raw.starts_with("/*") {
            let inside = raw.get(3..).unwrap_or_default();
            let inside = inside.strip_suffix("*/").unwrap_or(inside);
            lines.extend(inside.lines().map(|line| {
                let line = line.trim_start();
                line.strip_prefix('*').unwrap_or(line).to_owned()
            }));
        } else {
            let inside =
                raw.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"')).map_or(raw, |(s, _)| s);
            lines.extend(inside.split("\\n").flat_map(str::lines).map(str::to_owned));
        }
    }
    lines
}

/// What rustdoc would compile: fences of Rust and indented blocks.
fn examples(lines: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let mut fence: Option<(&str, Option<String>)> = None;
    let (mut blank, mut list, mut indented) = (true, false, false);
    for line in lines {
        let trimmed = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (&mut fence, mark) {
            (Some((open, _)), Some(mark)) if *open == mark && trimmed.trim_matches(['`', '~']).is_empty() => {
                found.extend(fence.take().and_then(|(_, example)| example));
            }
            (Some((_, example)), _) => {
                if let Some(example) = example {
                    example.push('\n');
                    example.push_str(line.trim_end());
                }
            }
            (None, Some(mark)) => {
                let info = trimmed.trim_start_matches(['`', '~']).trim();
                fence = Some((mark, is_rust(info).then(|| info.to_owned())));
            }
            (None, None) => {
                let deep = line.starts_with("     ") || line.starts_with('\t');
                indented = deep && !trimmed.is_empty() && !list && (blank || indented);
                found.extend(indented.then(|| trimmed.to_owned()));
                if !trimmed.is_empty() && !deep {
                    list = trimmed.starts_with(['-', '*', '+'])
                        || trimmed.starts_with(|c: char| c.is_ascii_digit());
                }
            }
        }
        blank = trimmed.is_empty();
    }
    found.extend(fence.and_then(|(_, example)| example));
    found
}

/// Whether rustdoc takes a fence with this info string for Rust.
fn is_rust(info: &str) -> bool {
    info.split([',', ' ', '\t']).filter(|word| !word.is_empty()).all(|word| {
        matches!(word, "rust" | "should_panic" | "no_run" | "compile_fail" | "test_harness" | "allow_fail")
            || ["ignore", "edition", "standalone", "E0"].iter().any(|start| word.starts_with(start))
    })
}

/// The same documentation with examples that are only shown.
pub fn not_run(text: &str) -> String {
    if text.contains("#[doc") || text.contains("#![doc") {
        return String::new();
    }
    let mut open: Option<&str> = None;
    let shown = text.split_inclusive('\n').map(|line| {
        let start = line.find("```").into_iter().chain(line.find("~~~")).min();
        let before = start.and_then(|start| line.get(..start));
        let Some(before) = before.filter(|before| before.trim_matches([' ', '\t', '/', '!', '*']).is_empty())
        else {
            return line.to_owned();
        };
        let rest = line.get(before.len()..).unwrap_or_default();
        let mark = if rest.starts_with('`') { "```" } else { "~~~" };
        let info = rest.trim_start_matches(['`', '~']);
        match open {
            Some(opened) if opened == mark && info.trim().trim_end_matches("*/").is_empty() => open = None,
            Some(_) => {}
            None => {
                open = Some(mark);
                if is_rust(info.trim()) {
                    let end = if line.ends_with('\n') { "\n" } else { "" };
                    return format!(
                        "{before}{}text{end}",
                        rest.get(..rest.len() - info.len()).unwrap_or(mark)
                    );
                }
            }
        }
        line.to_owned()
    });
    shown.collect()
}
