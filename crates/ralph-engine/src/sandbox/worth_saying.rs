//! Which notes of a sandbox a user is told: once, and not that a limit is missing which nobody asked for. Most users have no
//! control group of their own, and a line about it in every iteration would hide the lines that matter.

use super::SandboxDeps;

impl SandboxDeps {
    /// The notes that are worth a line.
    pub(super) fn worth_saying(&self, notes: &[String]) -> Vec<String> {
        let usual = !self.settings.memory_is_set;
        let about_memory = |note: &&String| note.starts_with("memory: ");
        notes.iter().filter(|note| !(usual && about_memory(note))).cloned().collect()
    }
}
