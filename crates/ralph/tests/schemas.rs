//! The JSON that scripts read. `schemas/*.shape` describe it in a few lines each; the JSON Schemas beside them and
//! docs/reference/json.md are made from those, and every shape is compared with what the program really prints: a field
//! that nobody described fails here. `RALPH_BLESS=1` writes the schemas and the page anew.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "schemas/commands.rs"]
mod commands;
#[path = "schemas/fits.rs"]
mod fits;
#[path = "schemas/real.rs"]
mod real;
#[path = "schemas/shape.rs"]
mod shape;

use std::fs;
use std::path::{Path, PathBuf};

/// Where the shapes are.
pub fn dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../schemas")
}

fn fresh(path: &Path, made: &str) {
    if std::env::var_os("RALPH_BLESS").is_some() {
        fs::write(path, made).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    assert!(
        kept == made,
        "{name} is stale: write it anew with RALPH_BLESS=1 cargo test -p ralph --test schemas"
    );
}

#[test]
fn the_schemas_and_their_page_are_fresh() {
    let mut page = "<!-- Made from schemas/*.shape by `RALPH_BLESS=1 cargo test -p ralph --test schemas`; changes here are lost. -->\n\n\
                    # JSON\n\nEach shape has a JSON Schema under `schemas/`. `?` after a name: it may be missing; after a type: it may be \
                    null. `@name` stands for another shape, `[type]` for a list, `{type}` for an object with any names. Under `--json`, \
                    stdout has nothing but JSON, even where a command fails: see `error` and `result`.\n"
        .to_string();
    for name in shape::names() {
        let shape = shape::Shape::read(&name);
        fresh(&dir().join(format!("{name}.schema.json")), &format!("{:#}\n", shape.schema()));
        page.push_str(&shape.page());
    }
    fresh(&dir().join("../docs/reference/json.md"), &page);
}
