//! The proof of a run: its baseline, what the user changes between calls, and the comparison of its current files.

use super::around_changes::{AroundChanges, Elsewhere};
use super::baseline::BASELINE;
use super::change_text::change_text;
use super::{Around, Baseline, Comparison, Environment, ProofSite, RedBefore};
use crate::protection::Committed;
use crate::step_context::StepContext;
use ralph_diagnostics::Discard;
use ralph_rules::policy::Oracle;
use ralph_rules::prompt::REVIEW_BYTES;
use ralph_store::{RunFilter, Store};
use ralph_tree::Index;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, MutexGuard, PoisonError};

impl StepContext {
    /// A call begins. Before the first one, the current files become the baseline.
    pub fn begin_baseline(&self) {
        self.begin_story_baseline();
        let mut baseline = lock(&self.baseline);
        if baseline.is_some() || self.start.policy.oracle == Oracle::Allow || self.commands().is_empty() {
            return;
        }
        let index = self.index();
        // Needed only by a later process, which then reports that nothing can be proven.
        self.snapshots.record(BASELINE, &index).discard("save the baseline");
        *baseline = Some(Arc::new(Baseline::begin(&self.folder, Index::clone(&index))));
        let (places, is_own) = (&self.deps.places, |path: &[u8]| self.is_own(path));
        let environment = Environment::record(&self.workspace, &index, places, &self.package_cache, &is_own);
        environment.save(&self.folder);
        *lock(&self.environment) = Some(Arc::new(environment));
        *lock(&self.around) = Around::begin(&self.folder, &self.workspace, &self.home);
    }

    /// A call begins: what changed around the workspace since the last step is the user's.
    pub fn call_begins_around(&self, trusted: bool) {
        if let Some(around) = lock(&self.around).as_mut() {
            around.call_begins(trusted);
        }
    }

    /// A step ended that ran an agent or a verify command.
    pub fn step_ended_around(&self) {
        if let Some(around) = lock(&self.around).as_mut() {
            around.step_ended();
        }
    }

    /// Changes between two calls are the user's and become part of the baseline.
    pub fn user_changed(&self, before: &Index, now: &Index) {
        for baseline in [&self.baseline, &self.story_baseline] {
            if let Some(baseline) = lock(baseline).as_mut() {
                Arc::make_mut(baseline).user_changed(before, now);
            }
        }
    }

    /// Compares the current files with the baseline's.
    pub fn compare(&self, now: &Index, red: &[RedBefore<'_>]) -> Option<Arc<Comparison>> {
        let comparison = self.with_site(now, |site| {
            let comparison = Comparison::new(site, red);
            Arc::new(self.compare_around(site, comparison))
        })?;
        *lock(&self.comparison) = Some(Arc::clone(&comparison));
        Some(comparison)
    }

    fn compare_around(&self, site: &ProofSite<'_>, comparison: Comparison) -> Comparison {
        let mut around = lock(&self.around);
        let Some(around) = around.as_mut() else { return comparison };
        let changes = match around.both_sides() {
            None => AroundChanges { cut_short: around.is_cut_short(), ..AroundChanges::default() },
            Some(sides) => {
                let head = around.place.head.as_deref();
                let commit = head.and_then(|head| Committed::new(self, head, |r| around.is_of(r)));
                let committed = |path: &[u8]| commit.as_ref()?.read(path);
                let other_runs = self.other_runs(&around.top);
                around.changes(&sides, (site, &comparison), &Elsewhere { other_runs, committed: &committed })
            }
        };
        comparison.with_around(around, changes)
    }

    /// What lies around the workspace before the commands run in a room; none if it is a whole repository.
    pub fn look_around(&self) -> Option<Index> {
        let mut around = lock(&self.around);
        let around = around.as_mut()?;
        around.look();
        Some(around.now().clone())
    }

    /// Files around the workspace that decide about the work and were written since.
    pub fn rewritten_around(
        &self,
        before: Option<&Index>,
        (site, comparison): (&ProofSite<'_>, &Comparison),
    ) -> Vec<String> {
        let mut around = lock(&self.around);
        let (Some(around), Some(before)) = (around.as_mut(), before) else { return Vec::new() };
        around.rewritten(before, (site, comparison), |top| self.other_runs(top))
    }

    /// The workspaces below a directory in which other runs were active while this one was, relative to it.
    fn other_runs(&self, top: &Path) -> Vec<Vec<u8>> {
        let store = self.home.store_if_any().ok().flatten();
        let runs = store.and_then(|store| store.runs(&RunFilter::default()).ok()).unwrap_or_default();
        let began = runs.iter().find(|run| run.id == self.start.run).map_or(i64::MAX, |run| run.started);
        let beside = runs.iter().filter(|run| run.id != self.start.run && run.updated >= began);
        let beside =
            beside.map(|run| Path::new(&run.workspace)).filter(|dir| !self.workspace.starts_with(dir));
        let below = beside.filter_map(|dir| dir.strip_prefix(top).ok());
        below.map(|dir| dir.as_os_str().as_bytes().to_vec()).collect()
    }

    /// The comparison of these files, made anew if an earlier process made it.
    pub fn comparison(&self, now: &Index) -> Option<Arc<Comparison>> {
        let known = lock(&self.comparison).clone().filter(|known| known.tree == now.id());
        known.or_else(|| self.compare(now, &[]))
    }

    /// What changed since the baseline, for a reviewer; empty if that is not known.
    pub fn change_text(&self, now: &Index) -> String {
        let text = self.comparison(now).and_then(|comparison| {
            self.with_site(now, |site| change_text(&comparison.changes, site, REVIEW_BYTES))
        });
        text.unwrap_or_default()
    }

    /// Runs an experiment; none if the baseline is not known.
    pub fn with_site<T>(&self, now: &Index, experiment: impl FnOnce(&ProofSite<'_>) -> T) -> Option<T> {
        let baseline = self.baseline_in_scope()?;
        let commands = self.commands();
        let environment = lock(&self.environment).clone();
        Some(experiment(&ProofSite {
            workspace: &self.workspace,
            root: &self.workspace,
            baseline: &baseline,
            now,
            blobs: self.snapshots.store().blobs(),
            commands: &commands,
            oracle_paths: &self.start.oracle_paths,
            work_paths: &self.start.work_paths,
            before: environment.as_deref(),
            places: &self.deps.places,
            without_submodules: false,
            package_cache: &self.package_cache,
        }))
    }
}

/// The user's changes while the run was not active. `before` counts only if it is the tree the run left.
pub fn user_changed_meanwhile(folder: &Path, before: Option<&Index>, left: u128, now: &Index) {
    let Some(before) = before.filter(|before| before.id() == left) else { return };
    for mut baseline in [Baseline::load(folder), Baseline::load_of_story(folder)].into_iter().flatten() {
        baseline.user_changed(before, now);
    }
}

pub(super) fn lock<T>(mutex: &std::sync::Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
