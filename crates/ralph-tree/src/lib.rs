//! The tree: what a workspace holds, seen by one walk and kept in one index.
//!
//! [`Tree::walk`] makes an [`Index`]; its [`Index::id`] answers "was this tree there before" (progress),
//! [`changes`] says what the agent did, [`violations`] says which protected paths it touched, and
//! [`WorkspaceLock`] keeps a second ralph out. No git process is ever run, because the repository's own
//! configuration could make git run code, and nothing is ever written into the workspace.

mod changes;
mod chunk;
mod content;
mod difference;
mod flags;
mod git_dir;
mod git_facts;
mod ignores;
mod index;
mod inner_git_dirs;
mod listing;
mod lock;
mod merged;
mod named_places;
mod noise;
mod object_files;
mod odd_places;
mod own_files;
mod path;
mod protect;
mod refs;
mod reftable;
mod repository;
mod rule_changes;
mod saved;
mod test_files;
mod tree;
mod violations;
mod walk;
mod without;
mod workspace_file_lock;

pub use changes::{Changes, changes};
pub use chunk::Chunk;
pub use content::{hash_bytes, hash_file};
pub use difference::Difference;
pub use flags::{ASSUMED, Hidden, SKIPPED};
pub use git_facts::{GitFacts, git_facts};
pub use index::{Entry, Index, Kind, Skipped, side_by_side};
pub use inner_git_dirs::InnerGitDirs;
pub use lock::{LockError, NobodyWorks, WorkspaceLock};
pub use named_places::{git_settings, named_globs, named_globs_of_git_dir, named_places, way};
pub use noise::is_noise_directory;
pub use object_files::{ChangedObjects, ObjectFiles};
pub use odd_places::{check_objects, odd_places};
pub use own_files::is_own_file;
pub use path::{TreePath, shown};
pub use protect::{BadGlob, Protect};
pub use refs::Refs;
pub use repository::{OBEYED, REFS, Repository, bare_repositories, repositories, repository_at};
pub use rule_changes::{RuleChanges, rule_changes};
pub use saved::SaveError;
pub use test_files::looks_like_test;
pub use tree::{Tree, WalkError};
pub use violations::{How, Violation, violations};
