//! `ralph verify`: verifies a working tree or a commit without a run, whoever made it, against the commit it came from.
//! The same experiments and grades as in a run, and a receipt. ralph writes nothing into the workspace; a commit is
//! checked out into a directory of its own and shown at the workspace's path.

use super::{BYTECODE, Room, Runner, VerifyCommand, tree_copy};
use crate::clock::{Clock, utc};
use crate::git_checkout;
use crate::proof::map::{MapRun, Tried};
use crate::proof::{Baseline, Comparison, Places, ProofSite, RedBefore, RoomRun};
use crate::receipt::{
    self, FAILED, ORACLE_CHANGED, REFUSED, Receipt, ReceiptMap, diff_hash, oracle_name, ran,
};
use crate::redact::Redactor;
use crate::sandbox::VerifySandbox;
use crate::under_way::UnderWay;
use ralph_diagnostics::Discard;
use ralph_rules::grade::Grade;
use ralph_rules::objection::Objection;
use ralph_rules::policy::{MapTime, Oracle};
use ralph_rules::proof::{Conclusion, ProofStep, proof_of};
use ralph_rules::record::{
    ChangeMap, Check, CheckOutcome, CheckResult, Ms, RoomSeen, RoomSets, SandboxGiven, Verified,
};
use ralph_rules::state::{Checks, ProofState};
use ralph_snapshots::SnapshotStore;
use ralph_supervisor::Launch;
use ralph_tree::{Index, Protect, Tree, TreePath};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that changed.
const ALL: RoomSets = RoomSets { work: true, ambiguous: true, oracle: true, canary: false };

/// What to verify, and how.
#[derive(Clone, Debug)]
pub struct StandaloneVerify {
    /// The repository, or any directory.
    pub workspace: PathBuf,
    /// A commit to verify instead of the files in the workspace.
    pub commit: Option<String>,
    /// The commit to compare with.
    pub base: Option<String>,
    /// The commands that verify the work.
    pub commands: Vec<String>,
    /// Commands that prepare a room.
    pub setup: Vec<String>,
    /// Longest time one command may take.
    pub timeout: Ms,
    /// What to do about changed tests.
    pub oracle: Oracle,
    /// More globs for files that count as tests.
    pub oracle_paths: Vec<String>,
    /// Globs for what is work although its name says otherwise.
    pub work_paths: Vec<String>,
    /// A directory for temporary files; removed at the end.
    pub scratch: PathBuf,
    /// The verification rooms of the workspace.
    pub rooms: PathBuf,
    /// ralph's state directory, where it lies in the workspace.
    pub own_dir: Option<TreePath>,
    /// The binary that supervises the commands: ralph's own.
    pub supervisor: PathBuf,
    /// Where Python packages may lie outside the workspace.
    pub places: Places,
    /// What contains the commands, and what it holds.
    pub sandbox: (Option<Arc<VerifySandbox>>, SandboxGiven),
    /// Whether the change is mapped, and for how long at most; without a limit if it is off.
    pub map: Option<MapTime>,
}

/// What a verification tells while it runs.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// A command ended.
    Ran(Check, &'a CheckResult),
    /// The commands ended with some hunks put back.
    Tried(&'a Tried),
}

/// Verifies, and reports each command's result as it ends, with what it was run on.
pub fn verify(
    request: &StandaloneVerify,
    redactor: &Redactor,
    mut on_progress: impl FnMut(Progress<'_>),
) -> io::Result<Receipt> {
    tree_copy::remove(&request.scratch)?;
    std::fs::create_dir_all(&request.scratch)?;
    let runner = Runner {
        launch: Launch::new(&request.supervisor, "sh", &request.workspace),
        deadline: request.timeout,
        until: None,
        after_failure: true,
        clock: &Clock::from(0),
        redactor,
        under_way: &UnderWay::default(),
        sandbox: request.sandbox.0.as_deref(),
        run: None,
    };
    let receipt = request.receipt(&mut Session { request, runner, redactor, on_progress: &mut on_progress });
    // What cannot be removed now is removed by the next verification.
    tree_copy::remove(&request.scratch).discard("remove temporary files");
    receipt
}

/// The files of the base and the files today that an earlier receipt is about.
pub fn trees(
    workspace: &Path,
    receipt: &Receipt,
    scratch: &Path,
    own_dir: Option<&TreePath>,
) -> io::Result<(Option<Index>, Index)> {
    let commit = receipt.head.as_deref().filter(|_| receipt.of_commit);
    let files = || {
        let site = site(workspace, commit, scratch)?;
        let base = receipt.base.as_deref().map(|base| baseline(workspace, base, scratch));
        Ok((base.transpose()?.map(|(index, _)| index), walk(&site, commit.is_some(), own_dir)?))
    };
    let found = files();
    tree_copy::remove(scratch).discard("remove temporary files");
    found
}

/// How commands are run and who is told about their results.
struct Session<'a> {
    request: &'a StandaloneVerify,
    runner: Runner<'a>,
    redactor: &'a Redactor,
    on_progress: &'a mut dyn FnMut(Progress<'_>),
}

