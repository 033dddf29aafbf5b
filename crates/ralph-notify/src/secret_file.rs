//! Files with an address or a secret. One that others can read holds no secret, so it is refused.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Nothing that belongs in such a file is longer.
const LONGEST: u64 = 16 * 1024;

/// The content of such a file, without white space around it.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let failed = |error: std::io::Error| format!("{name} cannot be read ({})", error.kind());
    // A pipe in its place would wait for somebody to write.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(format!("{name} is not a regular file"));
    }
    let file = File::open(path).map_err(failed)?;
    let mode = file.metadata().map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(format!("{name} can be read by others (mode {:04o}): chmod 600 it", mode & 0o7777));
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).map_err(failed)?;
    match text.trim() {
        "" => Err(format!("{name} is empty")),
        text => Ok(text.to_owned()),
    }
}

/// The secrets in a file, decoded: one, or several while a receiver changes from one to another.
pub(crate) fn secrets(path: &Path) -> Result<Vec<Vec<u8>>, String> {
    let wrong = || {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        format!("{name} must hold a secret that begins with whsec_, with 24 to 64 bytes in base64")
    };
    let decode = |word: &str| {
        let bytes = STANDARD.decode(word.strip_prefix("whsec_")?).ok()?;
        (24..=64).contains(&bytes.len()).then_some(bytes)
    };
    read(path)?.split_whitespace().map(|word| decode(word).ok_or_else(wrong)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions, write};

    #[test]
    fn a_secret_is_read_from_a_private_file_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hook.secret");
        assert_eq!(secrets(&path).unwrap_err(), "hook.secret cannot be read (entity not found)");
        let good = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let table = [
            (format!("{good}\n"), 0o600, None),
            (format!("{good}\n{good}\n"), 0o400, None),
            (format!("{good}\n"), 0o640, Some("can be read by others (mode 0640)")),
            (format!("{good}\n"), 0o604, Some("can be read by others (mode 0604)")),
            (String::new(), 0o600, Some("is empty")),
            ("hunter2".into(), 0o600, Some("must hold a secret that begins with whsec_")),
            ("whsec_c2hvcnQ=".into(), 0o600, Some("24 to 64 bytes")),
            ("whsec_!!".into(), 0o600, Some("in base64")),
        ];
        for (text, mode, problem) in table {
            let _ = std::fs::remove_file(&path);
            write(&path, &text).unwrap();
            set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            match (secrets(&path), problem) {
                (Ok(found), None) => assert!(found.iter().all(|secret| secret.len() == 24)),
                (Err(said), Some(part)) => {
                    assert!(said.contains(part) && !said.contains("hunter2"), "{said}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(secrets(dir.path()).unwrap_err().contains("not a regular file"));
    }
}
