//! The one table of keys in git's configs that cannot run code, redirect a fetch, a push or a password, hide changes or
//! change what a commit contains; the part about looks and speed is in `harmless_looks_and_speed.rs`. `config.rs` judges
//! with it, for a repository's config and for those outside the workspace.

use super::harmless_looks_and_speed::LOOKS_AND_SPEED;

/// Which values of a key are harmless.
#[derive(Clone, Copy, Debug)]
pub enum Values {
    /// All.
    Any,
    /// None.
    None,
    /// True or false.
    Switch,
    /// A number without a sign, perhaps with a unit.
    Number,
    /// One of these.
    OneOf(&'static [&'static str]),
    /// Others hide changes. One of these, and what stood there before may go: without the key, git shows everything.
    Shows(&'static [&'static str]),
    /// The path of one directory: no pattern.
    Directory,
    /// A path that is not absolute.
    Relative,
    /// The name of a ref. For a branch that was there when the run began: the same name, or what it was.
    Followed,
    /// Refs of a remote go to `refs/remotes/` or `refs/tags/`.
    Tracking,
    /// A remote. For a branch that was there when the run began: a remote that was there, too.
    Remote,
    /// An address that runs nothing, of a remote or submodule that was not there.
    NewAddress,
    /// What the key said before: it may be removed and come back.
    AsBefore,
    /// A new alias that only shows something, or is short for the beginning of a command (`harmless_aliases.rs`).
    Alias,
}

impl Values {
    /// Whether a value is harmless by itself, whatever else a config says.
    pub fn allow(self, value: &str) -> bool {
        match self {
            Any => true,
            Switch => matches!(value, "true" | "false" | "yes" | "no" | "on" | "off" | "0" | "1"),
            Number => is_number(value),
            OneOf(list) | Shows(list) => list.contains(&value),
            Directory => value.starts_with('/') && !value.contains(['*', '"', '\\']),
            Relative => !value.starts_with(['/', '~']),
            Values::None | Followed | Tracking | Remote | NewAddress | AsBefore | Alias => false,
        }
    }
}

fn is_number(value: &str) -> bool {
    let digits = value.strip_suffix(['k', 'K', 'm', 'M', 'g', 'G']).unwrap_or(value);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

use Values::{
    Alias, Any, AsBefore, Directory, Followed, NewAddress, Number, OneOf, Relative, Remote, Shows, Switch,
    Tracking,
};

/// Keys with their harmless values; the first row that fits decides. `*` is any name. A key that is not here is never
/// harmless.
pub fn harmless() -> impl Iterator<Item = &'static (&'static str, Values)> {
    HARMLESS.iter().chain(LOOKS_AND_SPEED)
}

