//! What a person or a script sees of a run. Everything here only watches: records and activities in, text out.

mod fact_text;
mod human;
mod json;
mod live;
mod receipt;

pub use fact_text::{ago, clock_time, decision_words, fact_words, money, reason_words, seconds};
pub use human::{Hour, Human, Mode};
pub use json::{Json, record_line};
pub use live::{Live, aside, release};
pub use receipt::receipt;
