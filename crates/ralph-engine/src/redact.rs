//! What must not be written down: known secret values and the shapes of keys, replaced by `[redacted:NAME]`.
//! A `Redactor` is built once per run; `redact` cleans a whole text, a `Stream` cleans output as it arrives.
//! Neighbours: `redact/env.rs` picks the values, `redact/shape.rs` is the table of shapes, `transcript.rs`
//! writes what comes out of here.

mod env;
mod find;
mod fresh;
mod known;
mod pem;
mod scan;
mod shape;
mod stream;

pub use env::secrets_in_env;
pub use stream::Stream;

use std::borrow::Cow;

use find::Finder;
use known::Known;
use scan::Swallow;
use shape::Shape;

/// Knows every secret of one run and finds them in output.
#[derive(Debug)]
pub struct Redactor {
    finder: Finder,
    /// What may start with each of the 256 bytes.
    rules: Vec<Rules>,
}

/// The secrets that start with one byte.
#[derive(Debug, Default)]
struct Rules {
    known: Vec<Known>,
    shapes: Vec<(&'static Shape, Vec<u8>)>,
}

impl Redactor {
    /// A redactor for these (name, value) pairs, beside all key shapes. Values too short to be told from ordinary
    /// text are left out.
    pub fn new<N: AsRef<str>, V: AsRef<[u8]>>(values: impl Iterator<Item = (N, V)>) -> Self {
        let known = known::forms(values);
        let finder = Finder::new(shape::starts().chain(known.iter().map(Known::start)));
        let mut rules: Vec<Rules> = std::iter::repeat_with(Rules::default).take(256).collect();
        for shape in shape::SHAPES {
            for place in
                rules.iter_mut().zip(0_u8..=255).filter_map(|(rule, b)| shape.may_start(b).then_some(rule))
            {
                place.shapes.push((shape, label(shape.kind)));
            }
        }
        for value in known {
            let first = value.start().first().copied().unwrap_or_default();
            if let Some(place) = rules.get_mut(usize::from(first)) {
                place.known.push(value);
            }
        }
        Self { finder, rules }
    }

    /// Cleans a whole text; borrowed when there was nothing to hide.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.redact_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Only a known value that is not text itself can cut a character in two.
            Cow::Owned(clean) => Cow::Owned(
                String::from_utf8(clean)
                    .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()),
            ),
        }
    }

    /// Cleans a whole text of any bytes; borrowed when there was nothing to hide.
    pub fn redact_bytes<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let mut clean = Vec::new();
        self.scan(text, 0, true, &mut Swallow::default(), &mut |piece| {
            // Where nothing is found the text itself comes back whole, and need not be copied.
            if !std::ptr::eq(piece, text) {
                clean.extend_from_slice(piece);
            }
        });
        if clean.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(clean) }
    }

    /// Cleans output as it arrives.
    pub fn stream(&self) -> Stream<'_> {
        Stream::new(self)
    }
}

/// What is put in a secret's place. The name comes from outside, so it may not end a JSON string.
fn label(name: &str) -> Vec<u8> {
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name: String = name.chars().filter(plain).take(64).collect();
    format!("[redacted:{}]", if name.is_empty() { "secret" } else { &name }).into_bytes()
}
