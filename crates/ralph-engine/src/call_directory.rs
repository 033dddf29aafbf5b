//! What ralph puts into a call's directory for the agent's own `ralph block emit`: how the workspace stood when the call
//! began, and with which commands the work is verified. Nothing is ever read back from it into the run, so an agent that
//! changes it misleads only itself; the directory is removed when the call ends.

use crate::bound_files;
use crate::step_context::StepContext;
use ralph_rules::record::Ms;
use ralph_tree::{BadGlob, Index, Protect, Tree, TreePath, git_facts};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The environment variable that names the directory to the agent.
pub const VARIABLE: &str = "RALPH_CALL";
const FACTS: &str = "facts.json";
const INDEX: &str = "index";
/// Facts larger than this are not ralph's.
const LARGEST: u64 = 16 << 20;

/// A workspace at the beginning of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFacts {
    /// The directory the agent works in.
    pub workspace: PathBuf,
    /// The commit that was checked out.
    pub commit: Option<String>,
    /// The verify commands.
    pub verify: Vec<String>,
    /// The deadline of each.
    pub verify_timeout: Ms,
    /// The bound plan.
    pub plan: Option<PlanAtStart>,
    /// The protected globs.
    pub protect: Vec<String>,
    /// Files that ralph itself writes.
    pub own_files: Vec<String>,
    /// ralph's state directory, where it lies in the workspace.
    pub own_dir: Option<Vec<u8>>,
}

/// The bound plan at the beginning of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanAtStart {
    /// As the user named it.
    pub file: String,
    /// Where it is.
    pub path: PathBuf,
    /// Items ticked.
    pub done: u32,
}

/// What is kept of a call that begins now; `index` is the latest walk.
pub(crate) fn write(ctx: &StepContext, dir: &Path, index: &Index) -> io::Result<()> {
    let plan = ctx.start.plan.as_ref().map(|given| PlanAtStart {
        file: given.file.clone(),
        path: PathBuf::from(&given.path),
        done: bound_files::plan(Path::new(&given.path)).map_or(0, |plan| plan.done),
    });
    let facts = CallFacts {
        workspace: ctx.workspace.clone(),
        commit: git_facts(&ctx.workspace).head,
        verify: ctx.commands(),
        verify_timeout: ctx.start.policy.verify_timeout,
        plan,
        protect: ctx.start.protect.clone(),
        own_files: ctx.start.own_files.clone(),
        own_dir: ctx.own_dir.as_ref().map(|dir| dir.as_bytes().to_vec()),
    };
    let text = serde_json::to_vec(&facts).map_err(io::Error::other)?;
    write_new(&dir.join(FACTS), &text)?;
    index.save(&dir.join(INDEX)).map_err(io::Error::other)
}

/// Writes a file that does not exist yet: the agent of an earlier call may have left a link there.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    File::create_new(path)?.write_all(bytes)
}

impl CallFacts {
    /// The facts of the call with this directory, and its index.
    pub fn read(dir: &Path) -> io::Result<(CallFacts, Index)> {
        let text = ralph_os::read_regular(&dir.join(FACTS), LARGEST, ralph_os::Links::Refuse)?;
        let facts = serde_json::from_slice(&text).map_err(io::Error::other)?;
        let index = Index::load(&dir.join(INDEX));
        Ok((facts, index.ok_or_else(|| io::Error::other("its index is missing or damaged"))?))
    }

    /// The workspace as ralph walks it after the call.
    pub fn tree(&self) -> Result<Tree, BadGlob> {
        let own_dir = self.own_dir.as_deref().map(TreePath::from);
        let tree = Tree::new(&self.workspace, Protect::new(&self.protect)?).leaving_out(&self.own_files);
        Ok(tree.leaving_out_dir(own_dir.as_ref()))
    }
}
