//! Changes without a meaning: layout, comments and formatting of tests.

mod commas;
mod data;
mod python;
mod strings;
#[cfg(test)]
mod tests;
mod tokens;

use crate::language::{Language, language};

/// Whether both texts mean the same to the language of this path. False where that is not sure.
pub fn same_meaning(path: &[u8], before: &str, now: &str) -> bool {
    let language = language(path);
    match language {
        Language::Python => python::same_meaning(before, now),
        Language::Rust | Language::JavaScript | Language::Go | Language::C | Language::Java => {
            tokens::same_meaning(language, path, before, now)
        }
        Language::Json => data::same_json(before, now),
        Language::Toml => data::same_toml(before, now),
        Language::Yaml => data::same_yaml(before, now),
        _ => false,
    }
}

/// Comments that tell a tool something are no comments: what they say must stay.
fn tells_a_tool(comment: &str) -> bool {
    const WORDS: [&str; 22] = [
        "@", "eslint", "istanbul", "c8 ", "noqa", "type:", "pragma", "pylint", "go:", "+build", "nolint",
        "fmt:", "mypy", "pyright:", "ruff", "coding", "flake8", "utput:", "#!", "doctest", "export ",
        "#line",
    ];
    WORDS.iter().any(|word| comment.contains(word)) || comment.contains("NOLINT")
}