const HARMLESS: &[(&str, Values)] = &[
    // Who the user is, and how things look.
    ("user.*", Any),
    ("author.*", Any),
    ("committer.*", Any),
    ("advice.*", Any),
    ("color.*", Any),
    ("color.*.*", Any),
    // What git gui writes by itself; `gui.diffopts` could name a file to write.
    ("gui.geometry", Any),
    ("gui.wmstate", Any),
    ("gui.encoding", Any),
    ("gui.recentrepo", Any),
    ("gitg.*", Any),
    ("gitk.*", Any),
    // Git reads no further key of a branch; editors keep theirs here.
    ("branch.*.remote", Remote),
    ("branch.*.pushremote", Remote),
    ("branch.*.merge", Followed),
    ("branch.*.rebase", OneOf(&["true", "false", "merges"])),
    ("branch.*.mergeoptions", Values::None),
    ("branch.*.*", Any),
    ("branch.autosetupmerge", OneOf(&["true", "false", "always", "inherit", "simple"])),
    ("branch.autosetuprebase", OneOf(&["never", "local", "remote", "always"])),
    ("remote.*.url", NewAddress),
    ("remote.*.fetch", Tracking),
    ("remote.*.tagopt", OneOf(&["--tags", "--no-tags"])),
    ("remote.*.prune", Switch),
    ("remote.*.prunetags", Switch),
    ("remote.*.skipfetchall", Switch),
    ("remote.*.skipdefaultupdate", Switch),
    ("remote.*.gh-resolved", Any),
    ("remote.*.glab-resolved", Any),
    ("submodule.*.url", NewAddress),
    ("submodule.*.active", Switch),
    ("submodule.*.branch", Any),
    ("submodule.*.update", OneOf(&["checkout", "rebase", "merge", "none"])),
    ("submodule.*.fetchrecursesubmodules", Switch),
    ("submodule.active", Any),
    ("submodule.recurse", Switch),
    ("submodule.fetchjobs", Number),
    // Removed in a submodule's own config when it is not checked out.
    ("core.worktree", AsBefore),
    ("lfs.repositoryformatversion", Number),
    ("lfs.locksverify", Switch),
    ("lfs.*.locksverify", Switch),
    ("lfs.*.access", OneOf(&["basic", "none", "negotiate", "ntlm", "private"])),
    ("lfs.fetchinclude", Any),
    ("lfs.fetchexclude", Any),
    ("lfs.concurrenttransfers", Number),
    ("lfs.allowincompletepush", Switch),
    ("lfs.skipdownloaderrors", Switch),
    ("filter.lfs.clean", OneOf(&["git-lfs clean -- %f"])),
    ("filter.lfs.smudge", OneOf(&["git-lfs smudge -- %f", "git-lfs smudge --skip -- %f"])),
    ("filter.lfs.process", OneOf(&["git-lfs filter-process", "git-lfs filter-process --skip"])),
    ("filter.lfs.required", OneOf(&["true"])),
    // Sparse checkout and maintenance.
    ("core.sparsecheckout", Switch),
    ("core.sparsecheckoutcone", Switch),
    ("index.sparse", Switch),
    ("extensions.worktreeconfig", Switch),
    ("core.repositoryformatversion", OneOf(&["0", "1"])),
    // Git reads it only outside of repositories.
    ("safe.directory", Directory),
    ("maintenance.*", Any),
    ("maintenance.*.*", Any),
    ("gc.auto", Number),
    // How git works with files, commits and remotes that are known.
    ("core.autocrlf", OneOf(&["true", "false", "input"])),
    ("core.eol", OneOf(&["lf", "crlf", "native"])),
    ("core.safecrlf", OneOf(&["true", "false", "warn"])),
    // `false` hides that a file became executable, and that a link became a file. Git sets them so by itself where a disk
    // knows neither; ralph compares permissions and kinds without git.
    ("core.filemode", Switch),
    ("core.symlinks", Switch),
    // The other values hide content: files that are new, whose names differ from others only in case, or whose size and
    // time were put back.
    ("core.ignorecase", Shows(&["false"])),
    ("core.ignorestat", Shows(&["false"])),
    ("core.trustctime", Shows(&["true"])),
    ("core.checkstat", Shows(&["default"])),
    ("status.showuntrackedfiles", Shows(&["normal", "all", "true"])),
    ("diff.ignoresubmodules", Shows(&["none"])),
    ("diff.relative", Shows(&["false"])),
    ("submodule.*.ignore", Shows(&["none"])),
    ("core.longpaths", Switch),
    ("core.quotepath", Switch),
    ("core.whitespace", Any),
    ("core.untrackedcache", OneOf(&["true", "false", "keep"])),
    ("core.commitgraph", Switch),
    ("commit.gpgsign", Switch),
    ("commit.verbose", Switch),
    ("tag.gpgsign", Switch),
    ("pull.rebase", OneOf(&["true", "false", "merges"])),
    ("pull.ff", OneOf(&["true", "false", "only"])),
    ("rebase.autostash", Switch),
    ("rebase.autosquash", Switch),
    ("rebase.updaterefs", Switch),
    ("merge.ff", OneOf(&["true", "false", "only"])),
    ("merge.conflictstyle", OneOf(&["merge", "diff3", "zdiff3"])),
    ("merge.renamelimit", Number),
    ("diff.renames", OneOf(&["true", "false", "copies"])),
    ("diff.renamelimit", Number),
    ("diff.algorithm", OneOf(&["default", "myers", "minimal", "patience", "histogram"])),
    ("blame.ignorerevsfile", Any),
    ("rerere.enabled", Switch),
    ("rerere.autoupdate", Switch),
    ("fetch.prune", Switch),
    ("fetch.prunetags", Switch),
    ("fetch.parallel", Number),
    ("fetch.writecommitgraph", Switch),
    // Not `upstream`: a push would go to whatever branch is followed.
    ("push.default", OneOf(&["simple", "current", "nothing"])),
    ("push.autosetupremote", Switch),
    ("push.followtags", Switch),
    ("http.postbuffer", Number),
    ("http.version", OneOf(&["HTTP/1.1", "HTTP/2"])),
    ("init.defaultbranch", Any),
    ("gitflow.branch.*", Any),
    ("gitflow.prefix.*", Any),
    ("alias.*", Alias),
];

/// Keys that are harmless as well in a repository that was not there: what `git init`, `git clone` and `git submodule`
/// write into a new one, which would change the meaning of one that was.
pub const HARMLESS_IN_NEW_REPOSITORIES: &[(&str, Values)] = &[
    ("core.bare", Switch),
    ("core.logallrefupdates", OneOf(&["true", "false", "always"])),
    ("core.ignorecase", Switch),
    ("core.precomposeunicode", Switch),
    ("core.sharedrepository", Any),
    // Of submodules, relative to their directory in `.git/modules`.
    ("core.worktree", Relative),
    ("extensions.*", Any),
    ("remote.*.fetch", Any),
    ("remote.*.mirror", Switch),
    ("remote.*.promisor", Switch),
    ("remote.*.partialclonefilter", Any),
    ("receive.denynonfastforwards", Switch),
    ("receive.denydeletes", Switch),
    ("receive.denycurrentbranch", OneOf(&["true", "false", "refuse", "warn", "ignore"])),
    // What tests give the repositories that they make.
    ("core.hookspath", OneOf(&["", "/dev/null"])),
    ("core.fsmonitor", OneOf(&["false"])),
    ("core.editor", OneOf(&["true", ":"])),
    ("sequence.editor", OneOf(&["true", ":"])),
    ("core.pager", OneOf(&["", "cat"])),
    ("gc.autodetach", Switch),
    ("protocol.file.allow", OneOf(&["always", "user", "never"])),
    ("uploadpack.allowfilter", Switch),
    ("uploadpack.allowanysha1inwant", Switch),
];
