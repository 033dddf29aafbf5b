//! What was probably meant: the known word nearest to a mistyped one. Every suggestion comes from here.

/// The nearest of the known words, if it is near: one slip of the fingers always is.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let folded = typed.to_lowercase();
    let near = |name: &str| {
        let slip = folded.chars().count() > 2 && strsim::osa_distance(&folded, name) <= 1;
        if slip { 1.0 } else { strsim::jaro_winkler(&folded, name) }
    };
    let scored = known.into_iter().map(|name| (near(&name.to_lowercase()), name));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (best.0 > 0.75).then(|| best.1.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_offered_and_far_ones_are_not() {
        let known = ["max_iterations", "max_cost_usd", "timeout"];
        for (typed, meant) in [
            ("max_iteration", Some("max_iterations")),
            ("Timeout", Some("timeout")),
            ("xyz", None),
            ("tmieout", Some("timeout")),
            ("", None),
        ] {
            assert_eq!(nearest(typed, known).as_deref(), meant, "{typed}");
        }
        assert_eq!(nearest("rnu", ["man", "run"]).as_deref(), Some("run"));
        assert_eq!(nearest("x", []), None);
    }
}
