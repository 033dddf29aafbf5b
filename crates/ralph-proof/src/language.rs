//! The language of a file, by its name.

/// Languages whose text is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    Python,
    Rust,
    JavaScript,
    Go,
    C,
    /// Java and what looks like it: Kotlin, C#, Swift, Scala, Dart, PHP.
    Java,
    Ruby,
    Perl,
    Shell,
    Make,
    Json,
    Toml,
    Yaml,
    Markup,
    Other,
}

/// The language of the file at this path.
pub fn language(path: &[u8]) -> Language {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    let Some((stem, extension)) = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) else {
        return match name.as_str() {
            "makefile" | "gnumakefile" | "justfile" => Language::Make,
            _ => Language::Other,
        };
    };
    match extension {
        "py" | "pyi" | "pyx" => Language::Python,
        "rs" => Language::Rust,
        "js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx" | "vue" | "svelte" => {
            Language::JavaScript
        }
        "go" => Language::Go,
        "c" | "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" | "m" | "mm" => Language::C,
        "java" | "kt" | "kts" | "cs" | "swift" | "scala" | "dart" | "php" | "groovy" => Language::Java,
        "rb" => Language::Ruby,
        "pl" | "pm" | "t" => Language::Perl,
        "sh" | "bash" | "zsh" | "ksh" | "bats" => Language::Shell,
        "mk" | "mak" | "just" => Language::Make,
        "json" => Language::Json,
        "lock" if stem == "cargo" => Language::Toml,
        "toml" => Language::Toml,
        "yaml" | "yml" => Language::Yaml,
        "md" | "markdown" | "rst" | "adoc" => Language::Markup,
        _ => Language::Other,
    }
}
