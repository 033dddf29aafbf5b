//! Which paths are as a run had them at some time. Nobody changed those later: an undo did, or the run itself.

use std::collections::BTreeSet;

use ralph_tree::{Index, TreePath};

use crate::restore::alike;

/// Of these paths, those at which one of the states has what is there now. The next state is asked for only while a path
/// is open.
pub fn recorded_paths(
    paths: &[TreePath],
    now: &Index,
    states: impl IntoIterator<Item = Index>,
) -> BTreeSet<Vec<u8>> {
    let mut open: BTreeSet<&[u8]> = paths.iter().map(TreePath::as_bytes).collect();
    let (mut found, mut states) = (BTreeSet::new(), states.into_iter());
    while !open.is_empty() {
        let Some(state) = states.next() else { break };
        let is_recorded = |path: &[u8]| alike(state.get(path).as_ref(), now.get(path).as_ref());
        found.extend(open.extract_if(.., |path| is_recorded(path)).map(<[u8]>::to_vec));
    }
    found
}
