//! Bytes in chunks of any size, lines out. The agents' readers stand on it, and so does the wire.
//! Every byte is looked at once; a line that lies within one chunk is never copied; a line longer than the
//! cap is handed over cut, once, so memory stays bounded by the cap however long the line is.

use memchr::memchr;

/// Memory above this is given back once the long line it was needed for has been handed over.
const KEPT_CAPACITY: usize = 256 * 1024;

/// One line, without its line feed and without the carriage return before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// The bytes of the line, at most the splitter's cap.
    pub bytes: &'a [u8],
    /// The line was longer than the cap; the rest of it is skipped.
    pub cut: bool,
}

/// Splits a stream of chunks into lines.
#[derive(Debug)]
pub struct LineSplitter {
    cap: usize,
    /// The start of a line whose end has not been seen yet.
    partial: Vec<u8>,
    /// The rest of a line that was handed over cut.
    skipping: bool,
}

impl LineSplitter {
    /// A splitter that hands over at most `cap` bytes of one line.
    #[must_use]
    pub fn new(cap: usize) -> Self {
        Self { cap, partial: Vec::new(), skipping: false }
    }

    /// Takes the next chunk and hands over each line it completes.
    pub fn feed(&mut self, mut chunk: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(at) = memchr(b'\n', chunk) {
            let (end_of_line, rest) = chunk.split_at(at);
            self.complete(end_of_line, &mut each);
            chunk = rest.get(1..).unwrap_or_default();
        }
        self.keep(chunk, &mut each);
    }

    /// The stream is over: hands over a last line that had no line feed.
    pub fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        self.skipping = false;
        if !self.partial.is_empty() {
            each(line(&self.partial, self.cap));
            self.forget();
        }
    }

    fn complete(&mut self, end_of_line: &[u8], each: &mut impl FnMut(Line<'_>)) {
        if std::mem::take(&mut self.skipping) {
            return;
        }
        if self.partial.is_empty() {
            each(line(end_of_line, self.cap));
        } else {
            self.append(end_of_line);
            each(line(&self.partial, self.cap));
            self.forget();
        }
    }

    fn keep(&mut self, start_of_line: &[u8], each: &mut impl FnMut(Line<'_>)) {
        if self.skipping || start_of_line.is_empty() {
            return;
        }
        if self.partial.is_empty() && start_of_line.len() >= self.surely_cut() {
            each(line(start_of_line, self.cap));
            self.skipping = true;
            return;
        }
        self.append(start_of_line);
        if self.partial.len() >= self.surely_cut() {
            each(line(&self.partial, self.cap));
            self.forget();
            self.skipping = true;
        }
    }

    /// From this length on a line is cut whatever follows. One byte past the cap may still be the carriage
    /// return of a line that just fits.
    fn surely_cut(&self) -> usize {
        self.cap.saturating_add(2)
    }

    fn append(&mut self, bytes: &[u8]) {
        let room = self.surely_cut().saturating_sub(self.partial.len());
        let taken = bytes.get(..room).unwrap_or(bytes);
        let needed = self.partial.len() + taken.len();
        if needed > self.partial.capacity() {
            // Doubling keeps the copying linear; it stops at the cap so that a long line costs no more.
            let wanted = self.partial.capacity().saturating_mul(2).min(self.surely_cut()).max(needed);
            self.partial.reserve_exact(wanted - self.partial.len());
        }
        self.partial.extend_from_slice(taken);
    }

    fn forget(&mut self) {
        self.partial.clear();
        if self.partial.capacity() > KEPT_CAPACITY {
            self.partial = Vec::new();
        }
    }
}

fn line(raw: &[u8], cap: usize) -> Line<'_> {
    let whole = raw.strip_suffix(b"\r").unwrap_or(raw);
    match whole.get(..cap) {
        Some(bytes) if whole.len() > cap => Line { bytes, cut: true },
        _ => Line { bytes: whole, cut: false },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(cap: usize, chunks: &[&[u8]]) -> Vec<(Vec<u8>, bool)> {
        let mut splitter = LineSplitter::new(cap);
        let mut out = Vec::new();
        for chunk in chunks {
            splitter.feed(chunk, |line| out.push((line.bytes.to_vec(), line.cut)));
        }
        splitter.finish(|line| out.push((line.bytes.to_vec(), line.cut)));
        out
    }

    fn whole(text: &str) -> (Vec<u8>, bool) {
        (text.as_bytes().to_vec(), false)
    }

    #[test]
    fn carriage_returns_and_empty_lines() {
        let expected = vec![whole("a"), whole(""), whole("b\rc"), whole("d")];
        assert_eq!(lines(9, &[b"a\r\n\nb\rc\n", b"d"]), expected);
        assert_eq!(lines(9, &[b"a\r", b"\n\n", b"b\r", b"c\n", b"d"]), expected);
    }

    #[test]
    fn a_line_that_just_fits_is_whole_and_one_byte_more_is_cut() {
        assert_eq!(lines(3, &[b"abc\r", b"\nx"]), vec![whole("abc"), whole("x")]);
        assert_eq!(lines(3, &[b"abc", b"d\nx"]), vec![(b"abc".to_vec(), true), whole("x")]);
    }

    #[test]
    fn a_cut_line_comes_once_and_before_its_end() {
        let mut splitter = LineSplitter::new(4);
        let mut seen = 0;
        splitter.feed(b"aaaaaaaaaa", |line| {
            seen += 1;
            assert!(line.cut);
        });
        assert_eq!(seen, 1);
        splitter.feed(b"aaaa", |_| seen += 1);
        splitter.feed(b"aa\nnext\n", |line| {
            seen += 1;
            assert_eq!(line, Line { bytes: b"next", cut: false });
        });
        assert_eq!(seen, 2);
    }

    #[test]
    fn a_huge_line_needs_no_more_memory_than_the_cap() {
        let cap = 4 * 1024 * 1024;
        let mut splitter = LineSplitter::new(cap);
        let (chunk, mut seen, mut most) = (vec![b'x'; 64 * 1024], Vec::new(), 0);
        for _ in 0..512 {
            splitter.feed(&chunk, |line| seen.push((line.bytes.len(), line.cut)));
            most = most.max(splitter.partial.capacity());
        }
        splitter.feed(b"\nafter\n", |line| seen.push((line.bytes.len(), line.cut)));
        assert_eq!(seen, vec![(cap, true), (5, false)]);
        assert!(most <= cap + 2, "kept {most} bytes");
        assert!(splitter.partial.capacity() <= KEPT_CAPACITY);
    }
}
