//! Where the views lie, and which paths may be given for them.

use ralph_engine::metrics::MetricsPaths;
use ralph_os::{Links, read_regular};
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// A larger file is not a view.
const LARGEST_VIEW: u64 = 16 << 20;
/// A line of metrics is shorter.
const METRICS_LINE: u64 = 64 << 10;

/// Where each view lies, relative to the workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The run's status.
    pub status: String,
    /// What it does now.
    pub progress: String,
    /// Its iterations.
    pub session: String,
    /// The latest response.
    pub analysis: String,
    /// All runs.
    pub metrics: MetricsPaths,
}

impl Default for Paths {
    fn default() -> Paths {
        let at = |name: &str| format!(".ralph/{name}.json");
        Paths {
            status: at("status"),
            progress: at("progress"),
            session: at("session"),
            analysis: at("analysis"),
            metrics: MetricsPaths::default(),
        }
    }
}

impl Paths {
    /// Those outside `.ralph/`, which would otherwise be taken for the agent's work.
    pub fn outside(&self) -> Vec<String> {
        let report = self.metrics.report("*");
        let all = [&self.status, &self.progress, &self.session, &self.analysis, &self.metrics.lines, &report];
        all.into_iter().filter(|path| !is_inside(path)).cloned().collect()
    }

    /// No file but a view may be overwritten, and no two views may be one file. An error says what is wrong, with a hint.
    pub fn check(&self, workspace: &Path) -> Result<(), (String, String)> {
        let all = [
            ("status", &self.status, "breaker"),
            ("progress", &self.progress, "elapsed_seconds"),
            ("session", &self.session, "session_id"),
            ("analysis", &self.analysis, "exit_decision"),
        ];
        for (n, (name, path, mark)) in all.iter().enumerate() {
            if let Some((other, ..)) = all.iter().take(n).find(|(_, earlier, _)| earlier == path) {
                let message = format!("views.{name} and views.{other} are the same file: {path}");
                return Err((message, "give each view its own file".into()));
            }
            if !is_inside(path) && is_something_else(&workspace.join(path), mark) {
                let message = format!("views.{name} = \"{path}\" would overwrite a file that is not a view");
                return Err((message, "choose another name, or move that file away".into()));
            }
        }
        let reports = self.metrics.report("*");
        let views = all.iter().map(|(name, path, _)| (*name, path.as_str()));
        for (name, path) in
            views.chain([("metrics", self.metrics.lines.as_str()), ("report", reports.as_str())])
        {
            if path.split('/').any(|part| part.eq_ignore_ascii_case(".git")) {
                let message = format!("views.{name} = \"{path}\" is inside a repository's own files");
                return Err((message, "choose a path outside .git".into()));
            }
        }
        let lines = &self.metrics.lines;
        if !is_inside(lines) && !can_be_continued(&workspace.join(lines)) {
            let message = format!("views.metrics = \"{lines}\" is a file that has no metrics in it");
            return Err((message, "choose another name, or move that file away".into()));
        }
        Ok(())
    }

    /// The same, but what a run did not leave out from its beginning stays in `.ralph/`.
    pub fn only(self, own_files: &[String]) -> Paths {
        let usual = Paths::default();
        let is_known = |path: &String| is_inside(path) || own_files.contains(path);
        let known = |path: String, usual: String| if is_known(&path) { path } else { usual };
        let reports = match is_known(&self.metrics.report("*")) {
            true => self.metrics.reports,
            false => usual.metrics.reports,
        };
        Paths {
            status: known(self.status, usual.status),
            progress: known(self.progress, usual.progress),
            session: known(self.session, usual.session),
            analysis: known(self.analysis, usual.analysis),
            metrics: MetricsPaths { lines: known(self.metrics.lines, usual.metrics.lines), reports },
        }
    }
}

/// Whether a path lies in the directory that is ralph's anyway.
fn is_inside(path: &str) -> bool {
    path.starts_with(".ralph/")
}

/// Whether metrics can be appended here: to nothing, or to a file that begins with metrics, ralph's or another tool's.
fn can_be_continued(path: &Path) -> bool {
    match path.symlink_metadata() {
        Err(_) => true,
        Ok(kind) if !kind.is_file() => false,
        Ok(kind) if kind.len() == 0 => true,
        Ok(_) => {
            let mut text = Vec::new();
            let read = File::open(path).and_then(|file| file.take(METRICS_LINE).read_to_end(&mut text));
            let first = text.split(|byte| *byte == b'\n').next().filter(|_| read.is_ok()).unwrap_or_default();
            serde_json::from_slice::<Value>(first).is_ok_and(|line| line.get("loopId").is_some())
        }
    }
}

/// A file that is there and was not written as this view.
fn is_something_else(path: &Path, mark: &str) -> bool {
    let Ok(kind) = path.symlink_metadata() else { return false };
    let text = if kind.is_file() { read_regular(path, LARGEST_VIEW, Links::Refuse).ok() } else { None };
    let view = text.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    view.is_none_or(|view| view.get(mark).is_none())
}
