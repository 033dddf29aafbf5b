//! `ralph quarantine restore`: writes quarantined content back. Shows what it will do first; existing content is
//! quarantined before it is replaced.

use super::act::{Act, What};
use super::{Here, Kept};
use crate::cli::undo::{agreed, list, lock};
use crate::print::{print_json, say};
use crate::problem::{Code, Problem};
use ralph_engine::clock::utc;
use ralph_engine::quarantine::{self, Case, Folder, Found, Item};
use ralph_os::NoFollowDir;
use ralph_rules::counting::counted;
use ralph_snapshots::PendingRestore;
use ralph_tree::TreePath;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What the user asked for.
pub struct RestoreRequest<'a> {
    /// Only these paths, or all if empty.
    pub paths: &'a [String],
    /// Show what would be done, change nothing.
    pub dry_run: bool,
    /// Do not ask for confirmation.
    pub yes: bool,
    /// Print JSON.
    pub json: bool,
}

/// Restores, after confirmation.
pub fn restore(kept: &Kept, order: &RestoreRequest<'_>, here: &Here) -> Result<u8, Problem> {
    let workspace = Path::new(&kept.case.workspace);
    let home = here.home()?;
    let _lock = lock(&home, workspace, &format!("quarantine {}", kept.name))?;
    let pending = PendingRestore::load(&home.pending_restore(workspace));
    let acts = acts(kept, order)?;
    if !order.json {
        say(&shown(kept, &acts));
    }
    let go = !order.dry_run && !acts.is_empty() && agreed(order.yes, order.json)?;
    let done = if go { Some(apply(kept, &acts, &home.quarantine(), pending)?) } else { None };
    if order.json {
        print_json(&as_json(kept, &acts, done.as_ref()))?;
    } else if let Some(done) = &done {
        say(&outcome(&acts, done));
    }
    Ok(0)
}

/// What a restore did.
struct Done {
    /// The folder with what was replaced, if anything was.
    aside: Option<PathBuf>,
    /// Directories that were deleted, but have something in them now.
    left: Vec<TreePath>,
}

fn acts<'a>(kept: &'a Kept, order: &RestoreRequest<'_>) -> Result<Vec<Act<'a>>, Problem> {
    let wanted = |found: &&Found| order.paths.is_empty() || order.paths.contains(&found.path);
    if let Some(unknown) = order.paths.iter().find(|path| !kept.case.found.iter().any(|f| f.path == **path)) {
        return Err(Problem::new(Code::Usage, format!("case {} has no path `{unknown}`", kept.name))
            .hint(format!("`ralph quarantine show {}` lists its paths", kept.name)));
    }
    Ok(kept.case.found.iter().filter(wanted).filter_map(|found| Act::of(kept, found)).collect())
}