/// What was found out.
struct Proof {
    checks: Checks,
    rooms: ProofState,
    verdict: String,
    grade: Option<Grade>,
    reasons: Vec<Objection>,
}

impl StandaloneVerify {
    fn receipt(&self, session: &mut Session<'_>) -> io::Result<Receipt> {
        let site = site(&self.workspace, self.commit.as_deref(), &self.scratch)?;
        let base =
            self.base.as_deref().map(|base| baseline(&self.workspace, base, &self.scratch)).transpose()?;
        let now = walk(&site, self.commit.is_some(), self.own_dir.as_ref())?;
        let diff = base.as_ref().map(|(index, _)| diff_hash(index, &now));
        let proof = match &base {
            Some((index, snapshots)) => {
                let baseline = Baseline::of(index.clone());
                let proof_site = ProofSite {
                    workspace: &self.workspace,
                    root: &site,
                    baseline: &baseline,
                    now: &now,
                    blobs: snapshots.blobs(),
                    commands: &self.commands,
                    oracle_paths: &self.oracle_paths,
                    work_paths: &self.work_paths,
                    before: None,
                    places: &self.places,
                    without_submodules: true,
                    package_cache: &self.scratch.join("packages"),
                };
                session.prove(&proof_site, index.id())?
            }
            None => session.without_base(&site, now.id())?,
        };
        let head = || git_checkout::named(&self.workspace, "HEAD");
        let checks = &proof.checks;
        let results = |check, verified: Option<&Verified>| {
            verified.map_or_else(Vec::new, |verified| ran(check, &verified.results))
        };
        let mut commands = results("baseline", checks.baseline.as_ref());
        commands.extend(results("as_is", checks.last.as_ref()));
        commands.extend(results("with_baseline_oracle", checks.oracle.as_ref()));
        Ok(Receipt {
            v: 1,
            r#type: "receipt".into(),
            verdict: proof.verdict,
            proof: proof.grade,
            reasons: proof.reasons.iter().map(Objection::say).collect(),
            at: utc(),
            workspace: self.workspace.to_string_lossy().into_owned(),
            base: self.base.clone(),
            head: self.commit.clone().or_else(head),
            tree: format!("{:032x}", now.id()),
            files_changed: diff.as_ref().map_or(0, |(_, files)| *files),
            diff_hash: diff.map(|(hash, _)| hash),
            of_commit: self.commit.is_some(),
            commands,
            rooms: receipt::rooms_of(&proof.rooms),
            changes: receipt::changes_of(&proof.rooms),
            signs: proof.rooms.latest().map(|compared| compared.signs.clone()).unwrap_or_default(),
            map: proof.rooms.map().map(ReceiptMap::from),
            oracle: oracle_name(self.oracle).into(),
            flaky: proof.checks.flaky || proof.rooms.rooms().any(|(_, run)| run.flaky),
            cost_is_complete: true,
            sandbox: self.sandbox.1.words(),
            not_held: self.sandbox.1.notes.clone(),
            ..Receipt::default()
        })
    }
}

