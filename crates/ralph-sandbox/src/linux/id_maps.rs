//! Which user and group ids exist in a user namespace.

use std::fs;
use std::io::{self, Read};
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, getgid, getpid, getuid, waitpid};

use super::sys;

/// Everybody stays who they are, and nobody else exists. For a process that has just entered its user namespace.
pub(super) fn map_own(user: u32, group: u32) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Own ids, as they are before the namespace is entered.
pub(super) fn own_ids() -> (u32, u32) {
    (getuid().as_raw(), getgid().as_raw())
}

/// A process outside the user namespace, which alone may map all ids into it.
#[derive(Debug)]
pub(super) struct AllIdsMapper {
    helper: Pid,
    go: OwnedFd,
}

impl AllIdsMapper {
    /// Started before the namespace is entered.
    pub fn start() -> io::Result<AllIdsMapper> {
        let (wait, go) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let me = getpid();
        match sys::fork()? {
            Some(helper) => Ok(AllIdsMapper { helper, go }),
            None => {
                drop(go);
                let code =
                    map_all_when_told(wait, me).map_or_else(|error| super::failure::errno_of(&error), |()| 0);
                sys::exit_now(code)
            }
        }
    }

    /// Called after it was entered.
    pub fn map(self) -> io::Result<()> {
        rustix::io::write(&self.go, b"!")?;
        let status = waitpid(Some(self.helper), WaitOptions::empty())?.map(|(_, status)| status);
        match status.and_then(|status| status.exit_status()) {
            Some(0) => Ok(()),
            Some(errno) => Err(io::Error::from_raw_os_error(errno)),
            None => Err(Errno::CHILD.into()),
        }
    }
}

fn map_all_when_told(wait: OwnedFd, whose: Pid) -> io::Result<()> {
    fs::File::from(wait).read_exact(&mut [0])?;
    for name in ["uid_map", "gid_map"] {
        let ours = fs::read_to_string(format!("/proc/self/{name}"))?;
        fs::write(format!("/proc/{}/{name}", whose.as_raw_pid()), identity(&ours))?;
    }
    Ok(())
}

/// Every id that exists here, as itself. A line of the map is: first id here, first id above, how many.
fn identity(map: &str) -> String {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (first, count) = (words.next()?, words.nth(1)?);
        Some(format!("{first} {first} {count}\n"))
    };
    map.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_that_exists_is_mapped_to_itself() {
        assert_eq!(identity("         0          0 4294967295\n"), "0 0 4294967295\n");
        assert_eq!(identity("0 1000 1\n1 100000 65536\n"), "0 0 1\n1 1 65536\n");
    }
}