fn shown(kept: &Kept, acts: &[Act<'_>]) -> String {
    let mut text = format!("Restoring the content of case {}:\n", kept.name);
    list(&mut text, acts.iter().map(Act::line));
    if acts.is_empty() {
        text.push_str("  nothing to do: the case has no content to restore\n");
    }
    if acts.iter().any(|act| act.replaces) {
        text.push_str("Existing files are quarantined before they are replaced or removed.\n");
    }
    text
}

fn outcome(acts: &[Act<'_>], done: &Done) -> String {
    let more = done.aside.as_ref().map(|aside| format!("; what they replaced is in {}", aside.display()));
    let count = counted(acts.len() - done.left.len(), "path");
    let mut text = format!("Restored {count}{}.\n", more.unwrap_or_default());
    if !done.left.is_empty() {
        text.push_str("Left alone, because they are not empty:\n");
        list(&mut text, done.left.iter().map(ToString::to_string));
    }
    text
}

/// Quarantines what is there as a new case, on disk, before the first path is written.
fn apply(
    kept: &Kept,
    acts: &[Act<'_>],
    quarantine: &Path,
    mut pending: PendingRestore,
) -> Result<Done, Problem> {
    let cannot = |error: io::Error| {
        Problem::new(Code::Journal, "cannot quarantine the existing files, so nothing was changed")
            .cause(&error)
    };
    let replaces = acts.iter().any(|act| act.replaces);
    let aside = replaces.then(|| quarantine_current(kept, acts, quarantine)).transpose().map_err(cannot)?;
    let written = acts.iter().filter(|act| act.what == What::Write);
    let files = written.map(|act| (act.root.clone(), act.found.path().as_bytes().to_vec(), act.draft()));
    pending.begin_files(files).map_err(cannot)?;
    let mut left = Vec::new();
    for act in in_order(acts) {
        let failed =
            |error: io::Error| Problem::new(Code::Busy, format!("cannot {}", act.line())).cause(&error);
        if !act.apply(&kept.folder).map_err(failed)? {
            left.push(act.found.path());
        }
    }
    for act in in_order(acts).into_iter().rev().filter(|act| act.what == What::Make) {
        act.set_mode()
            .map_err(|error| Problem::new(Code::Busy, format!("cannot {}", act.line())).cause(&error))?;
    }
    pending.done();
    Ok(Done { aside, left })
}

/// What is deleted goes first, with the contents of a directory before it; then directories come before what is in them.
fn in_order<'a, 'b>(acts: &'b [Act<'a>]) -> Vec<&'b Act<'a>> {
    let mut sorted: Vec<&Act<'_>> = acts.iter().collect();
    sorted.sort_by_key(|act| act.found.path().as_bytes().to_vec());
    let of = |what: What| sorted.iter().copied().filter(move |act| act.what == what);
    of(What::Remove).rev().chain(of(What::Make)).chain(of(What::Write)).collect()
}

fn quarantine_current(kept: &Kept, acts: &[Act<'_>], dir: &Path) -> io::Result<PathBuf> {
    let free = quarantine::free_folder(&dir.join(&kept.case.run), kept.case.iteration, 'r');
    let case = Case { at: utc(), found: Vec::new(), commits: Vec::new(), ..kept.case.clone() };
    let Some(mut folder) = Folder::open(free.clone(), case)? else { return Ok(free) };
    // A directory in the place of a file goes as a whole.
    let whole = acts.iter().filter(|act| act.is_dir && act.what == What::Write);
    let whole: Vec<Vec<u8>> = whole.map(|act| [act.found.path().as_bytes(), b"/"].concat()).collect();
    let is_within = |path: &TreePath| whole.iter().any(|dir| path.as_bytes().starts_with(dir));
    for act in acts.iter().filter(|act| act.replaces && !is_within(&act.found.path())) {
        let (path, how) = (act.found.path(), "replaced by `ralph quarantine restore`".to_owned());
        let name = if act.found.root.is_some() { ".git" } else { "" };
        let item = Item { root: &act.root, name, path, how };
        match act.is_dir && act.what != What::Write {
            true => folder.directory(&item, mode_of(&item)?),
            false => put_all(&mut folder, &item)?,
        }
    }
    folder.close()
}

/// Copies what is at a path; of a directory everything in it, path by path, so that the new case can be restored, too.
fn put_all(folder: &mut Folder, item: &Item<'_>) -> io::Result<()> {
    let root = NoFollowDir::open(item.root)?;
    if !root.metadata(item.path.as_bytes()).is_some_and(|meta| meta.is_dir()) {
        return folder.put(item);
    }
    folder.directory(item, mode_of(item)?);
    let (_held, here) = root.resolved(item.path.as_bytes())?;
    let names = fs::read_dir(here)?.map(|entry| entry.map(|entry| entry.file_name()));
    for name in names.collect::<io::Result<BTreeSet<OsString>>>()? {
        let path = [item.path.as_bytes(), b"/", name.as_bytes()].concat();
        let (path, how) = (path.as_slice().into(), item.how.clone());
        put_all(folder, &Item { root: item.root, name: item.name, path, how })?;
    }
    Ok(())
}

fn mode_of(item: &Item<'_>) -> io::Result<u32> {
    let meta = item.root.join(item.path.as_path()).symlink_metadata()?;
    Ok(meta.permissions().mode() & 0o7777)
}

fn as_json(kept: &Kept, acts: &[Act<'_>], done: Option<&Done>) -> Value {
    let act = |act: &Act<'_>| json!({"path": act.found.path, "act": act.word(), "replaces": act.replaces});
    let left = |done: &Done| done.left.iter().map(ToString::to_string).collect::<Vec<_>>();
    json!({
        "case": kept.name,
        "acts": acts.iter().map(act).collect::<Vec<_>>(),
        "done": done.is_some(),
        "aside": done.and_then(|done| done.aside.as_ref()).map(|path| path.display().to_string()),
        "leftAlone": done.map(left).unwrap_or_default(),
    })
}
