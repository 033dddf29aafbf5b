//! Front matter as real SKILL.md files have it.

use crate::skills::front_matter::read;

fn description(front: &str) -> String {
    let text = format!("---\nname: a\n{front}\n---\nbody\n");
    let found = read(&text).unwrap_or_else(|fault| panic!("{front}\n{fault:?}"));
    assert_eq!(found.name.unwrap().text, "a");
    assert_eq!(text.get(found.end..), Some("body\n"));
    found.description.unwrap().text
}

#[test]
fn every_way_to_write_a_text_is_read() {
    for (front, text) in [
        ("description: Plain text", "Plain text"),
        ("description:   Plain text   ", "Plain text"),
        ("description: Use when: you must. http://a#b", "Use when: you must. http://a#b"),
        ("description: Text # a comment", "Text"),
        ("description: \"Quoted: \\\"text\\\" # kept\"  # comment", "Quoted: \"text\" # kept"),
        ("description: \"tab\\tline\\nnext \\u00e4\"", "tab\tline\nnext ä"),
        ("description: 'It''s text'", "It's text"),
        ("description: >-\n  Folded text\n  in two lines", "Folded text in two lines"),
        ("description: >\n  One.\n\n  Two.\n", "One.\nTwo."),
        ("description: |\n  One\n    two\n  three", "One\n  two\nthree"),
        ("description: |2-\n  One", "One"),
        ("description: First\n  second\n  third", "First second third"),
        ("description:\n  Below the key,\n  in two lines", "Below the key, in two lines"),
        ("description: \"Quoted in\n  two lines\"", "Quoted in two lines"),
        ("description: \"joined\\\n  up\"", "joinedup"),
        ("description: 'One\n\n  two'", "One\ntwo"),
        ("\"description\": text", "text"),
        ("# a comment\n\ndescription: text", "text"),
    ] {
        assert_eq!(description(front), text, "{front}");
    }
}

#[test]
fn what_clients_put_beside_name_and_description_is_skipped() {
    for other in [
        "allowed-tools: Read, Grep, Bash(git *)",
        "allowed-tools:\n  - Read\n  - Grep",
        "allowed-tools:\n- Read\n- Grep",
        "allowed-tools: [Read, Grep]",
        "metadata:\n  author: someone\n  version: \"1.0\"\n\n  tags: {a: b}",
        "license: Apache-2.0",
        "disable-model-invocation: true",
        "hooks: &anchor\n  Stop: x",
        "argument-hint: [task]",
    ] {
        assert_eq!(description(&format!("{other}\ndescription: text")), "text", "{other}");
        assert_eq!(description(&format!("description: text\n{other}")), "text", "{other}");
    }
}

#[test]
fn windows_line_ends_and_dots_are_read() {
    let found = read("---\r\nname: a\r\ndescription: >-\r\n  b\r\n  c\r\n---\r\nbody").unwrap();
    assert_eq!(found.description.unwrap().text, "b c");
    assert_eq!(read("---\nname: a\n...\nx").unwrap().end, 16);
}
