use super::*;
use proptest::prelude::*;

const BEFORE: &str = "\"\"\"Sums.\"\"\"\n\n\nclass Sum:\n    def add(self, a, b):\n        \"\"\"Adds.\n\n        >>> Sum().add(1, 2)\n        3\n        \"\"\"\n        return a + b\n";

#[test]
fn what_changed_is_told() {
    let rows = [
        (BEFORE.replace("a + b", "b + a"), SourceSplit::Work),
        (BEFORE.replace("Adds.", "Adds two."), SourceSplit::Work),
        (BEFORE.replace("        3\n", "        4\n"), SourceSplit::Oracle),
    ];
    for (now, expected) in rows {
        assert_eq!(split(Some(BEFORE), &now), Some(expected), "{now}");
    }
    assert_eq!(split(None, "x = 1\n"), Some(SourceSplit::Work));
    assert_eq!(split(Some(BEFORE), "x = (\n"), None);
}

#[test]
fn each_mixture_has_the_code_of_one_and_the_examples_of_the_other() {
    let now = BEFORE.replace("a + b", "b + a").replace("        3\n", "        4\n");
    let Some(SourceSplit::Both { without_oracle, oracle_only }) = split(Some(BEFORE), &now) else {
        panic!("both")
    };
    assert_eq!(without_oracle, BEFORE.replace("a + b", "b + a"));
    assert_eq!(oracle_only, Some(BEFORE.replace("        3\n", "        4\n")));
}

#[test]
fn new_examples_are_not_run_and_old_ones_stay() {
    let Some(SourceSplit::Both { without_oracle, oracle_only: None }) = split(None, BEFORE) else {
        panic!("both")
    };
    assert_eq!(without_oracle, BEFORE.replace(">>>", "> >"));
    let Some(SourceSplit::Both { without_oracle, .. }) = split(Some(BEFORE), "x = 1\n") else {
        panic!("both")
    };
    assert!(
        without_oracle.starts_with("x = 1\n\n\ndef kept_documentation_0():\n    \"\"\"Adds."),
        "{without_oracle}"
    );
    assert!(
        doc_strings(&without_oracle).is_some_and(|docs| docs.values().any(|doc| !doc.examples.is_empty()))
    );
}

#[test]
fn doc_strings_are_found_by_name() {
    let rows: [(&str, &[&str]); 8] = [
        ("'''m'''\nx = '''n'''\n", &[""]),
        ("# c\n'm'\n", &[""]),
        ("def f():\n    'd'\n    'not'\n", &["f"]),
        ("async def f():\n    r'''d'''\n", &["f"]),
        ("def f(\n    a,\n):\n    # c\n    'd'\n", &["f"]),
        (
            "class A:\n    'a'\n    @p\n    def b(self):\n        'b'\n    def c(self): pass\n\ndef d():\n    'd'\n",
            &["A", "A.b", "d"],
        ),
        ("if x:\n    'no'\nelse:\n    def g():\n        'g'\n", &["g"]),
        ("def f():\n    f'{x}'\ndef g():\n    return 'x'\n", &[]),
    ];
    for (text, names) in rows {
        let tokens = tokens(text).unwrap();
        let found: Vec<_> = doc_tokens(text, &tokens).into_iter().map(|(name, _)| name).collect();
        assert_eq!(found, names, "{text}");
    }
}

#[test]
fn what_is_not_surely_read_is_refused() {
    for text in [
        "x = 'a\n",
        "x = (1\n",
        "x = 1)\n",
        "if a:\n    b\n  c\n",
        "x = f'{a['b']}'\n",
        "x = a ? b\n",
        "'''",
        "\\x",
    ] {
        assert_eq!(tokens(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_can_be_read(before in "(def f\\(\\):|class A:|\n|    |\t|'''|\"|>>> |[a-z(){}\\[\\]=#\\\\é]){0,40}", now in "(def f\\(\\):|\n|    |'''|>>> |[a-z(=#\\\\é]){0,40}") {
        let _ = (split(Some(&before), &now), split(None, &now), code_spans(&before));
    }
}
