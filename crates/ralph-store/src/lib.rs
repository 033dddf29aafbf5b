//! The one store: journal, ledger, inbox and read model.
//!
//! Start at [`Store`] (what any store promises) and [`Batch`] (what one durable commit holds).
//! [`Sqlite`] keeps it in one file, [`Memory`] in memory for the simulation; both obey the same
//! money rules (`ledger.rs`) and the same suite (`tests/conformance/`).
//! A record is opaque here: the rules crate knows what is in it, this crate knows that it is kept.

mod batch;
mod chain;
mod disk;
mod entry;
mod error;
mod ledger;
mod memory;
mod model;
mod sqlite;
mod store;

pub use batch::{Batch, Committed, Grant, Limit, Put, Request, RequestId, Reserve, Row, Settle, Used};
pub use chain::Chain;
pub use disk::{DiskFree, disk_free};
pub use entry::{Entry, Head, Position, Tail};
pub use error::{CommitError, Refusal, StoreError};
pub use ledger::{Totals, WindowUse};
pub use memory::Memory;
pub use model::{AccountFilter, AccountRow, IterationRow, RunFilter, RunRow};
pub use sqlite::{DATABASE, Sqlite};
pub use store::Store;
