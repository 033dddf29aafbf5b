//! A verification without a run: any working tree or commit, whoever made it, against the commit it came from. The same
//! commands, the same double check, a receipt. Nothing is written into the workspace by ralph; a commit is laid out in
//! a directory of its own.

use crate::clock::utc;
use crate::git_checkout;
use crate::oracle::base::Base;
use crate::oracle::view::Shown;
use crate::oracle::{self, Changed, How, Sources, copy, scripts};
use crate::receipt::{OracleSaid, Receipt, diff_hash, ran};
use crate::redact::Redactor;
use ralph_rules::policy::Oracle;
use ralph_rules::prompt::tail;
use ralph_rules::record::{CheckOutcome, CheckResult, FileRef, Ms};
use ralph_rules::suite::Counter;
use ralph_snapshots::SnapshotStore;
use ralph_supervisor::{Launch, Layer, NotStarted, Sink};
use ralph_tree::{Index, Protect, Tree};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// What is verified, and how.
#[derive(Clone, Debug)]
pub struct StandaloneVerify {
    /// The repository, or any directory.
    pub workspace: PathBuf,
    /// A commit of it instead of its files.
    pub commit: Option<String>,
    /// The commit to compare with.
    pub base: Option<String>,
    /// What proves it.
    pub commands: Vec<String>,
    /// How long one may take.
    pub timeout: Ms,
    /// What changed tests lead to.
    pub oracle: Oracle,
    /// Globs for the oracle.
    pub oracle_paths: Vec<String>,
    /// A directory of ours, for as long as it takes.
    pub scratch: PathBuf,
    /// The binary that tends.
    pub supervisor: PathBuf,
}

/// Verifies, and says what was found. `on_result` hears each command's end.
pub fn verify(
    standalone_verify: &StandaloneVerify,
    redactor: &Redactor,
    mut on_result: impl FnMut(&CheckResult),
) -> io::Result<Receipt> {
    copy::remove(&standalone_verify.scratch)?;
    std::fs::create_dir_all(&standalone_verify.scratch)?;
    let receipt = verified(standalone_verify, redactor, &mut on_result);
    // What cannot be removed now is removed by the next one.
    let _ = copy::remove(&standalone_verify.scratch);
    receipt
}

fn verified(
    standalone_verify: &StandaloneVerify,
    redactor: &Redactor,
    on_result: &mut dyn FnMut(&CheckResult),
) -> io::Result<Receipt> {
    let site = standalone_verify.site()?;
    let before = standalone_verify.before(&site)?;
    let now = walk(standalone_verify, &site, &site)?;
    let results = standalone_verify.commands(&site, &Place::There, redactor, on_result);
    let passed = results.iter().all(|r| r.how == CheckOutcome::Passed) && !results.is_empty();
    let mut commands = ran("as_is", &results);
    let mut said = OracleSaid {
        mode: name(standalone_verify.oracle),
        verdict: "unchanged".into(),
        ..OracleSaid::default()
    };
    let mut held = true;
    let mut diff = None;
    if let Some((index, keep)) = &before {
        let base = Base::of(index.clone());
        let sources = Sources { blobs: keep.blobs(), root: &site };
        let changed = changed(standalone_verify, &site, &base, &now, sources)?;
        said.files = changed.iter().map(ToString::to_string).collect();
        diff = Some(diff_hash(index, &now));
        if !changed.is_empty() {
            said.verdict = "not_tried".into();
        }
        if passed && !changed.is_empty() && standalone_verify.oracle == Oracle::Guard {
            let shown = Shown::of(&changed, &base, sources)?;
            let (contained, again) = standalone_verify.again(&site, &shown, redactor, on_result)?;
            held = again.iter().all(|r| r.how == CheckOutcome::Passed);
            said.verdict = if held { "held" } else { "broken" }.into();
            said.contained = Some(contained.into());
            commands.extend(ran("with_baseline_oracle", &again));
        }
    }
    let verdict = match (passed, held) {
        (false, _) => "not_proven",
        (true, false) => "oracle_changed",
        (true, true) => "proven",
    };
    Ok(Receipt {
        v: 1,
        r#type: "receipt".into(),
        verdict: verdict.into(),
        at: utc(),
        workspace: standalone_verify.workspace.to_string_lossy().into_owned(),
        base: standalone_verify.base.clone(),
        head: standalone_verify
            .commit
            .clone()
            .or_else(|| git_checkout::named(&standalone_verify.workspace, "HEAD")),
        tree: format!("{:032x}", now.id()),
        files_changed: diff.as_ref().map_or(0, |(_, files)| *files),
        diff_hash: diff.map(|(hash, _)| hash),
        of_commit: standalone_verify.commit.is_some(),
        commands,
        oracle: said,
        cost_is_complete: true,
        sandbox: "none".into(),
        ..Receipt::default()
    })
}

