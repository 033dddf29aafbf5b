//! The system's errors as a reader is told them.

use std::io;

/// What the system says of an error, without its number.
#[must_use]
pub fn in_words(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error ").map_or(text.clone(), |(words, _)| words.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_without_its_number() {
        assert_eq!(in_words(&io::Error::from_raw_os_error(2)), "No such file or directory");
        assert_eq!(in_words(&io::Error::other("its own words")), "its own words");
    }
}
