//! What was probably meant: the known word nearest to a mistyped one. Every suggestion comes from here, apart from words
//! of other tools (`cli/other_tools.rs`).

/// The nearest of the known words, if it is near: one slip of the fingers, less than a third of the letters, or the rest of
/// the word is missing. A word that merely looks similar is no help.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let folded = typed.to_lowercase();
    let length = folded.chars().count();
    let slips = |name: &str| {
        let name = name.to_lowercase();
        let slips = strsim::osa_distance(&folded, &name);
        let near = slips * 3 < length.max(name.chars().count());
        (near || length > 2 && (slips <= 1 || name.starts_with(&folded))).then_some(slips)
    };
    let near = known.into_iter().filter_map(|name| Some((slips(name)?, name)));
    near.min_by_key(|(slips, _)| *slips).map(|(_, name)| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_offered_and_far_ones_are_not() {
        let known = ["max_iterations", "max_cost_usd", "timeout"];
        for (typed, meant) in [
            ("max_iteration", Some("max_iterations")),
            ("max_cost", Some("max_cost_usd")),
            ("Timeout", Some("timeout")),
            ("xyz", None),
            ("tmieout", Some("timeout")),
            ("", None),
        ] {
            assert_eq!(nearest(typed, known).as_deref(), meant, "{typed}");
        }
        assert_eq!(nearest("rnu", ["man", "run"]).as_deref(), Some("run"));
        assert_eq!(nearest("x", []), None);
        for (typed, similar) in
            [("version", "verify"), ("deploy", "replay"), ("login", "logs"), ("reset", "resume")]
        {
            assert_eq!(nearest(typed, [similar]), None, "{typed}");
        }
    }
}
