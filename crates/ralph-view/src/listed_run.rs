//! A run as `list` and `status` show it: its row, and the money that is reserved for a call that is under way, or was when
//! the run's process was killed. Nobody knows yet what such a call cost; once the run is resumed, it is charged.

use crate::fact_text::money;
use crate::run_state::{RunState, painted, was_cut_off};
use crate::style::Style;
use ralph_engine::ledger::run_meter;
use ralph_rules::ending::Reason;
use ralph_store::{RunRow, Store};
use serde::Serialize;

/// How wide the longest status is.
pub const STATUS_WIDTH: usize = 12;

/// A run as it is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ListedRun {
    /// As it was written last, with its process looked at.
    #[serde(flatten)]
    pub row: RunRow,
    /// Micro-dollars.
    pub reserved_micro: i64,
}

impl ListedRun {
    /// With what the ledger holds for it.
    pub fn of(row: RunRow, store: &dyn Store) -> ListedRun {
        let held = || store.meter(&run_meter(&row.id)).map_or(0, |meter| meter.held);
        let reserved_micro = if row.exit_code.is_none() { held() } else { 0 };
        let cost_complete = row.cost_complete && reserved_micro == 0;
        ListedRun { row: RunRow { cost_complete, ..row }, reserved_micro }
    }

    /// What was reserved for a call that nobody settled, because the run's process was killed.
    pub fn cut_off(&self) -> Option<i64> {
        let gone = RunState::named(&self.row.status).is_some_and(|state| was_cut_off(state, &self.row));
        Some(self.reserved_micro).filter(|reserved| gone && *reserved > 0)
    }

    /// The cost with what the call under way has spent so far; `~` marks one that is partly unknown.
    pub fn cost(&self) -> String {
        match self.cut_off() {
            Some(reserved) => money(self.row.cost_micro.saturating_add(reserved), false),
            None => money(self.row.cost_micro.saturating_add(self.row.live_micro), self.row.cost_complete),
        }
    }

    /// The status and the reason; finished work that waits for a person is not called aborted.
    pub fn status(&self) -> (&str, Option<&str>) {
        match self.row.reason.as_deref() {
            Some(reason) if reason == Reason::NeedsReview.name() => (reason, None),
            reason => (&self.row.status, reason),
        }
    }

    /// The status in its colour, padded.
    pub fn painted_status(&self, style: Style) -> String {
        let (status, _) = self.status();
        match RunState::named(status) {
            Some(state) => painted(state, style, STATUS_WIDTH),
            None if status == Reason::NeedsReview.name() => style.warn(format!("{status:<STATUS_WIDTH$}")),
            None => format!("{status:<STATUS_WIDTH$}"),
        }
    }
}
