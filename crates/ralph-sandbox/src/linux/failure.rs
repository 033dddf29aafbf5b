//! Says at which step something failed.

use std::path::Path;

use crate::report::Failure;

/// Names the step of an error.
pub(super) trait Step<T> {
    /// The sandbox could not be built because of this.
    fn step(self, what: &str) -> Result<T, Failure>;
    /// The same, at this path.
    fn at(self, what: &str, path: &Path) -> Result<T, Failure>;
}

impl<T, E: Into<std::io::Error>> Step<T> for Result<T, E> {
    fn step(self, what: &str) -> Result<T, Failure> {
        self.map_err(|error| Failure::sandbox(what, errno_of(&error.into())))
    }

    fn at(self, what: &str, path: &Path) -> Result<T, Failure> {
        let name = |error: E| Failure::sandbox(format!("{what} {}", path.display()), errno_of(&error.into()));
        self.map_err(name)
    }
}

/// The system's number of an error.
pub(super) fn errno_of(error: &std::io::Error) -> i32 {
    error.raw_os_error().unwrap_or(libc::EINVAL)
}
