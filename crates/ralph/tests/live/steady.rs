//! What differs from run to run, taken out of what was printed: ids, hashes, durations, times of day and dates. Everything
//! else must be the same. The same id gets the same name, so that one in the wrong place is noticed.

use regex::{Captures, Regex};

/// The texts without what differs; ids are named over all of them.
pub fn steady<S: AsRef<str>>(texts: &[S]) -> Vec<String> {
    let mut ids = Ids::new();
    texts.iter().map(|text| times(&ids.named(text.as_ref()))).collect()
}

fn times(text: &str) -> String {
    let rules = [
        (r"\b\d{4}-\d\d-\d\d\b", "DATE"),
        (r"\b\d\d?:\d\d(:\d\d)?([ap]m)?\b|\b\d\d?[ap]m\b", "CLOCK"),
        (r"\b(\d+m ?)?\d+(\.\d+)?m?s\b|\b\d+m\b", "TIME"),
        // A column of seconds.
        (r"\| \d+\.\d \|", "| TIME |"),
    ];
    rules.iter().fold(text.to_owned(), |text, (pattern, name)| {
        Regex::new(pattern).unwrap().replace_all(&text, *name).into_owned()
    })
}

/// The ids seen so far. Runs are named by the end of an id, commits by the beginning of a hash of any length.
struct Ids {
    seen: Vec<String>,
    pattern: Regex,
}

impl Ids {
    fn new() -> Ids {
        let uuid = r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{4}(?<run>[0-9a-f]{8})\b";
        let hash = [64, 40, 32, 16, 12, 8, 7].map(|length| format!("[0-9a-f]{{{length}}}")).join("|");
        let pattern = format!(r"{uuid}|\b(?<hash>{hash})\b");
        Ids { seen: Vec::new(), pattern: Regex::new(&pattern).unwrap() }
    }

    fn named(&mut self, text: &str) -> String {
        let Ids { seen, pattern } = self;
        let name = |found: &Captures<'_>| {
            let id = found.name("run").or(found.name("hash")).unwrap().as_str();
            let head = &id[..7];
            let at = seen.iter().position(|known| known == head).unwrap_or_else(|| {
                seen.push(head.to_owned());
                seen.len() - 1
            });
            format!("ID{at}")
        };
        pattern.replace_all(text, name).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_taken_out() {
        let one = ["Run 1cfbcf4c: a61359e888bc, 0.7s", "a61359e at 14:49:29, resets 2:49pm, 2026-11-16"];
        let other = ["Run e81bf46c: ccd5e1e2732d, 1m 12s", "ccd5e1e at 07:00:01, resets 3pm, 2027-01-01"];
        assert_eq!(steady(&one), steady(&other));
        assert_eq!(steady(&["x/01a1e4d6-4ed6-74e6-a4e2-a3bc1cfbcf4c/001.1 1cfbcf4c"]), ["x/ID0/001.1 ID0"]);
    }

    #[test]
    fn what_does_not_differ_is_kept() {
        let said = "2 of 10, $0.0499 of $5.00, 1 file changed: slug.py (15 min per call)";
        assert_eq!(steady(&[said]), [said]);
        assert_ne!(steady(&["run 1cfbcf4c", "run 1cfbcf4c"]), steady(&["run 1cfbcf4c", "run e81bf46c"]));
        assert_ne!(steady(&["verification passed"]), steady(&["verification failed"]));
    }
}
