//! What the disk says after a crash or an end: the journal whole, nothing that was acknowledged missing, every decision
//! decided again alike, every call closed and charged once. A copy is read, so that looking heals nothing.

use crate::scene::Scene;
use ralph_engine::journal;
use ralph_rules::next::Next;
use ralph_rules::record::{Attempt, Decision, Envelope, Fact, Record, Seen};
use ralph_rules::replay::replay;
use ralph_rules::step::Step;
use ralph_store::{DATABASE, RunFilter, RunRow, Store};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

type Found<T> = Result<T, String>;

/// The disk as it was at one moment.
pub struct Evidence {
    dir: PathBuf,
    run: Option<RunRow>,
    records: Vec<Record>,
}

impl Evidence {
    /// Copies the database under this name and reads it.
    pub fn take(scene: &Scene, name: &str) -> Found<Evidence> {
        let dir = scene.file(name);
        std::fs::create_dir(&dir).map_err(|e| e.to_string())?;
        for file in ["", "-wal", "-journal"].map(|end| format!("{DATABASE}{end}")) {
            // What was not made yet is not there to be copied.
            let _ = std::fs::copy(scene.scratch.state().join("ralph").join(&file), dir.join(&file));
        }
        let mut evidence = Evidence { dir, run: None, records: Vec::new() };
        let Some(store) =
            ralph_store::open_existing(&evidence.dir).map_err(|e| format!("the database: {e}"))?
        else {
            return Ok(evidence);
        };
        store.verify().map_err(|e| format!("the chain: {e}"))?;
        let mut runs = store.runs(&RunFilter::default()).map_err(|e| e.to_string())?;
        evidence.run = runs.pop();
        if let Some(other) = runs.first() {
            return Err(format!("a second run was begun: {}", other.id));
        }
        if let Some(run) = &evidence.run {
            evidence.records = journal::read(&store, &run.id).map_err(|e| format!("the journal: {e}"))?;
        }
        evidence.is_sound()?;
        Ok(evidence)
    }

    /// A file of the copy.
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The run, once one is written down.
    pub fn run(&self) -> Option<&RunRow> {
        self.run.as_ref()
    }

    /// How many calls a crash cost, and how many were found whole in their transcripts.
    pub fn lost_and_found(&self) -> (usize, usize) {
        let count = |of: fn(&Seen) -> bool| {
            self.records.iter().filter(|r| matches!(&r.fact, Fact::Seen(seen) if of(seen))).count()
        };
        let found = count(|seen| matches!(seen, Seen::CallEnded(call) if call.recovered));
        (count(|seen| matches!(seen, Seen::CallLost(_))), found)
    }

    /// What was put back lies in quarantine; how often that was.
    pub fn quarantined(&self) -> Found<usize> {
        let restored = self.records.iter().filter_map(|record| match &record.fact {
            Fact::Seen(Seen::Restored(restored)) => Some(restored),
            _ => None,
        });
        let mut times = 0;
        for restored in restored {
            times += 1;
            let folder = restored.quarantine.as_deref().ok_or("nothing was put aside")?;
            let files = std::fs::read_dir(folder).map_err(|e| format!("the quarantine: {e}"))?.flatten();
            let texts: Vec<_> = files.filter_map(|file| std::fs::read_to_string(file.path()).ok()).collect();
            // The agent may have died between emptying the file and writing to it.
            let taken = |text: &String| text == "stolen\n" || text.is_empty();
            if !restored.left.is_empty() || !texts.iter().any(taken) {
                return Err(format!("{:?} left, in quarantine: {texts:?}", restored.left));
            }
        }
        Ok(times)
    }

    fn is_sound(&self) -> Found<()> {
        let holes = (1..).zip(&self.records).find(|(seq, record)| *seq != record.seq);
        if let Some((seq, _)) = holes {
            return Err(format!("record {seq} is missing"));
        }
        if let Some(run) = self.run.as_ref().filter(|run| run.head != self.records.len() as u64) {
            return Err(format!("the read model knows {} of {} records", run.head, self.records.len()));
        }
        match replay(&self.records).differences.first() {
            Some(other) => {
                Err(format!("record {} would be decided otherwise: {:?}", other.seq, other.today.next))
            }
            None => Ok(()),
        }
    }

