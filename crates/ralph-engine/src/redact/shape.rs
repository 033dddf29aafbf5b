//! The shapes of keys, one row each: how it starts, what it is made of, how long it is at least. A new kind of key
//! is a row here and a line in the table of `tests/redact.rs`.
//!
//! A shape only counts at the start of a word, and then takes the whole word: so every byte is looked at once per
//! shape at most, however hostile the output.

use super::{
    fresh::{Before, is_word},
    pem,
};

/// A longer run of key letters is cut here, so that a stream never has to hold more.
const LONGEST: usize = 4096;

/// What a place in the text is, as far as the text goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// No secret starts here.
    No,
    /// The text ends before it can be said.
    More,
    /// A secret of `len` bytes, of which the first `keep` may stay.
    Hit { keep: usize, len: usize },
}

/// One kind of key.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) kind: &'static str,
    starts: &'static [&'static str],
    body: Body,
    least: usize,
}

/// What follows the start.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Body {
    /// Letters, digits, `_` and `-`.
    Word,
    /// The same, and somewhere a stretch that no word or name would hold (see `is_dense`).
    Dense,
    /// Letters and digits, dense.
    Plain,
    /// Upper-case letters and digits.
    Upper,
    /// A word, a dot, more words and dots.
    Dotted,
    /// The credentials of an HTTP header, dense. The start stays, being only a word.
    Bearer,
    /// The credentials after `Authorization: Basic`. The start stays.
    Basic,
    /// The rest of a secret address. The start stays.
    Path,
    /// Lines of a key up to its END line.
    Pem,
}

const fn row(kind: &'static str, starts: &'static [&'static str], body: Body, least: usize) -> Shape {
    Shape { kind, starts, body, least }
}

/// Every shape; where two fit the first is taken.
pub(super) const SHAPES: &[Shape] = &[
    row("anthropic-key", &["sk-ant-"], Body::Dense, 20),
    row("api-key", &["sk-"], Body::Dense, 20),
    row("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], Body::Word, 30),
    row("github-token", &["github_pat_"], Body::Word, 22),
    row("gitlab-token", &["glpat-", "gldt-", "glrt-", "glptt-", "glsoat-"], Body::Word, 20),
    row("aws-key", &["AKIA", "ASIA"], Body::Upper, 16),
    row("google-key", &["AIza"], Body::Word, 30),
    row("google-key", &["GOCSPX-", "ya29."], Body::Word, 20),
    row(
        "slack-token",
        &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-"],
        Body::Dense,
        16,
    ),
    row("slack-webhook", &["hooks.slack.com/services/", r"hooks.slack.com\/services\/"], Body::Path, 20),
    row("stripe-key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"], Body::Plain, 16),
    row("npm-token", &["npm_"], Body::Plain, 30),
    row("pypi-token", &["pypi-"], Body::Dense, 50),
    row("huggingface-token", &["hf_"], Body::Plain, 30),
    row("docker-token", &["dckr_pat_"], Body::Word, 20),
    row("api-key", &["xai-", "gsk_", "pplx-", "nvapi-"], Body::Dense, 40),
    row("sendgrid-key", &["SG."], Body::Dotted, 16),
    row("age-key", &["AGE-SECRET-KEY-1"], Body::Upper, 50),
    row("jwt", &["eyJ"], Body::Dotted, 10),
    row("bearer", &["Bearer ", "bearer ", "BEARER "], Body::Bearer, 16),
    row("basic", &["Basic ", "basic "], Body::Basic, 8),
    row("private-key", &["BEGIN "], Body::Pem, 0),
];

/// The starts of all shapes.
pub(super) fn starts<'s>() -> impl Iterator<Item = &'s [u8]> {
    SHAPES.iter().flat_map(|shape| shape.starts).map(|start| start.as_bytes())
}

impl Shape {
    /// Whether a key of this shape may start with this byte.
    pub(super) fn may_start(&self, byte: u8) -> bool {
        self.starts.iter().any(|start| start.as_bytes().first() == Some(&byte))
    }

    /// Whether the text starts with a key of this shape; `before` is what precedes it.
    pub(super) fn judge(&self, before: Before<'_>, text: &[u8], last: bool) -> Verdict {
        let placed = match self.body {
            Body::Pem => before.is_dashes(),
            Body::Basic => before.is_authorization(),
            _ => before.starts_word,
        };
        let start = self.starts.iter().find(|start| placed && text.starts_with(start.as_bytes()));
        let Some((start, body)) = start.and_then(|start| Some((start.len(), text.get(start.len()..)?)))
        else {
            return Verdict::No;
        };
        let keep = if self.body.has_slashes() { start } else { 0 };
        match self.body_length(body, last) {
            Length::None => Verdict::No,
            Length::More => Verdict::More,
            Length::Of(len) => Verdict::Hit { keep, len: start + len },
        }
    }

    fn body_length(&self, text: &[u8], last: bool) -> Length {
        match self.body {
            Body::Pem => pem::length(text, last),
            Body::Dotted => dotted(text, self.least, last),
            body => {
                let len = run(text, |rest| body.step(rest));
                let (found, rest) = text.split_at(len);
                // A lone backslash may be the first half of an escaped slash.
                if (rest.is_empty() || (rest == b"\\" && body.has_slashes())) && len < LONGEST && !last {
                    return Length::More;
                }
                let dense = !matches!(body, Body::Dense | Body::Plain | Body::Bearer) || is_dense(found);
                if len >= self.least && dense { Length::Of(len) } else { Length::None }
            }
        }
    }
}

/// How long the body of a key is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Length {
    None,
    More,
    Of(usize),
}

