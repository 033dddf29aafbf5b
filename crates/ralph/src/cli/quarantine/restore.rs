//! `ralph quarantine restore`: writes quarantined content back. Shows what it will do first; existing content is
//! quarantined before it is replaced.

use super::{Here, Kept};
use crate::cli::undo::{agreed, lock};
use crate::print::{print_json, say};
use crate::problem::{Code, Problem};
use ralph_engine::clock::utc;
use ralph_engine::quarantine::{self, Case, Folder, Found, Item};
use ralph_os::{Draft, Links, NoFollowDir, read_regular};
use ralph_snapshots::PendingRestore;
use serde_json::{Value, json};
use std::fs;
use std::io;
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

/// One path and what will happen to it.
struct Act<'a> {
    found: &'a Found,
    root: PathBuf,
    /// Something else is at the path now.
    replaces: bool,
}

impl Act<'_> {
    /// The number of its draft: the same each time, so that one that was left is known.
    fn draft(&self) -> u128 {
        ralph_tree::hash_bytes(self.found.path().as_bytes())
    }
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
    let aside = if go { Some(apply(kept, &acts, &home.quarantine(), pending)?) } else { None };
    if order.json {
        print_json(&as_json(kept, &acts, aside.as_deref()))?;
    } else if let Some(aside) = &aside {
        let replaced = acts.iter().any(|act| act.replaces);
        let more =
            if replaced { format!("; what they replaced is in {}", aside.display()) } else { String::new() };
        say(&format!("Restored {} path{}{more}.\n", acts.len(), if acts.len() == 1 { "" } else { "s" }));
    }
    Ok(0)
}

fn acts<'a>(kept: &'a Kept, order: &RestoreRequest<'_>) -> Result<Vec<Act<'a>>, Problem> {
    let wanted = |found: &&Found| order.paths.is_empty() || order.paths.contains(&found.path);
    if let Some(unknown) = order.paths.iter().find(|path| !kept.case.found.iter().any(|f| f.path == **path)) {
        return Err(Problem::new(Code::Usage, format!("case {} has no path `{unknown}`", kept.name))
            .hint(format!("`ralph quarantine show {}` lists its paths", kept.name)));
    }
    let has_content = |found: &&Found| found.file.is_some() && found.commit.is_none();
    let all = kept.case.found.iter().filter(has_content).filter(wanted).map(|found| {
        let root = PathBuf::from(found.root.as_deref().unwrap_or(&kept.case.workspace));
        let to = root.join(found.path().as_path());
        let from = kept.folder.join(found.file.as_deref().unwrap_or_default());
        let replaces = to.symlink_metadata().is_ok() && !is_same(&from, &to, found.link);
        Act { found, root, replaces }
    });
    Ok(all.collect())
}

fn is_same(from: &Path, to: &Path, link: bool) -> bool {
    use std::os::unix::ffi::OsStrExt;
    match link {
        true => fs::read_link(to)
            .is_ok_and(|at| fs::read(from).is_ok_and(|kept| kept == at.as_os_str().as_bytes())),
        false => {
            to.symlink_metadata().is_ok_and(|meta| meta.is_file())
                && fs::read(from).is_ok_and(|kept| {
                    let now = read_regular(to, kept.len() as u64, Links::RefuseLast);
                    now.is_ok_and(|now| kept == now)
                })
        }
    }
}

fn shown(kept: &Kept, acts: &[Act<'_>]) -> String {
    let mut text = format!("Restoring the content of case {}:\n", kept.name);
    for act in acts {
        let what = if act.replaces { "replace" } else { "write" };
        text.push_str(&format!("  {what} {}\n", act.found.path));
    }
    if acts.is_empty() {
        text.push_str("  nothing to do: the case has no content to restore\n");
    }
    if acts.iter().any(|act| act.replaces) {
        text.push_str("Existing files are quarantined before they are replaced.\n");
    }
    text
}

/// Quarantines what is there as a new case, on disk, before the first path is written.
fn apply(
    kept: &Kept,
    acts: &[Act<'_>],
    quarantine: &Path,
    mut pending: PendingRestore,
) -> Result<PathBuf, Problem> {
    let cannot = |error: io::Error| {
        Problem::new(Code::Journal, "cannot quarantine the existing files, so nothing was changed")
            .cause(&error)
    };
    let aside = if acts.iter().any(|act| act.replaces) {
        quarantine_current(kept, acts, quarantine).map_err(cannot)?
    } else {
        PathBuf::new()
    };
    let files = acts.iter().map(|act| (act.root.clone(), act.found.path().as_bytes().to_vec(), act.draft()));
    pending.begin_files(files).map_err(cannot)?;
    for act in acts {
        write(kept, act).map_err(|error| {
            Problem::new(Code::Busy, format!("cannot write {}", act.found.path)).cause(&error)
        })?;
    }
    pending.done();
    Ok(aside)
}

fn quarantine_current(kept: &Kept, acts: &[Act<'_>], dir: &Path) -> io::Result<PathBuf> {
    let run = dir.join(&kept.case.run);
    let names = (1..).map(|n| run.join(format!("{:03}.r{n}", kept.case.iteration)));
    let free = names.into_iter().find(|path| !quarantine::is_complete(path)).unwrap_or_default();
    let case = Case { at: utc(), found: Vec::new(), commits: Vec::new(), ..kept.case.clone() };
    let Some(mut folder) = Folder::open(free.clone(), case)? else { return Ok(free) };
    for act in acts.iter().filter(|act| act.replaces) {
        let (path, how) = (act.found.path(), "replaced by `ralph quarantine restore`".to_owned());
        let name = if act.found.root.is_some() { ".git" } else { "" };
        folder.put(&Item { root: &act.root, name, path, how })?;
    }
    folder.close()
}

/// Writes one path back. Nothing is written through a symbolic link.
fn write(kept: &Kept, act: &Act<'_>) -> io::Result<()> {
    let from = kept.folder.join(act.found.file.as_deref().unwrap_or_default());
    if from.is_dir() {
        return Err(io::Error::other(format!(
            "it was a directory; copy it yourself from {}",
            from.display()
        )));
    }
    let (root, path) = (NoFollowDir::open(&act.root)?, act.found.path());
    if root.metadata(path.as_bytes()).is_some_and(|meta| meta.is_dir()) {
        // It is in quarantine, with everything in it.
        root.remove_all(path.as_bytes())?;
    }
    if act.found.link {
        return root.replace_link(path.as_bytes(), Draft::Named(act.draft()), &fs::read(&from)?);
    }
    root.replace_file(path.as_bytes(), Draft::Named(act.draft()), 0o600, |file| {
        io::copy(&mut fs::File::open(&from)?, file)?;
        file.set_permissions(fs::Permissions::from_mode(u32::from(act.found.mode)))?;
        file.sync_data()
    })
}

fn as_json(kept: &Kept, acts: &[Act<'_>], aside: Option<&Path>) -> Value {
    json!({
        "case": kept.name,
        "acts": acts.iter().map(|act| json!({"path": act.found.path, "replaces": act.replaces})).collect::<Vec<_>>(),
        "done": aside.is_some(),
        "aside": aside.filter(|_| acts.iter().any(|act| act.replaces)).map(|path| path.display().to_string()),
    })
}
