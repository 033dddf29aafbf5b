//! JUnit XML in an output: the numbers of the outermost `<testsuite>` elements that carry some. Files of this kind are
//! often one long line, so it is looked for in the stream itself.

use super::Counts;
use memchr::memmem::Finder;

const NAME: &[u8] = b"testsuite";
/// Longest start tag; a longer one is ignored.
const LONGEST: usize = 4 * 1024;

/// Suites found so far.
#[derive(Debug)]
pub struct Suites {
    finder: Finder<'static>,
    /// What may be the beginning of a tag.
    open: Vec<u8>,
    sum: Option<Counts>,
    /// Elements open, and how many were when one was counted: what is inside it is in its numbers already.
    depth: u32,
    counted_at: Option<u32>,
}

impl Default for Suites {
    fn default() -> Self {
        let finder = Finder::new(NAME);
        Suites { finder, open: Vec::new(), sum: None, depth: 0, counted_at: None }
    }
}

impl Suites {
    /// The next piece of the output.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.open.is_empty() {
            let rest = self.tags(bytes);
            self.open.extend_from_slice(bytes.get(rest..).unwrap_or_default());
            return;
        }
        // Tags are rare: joining copies no more than a tag's length of what is kept, and one piece.
        let mut joined = std::mem::take(&mut self.open);
        joined.extend_from_slice(bytes);
        let rest = self.tags(&joined);
        self.open = joined.split_off(rest);
    }

    /// The sum of them.
    pub fn total(&self) -> Option<Counts> {
        self.sum
    }

    /// Reads every whole tag; where an unfinished one begins.
    fn tags(&mut self, bytes: &[u8]) -> usize {
        let mut from = 0;
        loop {
            let rest = bytes.get(from..).unwrap_or_default();
            let Some(at) = self.finder.find(rest).map(|at| from + at) else {
                return partial(bytes).max(from);
            };
            let after = bytes.get(at + NAME.len()..).unwrap_or_default();
            let before = bytes.get(at.saturating_sub(2)..at).unwrap_or_default();
            // A tag holds no other's beginning, so nothing is looked through twice.
            match memchr::memchr2(b'>', b'<', after.get(..LONGEST).unwrap_or(after)) {
                Some(end) => self.tag(before, after.get(..end).unwrap_or_default()),
                None if after.len() < LONGEST => return at.saturating_sub(2).max(from),
                None => {}
            }
            from = at + NAME.len();
        }
    }

    fn tag(&mut self, before: &[u8], inside: &[u8]) {
        if before.ends_with(b"</") && inside.iter().all(u8::is_ascii_whitespace) {
            self.depth = self.depth.saturating_sub(1);
            if self.counted_at.is_some_and(|at| at >= self.depth) {
                self.counted_at = None;
            }
            return;
        }
        if !before.ends_with(b"<") || !inside.first().is_none_or(|b| b.is_ascii_whitespace() || *b == b'/') {
            return;
        }
        let leaf = inside.last() == Some(&b'/');
        let counted = self.counted_at.is_none() && self.count(inside);
        if counted && !leaf {
            self.counted_at = Some(self.depth);
        }
        self.depth = self.depth.saturating_add(u32::from(!leaf));
    }

    fn count(&mut self, inside: &[u8]) -> bool {
        let text = String::from_utf8_lossy(inside);
        let number = |name| attribute(&text, name).unwrap_or(0);
        let Some(tests) = attribute(&text, "tests") else { return false };
        let failed = number("failures").saturating_add(number("errors"));
        let skipped = number("skipped").saturating_add(number("disabled"));
        let passed = tests.saturating_sub(failed.saturating_add(skipped));
        self.sum = Some(self.sum.unwrap_or_default() + Counts::new(passed, failed, skipped));
        true
    }
}

/// Where a name that is cut off at the end of the piece begins, with the signs before it.
fn partial(bytes: &[u8]) -> usize {
    let cut = (1..NAME.len()).rev().find(|n| bytes.ends_with(NAME.get(..*n).unwrap_or_default()));
    let signs = bytes.iter().rev().take(2).take_while(|b| matches!(b, b'<' | b'/')).count();
    bytes.len() - cut.map_or(signs, |n| (n + 2).min(bytes.len()))
}

fn attribute(text: &str, name: &str) -> Option<u32> {
    let mut rest = text;
    loop {
        let (before, after) = rest.split_once(name)?;
        let value = after.trim_start().strip_prefix('=').map(str::trim_start);
        let own = before.is_empty() || before.ends_with(char::is_whitespace);
        if let Some(value) = value.filter(|_| own).and_then(|v| v.strip_prefix(['"', '\''])) {
            return value.split(['"', '\'']).next()?.parse().ok();
        }
        rest = after;
    }
}
