//! The marks that stand for tones and outcomes. A mark never stands alone: a word says the same.

use crate::row::Look;
use ralph_view::card::Tone;
use ralph_view::strip::BarOutcome;

/// The mark of a tone.
pub fn of_tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Live => "●",
        Tone::Wait => "◷",
        Tone::Good => "✓",
        Tone::Quiet => "–",
        Tone::Need => "▲",
        Tone::Bad => "✗",
    }
}

/// What fills a bar.
pub fn fill(outcome: BarOutcome) -> &'static str {
    match outcome {
        BarOutcome::Worked | BarOutcome::Proven | BarOutcome::Wrong | BarOutcome::Stopped => "█",
        BarOutcome::NothingNew => "░",
        BarOutcome::UnderWay => "▒",
    }
}

/// What stands below a bar that is told from others by more than its fill.
pub fn below(outcome: BarOutcome) -> Option<&'static str> {
    match outcome {
        BarOutcome::Proven => Some("✓"),
        BarOutcome::Wrong => Some("✗"),
        BarOutcome::Stopped => Some("–"),
        BarOutcome::Worked | BarOutcome::NothingNew | BarOutcome::UnderWay => None,
    }
}

/// How a bar looks. A failed verification is how the loop works, so it has no colour.
pub fn look(outcome: BarOutcome) -> Look {
    match outcome {
        BarOutcome::Worked => Look::Plain,
        BarOutcome::NothingNew => Look::Faint,
        BarOutcome::Proven => Look::Toned(Tone::Good),
        BarOutcome::Wrong => Look::Toned(Tone::Bad),
        BarOutcome::Stopped => Look::Toned(Tone::Quiet),
        BarOutcome::UnderWay => Look::Toned(Tone::Live),
    }
}

/// Holds, does not hold, not known yet.
pub fn holds(holds: Option<bool>) -> (&'static str, Look) {
    match holds {
        Some(true) => ("✓", Look::Toned(Tone::Good)),
        Some(false) => ("✗", Look::Plain),
        None => ("○", Look::Faint),
    }
}
