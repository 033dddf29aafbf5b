//! `ralph redact`: removes today's known secrets from old files of a run (prompts, transcripts, verify output). A file is
//! replaced as a whole, and the change is noted first (`redacted.jsonl`), so that the hashes in the journal can still be
//! matched. The caller holds the workspace's lock, so no active run is touched.

use crate::redact::Redactor;
use crate::transcript;
use rustix::fs::{CWD, Mode, OFlags, openat};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// File with the notes, in the run's folder.
pub const NOTES: &str = "redacted.jsonl";
/// Endings of a run's files that contain text.
const WORDS: &[&str] = &[".prompt.md", ".out.jsonl", ".err", ".out", "receipt.md", "receipt.json"];
const BLOCK: usize = 256 << 10;

/// One file that held secrets, before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cleaned {
    /// Its name in the run's folder.
    pub file: String,
    /// How many secrets were found.
    pub found: u64,
    /// Its bytes before.
    pub bytes_before: u64,
    /// BLAKE3 before: what the journal holds.
    pub hash_before: String,
    /// Its bytes after.
    pub bytes_after: u64,
    /// BLAKE3 after.
    pub hash_after: String,
    /// When, UTC milliseconds.
    pub at: i64,
}

/// The run's files that contain text, sorted by name.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let words = WORDS.iter().any(|end| name.as_encoded_bytes().ends_with(end.as_bytes()));
        if words && entry.file_type()?.is_file() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Redacts one file; `None` if it held no secret. With `only_look` nothing is changed.
pub fn clean(path: &Path, redactor: &Redactor, now: i64, only_look: bool) -> io::Result<Option<Cleaned>> {
    if !only_look && path.extension().is_some_and(|end| end != "md") {
        // A transcript that a crash left in two pieces is joined first: a secret may span both.
        transcript::recover(path)?;
    }
    let mut looked = Passed::default();
    pass(path, redactor, &mut looked, |_| Ok(()))?;
    if looked.found == 0 {
        return Ok(None);
    }
    let done = Cleaned {
        file: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        found: looked.found,
        bytes_before: looked.bytes_in,
        hash_before: looked.hash_in.finalize().to_hex().to_string(),
        bytes_after: looked.bytes_out,
        hash_after: looked.hash_out.finalize().to_hex().to_string(),
        at: now,
    };
    if !only_look {
        replace(path, redactor, &done)?;
    }
    Ok(Some(done))
}

/// The notes of this run's folder, oldest first.
pub fn notes(folder: &Path) -> Vec<Cleaned> {
    let Ok(file) = File::open(folder.join(NOTES)) else { return Vec::new() };
    let lines = BufReader::new(file).lines().map_while(Result::ok);
    lines.filter_map(|line| serde_json::from_str(&line).ok()).collect()
}

/// Whether a file with the hash `now` is the one the journal knows by the hash `then`: the same, or its redacted form.
pub fn is_same_file(folder: &Path, file: &str, then: &str, now: &str) -> bool {
    let mut hash = then.to_owned();
    for note in notes(folder).into_iter().filter(|note| note.file == file) {
        if hash != now && note.hash_before == hash {
            hash = note.hash_after;
        }
    }
    hash == now
}

/// Counts and hashes of one pass over a file.
#[derive(Default)]
struct Passed {
    found: u64,
    bytes_in: u64,
    bytes_out: u64,
    hash_in: blake3::Hasher,
    hash_out: blake3::Hasher,
}

fn pass(
    path: &Path,
    redactor: &Redactor,
    seen: &mut Passed,
    mut out: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = File::from(openat(CWD, path, flags, Mode::empty())?);
    let mut block = vec![0; BLOCK];
    let mut stream = redactor.stream();
    let mut trouble = Ok(());
    let Passed { found, bytes_in, bytes_out, hash_in, hash_out } = seen;
    let mut give = |clean: &[u8]| {
        *bytes_out += clean.len() as u64;
        hash_out.update(clean);
        if trouble.is_ok() {
            trouble = out(clean);
        }
    };
    loop {
        let read = file.read(&mut block)?;
        let chunk = block.get(..read).unwrap_or_default();
        if chunk.is_empty() {
            break;
        }
        *bytes_in += read as u64;
        hash_in.update(chunk);
        stream.push_to(chunk, &mut give);
    }
    *found = stream.finish_to(&mut give);
    trouble
}