impl Session<'_> {
    /// Nothing to compare with: a passing verification is all there is.
    fn without_base(&mut self, site: &Path, tree: u128) -> io::Result<Proof> {
        let mut checks = Checks::default();
        let results = self.in_directory(site)?;
        checks.closed(&verified(Check::AsIs, results, tree, None));
        let grade = checks.passed().then_some(Grade::Unclear);
        let verdict = grade.map_or(FAILED, Grade::name).to_owned();
        let reasons = vec![Objection::BaselineLost { why: "there is no commit to compare with".into() }];
        Ok(Proof { checks, rooms: ProofState::default(), verdict, grade, reasons })
    }

    /// Verifies the base and the files of now, and then whatever the grade depends on.
    fn prove(&mut self, site: &ProofSite<'_>, base: u128) -> io::Result<Proof> {
        let (mut checks, mut rooms) = (Checks::default(), ProofState::default());
        let tree = site.now.id();
        // Compared once without knowing what failed, to fill the room with the base.
        let unknown = Comparison::new(site, &[]);
        let before = self.in_room(site, &unknown, (RoomSets::BASELINE, false))?;
        // Of other files than those of now, so that a failure before and success now are not called flaky.
        checks.closed(&Verified { check: Check::Baseline, tree: base, ..before.clone() });
        let comparison = Comparison::new(site, &red(&before));
        rooms.compared(&comparison.record(self.redactor));
        rooms.verified(RoomSets::BASELINE, &before);
        let now = match site.root == site.workspace {
            true => verified(Check::AsIs, self.in_directory(site.root)?, tree, None),
            false => self.in_room(site, &comparison, (ALL, false))?,
        };
        checks.closed(&Verified { check: Check::AsIs, ..now });
        let (verdict, grade, reasons) = match checks.passed() {
            true => self.conclude(site, &comparison, (&mut checks, &mut rooms))?,
            false => (FAILED.to_owned(), None, Vec::new()),
        };
        if let Some(time) = self.request.map.filter(|_| grade.is_some()) {
            rooms.mapped(&self.map(site, &comparison, &rooms, time));
        }
        Ok(Proof { checks, rooms, verdict, grade, reasons })
    }

    fn conclude(
        &mut self,
        site: &ProofSite<'_>,
        comparison: &Comparison,
        (checks, rooms): (&mut Checks, &mut ProofState),
    ) -> io::Result<(String, Option<Grade>, Vec<Objection>)> {
        if self.request.oracle == Oracle::Allow {
            let grade = if checks.baseline_green() { Grade::Unbroken } else { Grade::Unclear };
            return Ok((grade.name().into(), Some(grade), Vec::new()));
        }
        loop {
            match proof_of(site.now.id(), rooms, checks) {
                ProofStep::Verify(Check::InRoom(sets)) => {
                    let again = rooms.room(sets).is_some();
                    let verified = self.in_room(site, comparison, (sets, again))?;
                    rooms.verified(sets, &verified);
                }
                ProofStep::Verify(_) | ProofStep::Compare => {
                    let verified = self.with_baseline_oracle(site, comparison)?;
                    checks.closed(&verified);
                }
                ProofStep::Conclude(Conclusion::Graded(grade, reasons)) => {
                    return Ok((grade.name().into(), Some(grade), reasons));
                }
                ProofStep::Conclude(Conclusion::OracleChanged(reasons)) => {
                    let grade = (self.request.oracle == Oracle::Flag).then_some(Grade::Revised);
                    return Ok((ORACLE_CHANGED.into(), grade, reasons));
                }
                // Without a run, nobody knows how the workspace itself came out before: the copy may lack something.
                ProofStep::Conclude(Conclusion::Refused(why @ Objection::GreenOutsideRoom)) => {
                    let grade = Grade::Unclear;
                    return Ok((grade.name().into(), Some(grade), vec![why, Objection::RoomLacks]));
                }
                ProofStep::Conclude(Conclusion::Refused(why)) => {
                    return Ok((REFUSED.into(), None, vec![why]));
                }
            }
        }
    }

    fn in_room(
        &mut self,
        site: &ProofSite<'_>,
        comparison: &Comparison,
        (sets, again): (RoomSets, bool),
    ) -> io::Result<Verified> {
        let check = Check::InRoom(sets);
        let run = RoomRun {
            sets,
            replaced: BTreeMap::new(),
            again,
            setup: &self.request.setup,
            dir: &self.request.rooms,
            output: &|_| None,
            token: &crate::proof::token(),
        };
        let on_progress = &mut *self.on_progress;
        let mut on_result = |result: &CheckResult| on_progress(Progress::Ran(check, result));
        let result = run.run(site, comparison, &self.runner, &mut on_result)?;
        Ok(verified(check, result.results, site.now.id(), Some(result.seen)))
    }

    /// Puts hunks back. With `auto`, for as long as everything before took.
    fn map(
        &mut self,
        site: &ProofSite<'_>,
        comparison: &Comparison,
        rooms: &ProofState,
        time: MapTime,
    ) -> ChangeMap {
        let now = self.runner.clock.ran();
        let until = time.limit(now).map(|time| now.saturating_add(time));
        let runner =
            Runner { until, after_failure: false, launch: self.runner.launch.clone(), ..self.runner };
        let (setup, dir) = (&self.request.setup, &self.request.rooms);
        let run = MapRun { setup, dir, passes: rooms.passes_with_everything() };
        let on_progress = &mut *self.on_progress;
        run.run(site, comparison, &runner, &mut |tried| on_progress(Progress::Tried(tried)))
    }

    fn with_baseline_oracle(
        &mut self,
        site: &ProofSite<'_>,
        comparison: &Comparison,
    ) -> io::Result<Verified> {
        let check = Check::WithBaselineOracle;
        let replacements = comparison.baseline_oracle(site)?.hiding(self.request.own_dir.as_ref());
        let dir = self.request.scratch.join("view");
        let mut room = Room::with_replacements(site.root, &replacements, &dir)?;
        let results = self.run(check, &mut room)?;
        let oracle = Some(comparison.put_back(room.kind(), self.redactor));
        Ok(Verified { oracle, ..verified(check, results, site.now.id(), None) })
    }

    fn in_directory(&mut self, dir: &Path) -> io::Result<Vec<CheckResult>> {
        let mut room = Room::unchanged(dir, self.request.scratch.join(BYTECODE));
        self.run(Check::AsIs, &mut room)
    }

    fn run(&mut self, check: Check, room: &mut Room<'_>) -> io::Result<Vec<CheckResult>> {
        let commands: Vec<_> =
            self.request.commands.iter().map(|line| VerifyCommand { line, output: None }).collect();
        let on_progress = &mut *self.on_progress;
        self.runner.run(&commands, room, &mut |result, _| on_progress(Progress::Ran(check, result)))
    }
}

