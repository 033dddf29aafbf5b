//! What a person or a script sees of a run. Everything here only watches: records and activities in, text out.

mod human;
mod json;
mod live;
mod receipt;
mod words;

pub use human::{Hour, Human, Mode};
pub use json::{Json, record_line};
pub use live::{Live, aside, release};
pub use receipt::receipt;
pub use words::{ago, clock_time, decision_words, fact_words, money, reason_words, seconds};
