//! Changes without a meaning: layout, comments and formatting of tests.

/// Whether both texts mean the same to the language of this path.
pub fn same_meaning(_path: &[u8], _before: &str, _now: &str) -> bool {
    false
}
