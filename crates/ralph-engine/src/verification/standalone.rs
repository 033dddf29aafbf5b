//! `ralph verify`: verifies a working tree or a commit without a run, whoever made it, against the commit it came from.
//! The same commands and the same double check as in a run, and a receipt. ralph writes nothing into the workspace; a
//! commit is checked out into a directory of its own.

use super::{BYTECODE, Room, Runner, VerifyCommand, tree_copy};
use crate::clock::{Clock, utc};
use crate::git_checkout;
use crate::oracle::baseline::Baseline;
use crate::oracle::{self, Changed, How, Sources, baseline_files, scripts};
use crate::receipt::{OracleVerdict, Receipt, diff_hash, ran};
use crate::redact::Redactor;
use crate::under_way::UnderWay;
use ralph_diagnostics::Discard;
use ralph_rules::policy::Oracle;
use ralph_rules::record::{CheckOutcome, CheckResult, Ms};
use ralph_snapshots::SnapshotStore;
use ralph_supervisor::Launch;
use ralph_tree::{Index, Protect, Tree};
use std::io;
use std::path::{Path, PathBuf};

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
    /// Longest time one command may take.
    pub timeout: Ms,
    /// What to do about changed tests.
    pub oracle: Oracle,
    /// More globs for files that count as tests.
    pub oracle_paths: Vec<String>,
    /// A directory for temporary files; removed at the end.
    pub scratch: PathBuf,
    /// The binary that supervises the commands: ralph's own.
    pub supervisor: PathBuf,
}

/// How commands are run and who is told about their results.
struct Session<'a> {
    runner: Runner<'a>,
    on_result: &'a mut dyn FnMut(&CheckResult),
}

/// Verifies, and reports each command's result to `on_result` as it ends.
pub fn verify(
    request: &StandaloneVerify,
    redactor: &Redactor,
    mut on_result: impl FnMut(&CheckResult),
) -> io::Result<Receipt> {
    tree_copy::remove(&request.scratch)?;
    std::fs::create_dir_all(&request.scratch)?;
    let runner = Runner {
        launch: Launch::new(&request.supervisor, "sh", &request.workspace),
        deadline: request.timeout,
        clock: &Clock::from(0),
        redactor,
        under_way: &UnderWay::default(),
        run: None,
    };
    let receipt = request.receipt(&mut Session { runner, on_result: &mut on_result });
    // What cannot be removed now is removed by the next verification.
    tree_copy::remove(&request.scratch).discard("remove temporary files");
    receipt
}

/// The files of the base and the files today that an earlier receipt is about.
pub fn trees(workspace: &Path, receipt: &Receipt, scratch: &Path) -> io::Result<(Option<Index>, Index)> {
    let request = StandaloneVerify {
        workspace: workspace.to_owned(),
        commit: receipt.head.clone().filter(|_| receipt.of_commit),
        base: receipt.base.clone(),
        commands: Vec::new(),
        timeout: 0,
        oracle: Oracle::Allow,
        oracle_paths: Vec::new(),
        scratch: scratch.to_owned(),
        supervisor: PathBuf::new(),
    };
    let walk = || {
        let site = request.site()?;
        Ok((request.baseline(&site)?.map(|(index, _)| index), request.walk(&site, &site)?))
    };
    let found = walk();
    tree_copy::remove(scratch).discard("remove temporary files");
    found
}

