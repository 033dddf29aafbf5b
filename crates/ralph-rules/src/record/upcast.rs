//! Lifts record bodies written by older versions to today's shape, one small function a change. Old bodies
//! are never rewritten on disk. Version 1 is the first, so nothing is lifted yet.

use super::BODY_VERSION;
use serde_json::Value;

/// The body in today's shape, or why it cannot be read.
pub(super) fn lift(v: u32, kind: &str, body: Value) -> Result<Value, String> {
    if v > BODY_VERSION {
        return Err(format!(
            "`{kind}` has body version {v}, this ralph reads up to {BODY_VERSION}; use the newer ralph that wrote it"
        ));
    }
    Ok(body)
}
