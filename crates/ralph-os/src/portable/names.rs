//! The names in a directory, read through the C library's way.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::{Dir, FileType};
use rustix::io::Errno;

/// Calls `each` with every name in a directory, `.` and `..` too, with its kind where the file system tells it; the
/// scratch space is not needed here.
pub fn each_name(
    dir: BorrowedFd<'_>,
    _buffer: &mut Vec<u8>,
    mut each: impl FnMut(&CStr, FileType),
) -> Result<(), Errno> {
    for found in Dir::read_from(dir)? {
        match found {
            Ok(found) => each(found.file_name(), found.file_type()),
            // The directory was removed while it was read.
            Err(Errno::NOENT) => break,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
