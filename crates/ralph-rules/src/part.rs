//! Parts of the state that are no guard: calls, trees, checks, the plan, and what people asked for.

mod calls;
mod checks;
mod person;
mod tasks;
mod trees;
mod tried;

pub use calls::Calls;
pub use checks::Checks;
pub use person::Person;
pub use tasks::Tasks;
pub use trees::Trees;
pub use tried::{Tried, Try};
