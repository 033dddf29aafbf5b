use super::*;
use proptest::prelude::*;
use serde_json::{Map, Value as Json};

/// What was read, as JSON, and how reading ended.
fn read(text: &str) -> (Vec<(String, String)>, End) {
    let mut members = Vec::new();
    let end = object(text, &mut |key, value| {
        let value = match value {
            Value::Text(inside) => format!("{:?}", unescaped(inside)),
            Value::CutText(inside) => format!("{:?} cut", unescaped(inside)),
            Value::Bare(raw) | Value::Nested(raw, _) => raw.to_owned(),
        };
        members.push((key.into_owned(), value));
    });
    (members, end)
}

fn pairs(text: &str) -> Vec<String> {
    read(text).0.into_iter().map(|(key, value)| format!("{key}={value}")).collect()
}

#[test]
fn damage_that_leaves_no_doubt_is_read_over() {
    let whole = [r#"a="x""#, "b=true"];
    for (text, what, at) in [
        (r#"{"a": "x", b: true}"#, "a key without quotes", 11),
        (r"{'a': 'x', 'b': true}", "single quotes", 1),
        (r#"{"a": "x", "b": true,}"#, "a comma before the closing brace", 21),
        (r#"{"a": "x", "b": true"#, "the closing brace is missing", 20),
        ("{\"a\": \"x\", \"b\": true \n", "the closing brace is missing", 22),
    ] {
        let (_, end) = read(text);
        assert_eq!(pairs(text), whole, "{text}");
        assert_eq!((end.damage, end.stopped), (Some(Damage { what, at }), false), "{text}");
    }
    assert_eq!(pairs(r"{'a': 'it\'s', b: None, c: True}"), [r#"a="it's""#, "b=None", "c=True"]);
}

#[test]
fn where_it_is_not_certain_what_follows_reading_stops() {
    for (text, members, what) in [
        (r#"{"a": "x", "b": tru"#, &[r#"a="x""#][..], "no value where one is expected"),
        (r#"{"a": "x", "b": 12"#, &[r#"a="x""#], "no value where one is expected"),
        (r#"{"a": "x","#, &[r#"a="x""#], "the object breaks off"),
        (r#"{"a": "x" "b": true}"#, &[r#"a="x""#], "no comma after a value"),
        (r#"{"a": "he said "yes", "b": true}"#, &[r#"a="he said ""#], "no comma after a value"),
        (r"{'a': 'don't', 'b': true}", &[r#"a="don""#], "single quotes"),
        (r#"{"a": "cut\n, "b": true"#, &[r#"a="cut\n, ""#], "no comma after a value"),
        (r#"{"a": "cut\nhere"#, &[r#"a="cut\nhere" cut"#], "a string without its closing quote"),
        (r#"{"a": "x", "b"#, &[r#"a="x""#], "a key without its closing quote"),
        (r#"{"a": "x", "b" true}"#, &[r#"a="x""#], "no colon after a key"),
        (r#"{"a": [1}, "b": true}"#, &[], "brackets that do not match"),
        (r#"{"a": oops}"#, &[], "no value where one is expected"),
        (r#"{"a": {"b": [1, {"c": "]"#, &[r#"a={"b": [1, {"c": "]"#], "a string without its closing quote"),
        (r#"{{"a": 1}}"#, &[], "no key where one is expected"),
    ] {
        let (_, end) = read(text);
        assert_eq!(pairs(text), members, "{text}");
        assert!(end.stopped && end.damage.is_some_and(|damage| damage.what == what), "{text}: {end:?}");
    }
    let deep = format!(r#"{{"a": {}"#, "[".repeat(1 << 16));
    assert_eq!(read(&deep).1.damage.map(|damage| damage.what), Some("brackets nested too deeply"));
}

#[test]
fn what_follows_the_object_is_not_read() {
    let (_, end) = read(r#"{"a": 1} {"a": 2}"#);
    assert_eq!((end.at, end.damage, end.stopped), (8, None, false));
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        ".{0,12}".prop_map(Json::from),
        "[\"'\\\\{}\\[\\],:\\n ]{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            prop::collection::hash_map(".{0,6}", inner, 0..4)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn valid_json_is_read_as_serde_reads_it(
        members in prop::collection::hash_map("[a-z\"'\\\\ é]{0,6}", json(), 0..6),
        pretty in any::<bool>(),
    ) {
        let written: Map<String, Json> = members.into_iter().collect();
        let text = if pretty { serde_json::to_string_pretty(&written) } else { serde_json::to_string(&written) };
        let text = text.unwrap();
        let mut read = Map::new();
        let end = object(&text, &mut |key, value| {
            let value = match value {
                Value::Text(inside) => Json::from(unescaped(inside).into_owned()),
                Value::CutText(inside) => panic!("cut: {inside}"),
                Value::Bare(raw) | Value::Nested(raw, _) => serde_json::from_str(raw).unwrap(),
            };
            read.insert(key.into_owned(), value);
        });
        prop_assert_eq!((end.damage, end.stopped, end.at), (None, false, text.len()));
        prop_assert_eq!(read, serde_json::from_str::<Map<String, Json>>(&text).unwrap());
    }

    #[test]
    fn no_text_panics(text in "[{}\\[\\]\"':,\\\\u0-9a-zé \\n-]{0,60}", any in any::<String>(), cut in 0..80usize) {
        for text in [text.as_str(), any.as_str(), &format!("{{{text}"), &format!("{{\"a\":{any}")] {
            let text = &text[..text.floor_char_boundary(cut)];
            let (_, end) = read(text);
            prop_assert!(end.at <= text.len() && (!end.stopped || end.damage.is_some()));
        }
    }
}
