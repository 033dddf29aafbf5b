//! A header of requests that ralph sends: its value may be a secret, so it can be kept in a variable or in a file of its
//! own instead of in the configuration.

use super::kind::Mismatch;
use crate::env::others_may_read;
use ralph_engine::redact::Secret;
use ralph_os::{Links, read_regular};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Value;

/// Headers that belong to the request itself.
const RESERVED: [&str; 5] = ["content-type", "content-length", "host", "connection", "transfer-encoding"];
/// Longest value of a header.
const LONGEST: u64 = 8 << 10;

/// Headers by name.
pub type Headers = BTreeMap<String, HeaderValue>;

/// Where the value of a header comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeaderValue {
    /// The configuration itself.
    Text(Secret),
    /// `env:NAME`: a variable, when a request is sent.
    Variable(String),
    /// `file:PATH`: a file, when a request is sent; `PATH` is relative to the directory of the config file.
    File(PathBuf),
}

impl HeaderValue {
    fn parse(text: &str) -> HeaderValue {
        match text.split_once(':') {
            Some(("env", name)) => HeaderValue::Variable(name.into()),
            Some(("file", path)) => HeaderValue::File(path.into()),
            _ => HeaderValue::Text(Secret::new(text)),
        }
    }

    /// The value as it may be shown: where it comes from, or nothing.
    pub fn shown(value: &Value) -> Value {
        match value.as_str().map(HeaderValue::parse) {
            Some(HeaderValue::Variable(_) | HeaderValue::File(_)) => value.clone(),
            _ => Value::String("[hidden]".into()),
        }
    }

    /// The value itself, or why there is none.
    pub fn read(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Secret, String> {
        let (text, place) = match self {
            HeaderValue::Text(secret) => return Ok(secret.clone()),
            HeaderValue::Variable(name) => {
                let value = variable(name).ok_or_else(|| format!("the variable {name} is not set"))?;
                (value, format!("the variable {name}"))
            }
            HeaderValue::File(path) => {
                let place = path.display().to_string();
                let bytes = read_regular(path, LONGEST, Links::Follow)
                    .map_err(|error| format!("{place} cannot be read: {error}"))?;
                if others_may_read(path) {
                    return Err(format!("{place} can be read by others; `chmod 600` it"));
                }
                (String::from_utf8(bytes).map_err(|_| format!("{place} is not UTF-8 text"))?, place)
            }
        };
        // Editors end a file with a newline.
        let text = text.trim();
        if is_value(text) {
            Ok(Secret::new(text))
        } else {
            Err(format!("{place} does not hold one line of text"))
        }
    }
}

/// The headers with their files looked for beside the config file.
pub fn beside(headers: Headers, file: Option<&Path>) -> Headers {
    let directory = file.and_then(Path::parent);
    let place = |value| match (value, directory) {
        (HeaderValue::File(path), Some(directory)) => HeaderValue::File(directory.join(path)),
        (value, _) => value,
    };
    headers.into_iter().map(|(name, value)| (name, place(value))).collect()
}

/// Headers of a table; none where it is not a table of texts.
pub fn headers(value: &Value) -> Option<Result<Headers, Mismatch>> {
    let mut found = Headers::new();
    for (name, value) in value.as_table()? {
        let text = value.as_str()?;
        let lower = name.to_ascii_lowercase();
        let wrong = match HeaderValue::parse(text) {
            _ if !is_name(name) => Some(format!("contains {name:?}, which is not the name of a header")),
            _ if RESERVED.contains(&lower.as_str()) => {
                Some(format!("contains {name}, which ralph sets itself"))
            }
            _ if found.keys().any(|known| known.eq_ignore_ascii_case(name)) => {
                Some(format!("contains {name} twice"))
            }
            HeaderValue::Variable(name) if name.is_empty() || name.contains('=') => {
                Some("contains env: without the name of a variable".into())
            }
            HeaderValue::File(path) if path.as_os_str().is_empty() => {
                Some("contains file: without a path".into())
            }
            HeaderValue::Text(_) if !is_value(text) => {
                Some(format!("contains {name} without one line of text"))
            }
            _ => None,
        };
        if let Some(wrong) = wrong {
            return Some(Err(Mismatch::new(wrong)));
        }
        found.insert(name.clone(), HeaderValue::parse(text));
    }
    Some(Ok(found))
}

fn is_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.bytes().all(plain)
}

