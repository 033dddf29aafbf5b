//! Walks over a Rust source, block by block, and finds tests.

use super::attributes::{self, Run};
use super::outline::Block;
use super::sig::{ends_at_brace, ends_at_semicolon, signature};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

/// A test that was found.
#[derive(Clone, Debug)]
pub struct Found {
    pub span: Range<usize>,
    pub name: String,
    pub block: usize,
    /// It is a test function, not merely an item for tests.
    pub function: bool,
}

/// One pass over blanked code.
pub struct Scan<'a> {
    code: &'a str,
    /// Look for test functions only, also inside of test modules.
    functions_only: bool,
    pub blocks: Vec<Block>,
    /// Open blocks, each with the number of tests found before it.
    stack: Vec<(usize, usize)>,
    pub found: Vec<Found>,
    pub attribute_docs: Vec<(Range<usize>, bool)>,
    pub defined: BTreeSet<(u64, String)>,
    pub balanced: bool,
    pub whole_file: bool,
    /// Where the current statement begins, and whether anything of it was seen yet.
    statement: usize,
    fresh: bool,
    /// Where the attributes before the current statement begin, if it has any.
    attributes_at: Option<usize>,
}

impl<'a> Scan<'a> {
    pub fn new(code: &'a str, functions_only: bool) -> Scan<'a> {
        let file =
            Block { parent: None, start: 0, header: 0..0, name: String::new(), hash: 0, close: code.len() };
        Scan {
            code,
            functions_only,
            blocks: vec![file],
            stack: vec![(0, 0)],
            found: Vec::new(),
            attribute_docs: Vec::new(),
            defined: BTreeSet::new(),
            balanced: true,
            whole_file: false,
            statement: 0,
            fresh: true,
            attributes_at: None,
        }
    }

    fn block(&self) -> usize {
        self.stack.last().map_or(0, |(block, _)| *block)
    }

    pub fn run(&mut self) {
        let bytes = self.code.as_bytes();
        let (mut at, mut in_word) = (0, false);
        while let Some(byte) = bytes.get(at) {
            let word = byte.is_ascii_alphanumeric() || *byte == b'_';
            let next = match byte {
                b'#' => self.attributes(at),
                b'p' | b'q' if !in_word => self.test_macro(at),
                b'{' => self.open(at),
                b'}' => self.close(at),
                b';' => self.define(at),
                _ => None,
            };
            if !self.balanced {
                return;
            }
            if next.is_none() && !byte.is_ascii_whitespace() {
                self.fresh = false;
            }
            in_word = word;
            at = next.unwrap_or(at + 1).max(at + 1);
        }
        self.balanced = self.stack.len() == 1;
    }

    fn begin_statement(&mut self, at: usize) -> Option<usize> {
        self.statement = at;
        self.fresh = true;
        self.attributes_at = None;
        Some(at)
    }

    fn attributes(&mut self, at: usize) -> Option<usize> {
        let run = match attributes::run(self.code, at) {
            Run::None => return None,
            Run::Unclosed => {
                self.balanced = false;
                return None;
            }
            Run::Inner { test, doc, end } => {
                self.whole_file |= test && self.block() == 0 && !self.functions_only;
                self.attribute_docs.extend(doc.then_some((at..end, true)));
                return self.fresh.then(|| self.begin_statement(end)).flatten().or(Some(end));
            }
            Run::Outer(run) => run,
        };
        let function = run.test_function;
        if function || run.only_for_tests && !self.functions_only {
            return self.test(at, run.end, function);
        }
        self.attribute_docs.extend(run.docs.into_iter().map(|span| (span, false)));
        if self.fresh {
            let first = self.attributes_at.unwrap_or(at);
            self.begin_statement(run.end);
            self.attributes_at = Some(first);
        }
        Some(run.end)
    }

    fn test(&mut self, start: usize, item: usize, function: bool) -> Option<usize> {
        let name = signature(self.code.get(item..).unwrap_or_default());
        let end = item_end(self.code, item, &name);
        self.found.push(Found { span: start..end, name, block: self.block(), function });
        self.begin_statement(end)
    }

    /// `proptest! { … }` holds tests without an attribute that is seen from here.
    fn test_macro(&mut self, at: usize) -> Option<usize> {
        let rest = self.code.get(at..)?;
        let name = ["proptest!", "quickcheck!"].into_iter().find(|name| rest.starts_with(name))?;
        rest.get(name.len()..)?.trim_start().starts_with(['{', '(']).then_some(())?;
        self.test(at, at, true)
    }

    fn open(&mut self, at: usize) -> Option<usize> {
        let header = self.statement..at;
        let start = self.attributes_at.unwrap_or(self.statement);
        let name = signature(self.code.get(header.clone()).unwrap_or_default());
        if name.starts_with("use ") {
            return memchr::memchr(b';', self.code.as_bytes().get(at..)?).map(|length| at + length);
        }
        let parent = self.block();
        let around = self.blocks.get(parent).map_or(0, |block| block.hash);
        let mut hasher = DefaultHasher::new();
        (around, &name).hash(&mut hasher);
        self.defined.insert((around, name.clone()));
        self.stack.push((self.blocks.len(), self.found.len()));
        self.blocks.push(Block {
            parent: Some(parent),
            start,
            header,
            name,
            hash: hasher.finish(),
            close: at,
        });
        self.begin_statement(at + 1)
    }

    fn close(&mut self, at: usize) -> Option<usize> {
        let (index, before) = self.stack.pop()?;
        self.balanced = !self.stack.is_empty();
        let parent = self.block();
        let block = self.blocks.get_mut(index)?;
        block.close = at;
        let tests = self.found.get(before..).unwrap_or_default().iter().any(|found| found.function);
        if tests && !self.functions_only && is_test_module(&block.name) {
            let name = block.name.clone();
            let start = block.start;
            let blank = self.code.get(start..).map_or(0, |rest| rest.len() - rest.trim_start().len());
            self.found.truncate(before);
            self.found.push(Found { span: start + blank..at + 1, name, block: parent, function: true });
        }
        self.begin_statement(at + 1)
    }

    fn define(&mut self, at: usize) -> Option<usize> {
        let name = signature(self.code.get(self.statement..at).unwrap_or_default());
        let around = self.blocks.get(self.block()).map_or(0, |block| block.hash);
        self.defined.insert((around, name));
        self.begin_statement(at + 1)
    }
}

/// A module that is for tests by its name, although nothing keeps it out of the product.
fn is_test_module(name: &str) -> bool {
    name.strip_prefix("mod ").is_some_and(|name| {
        matches!(name, "test" | "tests") || name.ends_with("_test") || name.ends_with("_tests")
    })
}

/// Where the item that begins here ends, past its attributes.
fn item_end(code: &str, from: usize, name: &str) -> usize {
    let (to_semicolon, to_brace) = (ends_at_semicolon(name), ends_at_brace(name));
    let field = !to_semicolon && !to_brace && is_field(name);
    let (mut depth, mut angles, mut before) = (0_usize, 0_usize, b' ');
    let rest = code.get(from..).unwrap_or_default();
    for (offset, byte) in rest.bytes().enumerate() {
        let at = from + offset;
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' if depth == 0 => return at,
            b'}' | b')' | b']' => depth -= 1,
            b'<' if field => angles += 1,
            b'>' if field && before != b'-' => angles = angles.saturating_sub(1),
            b';' if depth == 0 => return at + 1,
            b',' if depth == 0 && angles == 0 && !to_semicolon && !to_brace => return at + 1,
            _ => {}
        }
        if byte == b'}' && depth == 0 && !to_semicolon {
            let after = rest.get(offset + 1..).unwrap_or_default();
            let next = after.trim_start();
            if to_brace {
                return at + 1;
            }
            if next.starts_with([',', ';']) {
                return at + 1 + (after.len() - next.len()) + 1;
            }
            if !["else", "=>", "if ", ".", "?", "|"].iter().any(|more| next.starts_with(more)) {
                return at + 1;
            }
        }
        before = byte;
    }
    code.len()
}

/// `name: Type`, where a comma between angle brackets belongs to the type.
fn is_field(name: &str) -> bool {
    name.split_once(':').is_some_and(|(before, after)| {
        !after.starts_with(':') && before.trim().chars().all(|c| c.is_alphanumeric() || c == '_')
    })
}
