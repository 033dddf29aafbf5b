//! Makes an answer fit to be sent: its texts plain, its size bounded. What others wrote may be of any length and hold
//! anything; neither a screen nor a browser should have to deal with that.

use crate::answer::{MOST_BYTES, json_len};
use ralph_view::plain::plain_lines;
use serde_json::Value;

/// Bytes of one text at most where an answer is too large whatever is left out of its lists.
const SHORT_TEXT: usize = 512;
/// Items of a list that are sent even then.
const FEW: usize = 10;

/// A list in an answer that may be cut.
#[derive(Clone, Copy, Debug)]
pub enum List {
    /// Its first items stay.
    KeepsFirst(&'static str),
    /// Its last items stay.
    KeepsLast(&'static str),
}

/// Makes all texts plain, and leaves as much out of the lists as has to be, the first list before the next. True if
/// something was left out.
pub fn bound(value: &mut Value, lists: &[List]) -> bool {
    texts(value, &mut |text| *text = plain_lines(text));
    let mut cut = false;
    for list in lists {
        while json_len(value) > MOST_BYTES && halve(value, *list) {
            cut = true;
        }
    }
    if json_len(value) > MOST_BYTES {
        texts(value, &mut |text| _ = cut_text(text, SHORT_TEXT));
        arrays(value, &mut |items| items.truncate(FEW));
        cut = true;
    }
    cut
}

/// Leaves half of a list out; false if it is empty.
fn halve(value: &mut Value, list: List) -> bool {
    let at = match list {
        List::KeepsFirst(at) | List::KeepsLast(at) => at,
    };
    let Some(Value::Array(items)) = value.pointer_mut(at) else { return false };
    let stay = items.len() / 2;
    match list {
        List::KeepsFirst(_) => items.truncate(stay),
        List::KeepsLast(_) => drop(items.drain(..items.len() - stay)),
    }
    stay > 0
}

/// Cuts a text so that it takes at most `room` bytes as JSON; true if something was left out.
pub fn cut_text(text: &mut String, room: usize) -> bool {
    let mut taken = 0;
    let too_far = text.char_indices().find(|(_, c)| {
        taken += match c {
            '"' | '\\' | '\n' | '\t' => 2,
            c if c.is_control() => 6,
            c => c.len_utf8(),
        };
        taken > room
    });
    let Some((at, _)) = too_far else { return false };
    text.truncate(at);
    true
}

fn texts(value: &mut Value, each: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter_mut().for_each(|item| texts(item, each)),
        Value::Object(fields) => fields.values_mut().for_each(|field| texts(field, each)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn arrays(value: &mut Value, each: &mut impl FnMut(&mut Vec<Value>)) {
    match value {
        Value::Array(items) => {
            each(items);
            items.iter_mut().for_each(|item| arrays(item, each));
        }
        Value::Object(fields) => fields.values_mut().for_each(|field| arrays(field, each)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_become_plain_wherever_they_are() {
        let mut value = json!({"a": "x\u{1b}[31m", "b": [{"c": "evil\u{202e}txt\nnext"}], "n": 1});
        assert!(!bound(&mut value, &[]));
        assert_eq!(value, json!({"a": "x\\u{1b}[31m", "b": [{"c": "evil\\u{202e}txt\nnext"}], "n": 1}));
    }

    #[test]
    fn lists_are_cut_in_order_until_the_answer_fits() {
        let list = |n: usize| vec!["x".repeat(1000); n];
        let mut value = json!({"old": list(200), "new": list(200), "kept": list(20)});
        assert!(bound(&mut value, &[List::KeepsLast("/old"), List::KeepsFirst("/new")]));
        assert!(json_len(&value) <= MOST_BYTES);
        assert_eq!(value["new"].as_array().unwrap().len(), 200);
        assert_eq!(value["old"].as_array().unwrap().len(), 25);
    }

    #[test]
    fn whatever_it_holds_an_answer_is_bounded() {
        let mut value =
            json!({"a": vec!["\u{1b}".repeat(60_000); 2], "b": {"c": vec![vec!["y".repeat(5_000); 50]; 50]}});
        assert!(bound(&mut value, &[List::KeepsFirst("/nothing")]));
        assert!(json_len(&value) <= MOST_BYTES);
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        let cut = |text: &str, room| {
            let mut text = text.to_owned();
            let was = cut_text(&mut text, room);
            assert!(json_len(&text) <= room + 2);
            (text, was)
        };
        assert_eq!(cut("abc", 3), ("abc".into(), false));
        assert_eq!(cut("aüb", 2), ("a".into(), true));
        assert_eq!(cut("a\"\n", 4), ("a\"".into(), true));
    }
}