fn is_value(text: &str) -> bool {
    !text.trim().is_empty() && text.bytes().all(|b| b == b' ' || b.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn read(toml: &str) -> Result<Headers, String> {
        let value = toml.parse::<toml::Table>().unwrap().remove("headers").unwrap();
        headers(&value)
            .unwrap_or_else(|| Err(Mismatch::new("not a table of texts")))
            .map_err(|wrong| wrong.what)
    }

    #[test]
    fn a_value_is_text_or_the_place_it_is_kept_in() {
        let found = read("headers = { A = \"Bearer x:y\", B = \"env:TOKEN\", C = \"file:token\" }").unwrap();
        assert_eq!(found["A"], HeaderValue::Text(Secret::new("Bearer x:y")));
        assert_eq!(found["B"], HeaderValue::Variable("TOKEN".into()));
        let found = beside(found, Some(Path::new("/home/ada/.config/ralph/config.toml")));
        assert_eq!(found["C"], HeaderValue::File("/home/ada/.config/ralph/token".into()));
        assert!(!format!("{found:?}").contains("Bearer"));
    }

    #[test]
    fn what_is_no_header_is_refused_without_repeating_a_value() {
        for (toml, what) in [
            ("{ \"a b\" = \"x\" }", "which is not the name of a header"),
            ("{ Content-Type = \"x\" }", "contains Content-Type, which ralph sets itself"),
            ("{ A = \"x\", a = \"y\" }", "contains a twice"),
            ("{ A = \"env:\" }", "without the name of a variable"),
            ("{ A = \"file:\" }", "without a path"),
            ("{ A = \"sesame\\r\\nB: c\" }", "contains A without one line of text"),
            ("{ A = \"\" }", "contains A without one line of text"),
            ("{ A = 1 }", "not a table of texts"),
            ("\"sesame\"", "not a table of texts"),
        ] {
            let wrong = read(&format!("headers = {toml}")).unwrap_err();
            assert!(wrong.contains(what) && !wrong.contains("sesame"), "{toml}: {wrong}");
        }
    }

    #[test]
    fn only_the_place_of_a_value_is_shown() {
        let shown = |text: &str| HeaderValue::shown(&Value::String(text.into())).to_string();
        assert_eq!(shown("env:TOKEN"), "\"env:TOKEN\"");
        assert_eq!(shown("file:token"), "\"file:token\"");
        assert_eq!(shown("sesame"), "\"[hidden]\"");
    }

    #[test]
    fn a_value_is_read_when_it_is_needed() {
        let none = |_: &str| None;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        let file = HeaderValue::File(path.clone());
        assert!(file.read(none).unwrap_err().contains("cannot be read"));
        std::fs::write(&path, "Bearer sesame\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(file.read(none).unwrap_err().contains("can be read by others"));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(file.read(none), Ok(Secret::new("Bearer sesame")));
        std::fs::write(&path, "sesame\nX: y\n").unwrap();
        assert!(file.read(none).unwrap_err().ends_with("does not hold one line of text"));
        let variable = HeaderValue::Variable("TOKEN".into());
        assert_eq!(variable.read(none), Err("the variable TOKEN is not set".into()));
        assert_eq!(variable.read(|name| Some(format!("{name}!"))), Ok(Secret::new("TOKEN!")));
        assert_eq!(HeaderValue::Text(Secret::new("x")).read(none), Ok(Secret::new("x")));
    }
}
