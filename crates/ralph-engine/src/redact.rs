//! What must not be written down: known secret values and the shapes of keys, replaced by `[redacted:NAME]`.
//! A `Redactor` is built once per run; `redact` cleans a whole text, a `Stream` cleans output as it arrives.
//! Neighbours: `redact/env.rs` and `redact/files.rs` pick the values, `redact/shape.rs` is the table of shapes,
//! `redact/facts.rs` cleans what goes into the journal, `transcript.rs` writes what comes out of a stream.

mod base64;
mod encodings;
mod env;
mod env_files;
mod facts;
mod files;
mod find;
mod fresh;
mod known_values;
mod pem;
mod scan;
mod secret;
mod shape;
mod stream;

pub use env::secrets_in_env;
pub use env_files::secrets_in_env_files;
pub use files::{MOST, secrets_in_file};
pub use secret::Secret;
pub use stream::Stream;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use find::Finder;
use known_values::Known;
use scan::Swallow;
use shape::Shape;

/// Knows every secret of one run and finds them in output.
#[derive(Debug)]
pub struct Redactor {
    finder: Finder,
    known: Vec<Known>,
    /// What may start with each of the 256 bytes.
    rules: Vec<Rules>,
    /// What each name stands for, to give a resumed run its words back (`facts.rs`).
    names: Vec<(String, Secret)>,
}

/// The secrets that start with one byte.
#[derive(Debug, Default)]
struct Rules {
    /// Positions in the redactor's list.
    known: Vec<usize>,
    shapes: Vec<(&'static Shape, Vec<u8>)>,
}

impl Redactor {
    /// A redactor for these (name, value) pairs, beside all key shapes. Values too short to be told from ordinary
    /// text are left out.
    pub fn new<N: AsRef<str>, V: AsRef<[u8]>>(values: impl Iterator<Item = (N, V)>) -> Self {
        let values: Vec<(String, Secret)> = values
            .map(|(name, value)| (name.as_ref().to_owned(), Secret::new(value.as_ref().trim_ascii())))
            .collect();
        let known = known_values::all(values.iter().map(|(name, value)| (name, value)));
        let starts: Vec<_> = known.iter().map(Known::starts).collect();
        let finder = Finder::new(shape::starts().chain(starts.iter().flatten().map(Vec::as_slice)));
        let mut rules: Vec<Rules> = std::iter::repeat_with(Rules::default).take(256).collect();
        for (rule, byte) in rules.iter_mut().zip(0_u8..=255) {
            let shapes = shape::SHAPES.iter().filter(|shape| shape.may_start(byte));
            rule.shapes = shapes.map(|shape| (shape, label(shape.kind))).collect();
            let begins = |starts: &BTreeSet<Vec<u8>>| starts.iter().any(|s| s.first() == Some(&byte));
            rule.known = (0..known.len()).filter(|n| starts.get(*n).is_some_and(begins)).collect();
        }
        Self { finder, known, rules, names: named(values) }
    }

    /// Cleans a whole text; borrowed when there was nothing to hide.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.redact_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Only a known value that is not text itself can cut a character in two.
            Cow::Owned(clean) => Cow::Owned(text_of(clean)),
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

/// Labels that stand for one value only.
fn named(values: Vec<(String, Secret)>) -> Vec<(String, Secret)> {
    let mut all: BTreeMap<String, BTreeSet<Secret>> = BTreeMap::new();
    for (name, value) in values {
        all.entry(text_of(label(&name))).or_default().insert(value);
    }
    let single = all.into_iter().filter(|(_, values)| values.len() == 1);
    single.flat_map(|(label, values)| values.into_iter().map(move |value| (label.clone(), value))).collect()
}

fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// What is put in a secret's place. The name comes from outside, so it may not end a JSON string.
fn label(name: &str) -> Vec<u8> {
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name: String = name.chars().filter(plain).take(64).collect();
    format!("[redacted:{}]", if name.is_empty() { "secret" } else { &name }).into_bytes()
}
