//! Delivers notes about runs: desktop notifications, commands of the user's, webhooks.
//!
//! - [`Notes`] makes the rows that a run leaves in the outbox, in the commit of the record they are about
//! - [`Deliverer`] delivers them on threads of its own, under a lease, in whichever process is there
//! - [`note_crashes`] notes runs whose process is gone, once, whoever sees them first
//! - [`apply`] makes notes that wait follow a configuration that was changed; [`why_waiting`] says what one waits for
//! - [`Config`] says who gets what; the command line reads it from the user's own `config.toml`
//!
//! Webhooks are delivered at least once, desktop notifications and commands at most once. Nothing here is on the path of
//! the loop: a receiver that hangs holds up its own target and nothing else.

mod address;
mod config;
mod crashes;
mod deliver;
mod deliverer;
mod ended;
mod message;
mod program;
mod quiet;
mod resolve;
mod retry;
mod rows;
mod secret_file;
mod sender;
mod signature;
mod start_gate;
mod target;
mod upkeep;
mod waiting;

pub use address::is_public;
pub use config::Config;
pub use crashes::note_crashes;
pub use deliver::{Attempt, Delivery, TraceMaker, flush, try_now};
pub use deliverer::{Deliverer, Loader};
pub use ended::{ended, revive};
pub use message::Format;
pub use quiet::Quiet;
pub use rows::Notes;
pub use sender::{Answer, Sender};
pub use signature::sign;
pub use start_gate::StartGate;
pub use target::{Address, Kind, Target, Traces, Webhook};
pub use upkeep::{apply, prune};
pub use waiting::{next_attempt_of, why_waiting};
