//! Dependency folders: what package managers installed into a workspace and git ignores.

use ralph_tree::TreePath;

/// A directory of installed packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyFolder {
    /// Relative to the workspace.
    pub path: TreePath,
}
