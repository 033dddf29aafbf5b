//! Step Recover: ralph died while an agent worked. End what is left of it, read its transcript again: a closing event
//! makes it a `CallEnded { recovered }`, else it is a `CallLost`, charged with the larger of reservation and usage seen.

use super::call::{Ended, told};
use super::reply::{call_ended, file_ref};
use super::turned_away::Work;
use crate::bench::{Bench, TAG};
use crate::ledger;
use crate::told::Told;
use crate::transcript;
use ralph_agents::{Call, Exit, Heard, Reply, Spent};
use ralph_rules::money::Micro;
use ralph_rules::record::{Attempt, CallEnded, CallLost, Seen};
use ralph_tend::LineSplitter;
use std::io::Read;

/// The longest line read again whole.
const LINE: usize = 8 << 20;

/// The closing fact of the lost call.
pub fn recover(bench: &Bench, id: Attempt, reserved: Micro, rung: u32) -> Told {
    let outlived = u32::try_from(ralph_tend::sweep(TAG, &bench.start.run)).unwrap_or(u32::MAX);
    let (reply, spent, work) = reread(bench, id, rung);
    let (_, path) = bench.file(id, "out.jsonl");
    let kept = transcript::recover(&path).unwrap_or_default();
    if reply.finished {
        let exit = Exit { by_us: true, ..Exit::default() };
        let ended = Ended { rung, reply, exit, told: None, kept, spent, work, outlived, ms: 0 };
        let closed = call_ended(bench, id, reserved, ended);
        return told(bench, CallEnded { recovered: true, ..closed });
    }
    let seen = spent.unwrap_or_default();
    let charged = reserved.max(seen.total);
    let lost = CallLost { id, charged, usage: seen.usage, outlived, transcript: file_ref(id, &kept) };
    let settle = ledger::settle(&bench.books(), id, charged, &seen.usage);
    Told { settle: Some(settle), ..Seen::CallLost(lost).into() }
}

/// Reads what was kept through the same reader that would have read it live.
fn reread(bench: &Bench, id: Attempt, rung: u32) -> (Reply, Option<Spent>, Work) {
    let args = bench.start.rung(rung).args.clone();
    let mut reader = bench.equipment.on(rung).agent.reader(&Call { args, ..Call::default() });
    let (mut spent, mut heard, mut lines) = (None, Vec::new(), LineSplitter::new(LINE));
    let mut work = Work::default();
    let (_, path) = bench.file(id, "out.jsonl");
    if let Ok(mut kept) = transcript::read_back(&path) {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(n @ 1..) = kept.read(&mut buffer) {
            lines.feed(buffer.get(..n).unwrap_or_default(), |line| reader.read(line.bytes, &mut heard));
            spent = last_spent(&mut heard, &mut work).or(spent);
        }
        lines.finish(|line| reader.read(line.bytes, &mut heard));
        spent = last_spent(&mut heard, &mut work).or(spent);
    }
    (reader.close(Exit { by_us: true, ..Exit::default() }), spent, work)
}

fn last_spent(heard: &mut Vec<Heard>, work: &mut Work) -> Option<Spent> {
    let spent = heard.drain(..).filter_map(|heard| match heard {
        Heard::Spent(now) if !now.total.is_absurd() => Some(now),
        Heard::Activity(activity) => {
            work.heard(&activity);
            None
        }
        _ => None,
    });
    spent.max_by_key(|s| s.total)
}
