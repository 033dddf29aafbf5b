//! The loop-ready skill for a kind of task, if there is one.

use crate::cli::Here;
use crate::skills::{self, Skill};
use ralph_rules::advice::Kind;

/// The name of the skill that is most particularly for this kind of task and can be looped with these verify commands.
/// Skills for any kind are nobody's advice.
pub fn loop_ready(kind: Kind, verify: &[String], here: &Here) -> Option<String> {
    let found = skills::all(&here.workspace, &here.env);
    let in_force =
        found.iter().enumerate().filter(|(nth, skill)| found.iter().take(*nth).all(|s| s.name != skill.name));
    let ready = in_force
        .filter_map(|(_, found)| Skill::read(found).ok())
        .filter(|skill| skill.is_loop_ready(verify) && skill.kinds().iter().any(|name| name == kind.name()));
    ready.min_by_key(|skill| skill.kinds().len()).map(|skill| skill.name)
}
