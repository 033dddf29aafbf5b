//! Commits exactly what a run changed, onto the commit that is checked out. The commit is built in an index of its own, so
//! that nothing of the user's is staged, unstaged or written; their index learns only that the run's files are committed
//! now. Where a file has other uncommitted changes, the run's are merged into the committed version; if that fails,
//! nothing is committed. Into a version that the user staged they are merged, too: otherwise the next commit would take
//! them back. Every step can be repeated: the branch moves last, and only if nobody else moved it.

use super::decide::{Act, Decider};
use super::git::{Git, GitEntry, Listing};
use super::git_error::GitError;
use super::message::{message, subject};
use super::taken_back::refuse_taken_back;
use crate::cli::diff::RunChange;
use crate::cli::undo::lock;
use crate::cli::{Here, agent, runs};
use crate::problem::{Code, Problem};
use ralph_engine::git_checkout;
use ralph_engine::home::Home;
use ralph_tree::{Kind, shown};
use ralph_view::workspace_diff::{ChangedFile, changed_files};
use std::io;
use std::path::Path;

/// What became of a run's change.
#[derive(Debug, Default)]
pub struct Committed {
    /// The commit; none if there was nothing to commit, or nothing to commit to.
    pub commit: Option<String>,
    /// The branch it is on; none if none is checked out.
    pub branch: Option<String>,
    /// Its subject.
    pub subject: String,
    /// The files in it.
    pub files: Vec<String>,
    /// Changed files that are not in it, and why.
    pub left_out: Vec<(String, &'static str)>,
    /// Files of which the user staged a version that the run's change could not be merged into.
    pub staged_without: Vec<String>,
    /// Hooks that were not run.
    pub hooks: Vec<&'static str>,
    /// Why there is no commit.
    pub why_not: Option<&'static str>,
}

/// Commits the change of a run that is over.
pub fn commit(change: &RunChange, here: &Here) -> Result<Committed, Problem> {
    let (home, workspace) = (here.home()?, Path::new(&change.row.workspace));
    let _lock = lock(&home, workspace, &format!("accept of {}", change.row.id))?;
    refuse_taken_back(change, here)?;
    let without = |why| Ok(Committed { why_not: Some(why), ..Committed::default() });
    let Some(program) = agent::git(here) else { return without("git is not installed") };
    if ralph_tree::repositories(workspace, &ralph_tree::Index::default()).is_empty() {
        return without("the workspace is not in a git repository");
    }
    git_checkout::check(workspace).map_err(|e| GitError::from(e).problem())?;
    let Some(git) = Git::around(&program, workspace).map_err(|e| e.problem())? else {
        return without("the workspace is not in a git repository");
    };
    if let Some(what) = git.under_way() {
        let message = format!("nothing was committed: git is in the middle of {what}");
        return Err(
            Problem::new(Code::Busy, message).hint("finish or abort it, then run `ralph accept` again")
        );
    }
    let scratch = Scratch::new(&home, &change.row.id).map_err(|e| GitError::from(e).problem())?;
    let built = Build::of(change, &git, &home, scratch.path()).map_err(|e| e.problem())?;
    if !built.conflicts.is_empty() {
        return Err(conflict(&built.conflicts, change));
    }
    built.finish(scratch.path()).map_err(|e| e.problem())
}

/// A directory for the commit's own index, in the run's folder; one that a crash left is removed.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(home: &Home, run: &str) -> io::Result<Scratch> {
        let dir = home.run(run).join("commit");
        if dir.exists() {
            std::fs::remove_dir_all(&dir)?;
        }
        Home::create_private_dir(&dir)?;
        Ok(Scratch(dir))
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is removed the next time.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A path in the repository and what is to be there; none removes it.
type IndexRow = (Vec<u8>, Option<GitEntry>);

/// A commit that is being built.
struct Build<'a> {
    change: &'a RunChange,
    git: &'a Git,
    /// The commit that is checked out; none before the first one.
    head: Option<String>,
    files: Listing,
    acts: Vec<IndexRow>,
    /// What the user's index has now, and is to have of the same files.
    staged: Listing,
    stage: Vec<IndexRow>,
    staged_without: Vec<String>,
    conflicts: Vec<(String, &'static str)>,
    left_out: Vec<(String, &'static str)>,
}

impl<'a> Build<'a> {
    fn of(change: &'a RunChange, git: &'a Git, home: &Home, scratch: &Path) -> Result<Build<'a>, GitError> {
        let head = git.word_if_any(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
        let files = head.as_ref().map(|head| git.files_of(head)).transpose()?.unwrap_or_default();
        let left_out = change.moments.left_out.iter().map(|(path, why)| (path.to_string(), *why)).collect();
        let mut build = Build {
            change,
            git,
            head,
            files,
            acts: Vec::new(),
            staged: git.staged()?,
            stage: Vec::new(),
            staged_without: Vec::new(),
            conflicts: Vec::new(),
            left_out,
        };
        let work = |file: &ChangedFile<'_>| {
            [file.before(), file.after()].into_iter().flatten().any(|entry| entry.counts)
        };
        let changed: Vec<ChangedFile<'_>> = changed_files(&change.moments).filter(work).collect();
        let open = build.without_foreign(&changed)?;
        let blobs = change.snapshots.store().blobs();
        let decider = Decider::new((git, blobs, scratch), &home.run(&change.row.id), &open)?;
        for (file, path) in open {
            let name = shown(file.path());
            match decider.decide(&path, build.files.get(&path))? {
                Act::Nothing => {}
                Act::Put(entry) => {
                    build.stage(&decider, &path, &entry, name)?;
                    build.acts.push((path, entry));
                }
                Act::LeaveOut(why) => build.left_out.push((name, why)),
                Act::Conflict(why) => build.conflicts.push((name, why)),
            }
        }
        Ok(build)
    }

    /// What the user's index is to have of a file of which this is committed.
    fn stage(
        &mut self,
        decider: &Decider<'_>,
        path: &[u8],
        entry: &Option<GitEntry>,
        name: String,
    ) -> Result<(), GitError> {
        let staged = self.staged.get(path);
        if staged == self.files.get(path) {
            self.stage.push((path.to_owned(), entry.clone()));
            return Ok(());
        }
        match decider.decide(path, staged)? {
            Act::Put(merged) => self.stage.push((path.to_owned(), merged)),
            Act::Nothing => {}
            Act::LeaveOut(_) | Act::Conflict(_) => self.staged_without.push(name),
        }
        Ok(())
    }

    /// The files that may be committed, with their paths in the repository; the others are left out.
    fn without_foreign<'f, 'e>(
        &mut self,
        changed: &'f [ChangedFile<'e>],
    ) -> Result<Vec<(&'f ChangedFile<'e>, Vec<u8>)>, GitError> {
        let within = |file: &ChangedFile<'_>| [self.git.prefix.as_slice(), file.path()].concat();
        let inner = self.inner_repositories();
        let is_inner = |path: &[u8]| inner.iter().any(|dir| path.starts_with(dir));
        let new = changed.iter().filter(|file| file.after().is_some()).map(within);
        let new = new.filter(|path| !self.files.contains_key(path) && !is_inner(path));
        let ignored = self.git.ignored(&new.collect::<Vec<_>>())?;
        let mut open = Vec::new();
        for file in changed {
            let (path, name) = (within(file), shown(file.path()));
            if is_inner(&path) {
                self.left_out.push((name, "it belongs to a repository inside this one; commit it there"));
            } else if ignored.contains(&path) {
                self.left_out.push((name, "git ignores it"));
            } else if file.after().is_some_and(|new| new.kind == Kind::Special) {
                self.left_out.push((name, "it is neither a file nor a link"));
            } else {
                open.push((file, path));
            }
        }
        Ok(open)
    }

