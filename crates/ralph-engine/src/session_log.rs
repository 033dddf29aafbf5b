//! Which model answered, from the record that an agent keeps of its conversation: for agents that do not report it.

use ralph_agents::SessionLog;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// How much of a record is read: the model stands near its beginning.
const MOST: u64 = 4 << 20;
/// How many directories are looked into at each level, the newest first.
const NEWEST: usize = 2;

/// The model of this conversation.
pub(crate) fn model(records: &Path, log: &SessionLog, session: &str) -> Option<String> {
    let id = session.len() >= 8 && session.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let ends = format!("{session}{}", log.ends);
    let named = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(&ends));
    let days = newest(records).flat_map(|year| newest(&year)).flat_map(|month| newest(&month));
    let record = days.filter(|_| id).flat_map(|day| entries(&day)).find(named)?;
    let is_file = record.symlink_metadata().is_ok_and(|meta| meta.is_file());
    let file = File::open(record).ok().filter(|_| is_file)?;
    BufReader::new(file.take(MOST)).lines().map_while(Result::ok).find_map(|line| (log.model)(&line))
}

fn newest(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let mut found = entries(directory);
    found.sort_unstable();
    found.into_iter().rev().take(NEWEST)
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let read = std::fs::read_dir(directory).into_iter().flatten();
    read.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_agents::codex;

    #[test]
    fn the_record_of_a_conversation_names_its_model() {
        let dir = tempfile::tempdir().unwrap();
        let day = dir.path().join("2026/11/16");
        std::fs::create_dir_all(&day).unwrap();
        let line = |model: &str| {
            format!(
                "{{\"type\":\"session_meta\"}}\n{{\"type\":\"turn_context\",\"payload\":{{\"model\":\"{model}\"}}}}\n"
            )
        };
        let id = "01a1e451-2ab3-7ce3-8385-b920716a5d0a";
        std::fs::write(day.join(format!("rollout-2026-11-16T12-24-47-{id}.jsonl")), line("gpt-5.5")).unwrap();
        std::fs::write(day.join("rollout-other.jsonl"), line("gpt-4.1")).unwrap();
        let log = codex::INFO.model.session_log.unwrap();
        assert_eq!(model(dir.path(), log, id).as_deref(), Some("gpt-5.5"));
        for strange in ["", "l", "../../../x", "01a1e451-0000-7ce3-8385-b920716a5d0a"] {
            assert_eq!(model(dir.path(), log, strange), None, "{strange}");
        }
        assert_eq!(model(&dir.path().join("gone"), log, id), None);
    }
}
