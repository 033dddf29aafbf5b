//! The user's own prompt templates: read once, checked before anything runs, and recorded with the run.

use super::Here;
use crate::config::Settings;
use crate::problem::{Code, Problem};
use ralph_os::{Links, read_regular};
use ralph_rules::prompt::template::{Mistake, OWN, check};
use ralph_rules::record::Prompting;
use std::collections::BTreeMap;
use std::path::Path;

/// A template larger than this is a mistake.
const MOST: u64 = 64 << 10;

/// How prompts are built.
pub fn prompting(settings: &Settings, here: &Here) -> Result<Prompting, Problem> {
    let context = settings.context;
    let Some(named) = &settings.templates else {
        return Ok(Prompting { context, templates: BTreeMap::new() });
    };
    let dir = here.workspace.join(named);
    let templates = all(&dir).map_err(|(what, error)| {
        Problem::new(Code::Config, format!("prompt.templates: cannot read {what}"))
            .cause(&error)
            .hint(format!("give a directory with templates ({})", names()))
    })?;
    if templates.is_empty() {
        let message = format!("prompt.templates: no template in {}", dir.display());
        return Err(Problem::new(Code::Config, message).hint(format!("possible templates: {}", names())));
    }
    check(&templates).map_err(|mistake| wrong(&mistake, &dir))?;
    Ok(Prompting { context, templates })
}

fn names() -> String {
    OWN.map(|(name, _)| name).join(", ")
}

fn all(dir: &Path) -> Result<BTreeMap<String, String>, (String, std::io::Error)> {
    let cannot = |path: &Path| {
        let what = path.display().to_string();
        move |error| (what, error)
    };
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(dir).map_err(cannot(dir))? {
        let path = entry.map_err(cannot(dir))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.extension().is_some_and(|end| end == "j2") {
            found.insert(name.to_string(), text(&path).map_err(cannot(&path))?);
        }
    }
    Ok(found)
}

fn text(path: &Path) -> std::io::Result<String> {
    let bytes = read_regular(path, MOST, Links::Follow)?;
    String::from_utf8(bytes).map_err(|_| std::io::Error::other("it is not UTF-8 text"))
}

fn wrong(mistake: &Mistake, dir: &Path) -> Problem {
    let place = dir.join(&mistake.name);
    let line = if mistake.line > 0 { format!(":{}", mistake.line) } else { String::new() };
    Problem::new(Code::Config, format!("{}{line}: {}", place.display(), mistake.what))
        .hint("docs/prompt-templates.md lists all variables; `ralph run --dry-run` shows the result")
}
