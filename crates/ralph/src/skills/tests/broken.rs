//! Broken skills: each is refused with the line and the column of the mistake, and nothing panics.

use crate::config::line_and_column;
use crate::skills::document::read;
use proptest::prelude::*;

const GOOD: &str = "---\nname: a\ndescription: b\n---\n";

/// Line, column and message of the first fault.
fn fault(text: &str) -> String {
    let faults = read(text).expect_err(text);
    let first = faults.first().unwrap();
    assert!(!first.hint.is_empty(), "{text}");
    let (line, column) = line_and_column(text, first.at);
    format!("{line}:{column} {}", first.what)
}

#[test]
fn broken_front_matter_is_refused_where_it_is_broken() {
    for (front, said) in [
        ("", "1:1 a skill begins with front matter, which is missing"),
        ("# Title", "1:1 a skill begins with front matter, which is missing"),
        ("---\nname: a", "1:1 the front matter is not closed"),
        ("---\ndescription: b\n---", "1:1 `name` is missing in the front matter"),
        ("---\nname: a\n---", "1:1 `description` is missing in the front matter"),
        ("---\nname: a\ndescription:\n---", "3:1 `description` is empty"),
        ("---\nname: a\ndescription: \"\"\n---", "3:1 `description` is empty"),
        ("---\nname: A b\ndescription: b\n---", "2:1 `A b` is not a valid name"),
        ("---\nname: ../x\ndescription: b\n---", "2:1 `../x` is not a valid name"),
        ("---\nname: a\nname: b\n---", "3:1 `name` is set twice"),
        ("---\nname a\n---", "2:1 this line has no key"),
        ("---\nname:a\n---", "2:1 a space is missing after `name:`"),
        ("---\n  name: a\n---", "2:1 this indented line belongs to no key"),
        ("---\n\tname: a\n---", "2:1 a tab is not an indentation here"),
        ("---\n- name: a\n---", "2:1 `- name` is not a key that is supported here"),
        ("---\n? name\n: a\n---", "2:1 this line has no key"),
        ("---\n{name: a}\n---", "2:1 `{name` is not a key that is supported here"),
        (
            "---\nname: a\ndescription: [b, c]\n---",
            "3:14 `description` begins with `[`, which is not supported",
        ),
        (
            "---\nname: a\ndescription: &x b\n---",
            "3:14 `description` begins with `&`, which is not supported",
        ),
        ("---\nname: a\ndescription: *x\n---", "3:14 `description` begins with `*`, which is not supported"),
        (
            "---\nname: a\ndescription: !!str b\n---",
            "3:14 `description` begins with `!`, which is not supported",
        ),
        ("---\nname: a\ndescription:\n  - b\n---", "4:3 `description` must be text, not a list"),
        ("---\nname: a\ndescription:\n- b\n---", "4:1 `description` must be text, not a list"),
        ("---\nname: a\ndescription:\n  b: c\n---", "4:3 `description` must be text, not a table"),
        ("---\nname: a\ndescription: \"b\n---", "3:14 this quote is not closed"),
        ("---\nname: a\ndescription: 'b\n---", "3:14 this quote is not closed"),
        ("---\nname: a\ndescription: \"b\" c\n---", "3:18 there is text after the closing quote"),
        ("---\nname: a\ndescription: \"b\\q\"\n---", "3:16 `\\q` is not supported in quotes"),
        ("---\nname: a\ndescription: \"\\uD800\"\n---", "3:15 `\\uD800` is not supported in quotes"),
        ("---\nname: a\ndescription: >x\n  b\n---", "3:14 `>x` is not supported"),
        ("---\nname: a\ndescription: |\n    b\n  c\n---", "5:1 this line is indented less than the first"),
        ("---\nname: a\ndescription: >\n\tb\n---", "4:1 a tab is not an indentation here"),
    ] {
        assert_eq!(fault(front), said, "{front}");
    }
}

#[test]
fn broken_sections_are_refused_where_they_are_broken() {
    for (body, said) in [
        ("## Ralph Integration\n<promise>X", "6:1 this promise is not closed"),
        ("## Ralph Integration\n<promise></promise>", "6:1 a promise needs a text, such as COMPLETE"),
        ("## Ralph Integration\na <promise>X</promise> <promise>Y</promise>", "6:24 a second promise, `Y`"),
        ("## Ralph Integration\n## ralph integration", "6:1 a second section \"Ralph Integration\""),
        ("## Completion Criteria\n## Completion criteria ##", "6:1 a second section \"Completion Criteria\""),
        ("```toml ralph\n```", "5:1 a `toml ralph` block outside \"## Ralph Integration\""),
        ("## Ralph Integration\n```toml ralph\nverify = []", "6:1 the `toml ralph` block is not closed"),
        ("## Ralph Integration\n```toml ralph\n```\n~~~ toml  ralph\n~~~", "8:1 a second `toml ralph` block"),
    ] {
        assert_eq!(fault(&format!("{GOOD}{body}")), said, "{body}");
    }
}

proptest! {
    /// Any text, and any text made of what the reader looks for.
    #[test]
    fn nothing_panics(text in "\\PC*", parts in prop::collection::vec(prop::sample::select(vec![
        "---", "\n", "name:", " ", "description:", "\"", "'", "\\", "|", ">", "- ", "[ ]", "## ", "Ralph Integration",
        "Completion Criteria", "<promise>", "</promise>", "```", "toml ralph", "\t", "ä", "\r\n", "#", "\u{0}", "verify",
    ]), 0..40)) {
        for text in [text, parts.concat(), format!("---\n{}", parts.concat()), format!("{GOOD}{}", parts.concat())] {
            for fault in read(&text).err().into_iter().flatten() {
                let (line, column) = line_and_column(&text, fault.at);
                prop_assert!(line > 0 && column > 0 && fault.at <= text.len());
            }
        }
    }
}
