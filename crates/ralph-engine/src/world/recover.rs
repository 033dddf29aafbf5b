//! Step Recover: ralph died while an agent worked. Ends what is left of it and reads its transcript again: with a final
//! event the call is a `CallEnded { recovered }`, otherwise a `CallLost`, charged the larger of reservation and usage.

use super::call::{Ended, observation, review_dir};
use super::listen::is_work;
use super::reply::{call_ended, file_ref};
use crate::ledger;
use crate::leftovers::TAG;
use crate::observation::Observation;
use crate::step_context::StepContext;
use crate::transcript;
use crate::verification::tree_copy;
use ralph_agents::{Call, Exit, ReaderEvent, Reply, Spent};
use ralph_diagnostics::Discard;
use ralph_rules::money::Micro;
use ralph_rules::record::{Attempt, CallEnded, CallLost, ConversationTotals, Seen};
use ralph_supervisor::LineSplitter;
use std::io::Read;

/// Longest line given to the reader whole.
const LINE: usize = 8 << 20;

/// The closing fact of the lost call; `caller` is its rung, and whether it was a review.
pub fn recover(
    ctx: &StepContext,
    id: Attempt,
    reserved: Micro,
    caller: (u32, bool),
    before: Option<(String, ConversationTotals)>,
) -> Observation {
    if caller.1 {
        tree_copy::remove(&review_dir(ctx)).discard("remove what a reviewer saw");
    }
    let outlived = u32::try_from(ralph_supervisor::sweep(TAG, &ctx.start.run)).unwrap_or(u32::MAX);
    let (reply, spent, idle) = reread(ctx, id, caller);
    let (_, path) = ctx.file(id, "out.jsonl");
    let kept = transcript::recover(&path).unwrap_or_default();
    if reply.finished {
        let exit = Exit { by_us: true, ..Exit::default() };
        let records = ctx.deps.caller(caller.0, caller.1).records.clone();
        let ended = Ended {
            caller,
            before,
            idle,
            reply,
            exit,
            interrupted_by: None,
            kept,
            spent,
            outlived,
            ms: 0,
            records,
            sandbox: None,
        };
        let closed = call_ended(ctx, id, reserved, ended);
        return observation(ctx, CallEnded { recovered: true, ..closed });
    }
    let seen = spent.unwrap_or_default();
    let charged = reserved.max(seen.total);
    let lost = CallLost { id, charged, usage: seen.usage, outlived, transcript: file_ref(id, &kept) };
    let settle = ledger::settle(&ctx.ledger_accounts(), id, charged, &seen.usage);
    Observation { settle: Some(settle), ..Seen::CallLost(lost).into() }
}

/// Reads the transcript with the reader that would have read the live output.
fn reread(ctx: &StepContext, id: Attempt, (rung, review): (u32, bool)) -> (Reply, Option<Spent>, bool) {
    let choice = ctx.start.caller(rung, review);
    let prices = ctx.deps.prices.clone();
    let call = Call { args: choice.args.clone(), model: choice.model.clone(), prices, ..Call::default() };
    let mut reader = ctx.deps.caller(rung, review).agent.reader(&call);
    let (mut spent, mut idle) = (None, true);
    let (mut heard, mut lines) = (Vec::new(), LineSplitter::new(LINE));
    let (_, path) = ctx.file(id, "out.jsonl");
    if let Ok(mut kept) = transcript::read_back(&path) {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(n @ 1..) = kept.read(&mut buffer) {
            lines.feed(buffer.get(..n).unwrap_or_default(), |line| reader.read(line.bytes, &mut heard));
            idle &= !heard.iter().any(worked);
            spent = last_spent(&mut heard).or(spent);
        }
        lines.finish(|line| reader.read(line.bytes, &mut heard));
        idle &= !heard.iter().any(worked);
        spent = last_spent(&mut heard).or(spent);
    }
    (reader.close(Exit { by_us: true, ..Exit::default() }), spent, idle)
}

fn worked(heard: &ReaderEvent) -> bool {
    matches!(heard, ReaderEvent::Activity(activity) if is_work(activity))
}

fn last_spent(heard: &mut Vec<ReaderEvent>) -> Option<Spent> {
    let spent =
        heard.drain(..).filter_map(|h| if let ReaderEvent::Spent(now) = h { Some(now) } else { None });
    spent.max_by_key(|s| s.total)
}