    /// Everything that a process printed as written is there.
    pub fn holds_all_of(&self, printed: &Path) -> Found<()> {
        let text = std::fs::read_to_string(printed).map_err(|e| e.to_string())?;
        // The last line may be cut: the process was killed while printing it.
        let lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        for line in lines.filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            if line["type"] != "record" {
                continue;
            }
            let seq = usize::try_from(line["seq"].as_u64().unwrap_or(0)).unwrap_or(0);
            let kept = self.records.get(seq.wrapping_sub(1)).map(Envelope::from);
            if !kept.is_some_and(|kept| kept.kind == line["kind"] && kept.body == line["body"]) {
                return Err(format!("record {seq} was acknowledged and is lost: {line}"));
            }
        }
        Ok(())
    }

    /// What an earlier look found is still there, unchanged.
    pub fn goes_on_from(&self, earlier: &Evidence) -> Found<()> {
        let same = self.records.starts_with(&earlier.records);
        same.then_some(()).ok_or_else(|| "records were changed by the recovery".into())
    }

    /// Done and proven; every call closed once, every reservation settled once, and the meters agree.
    pub fn is_complete(&self) -> Found<()> {
        let run = self.run.as_ref().ok_or("no run is written down")?;
        let outcome =
            (run.status.as_str(), run.reason.as_deref(), run.exit_code, run.verified, run.resumable);
        if outcome != ("COMPLETED", Some("gate_passed"), Some(0), Some(true), false) {
            return Err(format!("it ended otherwise: {outcome:?}"));
        }
        if run.proof.as_deref() != Some("proven") {
            return Err(format!("it was graded {:?}", run.proof));
        }
        let charged = self.calls_closed_once()?;
        self.ledger_agrees(&run.id, &charged)?;
        let sum: i64 = charged.values().sum();
        (run.cost_micro == sum)
            .then_some(())
            .ok_or_else(|| format!("{} shown, {sum} charged", run.cost_micro))
    }

    /// What each call was charged.
    fn calls_closed_once(&self) -> Found<BTreeMap<Attempt, i64>> {
        let (mut open, mut charged) = (None, BTreeMap::new());
        for record in &self.records {
            let (id, amount) = match &record.fact {
                Fact::Decided(Decision { next: Next::Do(Step::Call { id, .. }), .. }) => {
                    if let Some(left) = open.replace(*id) {
                        return Err(format!("call {left} was never closed"));
                    }
                    continue;
                }
                Fact::Seen(Seen::CallEnded(call)) => (call.id, call.charged),
                Fact::Seen(Seen::CallLost(lost)) => (lost.id, lost.charged),
                _ => continue,
            };
            if open.take() != Some(id) || charged.insert(id, amount.0).is_some() {
                return Err(format!("call {id} was closed twice"));
            }
        }
        open.map_or(Ok(charged), |left| Err(format!("call {left} was never closed")))
    }

    fn ledger_agrees(&self, run: &str, charged: &BTreeMap<Attempt, i64>) -> Found<()> {
        let sql = |e: rusqlite::Error| e.to_string();
        let ledger = Connection::open(self.dir.join(DATABASE)).map_err(sql)?;
        let mut select = ledger.prepare("select id, actual from hold order by id").map_err(sql)?;
        let rows = select.query_map([], |r| Ok((r.get(0)?, r.get(1)?))).map_err(sql)?;
        let settled = rows.collect::<Result<BTreeMap<String, Option<i64>>, _>>().map_err(sql)?;
        let wanted: BTreeMap<_, _> =
            charged.iter().map(|(id, micro)| (format!("{run}/{id}"), Some(*micro))).collect();
        if settled != wanted {
            return Err(format!("settled: {settled:?}, charged: {wanted:?}"));
        }
        let sum: i64 = charged.values().sum();
        let mut select = ledger.prepare("select name, settled, held from meter").map_err(sql)?;
        let rows = select.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?))).map_err(sql)?;
        let meters = rows.collect::<Result<Vec<(String, i64, i64)>, _>>().map_err(sql)?;
        // A run that lasts past midnight has two days.
        let (of_run, rest): (Vec<_>, Vec<_>) = meters.iter().partition(|(name, ..)| name.ends_with(run));
        let of_days: Vec<_> = rest.into_iter().filter(|(name, ..)| name.contains("day/")).collect();
        let agree = |part: &[&(String, i64, i64)]| {
            part.iter().map(|(_, settled, _)| settled).sum::<i64>() == sum
                && part.iter().all(|(.., held)| *held == 0)
        };
        (agree(&of_run) && agree(&of_days))
            .then_some(())
            .ok_or_else(|| format!("{sum} charged, on the meters: {meters:?}"))
    }
}
