//! `go.mod`: a module replaced by a directory of the workspace is not what the tests were written against.

use std::collections::BTreeSet;

use super::manifest::ManifestSplit;

/// Whether a module is replaced by a directory, or what was replaced is not any more.
pub fn split(before: &str, now: &str) -> ManifestSplit {
    let (was, is) = (local_replacements(before), local_replacements(now));
    // A module that was not used before is not swapped: it is new.
    let swapped = |(from, to): &(&str, &str)| {
        !was.contains(&(*from, *to))
            && from.split_whitespace().next().is_some_and(|module| before.contains(module))
    };
    if was.is_subset(&is) && !is.iter().any(swapped) { ManifestSplit::Rest } else { ManifestSplit::Oracle }
}

fn local_replacements(text: &str) -> BTreeSet<(&str, &str)> {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
    let replaced = lines.filter_map(|line| line.split_once("=>"));
    let replaced = replaced.map(|(from, to)| (from.trim().trim_start_matches("replace").trim(), to.trim()));
    replaced.filter(|(_, to)| to.starts_with(['.', '/'])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaced_modules() {
        let old = "module a\nrequire x v1\n";
        assert_eq!(split(old, "module a\nrequire x v2\nreplace y => z v1\n"), ManifestSplit::Rest);
        assert_eq!(split(old, "module a\nrequire x v1\nreplace x => ./x\n"), ManifestSplit::Oracle);
        assert_eq!(
            split(old, "module a\nrequire x v1\nrequire new v0\nreplace new => ./new\n"),
            ManifestSplit::Rest
        );
        assert_eq!(
            split(old, "module a\nrequire x v1\nreplace (\n\tx v1 => ../x // y\n)\n"),
            ManifestSplit::Oracle
        );
    }
}
