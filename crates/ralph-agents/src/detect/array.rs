//! A JSON array too long to be held whole, cut into its objects as its bytes come. It looks only at strings and
//! brackets: whether an object is good JSON is the reader's business. `offline_reader.rs` uses it.

use memchr::memchr2;

/// Where in the array the bytes are.
#[derive(Debug, Default)]
pub struct Array {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The beginning of the object that goes on in the next piece.
    begun: Vec<u8>,
    closed: bool,
    broken: bool,
}

impl Array {
    /// Reads on; every object that is complete goes to `each`. One longer than `most` comes cut.
    pub fn feed(&mut self, bytes: &[u8], most: usize, each: &mut dyn FnMut(&[u8])) {
        let mut at = 0;
        let mut from = 0;
        while let Some(byte) = bytes.get(at) {
            if self.in_string {
                at = self.string_end(bytes, at);
                continue;
            }
            match byte {
                _ if self.closed => self.broken |= !byte.is_ascii_whitespace(),
                b'"' => self.in_string = true,
                b'{' | b'[' => {
                    if self.depth == 1 {
                        from = at;
                    }
                    self.depth += 1;
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.closed = self.depth == 0;
                    if self.depth == 1 {
                        self.complete(bytes.get(from..=at).unwrap_or_default(), most, each);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        if self.depth > 1 {
            self.keep(bytes.get(from..).unwrap_or_default(), most);
        }
    }

    /// Was it one whole array with nothing after it?
    pub fn is_whole(&self) -> bool {
        self.closed && !self.broken
    }

    /// Does something follow its end?
    pub fn is_broken(&self) -> bool {
        self.broken
    }

    /// Passes over a string's inside from `at`; gives the place after what was passed.
    fn string_end(&mut self, bytes: &[u8], at: usize) -> usize {
        if std::mem::take(&mut self.escaped) {
            return at + 1;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let Some(found) = memchr2(b'"', b'\\', rest) else { return bytes.len() };
        self.escaped = rest.get(found) == Some(&b'\\');
        self.in_string = self.escaped;
        at + found + 1
    }

    fn complete(&mut self, end: &[u8], most: usize, each: &mut dyn FnMut(&[u8])) {
        if self.begun.is_empty() {
            return each(end);
        }
        self.keep(end, most);
        each(&self.begun);
        self.begun.clear();
    }

    fn keep(&mut self, piece: &[u8], most: usize) {
        let room = most.saturating_sub(self.begun.len()).min(piece.len());
        self.begun.extend_from_slice(piece.get(..room).unwrap_or(piece));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, piece: usize) -> (Vec<String>, bool) {
        let mut array = Array::default();
        let mut found = Vec::new();
        for bytes in text.as_bytes().chunks(piece) {
            array.feed(bytes, 100, &mut |object| found.push(String::from_utf8(object.to_vec()).unwrap()));
        }
        (found, array.is_whole())
    }

    #[test]
    fn objects_come_one_by_one_wherever_the_pieces_are_cut() {
        let text = r#" [ {"a":[1,{"b":"]}\"\\"}]}, 7, "x{", [2], {} , {"é":null}] "#;
        let objects = [r#"{"a":[1,{"b":"]}\"\\"}]}"#, "[2]", "{}", r#"{"é":null}"#];
        for piece in 1..=text.len() {
            assert_eq!(cut(text, piece), (objects.map(str::to_owned).to_vec(), true), "{piece}");
        }
    }

    #[test]
    fn what_is_no_array_is_not_whole() {
        for text in ["", "[", "[{}", "[{]", "[{}] x", "[\"", "[{}]]"] {
            assert!(!cut(text, 3).1, "{text}");
        }
    }

    #[test]
    fn an_endless_object_does_not_grow_the_memory() {
        let (found, whole) = cut(&format!("[{{\"a\":\"{}\"}},{{}}]", "x".repeat(1000)), 7);
        assert_eq!((found.len(), found[0].len(), whole), (2, 100, true));
    }
}
