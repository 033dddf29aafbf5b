//! What holds for the trace of every journal: one root, parents that exist and surround their children, ids that are unique
//! and stay the same, a span for each call and verification, bounded bodies.
#![allow(dead_code, clippy::cast_possible_truncation)] // each test uses its own part; amounts are small

use ralph_otel::{SPANS_PER_REQUEST, export};
use ralph_rules::next::Next;
use ralph_rules::record::{Fact, Ms, Record, Seen};
use ralph_rules::step::Step;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// No body may be larger than this.
const LARGEST: usize = 512 << 10;

/// A span as a collector reads it.
#[derive(Clone, Debug)]
pub struct Received {
    pub trace: String,
    pub id: String,
    pub parent: Option<String>,
    pub name: String,
    pub kind: u64,
    /// Milliseconds since 1970.
    pub from: Ms,
    pub to: Ms,
    pub is_error: bool,
    attributes: BTreeMap<String, Value>,
}

impl Received {
    /// The value of an attribute as text: `true`, `3`, `0.5`, `a b`; empty if there is none.
    pub fn get(&self, key: &str) -> String {
        self.attributes.get(key).map(text).unwrap_or_default()
    }

    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.attributes.keys()
    }
}

fn text(value: &Value) -> String {
    let (kind, value) = value.as_object().unwrap().iter().next().unwrap();
    match (kind.as_str(), value) {
        ("stringValue" | "intValue", Value::String(text)) => text.clone(),
        ("boolValue", Value::Bool(on)) => on.to_string(),
        ("doubleValue", Value::Number(number)) => number.to_string(),
        ("arrayValue", list) => {
            list["values"].as_array().unwrap().iter().map(text).collect::<Vec<_>>().join(" ")
        }
        other => panic!("{other:?}"),
    }
}

/// The spans of some bodies.
pub fn received(bodies: &[Vec<u8>]) -> Vec<Received> {
    bodies.iter().flat_map(|body| received_body(body)).collect()
}

fn received_body(body: &[u8]) -> Vec<Received> {
    let body: Value = serde_json::from_slice(body).unwrap();
    let [resource] = body["resourceSpans"].as_array().unwrap().as_slice() else { panic!("one resource") };
    let attributes = attributes(&resource["resource"]["attributes"]);
    assert_eq!(attributes.get("service.name").map(text).as_deref(), Some("ralph"));
    assert!(attributes.contains_key("service.version"));
    let [scope] = resource["scopeSpans"].as_array().unwrap().as_slice() else { panic!("one scope") };
    scope["spans"].as_array().unwrap().iter().map(span).collect()
}

fn attributes(list: &Value) -> BTreeMap<String, Value> {
    let list = list.as_array().unwrap();
    let pair = |entry: &Value| (entry["key"].as_str().unwrap().to_string(), entry["value"].clone());
    let all: BTreeMap<String, Value> = list.iter().map(pair).collect();
    assert_eq!(all.len(), list.len(), "no attribute twice: {list:?}");
    all
}

fn span(span: &Value) -> Received {
    let word = |name: &str| span[name].as_str().map(ToOwned::to_owned);
    let time = |name: &str| {
        let nanoseconds: i64 = word(name).unwrap().parse().unwrap();
        assert_eq!(nanoseconds % 1_000_000, 0);
        nanoseconds / 1_000_000
    };
    Received {
        trace: word("traceId").unwrap(),
        id: word("spanId").unwrap(),
        parent: word("parentSpanId"),
        name: word("name").unwrap(),
        kind: span["kind"].as_u64().unwrap(),
        from: time("startTimeUnixNano"),
        to: time("endTimeUnixNano"),
        is_error: span.get("status").is_some_and(|status| status["code"] == 2),
        attributes: attributes(&span["attributes"]),
    }
}

/// Checks the trace of a journal and returns its spans.
pub fn check(records: &[Record]) -> Vec<Received> {
    let bodies = export(records, false);
    assert_eq!(bodies, export(records, false), "the same again");
    let mut spans = Vec::new();
    for body in &bodies {
        assert!(body.len() <= LARGEST, "{} bytes", body.len());
        let more = received_body(body);
        assert!((1..=SPANS_PER_REQUEST).contains(&more.len()), "{} spans", more.len());
        spans.extend(more);
    }
    tree(&spans, records);
    everything_is_there(&spans, records);
    one_thing_at_a_time(&spans);
    for span in &spans {
        assert_eq!(span.is_error, !span.get("error.type").is_empty(), "{span:?}");
    }
    spans
}