    /// Directories of other repositories, with a slash at the end.
    fn inner_repositories(&self) -> Vec<Vec<u8>> {
        let moments = &self.change.moments;
        let found = moments.before.repositories().chain(moments.after.repositories());
        let found = found.filter_map(|entry| entry.path.strip_suffix(b".git")).filter(|dir| !dir.is_empty());
        let found = found.map(|dir| [self.git.prefix.as_slice(), dir].concat());
        let modules = self.files.iter().filter(|(_, entry)| entry.mode == "160000");
        found.chain(modules.map(|(path, _)| [path.as_slice(), b"/"].concat())).collect()
    }

    /// Makes the commit, tells the user's index of it, and moves the branch.
    fn finish(self, scratch: &Path) -> Result<Committed, GitError> {
        let Build { change, git, head, acts, staged, stage, staged_without, left_out, .. } = self;
        let subject = subject(&change.row);
        let mut made = Committed { left_out, staged_without, subject, ..Committed::default() };
        if acts.is_empty() {
            made.why_not = Some(match changed_files(&change.moments).next() {
                None => "the run changed no files",
                Some(_) if made.left_out.is_empty() => "all of it is committed already",
                Some(_) => "everything else is committed already",
            });
            return Ok(made);
        }
        git.knows_identity()?;
        let (index, length) = (scratch.join("index"), head.as_deref().map_or(40, str::len));
        let start = head.as_deref().map_or(vec!["read-tree", "--empty"], |head| vec!["read-tree", head]);
        git.run_with(&start, Some(&index), b"")?;
        git.update_index(Some(&index), &index_info(acts.iter(), length), scratch)?;
        let tree = git.word(&["write-tree"], Some(&index), b"")?;
        let mut args = vec!["commit-tree", &tree, "-F", "-"];
        args.extend(head.as_deref().map(|head| ["-p", head]).into_iter().flatten());
        let commit = git.word(&args, None, message(&change.row, &change.state).as_bytes())?;
        // The index first: if this is cut short, the files are staged, and the next attempt commits them.
        git.update_index(None, &index_info(stage.iter(), length), scratch)?;
        let none = "0".repeat(commit.len());
        let (why, old) = (format!("ralph accept: {}", made.subject), head.as_deref().unwrap_or(&none));
        if let Err(error) = git.run(&["update-ref", "-m", &why, "HEAD", &commit, old], b"") {
            let was: Vec<_> =
                stage.iter().map(|(path, _)| (path.clone(), staged.get(path).cloned())).collect();
            let back = git.update_index(None, &index_info(was.iter(), length), scratch);
            return Err(if back.is_ok() { error } else { GitError::Staged(Box::new(error)) });
        }
        let in_workspace = |path: &[u8]| shown(path.strip_prefix(git.prefix.as_slice()).unwrap_or(path));
        made.files = acts.iter().map(|(path, _)| in_workspace(path)).collect();
        made.branch = git.word_if_any(&["symbolic-ref", "--quiet", "--short", "HEAD"]);
        made.hooks = git.hooks();
        made.commit = Some(commit);
        Ok(made)
    }
}

