//! Sockets that have a name in the file system.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The paths that sockets of this system are bound to, as they were given: another process's relative path, or one in its own
/// view of the file system, means nothing here.
pub fn bound_sockets() -> Vec<PathBuf> {
    let listed = fs::read("/proc/net/unix").unwrap_or_default();
    listed.split(|byte| *byte == b'\n').skip(1).filter_map(path).collect()
}

/// The last column, which may have spaces in it; others have none. Abstract names begin with `@`.
fn path(line: &[u8]) -> Option<PathBuf> {
    let at = line.windows(2).position(|pair| pair == b" /")?;
    line.get(at + 1..).map(|bytes| PathBuf::from(OsStr::from_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_socket_is_found_whatever_it_is() {
        let head = "0000000000000000: 00000002 00000000 00010000 0001 01 41290";
        for (rest, expected) in
            [(" /run/a b/s", Some("/run/a b/s")), (" @/tmp/x", None), (" relative", None), ("", None)]
        {
            assert_eq!(path(format!("{head}{rest}").as_bytes()), expected.map(PathBuf::from), "{rest}");
        }
        let odd = [head.as_bytes(), b" /a\xff"].concat();
        assert_eq!(
            path(&odd),
            Some(OsStr::from_bytes(b"/a\xff").into()),
            "one that is no text is a path all the same"
        );
    }
}
