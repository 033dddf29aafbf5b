//! The plan a run is bound to, given by `--plan` or `[plan] file`. It is read once before the run, so that a mistake in it
//! is reported before any money is spent.

use super::Here;
use crate::config::Settings;
use crate::problem::{Code, Problem};
use ralph_engine::bound_files;
use ralph_rules::plan::Plan;
use std::path::PathBuf;

/// A plan that binds.
pub struct Bound {
    /// As it was named.
    pub file: String,
    /// Where it really is.
    pub path: PathBuf,
    /// How it stands now.
    pub plan: Plan,
}

impl Bound {
    /// What the person should know of it.
    pub fn warning(&self) -> Option<String> {
        let empty = self.plan.done == 0 && self.plan.pending == 0;
        empty.then(|| format!("the plan {} has no checkboxes, so it has no effect until it does", self.file))
    }

    /// In a few words.
    pub fn words(&self) -> String {
        let Plan { done, pending, optional, .. } = &self.plan;
        let optional = if *optional > 0 { format!(", {optional} optional") } else { String::new() };
        format!("{}: {done} done, {pending} open{optional}", self.file)
    }
}

/// The plan that was named, if one was.
pub fn bound(settings: &Settings, here: &Here) -> Result<Option<Bound>, Problem> {
    let Some(file) = settings.plan.clone() else {
        return Ok(None);
    };
    let unusable = |code| Problem::new(code, format!("cannot read the plan {file}"));
    let path = here.workspace.join(&file).canonicalize().map_err(|error| {
        unusable(Code::Usage).cause(&error).hint("give a file with checkboxes, or a prd.json: --plan FILE")
    })?;
    if path.to_str().is_none() {
        return Err(unusable(Code::Usage).hint("its path is not valid UTF-8; rename it"));
    }
    let plan = bound_files::plan(&path).map_err(|why| {
        let message = format!("cannot read the plan {file}: {why}");
        Problem::new(Code::Input, message).hint("fix the file, or run without --plan")
    })?;
    Ok(Some(Bound { file, path, plan }))
}
