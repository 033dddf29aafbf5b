//! The board of all runs, as the commands that watch open it: with the user's own limits and time zone.

use super::{Here, resolve, runs, secrets};
use crate::config::{self, Settings};
use crate::problem::{Code, Problem};
use ralph_view::board::{Board, BoardError, BoardSettings, RedactorOf};

/// A board over all runs of this user.
pub fn of(here: &Here) -> Result<Board, Problem> {
    Ok(Board::new(&here.home()?, settings(here)))
}

/// What a board needs to know besides the store.
pub fn settings(here: &Here) -> BoardSettings {
    // A broken file must not keep anybody from watching: its limits are then not shown.
    let settings = config::load_files(&here.workspace, &here.env).map(|config| config.settings).ok();
    let policy = settings.as_ref().map(|settings| &settings.policy);
    BoardSettings {
        zone: resolve::zone(here),
        daily_cost: policy.map(|policy| policy.daily_cost),
        calls_per_hour: policy.and_then(|policy| policy.calls_per_hour),
        prices: settings.as_ref().map(Settings::prices).unwrap_or_default(),
        redactor: redactor(here),
    }
}

/// Finds the secrets of a workspace, as its runs do.
fn redactor(here: &Here) -> RedactorOf {
    let here = here.clone();
    RedactorOf::new(move |workspace| secrets::redactor_anyway(workspace, &here))
}

/// The problem of a board that has no answer.
pub fn unreadable(error: &BoardError) -> Problem {
    match error {
        BoardError::Store(error) => runs::broken(error),
        other => Problem::new(Code::Journal, other.to_string()),
    }
}
