//! How long the files of runs are kept: as long as `prune.keep` says in the workspace of the run. So the file of one
//! project never shortens what is kept of another. The latest run of a workspace is kept however old it is.

use crate::config::load_files;
use crate::env::Env;
use ralph_engine::clock::utc;
use ralph_rules::record::Ms;
use ralph_store::RunRow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The settings of all workspaces, read when they are needed.
pub struct Retention<'a> {
    env: &'a Env,
    now: Ms,
    known: BTreeMap<String, Workspace>,
}

/// What the settings of a workspace say.
#[derive(Clone, Copy)]
enum Workspace {
    /// Files are kept this long; none means forever.
    Keeps(Option<Ms>),
    /// They cannot be read, so nothing is deleted.
    Unreadable,
}

impl<'a> Retention<'a> {
    /// By the settings as they are now.
    pub fn new(env: &'a Env) -> Retention<'a> {
        Retention { env, now: utc(), known: BTreeMap::new() }
    }

    /// Where the settings of this workspace were read already.
    pub fn known(mut self, workspace: &str, keep: Option<Ms>) -> Retention<'a> {
        self.known.insert(workspace.into(), Workspace::Keeps(keep));
        self
    }

    /// Whether a run was last written to longer ago than this.
    pub fn is_older(&self, run: &RunRow, keep: Ms) -> bool {
        self.now.saturating_sub(run.updated) > keep
    }

    /// Whether a run is older than its workspace keeps files.
    pub fn is_over(&mut self, run: &RunRow) -> bool {
        let env = self.env;
        let read = || match load_files(Path::new(&run.workspace), env) {
            Ok(config) => Workspace::Keeps(config.settings.keep_runs),
            Err(_) => Workspace::Unreadable,
        };
        match *self.known.entry(run.workspace.clone()).or_insert_with(read) {
            Workspace::Keeps(Some(keep)) => self.is_older(run, keep),
            Workspace::Keeps(None) | Workspace::Unreadable => false,
        }
    }

    /// The workspaces whose settings cannot be read, of those that were asked for.
    pub fn unreadable(&self) -> Vec<&str> {
        let unreadable = |keeps: &Workspace| matches!(keeps, Workspace::Unreadable);
        self.known.iter().filter(|(_, keeps)| unreadable(keeps)).map(|(path, _)| path.as_str()).collect()
    }
}

/// The ids of the latest runs of all workspaces, from runs given newest first.
pub fn latest(rows: &[RunRow]) -> BTreeSet<String> {
    let mut workspaces = BTreeSet::new();
    rows.iter().filter(|row| workspaces.insert(&row.workspace)).map(|row| row.id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ralph_rules::policy::MINUTE;

    const DAY: Ms = 24 * 60 * MINUTE;

    fn run(workspace: &Path, days: Ms) -> RunRow {
        let workspace = workspace.to_string_lossy().into_owned();
        RunRow { id: format!("{days}"), workspace, updated: utc() - days * DAY, ..RunRow::default() }
    }

    #[test]
    fn every_workspace_has_its_own_retention_and_thirty_days_without_one() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str, text: &str| {
            let workspace = dir.path().join(name);
            std::fs::create_dir(&workspace).unwrap();
            std::fs::write(workspace.join("ralph.toml"), text).unwrap();
            workspace
        };
        let week = at("week", "[prune]\nkeep = \"7d\"\n");
        let forever = at("forever", "[prune]\nkeep = \"forever\"\n");
        let off = at("off", "[prune]\nkeep = \"0\"\n");
        let broken = at("broken", "[prune\n");
        let gone = dir.path().join("gone");
        let env = Env::default();
        let mut retention = Retention::new(&env);
        for (workspace, days, over) in [
            (&week, 6, false),
            (&week, 8, true),
            (&forever, 999, false),
            (&off, 999, false),
            (&broken, 999, false),
            (&gone, 29, false),
            (&gone, 31, true),
        ] {
            assert_eq!(retention.is_over(&run(workspace, days)), over, "{workspace:?} {days}");
        }
        assert_eq!(retention.unreadable(), [broken.to_string_lossy()]);
    }

    #[test]
    fn the_latest_run_of_each_workspace_is_the_first_in_the_list() {
        let (one, two) = (Path::new("/one"), Path::new("/two"));
        let rows = [run(one, 1), run(two, 2), run(one, 3), run(two, 4)];
        assert_eq!(latest(&rows), ["1", "2"].map(String::from).into());
    }
}
