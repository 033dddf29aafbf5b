//! What both screens do with a terminal: read its keys one by one, and touch it only in the foreground.

use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, SpecialCodeIndex, Termios, isatty, tcgetpgrp, tcgetwinsize};
use std::os::fd::AsFd;

/// These modes, but with keys that come one by one and unseen. Ctrl-C and Ctrl-Z stay what they are; Ctrl-\ does nothing, because
/// it would end ralph without restoring the terminal.
#[must_use]
pub fn key_by_key(modes: &Termios) -> Termios {
    let mut ours = modes.clone();
    ours.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
    ours.special_codes[SpecialCodeIndex::VMIN] = 1;
    ours.special_codes[SpecialCodeIndex::VTIME] = 0;
    ours.special_codes[SpecialCodeIndex::VQUIT] = 0;
    ours
}

/// Whether this terminal is this process's to draw on and to read from. One that is not the terminal of its session (as some
/// containers, editors and launchers hand it over) has no background: nobody is stopped for using it.
pub fn in_foreground(terminal: impl AsFd) -> bool {
    match tcgetpgrp(&terminal) {
        Ok(group) => group == getpgrp(),
        Err(Errno::NOTTY) => isatty(terminal),
        Err(_) => false,
    }
}

/// Columns and rows; 80 and 24 where they are not known.
pub fn terminal_size(terminal: impl AsFd) -> (u16, u16) {
    let size = tcgetwinsize(terminal).ok();
    let or = |n: Option<u16>, usual: u16| n.filter(|n| *n > 0).unwrap_or(usual);
    (or(size.map(|s| s.ws_col), 80), or(size.map(|s| s.ws_row), 24))
}
