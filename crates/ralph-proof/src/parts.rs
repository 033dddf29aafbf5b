//! Source files that hold both work and tests. Each format says whether the test part and the rest changed, and makes
//! the two mixtures that a room may need.

pub mod build_lines;
pub mod go_mod;
pub mod ini;
pub mod json;
pub mod makefile;
pub mod manifest;
pub mod python;
pub mod redirects;
pub mod rust;
pub mod toml;

/// A changed source file, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceSplit {
    /// Only code changed; the tests in it are the same.
    Work,
    /// Only tests changed.
    Oracle,
    /// Both.
    Both {
        /// The current code with the baseline's tests.
        without_oracle: String,
        /// The baseline's code with the current tests; none if the file did not exist.
        oracle_only: Option<String>,
    },
}