impl StandaloneVerify {
    fn receipt(&self, session: &mut Session<'_>) -> io::Result<Receipt> {
        let site = self.site()?;
        let baseline = self.baseline(&site)?;
        let now = self.walk(&site, &site)?;
        let mut room = Room::unchanged(&site, self.scratch.join(BYTECODE));
        let results = session.run(&self.commands, &mut room)?;
        let passed = !results.is_empty() && all_passed(&results);
        let mut commands = ran("as_is", &results);
        let mut said = OracleVerdict {
            mode: name(self.oracle),
            verdict: "unchanged".into(),
            ..OracleVerdict::default()
        };
        let mut held = true;
        let mut diff = None;
        if let Some((index, snapshots)) = &baseline {
            let base = Baseline::of(index.clone());
            let sources = Sources { blobs: snapshots.blobs(), root: &site };
            let changed = self.changed(&site, &base, &now, sources)?;
            said.files = changed.iter().map(ToString::to_string).collect();
            diff = Some(diff_hash(index, &now));
            if !changed.is_empty() {
                said.verdict = "not_tried".into();
            }
            if passed && !changed.is_empty() && self.oracle == Oracle::Guard {
                let (replacements, dir) =
                    (baseline_files(&changed, &base, sources)?, self.scratch.join("view"));
                let mut room = Room::with_replacements(&site, &replacements, &dir)?;
                let again = session.run(&self.commands, &mut room)?;
                held = all_passed(&again);
                said.verdict = if held { "held" } else { "broken" }.into();
                said.contained = Some(room.kind().into());
                commands.extend(ran("with_baseline_oracle", &again));
            }
        }
        let verdict = match (passed, held) {
            (false, _) => "not_proven",
            (true, false) => "oracle_changed",
            (true, true) => "proven",
        };
        let head = || git_checkout::named(&self.workspace, "HEAD");
        Ok(Receipt {
            v: 1,
            r#type: "receipt".into(),
            verdict: verdict.into(),
            at: utc(),
            workspace: self.workspace.to_string_lossy().into_owned(),
            base: self.base.clone(),
            head: self.commit.clone().or_else(head),
            tree: format!("{:032x}", now.id()),
            files_changed: diff.as_ref().map_or(0, |(_, files)| *files),
            diff_hash: diff.map(|(hash, _)| hash),
            of_commit: self.commit.is_some(),
            commands,
            oracle: said,
            cost_is_complete: true,
            sandbox: "none".into(),
            ..Receipt::default()
        })
    }

    /// The directory that is verified: the workspace, or the commit's checkout.
    fn site(&self) -> io::Result<PathBuf> {
        match &self.commit {
            None => Ok(self.workspace.clone()),
            Some(commit) => {
                let to = self.scratch.join("tree");
                git_checkout::lay_out(&self.workspace, commit, &to).map(|()| to)
            }
        }
    }

    /// The files of the base, with their contents.
    fn baseline(&self, site: &Path) -> io::Result<Option<(Index, SnapshotStore)>> {
        let Some(base) = &self.base else { return Ok(None) };
        let dir = self.scratch.join("base");
        git_checkout::lay_out(&self.workspace, base, &dir)?;
        let index = self.walk(&dir, site)?;
        let snapshots = SnapshotStore::at(self.scratch.join("keep"));
        snapshots.take(&dir, &index)?;
        Ok(Some((index, snapshots)))
    }

    /// The files of a directory, with the oracle of the verified ones.
    fn walk(&self, dir: &Path, site: &Path) -> io::Result<Index> {
        let tree = Tree::new(dir, Protect::new(Protect::DEFAULTS).map_err(io::Error::other)?);
        tree.with_oracle(self.tree_oracle(site)?).walk(None).map_err(io::Error::other)
    }

    fn tree_oracle(&self, site: &Path) -> io::Result<ralph_tree::Oracle> {
        // Scripts of the base belong to the oracle; a script that is new in the work is work.
        let base = self.scratch.join("base");
        let scripts = scripts::scripts(if base.is_dir() { &base } else { site }, &self.commands);
        ralph_tree::Oracle::new(&self.oracle_paths, &scripts).map_err(io::Error::other)
    }

    /// Which oracle files differ from the base. An ignored file that the base does not have belongs to the machine, not
    /// to the work.
    fn changed(
        &self,
        site: &Path,
        base: &Baseline,
        now: &Index,
        sources: Sources<'_>,
    ) -> io::Result<Vec<Changed>> {
        let mut changed = oracle::changed(&self.tree_oracle(site)?, base, now, sources);
        let ignored = |one: &Changed| now.get(one.path.as_bytes()).is_some_and(|entry| !entry.counts);
        changed.retain(|one| one.how != How::Added || !ignored(one));
        Ok(changed)
    }
}

impl Session<'_> {
    fn run(&mut self, commands: &[String], room: &mut Room<'_>) -> io::Result<Vec<CheckResult>> {
        let commands: Vec<_> = commands.iter().map(|line| VerifyCommand { line, output: None }).collect();
        self.runner.run(&commands, room, self.on_result)
    }
}

fn all_passed(results: &[CheckResult]) -> bool {
    results.iter().all(|result| result.how == CheckOutcome::Passed)
}

fn name(oracle: Oracle) -> String {
    match oracle {
        Oracle::Guard => "guard",
        Oracle::Flag => "flag",
        Oracle::Allow => "allow",
    }
    .into()
}
