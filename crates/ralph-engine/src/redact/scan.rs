//! The one walk over text that both `redact` and `Stream` use. What a place is judged to be depends only on the
//! bytes around it, never on how the text was cut into chunks: a place that cannot be judged yet is left for later.

use super::{Redactor, find, fresh::Before, shape::Verdict};

/// What one text leaves for the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Swallow {
    /// Bytes still to be left out at its start, because a secret reaches into it.
    bytes: usize,
    /// Secrets hidden so far.
    pub(super) found: u64,
}

/// What was found at a place.
enum Place<'r> {
    Clear,
    Open,
    Secret { keep: usize, len: usize, label: &'r [u8] },
}

impl Redactor {
    /// Gives the clean text from `from` on to `out`, and answers up to where the text is settled. `last` says that no
    /// text follows, so that all of it is.
    pub(super) fn scan(
        &self,
        text: &[u8],
        from: usize,
        last: bool,
        swallow: &mut Swallow,
        out: &mut impl FnMut(&[u8]),
    ) -> usize {
        let visible = if last { text.len() } else { starts_visible(text).max(from) };
        let mut stop = visible;
        let mut done = from + swallow.bytes;
        for at in self.finder.places(text, from).take_while(|at| *at < visible) {
            match self.judge(text, at, last, at < done) {
                Place::Clear => {}
                Place::Open => {
                    stop = at;
                    break;
                }
                Place::Secret { keep, len, label } => {
                    // Secrets that overlap are hidden together, under the name of the first.
                    if at >= done {
                        give(text, done, at + keep, out);
                        out(label);
                        swallow.found += 1;
                    }
                    done = done.max(at + len);
                }
            }
        }
        give(text, done, stop, out);
        swallow.bytes = done.saturating_sub(stop);
        stop
    }

    /// Inside a secret only known values are looked for: they alone can reach beyond its end.
    fn judge(&self, text: &[u8], at: usize, last: bool, inside: bool) -> Place<'_> {
        let before = Before::of(text, at);
        let text = text.get(at..).unwrap_or_default();
        let Some(rules) = text.first().and_then(|b| self.rules.get(usize::from(*b))) else {
            return Place::Clear;
        };
        let mut best: Option<(usize, &[u8])> = None;
        for known in rules.known.iter().filter_map(|n| self.known.get(*n)) {
            match known.judge(text, last) {
                Verdict::No => {}
                Verdict::More => return Place::Open,
                Verdict::Hit { len, .. } if best.is_some_and(|(longest, _)| longest >= len) => {}
                Verdict::Hit { len, .. } => best = Some((len, &known.label)),
            }
        }
        let shapes = if inside { &[] } else { rules.shapes.as_slice() };
        for (shape, label) in shapes {
            match (shape.judge(before, text, last), best) {
                (Verdict::No, _) => {}
                (Verdict::More, _) => return Place::Open,
                (Verdict::Hit { len, .. }, Some((longest, label))) => {
                    return Place::Secret { keep: 0, len: len.max(longest), label };
                }
                (Verdict::Hit { keep, len }, None) => return Place::Secret { keep, len, label },
            }
        }
        best.map_or(Place::Clear, |(len, label)| Place::Secret { keep: 0, len, label })
    }
}

/// Up to where every start of a secret would be seen whole: starts hold no line break.
fn starts_visible(text: &[u8]) -> usize {
    let sure = text.len().saturating_sub(find::START - 1);
    let tail = text.get(sure..).unwrap_or_default();
    memchr::memrchr(b'\n', tail).map_or(sure, |at| sure + at + 1)
}

fn give(text: &[u8], from: usize, to: usize, out: &mut impl FnMut(&[u8])) {
    if let Some(piece) = text.get(from..to)
        && !piece.is_empty()
    {
        out(piece);
    }
}