/// The base's and today's files of an earlier receipt.
pub fn trees(workspace: &Path, receipt: &Receipt, scratch: &Path) -> io::Result<(Option<Index>, Index)> {
    let head = receipt.head.clone().filter(|_| receipt.of_commit);
    let standalone_verify = StandaloneVerify {
        workspace: workspace.to_owned(),
        commit: head,
        base: receipt.base.clone(),
        commands: Vec::new(),
        timeout: 0,
        oracle: Oracle::Allow,
        oracle_paths: Vec::new(),
        scratch: scratch.to_owned(),
        supervisor: PathBuf::new(),
    };
    let look = || {
        let site = standalone_verify.site()?;
        Ok((
            standalone_verify.before(&site)?.map(|(index, _)| index),
            walk(&standalone_verify, &site, &site)?,
        ))
    };
    let found = look();
    let _ = copy::remove(scratch);
    found
}

/// Where a command is run.
enum Place {
    There,
    Under(Layer),
}

impl StandaloneVerify {
    /// The files that are verified: the workspace's, or a commit's in a directory of their own.
    fn site(&self) -> io::Result<PathBuf> {
        match &self.commit {
            None => Ok(self.workspace.clone()),
            Some(commit) => {
                let to = self.scratch.join("tree");
                git_checkout::lay_out(&self.workspace, commit, &to).map(|()| to)
            }
        }
    }

    /// The files of the base, and their contents.
    fn before(&self, site: &Path) -> io::Result<Option<(Index, SnapshotStore)>> {
        let Some(base) = &self.base else { return Ok(None) };
        let dir = self.scratch.join("base");
        git_checkout::lay_out(&self.workspace, base, &dir)?;
        let index = walk(self, &dir, site)?;
        let keep = SnapshotStore::at(self.scratch.join("keep"));
        keep.take(&dir, &index)?;
        Ok(Some((index, keep)))
    }

    fn commands(
        &self,
        site: &Path,
        place: &Place,
        redactor: &Redactor,
        on_result: &mut dyn FnMut(&CheckResult),
    ) -> Vec<CheckResult> {
        let mut results = Vec::new();
        for command in &self.commands {
            let Some(result) = self.run(command, site, place, redactor) else { return Vec::new() };
            on_result(&result);
            results.push(result);
        }
        results
    }

    /// The same commands with the base's oracle put back.
    fn again(
        &self,
        site: &Path,
        shown: &Shown,
        redactor: &Redactor,
        on_result: &mut dyn FnMut(&CheckResult),
    ) -> io::Result<(&'static str, Vec<CheckResult>)> {
        let dir = self.scratch.join("view");
        if let Ok(layer) = shown.layer(site, &dir) {
            let results = self.commands(site, &Place::Under(layer), redactor, on_result);
            if !results.is_empty() {
                return Ok(("layer", results));
            }
        }
        let copied = shown.copy(site, &dir)?;
        Ok(("copy", self.commands(&copied, &Place::There, redactor, on_result)))
    }

