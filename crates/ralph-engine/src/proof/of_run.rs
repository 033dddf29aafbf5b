//! The proof of a run: its baseline, what the user changes between calls, and the comparison of its current files.

use super::baseline::BASELINE;
use super::change_text::change_text;
use super::{Baseline, Comparison, Environment, ProofSite, RedBefore};
use crate::step_context::StepContext;
use ralph_diagnostics::Discard;
use ralph_rules::policy::Oracle;
use ralph_rules::prompt::REVIEW_BYTES;
use ralph_tree::Index;
use std::path::Path;
use std::sync::{Arc, MutexGuard, PoisonError};

impl StepContext {
    /// A call begins. Before the first one, the current files become the baseline.
    pub fn begin_baseline(&self) {
        let mut baseline = lock(&self.baseline);
        if baseline.is_some() || self.start.policy.oracle == Oracle::Allow || self.start.verify.is_empty() {
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
    }

    /// Changes between two calls are the user's and become part of the baseline.
    pub fn user_changed(&self, before: &Index, now: &Index) {
        if let Some(baseline) = lock(&self.baseline).as_mut() {
            Arc::make_mut(baseline).user_changed(before, now);
        }
    }

    /// Compares the current files with the baseline's.
    pub fn compare(&self, now: &Index, red: &[RedBefore<'_>]) -> Option<Arc<Comparison>> {
        let comparison = self.with_site(now, |site| Arc::new(Comparison::new(site, red)))?;
        *lock(&self.comparison) = Some(Arc::clone(&comparison));
        Some(comparison)
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
        let baseline = lock(&self.baseline).clone()?;
        let environment = lock(&self.environment).clone();
        Some(experiment(&ProofSite {
            workspace: &self.workspace,
            root: &self.workspace,
            baseline: &baseline,
            now,
            blobs: self.snapshots.store().blobs(),
            commands: &self.start.verify,
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
    if let (Some(before), Some(mut baseline)) =
        (before.filter(|before| before.id() == left), Baseline::load(folder))
    {
        baseline.user_changed(before, now);
    }
}

fn lock<T>(mutex: &std::sync::Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
