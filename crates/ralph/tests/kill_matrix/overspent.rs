//! An agent that spends ten times its estimate in one call, and keeps a tally of its own where ralph does not look.
//! What is known must never be less than that, whenever ralph is killed, and the cap is passed by two turns at most.

use crate::evidence::Evidence;
use crate::scene::{Scene, ralph};
use ralph_store::DATABASE;
use rusqlite::Connection;
use std::process::Command;

/// How long a turn takes: real ones take seconds, and ralph must come in between even on a busy machine.
const TAKES: &str = "0.6";
/// Micro-dollars of one turn; the estimate is 0.50 USD, and the call wants ten turns of it.
const TURN: i64 = 500_000;
const CAP: i64 = 2_000_000;

impl Scene {
    /// A place for it; the tally lies beside the workspace.
    pub fn overspending() -> Scene {
        let scene = Scene::new();
        let tally = scene.file("tally");
        let turn = format!("spend 0.5\nrun echo turn >> '{}'; sleep {TAKES}\n", tally.display());
        std::fs::write(scene.scratch.root().join("agent.sim"), turn.repeat(10) + "claim progress\n").unwrap();
        scene
    }

    /// The run, from its beginning.
    pub fn overspend(&self) -> Command {
        let mut command = self.scratch.command(ralph());
        command.args([
            "run",
            "Spend",
            "--agent",
            "sim",
            "--json",
            "--max-iterations",
            "20",
            "--max-cost",
            "2",
        ]);
        // With partial messages, as the real client is called: else it shows no output tokens before its end.
        command.args(["--", "--script"]).arg(self.scratch.root().join("agent.sim"));
        command
    }

    /// What the agent really spent, by its own tally.
    pub fn real(&self) -> i64 {
        let tally = std::fs::read_to_string(self.file("tally")).unwrap_or_default();
        i64::try_from(tally.lines().count()).unwrap() * TURN
    }

    /// What is settled and held on the run's meter.
    pub fn known(&self, evidence: &Evidence) -> Result<i64, String> {
        let Some(run) = evidence.run() else { return Ok(0) };
        let sql = |e: rusqlite::Error| e.to_string();
        let ledger = Connection::open(evidence.file(DATABASE)).map_err(sql)?;
        let select = "select settled + held from meter where name = ?1";
        match ledger.query_row(select, [format!("run/{}", run.id)], |row| row.get(0)) {
            Err(rusqlite::Error::QueryReturnedNoRows) => Ok(0),
            known => known.map_err(sql),
        }
    }

    /// Known and real agree as far as they must.
    pub fn is_accounted_for(&self, evidence: &Evidence, when: &str) -> Result<(), String> {
        let (known, real) = (self.known(evidence)?, self.real());
        if known < real {
            return Err(format!("{when}: {known} known, {real} spent"));
        }
        if real > CAP + 2 * TURN {
            return Err(format!("{when}: {real} spent of {CAP}"));
        }
        Ok(())
    }
}