/// Changes of an index as git reads them: what goes first, because a directory may come in its place.
/// `length` is that of an object's name.
fn index_info<'e>(acts: impl Iterator<Item = &'e IndexRow> + Clone, length: usize) -> Vec<u8> {
    let none = GitEntry { mode: "0".into(), object: "0".repeat(length) };
    let row = |(path, entry): &IndexRow| {
        let entry = entry.as_ref().unwrap_or(&none);
        [format!("{} {}\t", entry.mode, entry.object).as_bytes(), path, b"\0"].concat()
    };
    let gone = acts.clone().filter(|(_, entry)| entry.is_none()).flat_map(row);
    gone.chain(acts.filter(|(_, entry)| entry.is_some()).flat_map(row)).collect()
}

fn conflict(conflicts: &[(String, &'static str)], change: &RunChange) -> Problem {
    let mut message =
        "nothing was committed: the run's change cannot be separated from others in these files:".to_owned();
    for (path, why) in conflicts {
        message += &format!("\n  {path}: {why}");
    }
    Problem::new(Code::Busy, message)
        .hint("if these are an earlier run's changes, accept that run first; `ralph list` shows it")
        .hint("otherwise commit these files yourself; `ralph accept` then commits the rest")
        .hint(format!("`ralph diff {}` shows the run's change alone", runs::short(&change.row.id)))
}
