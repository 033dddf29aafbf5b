//! A JSON text as a tree that knows where each value lies in it. The text was found valid before, with a bounded depth;
//! what is unexpected here ends the reading and is never guessed.

/// A value and its bytes.
#[derive(Debug)]
pub(super) struct Node {
    pub from: usize,
    pub to: usize,
    pub kind: Kind,
}

/// What kind of value.
#[derive(Debug)]
pub(super) enum Kind {
    Object(Vec<(String, Node)>),
    Array(Vec<Node>),
    Other,
}

impl Node {
    /// The whole text as one value.
    pub fn parse(bytes: &[u8]) -> Option<Node> {
        Reader { bytes, at: 0 }.value()
    }

    /// The field of this name; the last one counts.
    pub fn field(&self, name: &str) -> Option<&Node> {
        self.fields().iter().rev().find(|(key, _)| key == name).map(|(_, node)| node)
    }

    pub fn fields(&self) -> &[(String, Node)] {
        if let Kind::Object(fields) = &self.kind { fields } else { &[] }
    }

    pub fn elements(&self) -> &[Node] {
        if let Kind::Array(elements) = &self.kind { elements } else { &[] }
    }

    /// Its value.
    pub fn value(&self, bytes: &[u8]) -> serde_json::Value {
        let text = bytes.get(self.from..self.to).unwrap_or_default();
        serde_json::from_slice(text).unwrap_or_default()
    }

    /// A text as it is, a number as it is written; anything else is empty.
    pub fn words(&self, bytes: &[u8]) -> String {
        match self.value(bytes) {
            serde_json::Value::String(text) => text,
            serde_json::Value::Number(number) => number.to_string(),
            _ => String::new(),
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn value(&mut self) -> Option<Node> {
        self.space();
        let from = self.at;
        let kind = match self.bytes.get(self.at)? {
            b'{' => Kind::Object(self.list(b'}', Reader::member)?),
            b'[' => Kind::Array(self.list(b']', Reader::value)?),
            b'"' => {
                self.string()?;
                Kind::Other
            }
            _ => {
                let plain = |b: &&u8| !matches!(b, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n');
                self.at += self.bytes.get(self.at..)?.iter().take_while(plain).count();
                Kind::Other
            }
        };
        (self.at > from).then_some(Node { from, to: self.at, kind })
    }

    /// Elements between brackets, separated by commas.
    fn list<T>(&mut self, end: u8, element: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let mut all = Vec::new();
        self.at += 1;
        loop {
            self.space();
            match self.bytes.get(self.at)? {
                b',' => self.at += 1,
                byte if *byte == end => {
                    self.at += 1;
                    return Some(all);
                }
                _ => all.push(element(self)?),
            }
        }
    }

    fn member(&mut self) -> Option<(String, Node)> {
        let from = self.at;
        self.string()?;
        let name = serde_json::from_slice(self.bytes.get(from..self.at)?).ok()?;
        self.space();
        (self.bytes.get(self.at)? == &b':').then(|| self.at += 1)?;
        Some((name, self.value()?))
    }

    fn string(&mut self) -> Option<()> {
        (self.bytes.get(self.at)? == &b'"').then_some(())?;
        self.at += 1;
        loop {
            match self.bytes.get(self.at)? {
                b'"' => break self.at += 1,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        Some(())
    }

    fn space(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }
}
