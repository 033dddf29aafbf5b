//! The part of an address after the question mark, read by name. A value that makes no sense is refused, and so is a name
//! that is not known: a filter that is misspelt would otherwise find everything.

use crate::answer::Fault;
use ralph_rules::prompt::head;
use ralph_view::plain::plain;

/// Characters of a value at most.
const LONGEST: usize = 200;
/// Characters of a path at most.
const LONGEST_PATH: usize = 1_000;

/// Characters that are repeated of a word that is not known.
pub const SHOWN: usize = 40;

/// Names and values.
#[derive(Debug, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    /// Of an address.
    pub fn of(text: Option<&str>) -> Result<Query, Fault> {
        let pairs = text.unwrap_or_default().split('&').filter(|pair| !pair.is_empty());
        let read = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded(name)?, decoded(value)?))
        };
        pairs.map(read).collect::<Result<Vec<_>, Fault>>().map(Query)
    }

    /// Refuses a name that is not among those that the address takes.
    pub fn check(&self, known: &[&str]) -> Result<(), Fault> {
        let Some((name, _)) = self.0.iter().find(|(name, _)| !known.contains(&name.as_str())) else {
            return Ok(());
        };
        let message = format!("there is no parameter `{}` here", plain(&head(name, SHOWN)));
        Err(Fault::bad(message).hint(match known {
            [] => "this address takes no parameters".into(),
            [one] => format!("the only parameter is {one}"),
            _ => format!("the parameters are {}", known.join(", ")),
        }))
    }

    /// A value that is given at most once; an empty one is none.
    pub fn text(&self, name: &str) -> Result<Option<String>, Fault> {
        Ok(self.value(name, LONGEST)?.filter(|value| !value.is_empty()))
    }

    /// One of a few words, which an empty value is not.
    pub fn word(&self, name: &str) -> Result<Option<String>, Fault> {
        self.value(name, LONGEST)
    }

    /// The path of a workspace; it is compared, never opened.
    pub fn path(&self, name: &str) -> Result<Option<String>, Fault> {
        Ok(self.value(name, LONGEST_PATH)?.filter(|value| !value.is_empty()))
    }

    fn value(&self, name: &str, longest: usize) -> Result<Option<String>, Fault> {
        let mut all = self.0.iter().filter(|(named, _)| named == name).map(|(_, value)| value);
        match (all.next(), all.next()) {
            (_, Some(_)) => Err(Fault::bad(format!("`{name}` is given more than once"))),
            (Some(value), None) if value.chars().count() > longest => {
                Err(Fault::bad(format!("`{name}` is too long")))
            }
            (value, None) => Ok(value.cloned()),
        }
    }

    /// A number.
    pub fn number(&self, name: &str) -> Result<Option<u64>, Fault> {
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let read = |text: String| text.parse().ok().filter(|_| is_number(&text));
        let refused = || Fault::bad(format!("`{name}` must be a whole number"));
        self.word(name)?.map(|text| read(text).ok_or_else(refused)).transpose()
    }
}

/// `%41` and `+` as HTML forms write them.
fn decoded(text: &str) -> Result<String, Fault> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    let refused = || Fault::bad("the address has a `%` that is not followed by two digits, or is not UTF-8");
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let (high, low) = (digit().ok_or_else(refused)?, digit().ok_or_else(refused)?);
                u8::try_from(high * 16 + low).unwrap_or(0)
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| refused())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Query, Fault> {
        Query::of(Some(text))
    }

    #[test]
    fn a_name_that_is_not_known_is_refused() {
        let check = |text: &str| of(text).unwrap().check(&["text", "limit"]);
        for text in ["txt=a", "text=a&Limit=1", "=1", "te%20xt=a"] {
            assert!(check(text).is_err(), "{text}");
        }
        for text in ["", "text=a&limit=1", "&text", "%74ext=a"] {
            assert!(check(text).is_ok(), "{text}");
        }
        assert!(of("x=1").unwrap().check(&[]).is_err());
    }

    #[test]
    fn values_are_decoded_and_looked_up_by_name() {
        let query = of("text=a%20b+c%2B&limit=7&empty=&x&&y=%c3%bc").unwrap();
        assert_eq!(query.text("text").unwrap().unwrap(), "a b c+");
        assert_eq!(query.text("y").unwrap().unwrap(), "ü");
        assert_eq!(query.number("limit").unwrap(), Some(7));
        assert_eq!(
            (query.text("empty").unwrap(), query.text("x").unwrap(), query.text("no").unwrap()),
            (None, None, None)
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in ["a=%", "a=%4", "a=%zz", "a=%ff", "%=1"] {
            assert!(of(text).is_err(), "{text}");
        }
        for text in [
            "limit=",
            "limit=-1",
            "limit=1.5",
            "limit=+1",
            "limit=a",
            "limit=99999999999999999999",
            "limit=1&limit=1",
        ] {
            assert!(of(text).unwrap().number("limit").is_err(), "{text}");
        }
        let long = format!("text={}", "a".repeat(LONGEST + 1));
        assert!(of(&long).unwrap().text("text").is_err());
    }
}
