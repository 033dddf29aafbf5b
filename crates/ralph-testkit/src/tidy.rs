//! Makes output comparable: whatever differs from run to run becomes a mark.

use regex::Regex;
use std::sync::OnceLock;

/// What is replaced, in this order, and by what.
const MARKS: [(&str, &str); 8] = [
    (r"(/private)?(/var/folders/[^\s/]+/[^\s/]+/T|/tmp)/\.tmp[A-Za-z0-9]{6}", "<tmp>"),
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<uuid>"),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?(\[[A-Za-z_/]+\])?", "<time>"),
    (r#"("[a-z_A-Z]*(?:_ms|_seconds|Seconds)": ?)-?\d+(\.\d+)?([eE][+-]?\d+)?"#, "$1<duration>"),
    (r"\b1[0-9]{12}\b", "<time>"),
    (r"\b[0-9a-f]{8}\b", "<id>"),
    (r"\b\d\d?:\d\d:\d\d(\.\d+)?\b", "<time>"),
    (r"\b(\d+(\.\d+)? ?(h|m|min|s|ms|µs|us)\b ?)*\d+(\.\d+)? ?(h|m|min|s|ms|µs|us)\b", "<duration>"),
];

/// The output with temporary paths, ids, times and durations replaced by `<tmp>`, `<uuid>`, `<id>`, `<time>`,
/// `<duration>`. A word of eight hexadecimal digits counts as a short id.
pub fn tidy(output: &str) -> String {
    static RULES: OnceLock<Vec<(Regex, &str)>> = OnceLock::new();
    let rules = RULES.get_or_init(|| {
        MARKS.iter().map(|(pattern, mark)| (Regex::new(pattern).expect("a good pattern"), *mark)).collect()
    });
    rules.iter().fold(output.to_owned(), |text, (rule, mark)| rule.replace_all(&text, *mark).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_becomes_a_mark_and_the_rest_stays() {
        let table = [
            ("run 0198f3c2-7a1b-7c3d-8e4f-0123456789ab (456789ab)", "run <uuid> (<id>)"),
            ("at 2026-11-15T06:05:29.926Z or 2026-11-15 06:05", "at <time> or <time>"),
            ("took 1m 02s, 350 ms, 0.4s; at 06:05:29", "took <duration>, <duration>, <duration>; at <time>"),
            ("in /tmp/.tmpAb3dE6/workspace/a.rs", "in <tmp>/workspace/a.rs"),
            (
                r#"{"durationSeconds":512.4,"at":1794722729926}"#,
                r#"{"durationSeconds":<duration>,"at":<time>}"#,
            ),
            ("3 iterations, $0.40 of $1.00, exit 64", "3 iterations, $0.40 of $1.00, exit 64"),
            ("3 files, 12 more, 5 steps", "3 files, 12 more, 5 steps"),
        ];
        for (before, after) in table {
            assert_eq!(tidy(before), after);
        }
    }
}