/// Writes the redacted file beside the old one, notes the change, and renames it into place. If ralph dies in between, the
/// note describes the file as it would have become, and the next call completes it.
fn replace(path: &Path, redactor: &Redactor, done: &Cleaned) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mode = fs::symlink_metadata(path)?.permissions().mode() & 0o777;
    let beside = folder.join(format!(".{}.clean", done.file));
    let _ = fs::remove_file(&beside);
    let mut to = OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside)?;
    let written = pass(path, redactor, &mut Passed::default(), |clean| to.write_all(clean))
        .and_then(|()| to.sync_all())
        .and_then(|()| note(folder, done))
        // Its bytes will not be where the index of their times has them.
        .and_then(|()| transcript::forget_times(path))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written.and_then(|()| File::open(folder)?.sync_all())
}

fn note(folder: &Path, done: &Cleaned) -> io::Result<()> {
    let mut line = serde_json::to_string(done)?;
    line.push('\n');
    let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(folder.join(NOTES))?;
    file.write_all(line.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "zulu77-november-9";

    fn redactor() -> Redactor {
        Redactor::new([("GH_TOKEN", KEY)].into_iter())
    }

    #[test]
    fn a_file_is_cleaned_once_and_its_hash_can_be_followed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("001.a1.out.jsonl");
        let text = format!("a {KEY}\n").repeat(100_000);
        fs::write(&path, &text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        fs::write(dir.path().join("001.a1.times"), "ralphtm1").unwrap();
        assert_eq!(files(dir.path()).unwrap(), std::slice::from_ref(&path));

        let looked = clean(&path, &redactor(), 7, true).unwrap().unwrap();
        assert_eq!((looked.found, fs::read_to_string(&path).unwrap()), (100_000, text.clone()));
        let done = clean(&path, &redactor(), 7, false).unwrap().unwrap();
        assert_eq!(done, looked);
        let clean_text = "a [redacted:GH_TOKEN]\n".repeat(100_000);
        assert_eq!(fs::read_to_string(&path).unwrap(), clean_text);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(clean(&path, &redactor(), 8, false).unwrap(), None, "nothing is left to clean");

        let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
        let same = |now: &str| is_same_file(dir.path(), &done.file, &hash(&text), now);
        assert!(same(&hash(&text)) && same(&hash(&clean_text)));
        assert!(!same(&hash("forged")));
        let mut left: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["001.a1.out.jsonl", NOTES]);
    }

    #[test]
    fn what_a_killed_cleaning_left_is_no_hindrance() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("002.a1.prompt.md");
        fs::write(&path, KEY).unwrap();
        fs::write(dir.path().join(".002.a1.prompt.md.clean"), "half").unwrap();
        let looked = clean(&path, &redactor(), 1, true).unwrap().unwrap();
        note(dir.path(), &looked).unwrap();
        let then = looked.hash_before.clone();
        assert!(is_same_file(dir.path(), &looked.file, &then, &then), "noted, but not yet done");
        clean(&path, &redactor(), 2, false).unwrap().unwrap();
        assert!(is_same_file(dir.path(), &looked.file, &then, &looked.hash_after));
        assert!(!dir.path().join(".002.a1.prompt.md.clean").exists());
    }

    #[test]
    fn links_and_other_files_are_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("elsewhere"), KEY).unwrap();
        std::os::unix::fs::symlink("elsewhere", dir.path().join("001.a1.err")).unwrap();
        fs::write(dir.path().join("before.tree"), KEY).unwrap();
        assert!(files(dir.path()).unwrap().is_empty());
        assert!(files(&dir.path().join("none")).unwrap().is_empty());
    }
}
