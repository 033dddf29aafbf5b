//! What keys ask for beyond the screen: `model` asks, `worker` does it.

use crate::page::PageWanted;
use ralph_rules::record::Request;

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Job {
    /// Send a request to a run.
    Ask {
        /// Its id.
        run: String,
        /// What is asked.
        request: Request,
    },
    /// Put a run away, or take it back.
    PutAway {
        /// Its id.
        run: String,
        /// Away or back.
        away: bool,
    },
    /// Read a page.
    Read(PageWanted),
}