    /// One command; none where the layer could not be had.
    fn run(&self, command: &str, site: &Path, place: &Place, redactor: &Redactor) -> Option<CheckResult> {
        let mut launch = Launch::new(&self.supervisor, "sh", site);
        launch.args = vec!["-c".into(), command.into()];
        launch.env.push(("CI".into(), "1".into()));
        let bytecode = if matches!(place, Place::There) { "bytecode" } else { "bytecode.view" };
        launch.env.push(("PYTHONPYCACHEPREFIX".into(), self.scratch.join(bytecode).into()));
        launch.merge_stderr = true;
        if let Place::Under(layer) = place {
            launch.layer = Some(layer.clone());
        }
        let (process, pump) = match ralph_supervisor::start(launch) {
            Ok(started) => started,
            Err(why) => return Some(result(command, CheckOutcome::NotRun, None, 0, why.to_string())),
        };
        let mut heard = Tail::default();
        let (exit, late) = std::thread::scope(|scope| {
            let (open, over) = channel::<()>();
            let most = Duration::from_millis(u64::try_from(self.timeout).unwrap_or(u64::MAX));
            let watch = scope.spawn(move || {
                let late = over.recv_timeout(most) == Err(RecvTimeoutError::Timeout);
                if late {
                    process.end(Duration::from_secs(2));
                }
                late
            });
            let exit = pump.run(&mut heard);
            drop(open);
            (exit, watch.join().unwrap_or(false))
        });
        if matches!(exit.not_started, Some(NotStarted::Layer { .. })) {
            return None;
        }
        let how = match exit.code {
            _ if late => CheckOutcome::TimedOut,
            Some(0) => CheckOutcome::Passed,
            Some(126 | 127) => CheckOutcome::NotRun,
            _ => CheckOutcome::Failed,
        };
        let text = redactor.redact(&String::from_utf8_lossy(&heard.last)).into_owned();
        let ms = Ms::try_from(exit.ms).unwrap_or(Ms::MAX);
        let counts = heard.tests.finish();
        Some(CheckResult { counts, ..result(command, how, exit.code, ms, tail(&text, TAIL).to_string()) })
    }
}

/// The end of an output that is shown.
const TAIL: usize = 4 * 1024;

#[derive(Default)]
struct Tail {
    last: Vec<u8>,
    tests: Counter,
}

impl Sink for Tail {
    fn stdout(&mut self, chunk: &[u8]) {
        self.tests.feed(chunk);
        self.last.extend_from_slice(chunk);
        let over = self.last.len().saturating_sub(4 * TAIL);
        self.last.drain(..over);
    }

    fn stderr(&mut self, chunk: &[u8]) {
        self.stdout(chunk);
    }
}

fn result(command: &str, how: CheckOutcome, exit: Option<i32>, ms: Ms, tail: String) -> CheckResult {
    CheckResult { command: command.into(), how, exit, ms, tail, output: FileRef::default(), counts: None }
}

/// The files of a directory, with the oracle that the verified ones have.
fn walk(standalone_verify: &StandaloneVerify, dir: &Path, site: &Path) -> io::Result<Index> {
    let tree = Tree::new(dir, Protect::new(Protect::DEFAULTS).map_err(io::Error::other)?);
    tree.with_oracle(oracle_of(standalone_verify, site)?).walk(None).map_err(io::Error::other)
}

fn oracle_of(standalone_verify: &StandaloneVerify, site: &Path) -> io::Result<ralph_tree::Oracle> {
    // A script that is new here is work; those of the base are the oracle's.
    let base = standalone_verify.scratch.join("base");
    let scripts = scripts::scripts(if base.is_dir() { &base } else { site }, &standalone_verify.commands);
    ralph_tree::Oracle::new(&standalone_verify.oracle_paths, &scripts).map_err(io::Error::other)
}

/// What of the oracle differs from the base. Something ignored that is not in it is the machine's own.
fn changed(
    standalone_verify: &StandaloneVerify,
    site: &Path,
    base: &Base,
    now: &Index,
    from: Sources<'_>,
) -> io::Result<Vec<Changed>> {
    let mut changed = oracle::changed(&oracle_of(standalone_verify, site)?, base, now, from);
    let own =
        |one: &Changed| one.how == How::Added && now.get(one.path.as_bytes()).is_some_and(|e| !e.counts);
    changed.retain(|one| !own(one));
    Ok(changed)
}

fn name(oracle: Oracle) -> String {
    match oracle {
        Oracle::Guard => "guard",
        Oracle::Flag => "flag",
        Oracle::Allow => "allow",
    }
    .into()
}
