//! Deletes the files of old runs when a run has ended, as `prune.keep` says. Nothing that goes wrong here changes how
//! the run ended.

use super::retention::{Retention, latest};
use super::run::Output;
use super::{Here, run_files, runs};
use crate::config::Config;
use crate::print::say;
use ralph_diagnostics::Discard;
use ralph_engine::clock::utc;
use ralph_engine::home::Home;
use ralph_rules::counting::counted;
use ralph_rules::policy::SECOND;
use ralph_rules::record::Ms;
use ralph_store::{RunFilter, RunRow, Store};
use std::path::Path;

/// What `prune.keep` says for a run.
#[derive(Clone, Copy, Debug)]
pub struct AutoPrune {
    keep: Option<Ms>,
    /// The user or the system says so, not the project: it holds for runs of all workspaces.
    everywhere: bool,
}

impl AutoPrune {
    /// As configured.
    pub fn of(config: &Config) -> AutoPrune {
        let layer = config.setting("prune.keep").map_or("", |setting| setting.layer);
        AutoPrune { keep: config.settings.keep_runs, everywhere: matches!(layer, "user" | "system") }
    }

    /// After this run in this workspace. Inside another run nothing is deleted, as `ralph prune` refuses there.
    pub fn after_run(self, id: &str, workspace: &Path, output: Output, here: &Here) {
        let Some(keep) = self.keep.filter(|_| here.env.inside_run.is_none()) else { return };
        match self.prune(id, workspace, keep, here) {
            Ok((count, bytes)) if count > 0 && !output.quiet => {
                let (runs, age) = (counted(count, "run"), in_words(keep));
                let size = ralph_store::shown_size(bytes);
                let words = format!(
                    "deleted transcripts and snapshots of {runs} older than {age} ({size}); change with prune.keep"
                );
                say(&format!("{}\n", here.err_style().faint(&words)));
            }
            done => done.discard("delete the files of old runs"),
        }
    }

    fn prune(self, id: &str, workspace: &Path, keep: Ms, here: &Here) -> Result<(u64, u64), String> {
        let home = here.home().map_err(|problem| problem.message)?;
        if !any_began_before(&home, utc().saturating_sub(keep)) {
            return Ok((0, 0));
        }
        let own = workspace.to_string_lossy().into_owned();
        let store = runs::store(&home).map_err(|problem| problem.message)?;
        let filter = RunFilter { workspace: (!self.everywhere).then(|| own.clone()), ..RunFilter::default() };
        let rows = store.runs(&filter).map_err(|e| e.to_string())?;
        let latest = latest(&rows);
        let mut retention = Retention::new(&here.env).known(&own, self.keep);
        let mut goes = |row: &RunRow| {
            !row.resumable
                && row.id != id
                && !latest.contains(&row.id)
                && retention.is_older(row, keep)
                && home.run(&row.id).exists()
                && !runs::is_running(row, &home)
                // Perhaps its disk is not mounted now, and its own settings say something else.
                && Path::new(&row.workspace).exists()
                && retention.is_over(row)
        };
        let old: Vec<&RunRow> = rows.iter().filter(|row| goes(row)).collect();
        let (gone, freed) = run_files::delete(&old, &store, &home);
        Ok((gone.len() as u64, freed))
    }
}

/// Whether a run that has files began before this time, so that the store must be asked. The id of a run begins with the
/// time of its start.
fn any_began_before(home: &Home, time: Ms) -> bool {
    let folders = std::fs::read_dir(home.dir().join("runs")).into_iter().flatten().flatten();
    let began = |name: &str| {
        let (seconds, _) = uuid::Uuid::parse_str(name).ok()?.get_timestamp()?.to_unix();
        Ms::try_from(seconds).ok()?.checked_mul(SECOND)
    };
    let mut began = folders.map(|folder| folder.file_name().to_str().and_then(began));
    began.any(|began| began.is_none_or(|began| began <= time))
}

/// `30 days`; the largest unit that needs no fraction.
fn in_words(ms: Ms) -> String {
    let units = [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second")];
    match units.into_iter().find(|(unit, _)| ms >= *unit && ms % unit == 0) {
        Some((unit, name)) => counted(u64::try_from(ms / unit).unwrap_or_default(), name),
        None => format!("{ms} ms"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_run_says_when_it_began() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path());
        assert!(!any_began_before(&home, Ms::MAX), "there are no runs");
        // 2025-08-19T10:14:25Z
        std::fs::create_dir_all(home.run("0198c1d2-aaaa-7bbb-8ccc-1234567890ab")).unwrap();
        let began = 1_755_598_465_000;
        assert_eq!(
            [began - 1_000, began, Ms::MAX].map(|time| any_began_before(&home, time)),
            [false, true, true]
        );
        std::fs::create_dir_all(home.run("not an id")).unwrap();
        assert!(any_began_before(&home, 0), "anything else may be old");
    }

    #[test]
    fn an_age_is_said_in_the_unit_it_was_written_in() {
        for (ms, words) in [
            (30 * 86_400_000, "30 days"),
            (86_400_000, "1 day"),
            (36 * 3_600_000, "36 hours"),
            (90_000, "90 seconds"),
            (1_500, "1500 ms"),
        ] {
            assert_eq!(in_words(ms), words);
        }
    }
}
