//! Build files in languages of their own (Gradle, Maven, CMake, Meson …): a change of lines that speak of tests belongs
//! to the oracle. They are not taken apart.

use super::manifest::ManifestSplit;

const WORDS: [&str; 16] = [
    "test",
    "skip",
    "surefire",
    "failsafe",
    "ignorefailures",
    "exclude",
    "check",
    "coverage",
    "assert",
    "expect",
    "verif",
    "jacoco",
    "junit",
    "ndebug",
    "|| true",
    "lint",
];

/// Whether a text speaks of tests.
pub fn speaks_of_tests(text: &str) -> bool {
    let low = text.to_ascii_lowercase();
    WORDS.iter().any(|word| low.contains(word))
}

/// Whether the lines that speak of tests are the same.
pub fn split(before: &str, now: &str) -> ManifestSplit {
    let part = |text: &str| -> Vec<String> {
        text.lines().map(str::trim).filter(|line| speaks_of_tests(line)).map(str::to_owned).collect()
    };
    if part(before) == part(now) { ManifestSplit::Rest } else { ManifestSplit::Oracle }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_about_tests() {
        let old = "<project>\n  <dependencies/>\n</project>\n";
        let more = old.replace("<dependencies/>", "<dependencies>x</dependencies>");
        assert_eq!(split(old, &more), ManifestSplit::Rest);
        let skips = old.replace("<dependencies/>", "<skipTests>true</skipTests>");
        assert_eq!(split(old, &skips), ManifestSplit::Oracle);
        assert_eq!(split("enable_testing()\n", ""), ManifestSplit::Oracle);
    }
}
