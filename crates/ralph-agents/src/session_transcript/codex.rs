//! Codex's rollout files. They tell after each model message what the whole thread has used so far, in two kinds of
//! lines: what one message used is the difference, so nothing is counted twice whichever lines a version writes.

use super::SessionTranscript;
use super::spend::MessageUsage;
use crate::codex::event::usage as tokens;
use crate::json::{Field, lenient, read as read_json};
use memchr::memmem;
use ralph_rules::money::Usage;

lenient! {
    struct Line<'a> {
        kind = "type";
        #[serde(borrow)] payload: Option<Payload<'a>>,
    }

    struct Payload<'a> {
        kind = "type", model, role, thread_token_usage, content;
        #[serde(borrow)] info: Option<Info<'a>>,
    }

    struct Info<'a> { total_token_usage }

    struct Piece<'a> { kind = "type", text }
}

pub(super) fn read(transcript: &mut SessionTranscript, line: &[u8]) {
    let of_interest: [&[u8]; 4] =
        [br#""turn_context""#, br#""token_count""#, br#""token_usage_record""#, br#""output_text""#];
    if !of_interest.iter().any(|word| memmem::find(line, word).is_some()) {
        return;
    }
    let Some(line) = str::from_utf8(line).ok().and_then(read_json::<Line<'_>>) else { return };
    let Some(payload) = line.payload else { return };
    if line.kind.is("turn_context") {
        transcript.set_model(&payload.model.text().unwrap_or_default());
    } else if line.kind.is("token_usage_record") {
        used_so_far(transcript, payload.thread_token_usage);
    } else if line.kind.is("event_msg") && payload.kind.is("token_count") {
        used_so_far(transcript, payload.info.map(|info| info.total_token_usage).unwrap_or_default());
    } else if line.kind.is("response_item") && payload.role.is("assistant") {
        let pieces: Vec<Piece<'_>> = payload.content.read().unwrap_or_default();
        for piece in pieces.iter().filter(|piece| piece.kind.is("output_text")) {
            transcript.last.clear();
            piece.text.pour(&mut transcript.last);
        }
    }
}

fn used_so_far(transcript: &mut SessionTranscript, totals: Field<'_>) {
    let Some(now) = tokens(totals).filter(|now| now.total() > 0) else { return };
    let before = transcript.totals.replace(now).unwrap_or_default();
    // Totals that shrink are those of a thread that began anew.
    let used = MessageUsage { tokens: since(&now, &before), ..MessageUsage::default() };
    let SessionTranscript { spend, model, prices, .. } = transcript;
    spend.add(model.as_deref(), &used, prices);
}

fn since(now: &Usage, before: &Usage) -> Usage {
    now.since(before).unwrap_or(*now)
}