impl Body {
    /// How many bytes of the key come next: none, one, or the two of an escaped slash.
    fn step(self, rest: &[u8]) -> usize {
        let Some(b) = rest.first() else { return 0 };
        let one = match self {
            Self::Word | Self::Dense | Self::Dotted | Self::Pem => is_word(*b),
            Self::Plain => b.is_ascii_alphanumeric(),
            Self::Upper => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Self::Bearer | Self::Basic => b.is_ascii_alphanumeric() || b"._~+/=-".contains(b),
            Self::Path => b.is_ascii_alphanumeric() || *b == b'/',
        };
        if self.has_slashes() && rest.starts_with(br"\/") { 2 } else { usize::from(one) }
    }

    fn has_slashes(self) -> bool {
        matches!(self, Self::Bearer | Self::Basic | Self::Path)
    }
}

fn run(text: &[u8], step: impl Fn(&[u8]) -> usize) -> usize {
    let mut len = 0;
    while len < LONGEST {
        match step(text.get(len..).unwrap_or_default()) {
            0 => break,
            n => len += n,
        }
    }
    len
}

/// A web token or its like: a first word of some length, then a dot and at least as much again.
fn dotted(text: &[u8], least: usize, last: bool) -> Length {
    let first = run(text, |rest| usize::from(rest.first().is_some_and(|b| is_word(*b))));
    let rest = text.get(first..).unwrap_or_default();
    if rest.is_empty() && first < LONGEST && !last {
        return Length::More;
    }
    if first < least || first >= LONGEST || rest.first() != Some(&b'.') {
        return Length::None;
    }
    let more = run(rest, |rest| usize::from(rest.first().is_some_and(|b| is_word(*b) || *b == b'.')));
    if more == rest.len() && more < LONGEST && !last {
        Length::More
    } else if more > least {
        Length::Of(first + more)
    } else {
        Length::None
    }
}

/// Twelve letters and digits in a row, with both among them: names are shorter or lack digits.
fn is_dense(word: &[u8]) -> bool {
    word.split(|b| !b.is_ascii_alphanumeric()).any(|stretch| {
        stretch.len() >= 12
            && stretch.iter().any(u8::is_ascii_digit)
            && stretch.iter().any(u8::is_ascii_alphabetic)
    })
}
