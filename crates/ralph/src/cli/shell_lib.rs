//! `ralph shell-lib`: functions for loops that are shell scripts, under the names that older loop scripts use. They call
//! `ralph analyze --get` and `ralph circuit`, so a script is judged by the rules of a run.

use super::Here;
use crate::print::print;
use crate::problem::Problem;

/// The library.
const LIBRARY: &str = include_str!("shell_lib/ralph.sh");

/// Prints the library.
pub fn shell_lib(_: &Here) -> Result<u8, Problem> {
    print(LIBRARY);
    Ok(0)
}
