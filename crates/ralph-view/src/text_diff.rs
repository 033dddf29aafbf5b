//! Two texts as a unified diff.

use similar::TextDiff;
use std::time::Duration;

/// Beyond this time the diff is still right, but may not be the shortest.
const EXACT: Duration = Duration::from_millis(500);

/// The lines that differ, below the names of both; nothing if none does.
pub fn text_diff((before, from): (&str, &str), (after, to): (&str, &str)) -> String {
    let diff = TextDiff::configure().timeout(EXACT).diff_lines(before, after);
    diff.unified_diff().context_radius(3).header(from, to).to_string()
}

#[cfg(test)]
mod tests {
    use super::text_diff;

    #[test]
    fn lines_that_differ_are_shown_and_no_others() {
        let shown = text_diff(("a\nb\n", "now"), ("a\nc\n", "then"));
        assert_eq!(shown, "--- now\n+++ then\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(text_diff(("a\n", "now"), ("a\n", "then")), "");
    }
}