fn tree(spans: &[Received], records: &[Record]) {
    let Fact::Seen(Seen::RunStarted(start)) = &records[0].fact else { panic!("no start") };
    let by_id: BTreeMap<&str, &Received> = spans.iter().map(|span| (span.id.as_str(), span)).collect();
    assert_eq!(by_id.len(), spans.len(), "an id occurs twice");
    let root = &spans[0];
    assert_eq!((root.name.as_str(), &root.parent), ("invoke_workflow ralph", &None));
    let (first, last) = (records[0].at, records[records.len() - 1].at);
    assert_eq!((root.from, root.to), (first, last));
    for span in spans {
        assert_eq!(span.trace, start.run.replace('-', "").to_lowercase());
        assert!(span.id.len() == 16 && span.id.bytes().all(|b| b.is_ascii_hexdigit()), "{span:?}");
        assert_ne!(span.id, "0000000000000000");
        assert!(span.from <= span.to, "{span:?}");
        let Some(parent) = &span.parent else {
            assert_eq!(span.id, root.id, "one root");
            continue;
        };
        let parent = by_id[parent.as_str()];
        let fits = match span.name.as_str() {
            "iteration" => parent.id == root.id,
            "verification" | "wait" => parent.id == root.id || parent.name == "iteration",
            name => name.starts_with("invoke_agent ") && parent.name == "iteration",
        };
        assert!(fits, "{} below {}", span.name, parent.name);
        assert!(parent.from <= span.from && span.to <= parent.to, "{span:?} in {parent:?}");
    }
}

fn everything_is_there(spans: &[Received], records: &[Record]) {
    let begun = |is: fn(&Step) -> bool| {
        let step = |record: &Record| match &record.fact {
            Fact::Decided(decision) => matches!(&decision.next, Next::Do(step) if is(step)),
            Fact::Seen(_) => false,
        };
        records.iter().filter(|record| step(record)).count()
    };
    let named = |name: &str| spans.iter().filter(|span| span.name.starts_with(name)).count();
    assert_eq!(named("invoke_agent"), begun(|step| matches!(step, Step::Call { .. })), "calls");
    assert_eq!(named("verification"), begun(|step| matches!(step, Step::Verify { .. })), "verifications");
    let numbers = |name: &str| {
        let named = spans.iter().filter(|span| span.name.starts_with(name));
        named.map(|span| span.get("ralph.iteration.number")).collect::<Vec<_>>()
    };
    let iterations: BTreeSet<String> = numbers("iteration").into_iter().collect();
    assert_eq!(iterations.len(), named("iteration"), "an iteration twice");
    let calls: BTreeSet<String> = numbers("invoke_agent").into_iter().collect();
    assert!(calls.is_subset(&iterations), "{calls:?} in {iterations:?}");
    let charged = records.iter().map(|record| match &record.fact {
        Fact::Seen(Seen::CallEnded(call)) => call.charged.0,
        Fact::Seen(Seen::CallLost(call)) => call.charged.0,
        _ => 0,
    });
    let micro = |span: &Received, key: &str| {
        let usd: f64 = span.get(key).parse().unwrap_or(0.0);
        (usd * 1e6).round() as i64
    };
    let charged: i64 = charged.sum();
    assert_eq!(spans.iter().map(|span| micro(span, "ralph.call.cost_usd")).sum::<i64>(), charged);
    assert_eq!(spans.iter().map(|span| micro(span, "ralph.iteration.cost_usd")).sum::<i64>(), charged);
}

/// Calls, verifications and waits do not overlap.
fn one_thing_at_a_time(spans: &[Received]) {
    let leaf = |span: &&Received| !["iteration", "invoke_workflow ralph"].contains(&span.name.as_str());
    let mut leaves: Vec<&Received> = spans.iter().filter(leaf).collect();
    leaves.sort_by_key(|span| (span.from, span.to));
    for pair in leaves.windows(2) {
        assert!(pair[0].to <= pair[1].from, "{:?} and {:?}", pair[0], pair[1]);
    }
}
