//! Lines of an output that comes in pieces: only those whose first sign can begin a summary are handed on, without
//! colours, and only their beginning.

/// No summary is longer; of a longer line the rest is not looked at.
const LONGEST: usize = 4 * 1024;

/// The line under way.
#[derive(Debug, Default)]
pub struct Lines {
    open: Vec<u8>,
}

impl Lines {
    /// Cuts lines out of the next piece.
    pub fn feed(&mut self, mut bytes: &[u8], mut each: impl FnMut(&str)) {
        while let Some(end) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            bytes = rest.get(1..).unwrap_or_default();
            if self.open.is_empty() {
                hand_on(line, &mut each);
            } else {
                self.keep(line);
                hand_on(&self.open, &mut each);
                self.open.clear();
            }
        }
        self.keep(bytes);
    }

    /// The last line may have no end.
    pub fn finish(self, mut each: impl FnMut(&str)) {
        hand_on(&self.open, &mut each);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LONGEST.saturating_sub(self.open.len());
        self.open.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }
}

fn hand_on(line: &[u8], each: &mut impl FnMut(&str)) {
    let line = line.get(..LONGEST).unwrap_or(line);
    if may_begin(line) {
        let text = String::from_utf8_lossy(line);
        each(plain(&text).trim_end());
    }
}

/// The first sign that is neither space nor decoration can begin a summary.
fn may_begin(line: &[u8]) -> bool {
    let first = line.iter().find(|b| !matches!(b, b' ' | b'=' | b'\r'));
    // 0xe2: the information sign of node's reporter.
    first.is_some_and(|b| matches!(b, 0x1b | b'0'..=b'9' | b'?' | b'-' | b'{' | b'#' | 0xe2) || word(*b))
}

/// First letters of the words that runners begin a summary with.
fn word(first: u8) -> bool {
    matches!(first, b't' | b'T' | b'S' | b'R' | b'O' | b'F' | b'N' | b'n' | b'o')
}

/// Without the colours and movements of a terminal.
fn plain(line: &str) -> String {
    let mut kept = String::with_capacity(line.len());
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '\x1b' => escaped(&mut signs),
            '\r' => {}
            _ => kept.push(sign),
        }
    }
    kept
}

/// Passes over one escape sequence.
fn escaped(signs: &mut std::str::Chars<'_>) {
    match signs.next() {
        Some('[') => drop(signs.find(|c| ('@'..='~').contains(c))),
        Some(']') => drop(signs.find(|c| matches!(c, '\x07' | '\\'))),
        Some(' '..='/') => drop(signs.find(|c| ('0'..='~').contains(c))),
        _ => {}
    }
}
