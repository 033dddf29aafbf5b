//! Counts the calls of an iteration, one line per call in a file outside the workspace: a provider's limit makes
//! ralph call again in the same iteration, and a script may want to succeed then.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Notes one more call and returns its number in this run and iteration, counted from 1.
pub fn count(path: &Path, run: &str, iteration: u32) -> io::Result<u32> {
    let line = format!("{run} {iteration}");
    let mut file = File::options().append(true).create(true).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())?;
    let mut text = String::new();
    File::open(path)?.read_to_string(&mut text)?;
    Ok(u32::try_from(text.lines().filter(|known| *known == line).count()).unwrap_or(u32::MAX))
}
