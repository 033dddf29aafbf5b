//! The system's tracing calls, the few that `tracer.rs` needs. Everything unsafe of this test is here.
#![allow(unsafe_code)]

use rustix::process::{Pid, WaitOptions, WaitStatus, waitpid};
use std::io;
use std::ptr::null_mut;

/// Follow new threads (not new processes), mark stops at system calls, and let nothing outlive the tracer.
const OPTIONS: i32 = libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_EXITKILL;

/// The stop of a traced thread at a system call.
pub const AT_CALL: i32 = libc::SIGTRAP | 0x80;

fn ptrace(request: libc::c_uint, thread: Pid, data: *mut libc::c_void, extra: usize) -> io::Result<()> {
    let none = null_mut::<libc::c_void>().wrapping_add(extra);
    // SAFETY: `data` is null, a number, or a buffer of `extra` bytes that outlives the call; a thread that is not
    // ours to trace, or is gone, is an error and nothing else.
    let answer = unsafe { libc::ptrace(request, thread.as_raw_pid(), none, data) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Begins to trace a process; its first stop is when it becomes another program.
pub fn seize(process: Pid) -> io::Result<()> {
    let options = usize::try_from(OPTIONS).expect("a small number");
    ptrace(libc::PTRACE_SEIZE, process, null_mut::<libc::c_void>().wrapping_add(options), 0)
}

/// Lets a stopped thread run to its next system call, with this signal. One that is gone is no failure.
pub fn go_on(thread: Pid, signal: i32) {
    let signal = usize::try_from(signal).unwrap_or(0);
    let _ = ptrace(libc::PTRACE_SYSCALL, thread, null_mut::<libc::c_void>().wrapping_add(signal), 0);
}

/// The number of the system call that a stopped thread is about to make, if it is about to make one.
pub fn call_begun(thread: Pid) -> Option<i64> {
    // SAFETY: a plain structure of numbers, for which zeros are a value.
    let mut info: libc::ptrace_syscall_info = unsafe { std::mem::zeroed() };
    let room = size_of::<libc::ptrace_syscall_info>();
    ptrace(libc::PTRACE_GET_SYSCALL_INFO, thread, (&raw mut info).cast(), room).ok()?;
    if info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
        return None;
    }
    // SAFETY: `op` says that the system filled this variant.
    i64::try_from(unsafe { info.u.entry.nr }).ok()
}

/// The next thread of a process traced by this very thread that stopped or ended.
pub fn next_stop() -> Option<(Pid, WaitStatus)> {
    let ours_alone = WaitOptions::from_bits_retain((libc::__WALL | libc::__WNOTHREAD).cast_unsigned());
    waitpid(None, ours_alone).ok().flatten()
}