/// The directory that is verified: the workspace, or the commit's checkout.
fn site(workspace: &Path, commit: Option<&str>, scratch: &Path) -> io::Result<PathBuf> {
    match commit {
        None => Ok(workspace.to_owned()),
        Some(commit) => {
            let to = scratch.join("tree");
            git_checkout::lay_out(workspace, commit, &to)?;
            below(&to, workspace)
        }
    }
}

/// The part of a checkout that the workspace is in its repository.
fn below(checkout: &Path, workspace: &Path) -> io::Result<PathBuf> {
    let dir = checkout.join(git_checkout::prefix(workspace));
    std::fs::create_dir_all(&dir)?;
    Ok(dir)
}

/// The files of the base, with their contents.
fn baseline(workspace: &Path, base: &str, scratch: &Path) -> io::Result<(Index, SnapshotStore)> {
    let dir = scratch.join("base");
    git_checkout::lay_out(workspace, base, &dir)?;
    let dir = below(&dir, workspace)?;
    let index = walk(&dir, true, None)?;
    let snapshots = SnapshotStore::at(scratch.join("keep"));
    snapshots.take(&dir, &index)?;
    Ok((index, snapshots))
}

fn walk(dir: &Path, checkout: bool, own_dir: Option<&TreePath>) -> io::Result<Index> {
    let tree = Tree::new(dir, Protect::new(Protect::DEFAULTS).map_err(io::Error::other)?);
    let tree = if checkout { tree.of_checkout() } else { tree.leaving_out_dir(own_dir) };
    tree.walk(None).map_err(io::Error::other)
}

fn red(before: &Verified) -> Vec<RedBefore<'_>> {
    let failed = before.results.iter().filter(|result| result.how != CheckOutcome::Passed);
    let not_run = |result: &CheckResult| result.how == CheckOutcome::NotRun;
    failed.map(|result| RedBefore { command: &result.command, not_run: not_run(result) }).collect()
}

fn verified(check: Check, results: Vec<CheckResult>, tree: u128, room: Option<RoomSeen>) -> Verified {
    Verified {
        check,
        results,
        interrupted: false,
        tree,
        violations: Vec::new(),
        oracle: None,
        room,
        analyzers: Vec::new(),
        sandbox: None,
    }
}
