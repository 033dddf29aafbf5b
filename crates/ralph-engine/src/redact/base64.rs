//! A value inside base64: three bytes become four letters, so there are three ways a value can lie in a longer text.
//! Only the letters that depend on the value alone are given, from a group of four on: lines hold whole groups, so that
//! none ends within the first letters, which are what is searched for.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Fewer letters than this say too little.
const LEAST: usize = 10;

/// The letters a value takes inside base64, wherever it lies, with both alphabets.
pub(super) fn forms(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for before in 0..3 {
        let form = letters(value, before);
        if form.len() < LEAST {
            continue;
        }
        let for_addresses: Vec<u8> = form.iter().map(|b| web(*b)).collect();
        if for_addresses != form {
            forms.push(for_addresses);
        }
        forms.push(form);
    }
    forms
}

fn web(letter: u8) -> u8 {
    match letter {
        b'+' => b'-',
        b'/' => b'_',
        other => other,
    }
}

/// The letters that hold nothing but bits of the value, when so many bytes stand before it.
fn letters(value: &[u8], before: usize) -> Vec<u8> {
    let padded: Vec<u8> = std::iter::repeat_n(0, before).chain(value.iter().copied()).collect();
    let first = (before * 8).div_ceil(6).next_multiple_of(4);
    let whole = padded.len() * 8 / 6;
    (first..whole).filter_map(|n| LETTERS.get(usize::from(six(&padded, n))).copied()).collect()
}

/// The six bits at this place.
fn six(bytes: &[u8], n: usize) -> u8 {
    let at = n * 6 / 8;
    let byte = |at: usize| u16::from(bytes.get(at).copied().unwrap_or_default());
    let both = byte(at) << 8 | byte(at + 1);
    let [_, six] = (both >> (10 - (n * 6 % 8)) & 0x3f).to_be_bytes();
    six
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_are_found_wherever_the_value_lies() {
        let value = b"tango-Foxtrot.77+quebec>?";
        let forms = forms(value);
        for (before, after) in [("", ""), ("a", "b"), ("ab", "cd"), ("user:", "\n"), ("abcd", "x")] {
            let whole = [before.as_bytes(), value, after.as_bytes()].concat();
            let text = String::from_utf8(letters(&whole, 0)).unwrap();
            let found = forms.iter().any(|form| text.contains(std::str::from_utf8(form).unwrap()));
            assert!(found, "{before}…{after}: {text}");
        }
        assert_eq!(letters(b"Man", 0), b"TWFu");
        assert_eq!(super::forms(b"short"), Vec::<Vec<u8>>::new());
    }
}
