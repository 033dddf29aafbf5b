//! How strongly a message says that the work is done, from 0 to 100. It is information for people and scripts; no rule
//! uses it, and 100 is a strong claim, not a proof.
//!
//! | the message | points |
//! |---|---|
//! | says it is done (EXIT_SIGNAL true, or the promise) | 80, and 20 for each kind of evidence, at most 100 |
//! | gives no signal | 50 for each kind of evidence, at most 100 |
//! | says explicitly that there is more to do | 20 |
//! | is blocked, or its block cannot be read | 0 |
//! | and then, for each contradiction in the block | 30 less |
//! | for each other broken rule, four at most | 5 less |
//! | for a question to the reader | 10 less |

use super::lint::Code;
use super::status::Progress;
use super::{Claim, Exit};

/// The figure; see the table above.
pub(super) fn confidence(claim: &Claim) -> u8 {
    let kinds = u32::try_from(claim.evidence.len()).unwrap_or(u32::MAX);
    let blocked = claim.block.as_ref().is_some_and(|block| block.status == Some(Progress::Blocked));
    let worth = match claim.exit {
        _ if blocked || claim.attempted => 0,
        Exit::True => kinds.saturating_mul(20).saturating_add(80),
        Exit::Absent => kinds.saturating_mul(50),
        Exit::False => 20,
    };
    let count = |test: fn(Code) -> bool| claim.lints.iter().filter(|lint| test(lint.code)).count();
    let contradictions = count(Code::is_contradiction).min(4) * 30;
    // A missing block is not a rule broken by a block.
    let others = count(|code| !code.is_contradiction() && code != Code::NoBlock).min(4) * 5;
    let asks = if claim.asks { 10 } else { 0 };
    let less = u32::try_from(contradictions + others + asks).unwrap_or(u32::MAX);
    u8::try_from(worth.min(100).saturating_sub(less)).unwrap_or(100)
}
