//! Facts without secrets: whatever goes into the journal passes here once more, text by text, because what an agent
//! prints in pieces is whole only when its reader has put it together. And the way back, for a run that goes on: its
//! task as the user wrote it, as far as the values are still known.

use super::{Redactor, text_of};
use ralph_agents::Activity;
use ralph_rules::record::{RunStarted, Seen};
use serde_json::Value;
use std::borrow::Cow;

/// Fields that ralph itself finds things by; none of them is anybody's text.
const OURS: &[&str] = &["kind", "run", "workspace", "tree", "base", "head", "hash", "zone", "version"];

impl Redactor {
    /// The same fact without secrets.
    pub fn fact(&self, seen: Seen) -> Seen {
        let Ok(value) = serde_json::to_value(&seen) else { return seen };
        let mut clean = value.clone();
        if !self.value(&mut clean) {
            return seen;
        }
        // A secret may be spelt like one of ralph's own words; those are left as they are, then.
        let mut careful = value;
        let clean = serde_json::from_value(clean).or_else(|_| {
            self.texts(&mut careful, &|text| !is_own_word(text));
            serde_json::from_value(careful)
        });
        match clean.unwrap_or(seen) {
            Seen::Restored(mut restored) => {
                // Two names may look the same by now; what was left alone was not put back.
                restored.restored.retain(|path| !restored.left.contains(path));
                Seen::Restored(restored)
            }
            other => other,
        }
    }

    /// What the agent does, without secrets.
    pub fn activity(&self, mut activity: Activity) -> Activity {
        match &mut activity {
            Activity::Began { session, model } => {
                [session, model].into_iter().flatten().for_each(|text| self.tidy(text));
            }
            Activity::Tool { name, detail, file } => {
                [name, detail].into_iter().chain(file).for_each(|text| self.tidy(text));
            }
            Activity::Said { text } | Activity::Noise { text } | Activity::Retrying { why: text } => {
                self.tidy(text);
            }
            Activity::ToolEnded { .. } => {}
        }
        activity
    }

    /// Cleans every text of a JSON value; true where one was changed.
    pub fn value(&self, value: &mut Value) -> bool {
        self.texts(value, &|_| true)
    }

    /// A run's beginning with the secrets that are still known put back in their places: the journal holds their
    /// names only.
    pub fn whole(&self, start: RunStarted) -> RunStarted {
        let Ok(mut value) = serde_json::to_value(&start) else { return start };
        fill(&mut value, &self.names);
        serde_json::from_value(value).unwrap_or(start)
    }

    fn tidy(&self, text: &mut String) {
        if let Cow::Owned(clean) = self.redact(text) {
            *text = clean;
        }
    }

    fn texts(&self, value: &mut Value, wanted: &impl Fn(&str) -> bool) -> bool {
        match value {
            Value::String(text) if wanted(text) => match self.redact(text) {
                Cow::Owned(clean) => {
                    *text = clean;
                    true
                }
                Cow::Borrowed(_) => false,
            },
            // All of them, not only up to the first that changes.
            Value::Array(items) => {
                items.iter_mut().map(|item| self.texts(item, wanted)).filter(|changed| *changed).count() > 0
            }
            Value::Object(fields) => {
                let others = fields.iter_mut().filter(|(key, _)| !OURS.contains(&key.as_str()));
                others.map(|(_, value)| self.texts(value, wanted)).filter(|changed| *changed).count() > 0
            }
            _ => false,
        }
    }
}

/// A word of a record's own language: `gate_passed`, `MAX_ITERATIONS`, 32 hex digits.
fn is_own_word(text: &str) -> bool {
    let one_case =
        !text.contains(|c: char| c.is_ascii_uppercase()) || !text.contains(|c: char| c.is_ascii_lowercase());
    one_case && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn fill(value: &mut Value, names: &[(String, super::Secret)]) {
    match value {
        Value::String(text) if text.contains("[redacted:") => {
            for (label, secret) in names {
                if text.contains(label) {
                    *text = text.replace(label, &text_of(secret.expose().to_vec()));
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, names)),
        Value::Object(fields) => fields.iter_mut().for_each(|(_, value)| fill(value, names)),
        _ => {}
    }
}
