//! Which run and iteration an address means. Both are looked up in the store; neither ever becomes a path.

use crate::answer::Fault;

/// Characters of a run's id at most.
const LONGEST_ID: usize = 64;

/// A run, and an iteration in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunAddress {
    /// The run's id, or the last characters of it.
    pub run: String,
    /// The number of the iteration, if the address has one.
    pub iteration: Option<u32>,
}

impl RunAddress {
    /// Of `/api/v1/runs/{id}` and everything below it. An id has no character that would have to be encoded.
    pub fn of(path: &str) -> Result<RunAddress, Fault> {
        let mut parts = path.split('/').skip(4);
        let run = parts.next().unwrap_or_default();
        let iteration = match parts.next() {
            Some("iterations") => {
                Some(parts.next().and_then(number).ok_or_else(|| Fault::not_found("such iteration"))?)
            }
            _ => None,
        };
        if !is_id(run) {
            return Err(Fault::not_found("such run"));
        }
        Ok(RunAddress { run: run.to_owned(), iteration })
    }
}

/// Whether a text can be the id of a run.
pub fn is_id(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=LONGEST_ID).contains(&text.len()) && text.bytes().all(known)
}

/// A number from 1, in plain digits.
fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|n| digits && *n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_run_and_an_iteration() {
        let place = |run: &str, iteration| Some(RunAddress { run: run.into(), iteration });
        let table = [
            ("/api/v1/runs/0199a", place("0199a", None)),
            ("/api/v1/runs/0199a-b/requests", place("0199a-b", None)),
            ("/api/v1/runs/0199a/iterations/3", place("0199a", Some(3))),
            ("/api/v1/runs/0199a/iterations/3/diff", place("0199a", Some(3))),
            ("/api/v1/runs/0199a/iterations/0", None),
            ("/api/v1/runs/0199a/iterations/-1", None),
            ("/api/v1/runs/0199a/iterations/+1", None),
            ("/api/v1/runs/0199a/iterations/", None),
            ("/api/v1/runs/0199a/iterations/99999999999", None),
            ("/api/v1/runs/..", None),
            ("/api/v1/runs/%2e%2e%2f", None),
            ("/api/v1/runs/a%00", None),
            ("/api/v1/runs/", None),
        ];
        for (path, expected) in table {
            assert_eq!(RunAddress::of(path).ok(), expected, "{path}");
        }
        assert!(RunAddress::of(&format!("/api/v1/runs/{}", "a".repeat(65))).is_err());
    }
}
