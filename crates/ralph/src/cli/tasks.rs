//! The plan a run is bound to, given by `--plan` or `[plan] file`. It is read once before the run, so that a mistake in it
//! is reported before any money is spent.

use super::Here;
use super::run::Args;
use crate::config::Settings;
use crate::problem::{Code, Problem};
use ralph_engine::bound_files;
use ralph_rules::plan::{Document, Plan};
use ralph_rules::record::StoriesGiven;
use std::path::{Path, PathBuf};

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

/// How the plan is taken story by story, if it is to be: its order must be possible, and every story must be provable.
pub fn stories(
    args: &Args,
    settings: &Settings,
    bound: Option<&Bound>,
) -> Result<Option<StoriesGiven>, Problem> {
    if !args.stories && !settings.stories {
        return Ok(None);
    }
    let Some(bound) = bound else {
        return Err(Problem::new(Code::Usage, "--stories needs a plan, and none is named")
            .hint("name one: --plan prd.json, or file = \"prd.json\" under [plan]"));
    };
    let document = document(&bound.path).map_err(|why| {
        Problem::new(Code::Input, format!("cannot use the plan {}: {why}", bound.file))
            .hint(format!("fix the file; `ralph plan check {}` finds every mistake", bound.file))
    })?;
    let unproven = document.items.iter().find(|item| !item.done && !item.optional && item.verify.is_empty());
    if let Some(item) = unproven.filter(|_| settings.verify.is_empty()) {
        let message = format!("no verify command could prove the story {} of {}", item.label(), bound.file);
        return Err(Problem::new(Code::Config, message)
            .hint("add --verify 'your test command', or give every story its own (docs/plans.md)"));
    }
    Ok(Some(StoriesGiven { attempts: settings.story_attempts }))
}

/// A plan whose items can be taken in order; `Err` says why not, with the place.
pub fn document(path: &Path) -> Result<Document, String> {
    let (_, document) = bound_files::document(path)?;
    document.checked().map_err(|why| why.to_string())?;
    Ok(document)
}
