//! The one store: journal, ledger, inbox and read model.
//!
//! Start at [`Store`] (what any store promises) and [`Batch`] (what one durable commit holds).
//! [`open`] opens the [`Database`] of a directory, one SQLite file; [`Memory`] keeps everything in memory for the
//! simulation. Both follow the same accounting rules (`ledger.rs`) and pass the same tests (`tests/conformance/`).
//! Records are opaque here: the rules crate knows what they mean.

mod batch;
mod chain;
mod disk;
mod entry;
mod error;
mod ledger;
mod memory;
mod model;
mod open;
mod outbox;
mod sqlite;
mod store;

pub use batch::{Batch, Committed, Grant, Limit, Put, Request, RequestId, Reserve, Row, Settle, Used};
pub use chain::Chain;
pub use disk::{DiskFree, NoRoom, disk_free, shown_size};
pub use entry::{Entry, Head, Position, Tail, UncheckedEntry};
pub use error::{BackendError, BackendErrorKind, CommitError, Refusal, StoreError};
pub use ledger::{Booked, Totals, WindowUse};
pub use memory::Memory;
pub use model::{AccountFilter, AccountRow, IterationRow, RunFilter, RunRow};
pub use open::{open, open_existing, open_existing_at_once};
pub use outbox::{Delivery, Lease, OutboxEntry, OutboxFilter, OutboxRow, OutboxState};
pub use sqlite::{COPY, DATABASE, Database, Restored, copies, restore};
pub use store::Store;
