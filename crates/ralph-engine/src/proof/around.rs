//! The repository around a workspace that is a part of one: its files before the first call, and what the user changed in
//! them since. What changes there while a step runs is taken for the agent's, as in the workspace. Kept in the run's
//! folder, so that a later process of the run has it.

use super::baseline::{BASELINE, Baseline};
use crate::home::Home;
use ralph_diagnostics::Discard;
use ralph_os::write_durably;
use ralph_tree::{Index, Protect, Repository, Tree, git_facts, repositories};
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The directory in a run's folder.
const FOLDER: &str = "around";
/// Where the workspace lies, in that directory.
const PLACE: &str = "place.json";
/// The files when the latest step ended, in that directory.
const LEFT: &str = "left.tree";
/// Says whether a step has ended since the latest call began, in that directory.
const SETTLED: &str = "settled";
/// A walk younger than this is not repeated before a call.
const FRESH: Duration = Duration::from_millis(500);

/// The repository around a workspace.
#[derive(Debug)]
pub struct Around {
    folder: PathBuf,
    pub(super) top: PathBuf,
    pub(super) place: AroundPlace,
    tree: Tree,
    pub(super) baseline: Baseline,
    latest: Index,
    /// When the latest walk was; none if an earlier process made it.
    walked: Option<Instant>,
    /// A step has ended since the latest call began: what changes from now on is the user's.
    settled: bool,
}

/// What is known of the repository besides its files.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct AroundPlace {
    /// Where the workspace begins in it.
    pub within: Vec<u8>,
    /// The commit checked out before the first call.
    pub head: Option<String>,
    /// It has too many names; the last ones are not in the baseline.
    pub cut_short: bool,
}

impl Around {
    /// Looks at everything before the first call; none if the workspace is not a part of a repository.
    pub fn begin(run_folder: &Path, workspace: &Path, home: &Home) -> Option<Around> {
        let found = repositories(workspace, &Index::default());
        let repository = found.first().filter(|repository| !repository.within.is_empty())?;
        let top = repository.top_around(&workspace.canonicalize().ok()?)?;
        let (head, within) = (git_facts(workspace).head, repository.within.clone());
        let tree = tree(&top, &within, home)?;
        let index = tree.walk(None).inspect_err(|error| tracing::warn!(%error, "look around the workspace"));
        let index = index.ok()?;
        let folder = run_folder.join(FOLDER);
        let place = AroundPlace { within, head, cut_short: index.is_cut_short() };
        let baseline = Baseline::begin(&folder, index.clone());
        let around =
            Around { folder, top, place, tree, baseline, latest: index, walked: None, settled: false };
        // Needed only by a later process, which then compares nothing around the workspace.
        around.save().discard("save the files around the workspace");
        Some(around)
    }

    fn save(&self) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        self.latest.save_durably(&self.folder.join(format!("{BASELINE}.tree")))?;
        write_durably(&self.folder.join(SETTLED), b"no")?;
        write_durably(&self.folder.join(PLACE), &serde_json::to_vec(&self.place)?)
    }

    /// What an earlier process of the run kept. None if the workspace was moved away from its place in the repository.
    pub fn load(run_folder: &Path, workspace: &Path, home: &Home) -> Option<Around> {
        let folder = run_folder.join(FOLDER);
        let place: AroundPlace = serde_json::from_slice(&fs::read(folder.join(PLACE)).ok()?).ok()?;
        let workspace = workspace.canonicalize().ok()?;
        let within = Path::new(OsStr::from_bytes(&place.within));
        let top = workspace.ancestors().nth(within.components().count())?.to_path_buf();
        if workspace != top.join(within) {
            return None;
        }
        let baseline = Baseline::load(&folder)?;
        let settled = fs::read(folder.join(SETTLED)).is_ok_and(|said| said == b"yes");
        let left = Index::load(&folder.join(LEFT)).filter(|_| settled);
        let (settled, latest) = (left.is_some(), left.unwrap_or_default());
        let tree = tree(&top, &place.within, home)?;
        Some(Around { folder, top, place, tree, baseline, latest, walked: None, settled })
    }

    /// Whether a repository is this one.
    pub(super) fn is_of(&self, repository: &Repository) -> bool {
        !repository.within.is_empty() && repository.within == self.place.within
    }

    /// The files at the latest walk.
    pub(super) fn now(&self) -> &Index {
        &self.latest
    }

    /// Walks again and returns the walk before. What cannot be walked stays as it was seen last.
    pub(super) fn look(&mut self) -> Index {
        match self.tree.walk(Some(&self.latest)) {
            Ok(index) => {
                self.walked = Some(Instant::now());
                std::mem::replace(&mut self.latest, index)
            }
            Err(error) => {
                tracing::warn!(%error, "look around the workspace");
                self.latest.clone()
            }
        }
    }

    /// A call begins. What changed since the last step ended is the user's, unless somebody may have escaped.
    pub fn call_begins(&mut self, trusted: bool) {
        if self.walked.is_none_or(|at| at.elapsed() > FRESH) {
            let before = self.look();
            if self.settled && trusted {
                self.baseline.user_changed(&before, &self.latest);
            }
        }
        self.settled = false;
        write_durably(&self.folder.join(SETTLED), b"no").discard("note that a call begins");
    }

    /// A step ended: what it changed is not the user's.
    pub fn step_ended(&mut self) {
        let (before, path) = (self.look(), self.folder.join(LEFT));
        self.settled = true;
        let save = || {
            if before.id() != self.latest.id() || !path.exists() {
                self.latest.save_durably(&path)?;
            }
            write_durably(&self.folder.join(SETTLED), b"yes")
        };
        // Without it, a later process takes no change for the user's.
        save().discard("save the files around the workspace after a step");
    }
}

/// The files around the workspace, without ralph's own.
fn tree(top: &Path, within: &[u8], home: &Home) -> Option<Tree> {
    let nothing = Protect::new(std::iter::empty::<&str>()).ok()?;
    Some(Tree::work_around(top, nothing, within).leaving_out_dir(home.within(top).as_ref()))
}
