//! The skills that ralph brings along: real SKILL.md files, so that `ralph hook install` can put the same text into a
//! client's plugin folder. A skill of the same name in the workspace or the home directory takes precedence.

use crate::init::found::Use;

/// A skill of ralph's own.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Its name, and that of its folder.
    pub name: &'static str,
    /// Its SKILL.md.
    pub text: &'static str,
    /// Which of the commands that `ralph init` detects verify it.
    pub verified_by: Use,
}

/// All of them.
pub const BUILT_IN: [BuiltIn; 3] = [
    BuiltIn { name: "tdd", text: include_str!("built_in/tdd/SKILL.md"), verified_by: Use::Test },
    BuiltIn {
        name: "systematic-debugging",
        text: include_str!("built_in/systematic-debugging/SKILL.md"),
        verified_by: Use::Test,
    },
    BuiltIn {
        name: "code-cleanup",
        text: include_str!("built_in/code-cleanup/SKILL.md"),
        verified_by: Use::Lint,
    },
];

/// The one of this name.
pub fn built_in(name: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|skill| skill.name == name)
}
