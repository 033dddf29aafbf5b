//! The text of a config file, bounded: a device, a pipe or a huge file is a mistake, not a setting.

use crate::problem::{Code, Problem};
use ralph_os::{Links, read_regular};
use std::io::{Error, ErrorKind};
use std::path::Path;

/// The largest config file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The text, if there is a file.
pub fn read(path: &Path) -> Result<Option<String>, Problem> {
    match bounded(path) {
        Ok(text) => Ok(Some(text.strip_prefix('\u{feff}').map(Into::into).unwrap_or(text))),
        Err(e) if e.kind() == ErrorKind::NotFound && path.is_symlink() => {
            let message = format!("{} is a link to a file that does not exist", path.display());
            Err(Problem::new(Code::Config, message).hint("correct the link, or remove it"))
        }
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(Problem::new(Code::Config, format!("{} cannot be read", path.display()))
            .cause(&e)
            .hint("make it a readable text file, or remove it")),
    }
}

fn bounded(path: &Path) -> std::io::Result<String> {
    let bytes = read_regular(path, MAX_BYTES, Links::Follow)?;
    String::from_utf8(bytes).map_err(|e| {
        let valid = e.as_bytes().get(..e.utf8_error().valid_up_to()).unwrap_or_default();
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::other(format!("it is not UTF-8 text (line {line})"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_small_text_file_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ralph.toml");
        let refusal = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let problem = read(&path).unwrap_err();
            assert_eq!((problem.code, problem.hints.len()), (Code::Config, 1));
            problem.causes.concat()
        };
        assert_eq!(refusal(b"[run]\n\xff\xfe"), "it is not UTF-8 text (line 2)");
        assert_eq!(refusal("x".repeat(2 << 20).as_bytes()), "it is larger than 1 MiB");
        std::fs::write(&path, b"\xef\xbb\xbf[run]\r\n").unwrap();
        assert_eq!(read(&path).unwrap().as_deref(), Some("[run]\r\n"));
        assert!(read(Path::new("/dev/zero")).is_err());
        let link = dir.path().join("link.toml");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert_eq!(read(&link).unwrap().as_deref(), Some("[run]\r\n"));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read(&link).unwrap_err().code, Code::Config, "a link that leads nowhere is a mistake");
        assert!(read(Path::new("/nonexistent/ralph.toml")).unwrap().is_none());
    }
}
