//! Numbers of things in sentences.

use std::fmt::Display;

/// `1 file`, `3 files`: the number and its noun, for nouns whose plural ends in `s`.
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    let s = if n == N::from(1) { "" } else { "s" };
    format!("{n} {noun}{s}")
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_not_many() {
        let words = [counted(0_u32, "file"), counted(1_u64, "file"), counted(2_usize, "file")];
        assert_eq!(words, ["0 files", "1 file", "2 files"]);
    }
}
