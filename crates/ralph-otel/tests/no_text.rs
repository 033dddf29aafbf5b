//! No text gets into a trace. Into every field of every record that can hold text, of all golden journals, a marker is
//! written that a collector must never see.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::cast_possible_truncation)]
#![allow(missing_docs, clippy::disallowed_methods)] // traces know no files; their tests read journals

mod golden;
mod trace_checks;

use golden::journals;
use ralph_otel::export;
use ralph_rules::record::{Envelope, Record};
use serde_json::Value;
use trace_checks::received;

/// Writes the marker into every text of the value of which `still_reads` says that anything may be in it; returns how many.
fn plant(
    value: &mut Value,
    path: &mut Vec<String>,
    marker: &str,
    still_reads: &mut dyn FnMut(&[String], &str) -> bool,
) -> usize {
    match value {
        Value::String(text) => {
            let planted = still_reads(path, marker);
            if planted {
                *text = marker.into();
            }
            usize::from(planted)
        }
        Value::Array(items) => (0..items.len())
            .map(|at| {
                path.push(at.to_string());
                let planted = plant(&mut items[at], path, marker, still_reads);
                path.pop();
                planted
            })
            .sum(),
        Value::Object(fields) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            let mut planted = 0;
            for name in names {
                path.push(name.clone());
                planted += plant(fields.get_mut(&name).unwrap(), path, marker, still_reads);
                path.pop();
            }
            planted
        }
        _ => 0,
    }
}

/// The records with markers in them.
fn planted(records: &[Record], marker: &str) -> (Vec<Record>, usize) {
    let mut count = 0;
    let plant_in = |record: &Record| {
        let mut body = Envelope::from(record).body;
        let original = Envelope::from(record);
        count += plant(&mut body, &mut Vec::new(), marker, &mut |path, marker| {
            // The run's id is the trace's.
            if path == ["run"] {
                return false;
            }
            let mut tried = original.clone();
            *tried.body.pointer_mut(&format!("/{}", path.join("/"))).unwrap() = marker.into();
            Record::try_from(tried).is_ok()
        });
        Record::try_from(Envelope { body, ..original }).unwrap()
    };
    (records.iter().map(plant_in).collect(), count)
}

#[test]
fn text_and_paths_do_not_get_into_a_trace() {
    for marker in
        ["PLANTED by a test", "/PLANTED/path", "PLANTED\nline", "PLANTED\u{202e}", &"PLANTED".repeat(100)]
    {
        let mut count = 0;
        for (name, records) in journals() {
            let (records, planted) = planted(&records, marker);
            count += planted;
            let bodies = export(&records, false);
            assert!(!bodies.is_empty());
            for body in bodies {
                let body = String::from_utf8(body).unwrap();
                assert!(!body.contains("PLANTED"), "{name}: {body}");
            }
        }
        assert!(count > 4_000, "{count}");
    }
}

/// What looks like a name can get into these attributes only.
#[test]
fn names_get_into_the_attributes_of_names_only() {
    let allowed = [
        "gen_ai.agent.name",
        "gen_ai.provider.name",
        "gen_ai.request.model",
        "gen_ai.response.model",
        "gen_ai.conversation.id",
        "ralph.run.agent",
    ];
    for (name, records) in journals() {
        for span in received(&export(&planted(&records, "PLANTED").0, false)) {
            for key in span.keys().filter(|key| span.get(key).contains("PLANTED")) {
                assert!(allowed.contains(&key.as_str()), "{name}: {key}");
            }
            assert!(
                ["invoke_agent PLANTED", "invoke_workflow ralph", "iteration", "verification", "wait"]
                    .contains(&span.name.as_str())
            );
        }
    }
}
