//! What changed between two moments of a workspace, as a unified diff, as counted lines or as names. Contents come from the
//! snapshot store, for a run that is not over also from the workspace; secrets are redacted. Large and binary files are
//! only named; a comparison that takes too long gets coarser, never stuck.

use crate::hunk_marks::Marks;
use crate::line_diff::LineDiff;
pub use crate::moments::Moments;
use crate::plain::plain_lines;
use crate::style::Style;
use ralph_engine::receipt::mark;
use ralph_engine::redact::Redactor;
use ralph_rules::record::{ChangeMap, HunkState, MappedHunk};
use ralph_snapshots::Blobs;
use ralph_tree::{Entry, Kind, shown, side_by_side};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Larger files are only named.
const LARGEST: u64 = 4 << 20;
/// A NUL this early makes a file binary, as for git.
const LOOK: usize = 8_000;
/// Said of two contents that look alike once they are redacted.
const REDACTED: &str = "only redacted secrets changed";

/// Where the contents of files are, and what must not be shown of them.
#[derive(Clone, Copy)]
pub struct Contents<'a> {
    /// The contents that snapshots have.
    pub blobs: &'a Blobs,
    /// The workspace, if the later moment is now: no snapshot has it.
    pub live: Option<&'a Path>,
    /// Knows the secrets.
    pub redactor: &'a Redactor,
}

/// How a diff is printed.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The contents.
    pub contents: Contents<'a>,
    /// Colors.
    pub style: Style,
    /// Contents as they are but for secrets: not for a terminal.
    pub raw: bool,
    /// Which hunks a check notices: a mark is printed at each.
    pub map: Option<&'a ChangeMap>,
}

/// A file that differs between two moments.
#[derive(Clone, Copy)]
pub struct ChangedFile<'a> {
    old: Option<Entry<'a>>,
    new: Option<Entry<'a>>,
}

/// The lines that differ in a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChangedLines {
    /// How many were added.
    pub added: usize,
    /// How many were removed.
    pub removed: usize,
    /// The hunks as a unified diff, with both names.
    pub diff: String,
}

struct Page<'a, W> {
    out: W,
    style: Style,
    shown: Shown<'a>,
}

/// Every file that differs, in the order of a walk.
pub fn changed_files(moments: &Moments) -> impl Iterator<Item = ChangedFile<'_>> {
    let work = |entry: &Entry<'_>| entry.matters() && entry.kind != Kind::Directory;
    side_by_side(&moments.before, &moments.after).filter_map(move |(old, new)| {
        let (old, new) = (old.filter(work), new.filter(work));
        (old.as_ref().map(what) != new.as_ref().map(what)).then_some(ChangedFile { old, new })
    })
}

/// Writes what changed; says how many files did.
pub fn diff(out: impl Write, moments: &Moments, shown: Shown<'_>) -> io::Result<u32> {
    let mut page = Page { out, style: shown.style, shown };
    let mut files = 0;
    for file in changed_files(moments) {
        files += 1;
        page.file(&file)?;
    }
    page.out.flush()?;
    Ok(files)
}

fn what(entry: &Entry<'_>) -> (Kind, u128, bool) {
    (entry.kind, entry.hash, entry.executable())
}

/// git's word for kind and executable bit.
fn mode(entry: &Entry<'_>) -> &'static str {
    match what(entry) {
        (Kind::Symlink, ..) => "120000",
        (_, _, true) => "100755",
        _ => "100644",
    }
}

impl<'a> ChangedFile<'a> {
    /// Before, if it was there.
    pub fn before(&self) -> Option<&Entry<'a>> {
        self.old.as_ref()
    }

    /// After, if it is there.
    pub fn after(&self) -> Option<&Entry<'a>> {
        self.new.as_ref()
    }

    /// Whether this is the file as it was before.
    pub fn is_as_before(&self, is: Option<&Entry<'_>>) -> bool {
        self.old.as_ref().map(what) == is.map(what)
    }

    /// Whether this is the file as it was after.
    pub fn is_as_after(&self, is: Option<&Entry<'_>>) -> bool {
        self.new.as_ref().map(what) == is.map(what)
    }

    /// Its path.
    pub fn path(&self) -> &'a [u8] {
        self.new.or(self.old).map_or(b"", |entry| entry.path)
    }

    /// `added`, `deleted` or `modified`.
    pub fn how(&self) -> &'static str {
        match (self.old, self.new) {
            (None, _) => "added",
            (_, None) => "deleted",
            _ => "modified",
        }
    }

    /// git's modes, before and after.
    pub fn modes(&self) -> (Option<&'static str>, Option<&'static str>) {
        (self.old.as_ref().map(mode), self.new.as_ref().map(mode))
    }

    /// Its name on both sides, as git's diffs have it.
    fn names(&self) -> (String, String) {
        let name = |side: char, there: bool| match there {
            true => format!("{side}/{}", shown(self.path())),
            false => "/dev/null".to_owned(),
        };
        (name('a', self.old.is_some()), name('b', self.new.is_some()))
    }

    /// The lines that differ, or why they are not shown.
    pub fn lines(&self, contents: Contents<'_>) -> Result<ChangedLines, &'static str> {
        let (before, after) = (contents.text(self.old.as_ref())?, contents.text(self.new.as_ref())?);
        let hash = |entry: Option<Entry<'_>>| entry.map(|entry| entry.hash);
        if before == after && hash(self.old) != hash(self.new) && !before.is_empty() {
            return Err(REDACTED);
        }
        let (a, b) = self.names();
        let diff = LineDiff::of(&before, &after);
        Ok(ChangedLines { added: diff.added(), removed: diff.removed(), diff: diff.unified(&a, &b) })
    }
}

impl Contents<'_> {
    /// A side's text, or why it is not shown.
    fn text(&self, entry: Option<&Entry<'_>>) -> Result<String, &'static str> {
        let Some(entry) = entry else { return Ok(String::new()) };
        if entry.kind == Kind::Special {
            return Err("a special file");
        }
        if entry.size > LARGEST {
            return Err("too large to show");
        }
        let bytes = match (self.blobs.open(entry.hash), self.live) {
            (Ok(file), _) => read(file),
            (Err(_), Some(workspace)) if entry.kind == Kind::Symlink => {
                ralph_os::NoFollowDir::open(workspace).and_then(|dir| dir.read_link(entry.path))
            }
            (Err(_), Some(workspace)) => ralph_os::open_file_beneath(workspace, entry.path).and_then(read),
            (Err(_), None) => return Err("its content was not saved, or was pruned"),
        };
        let bytes = bytes.map_err(|_| "its content cannot be read")?;
        if bytes.iter().take(LOOK).any(|byte| *byte == 0) {
            return Err("a binary file");
        }
        Ok(self.redactor.redact(&String::from_utf8_lossy(&bytes)).into_owned())
    }
}

pub(crate) fn read(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}

impl<W: Write> Page<'_, W> {
    fn file(&mut self, file: &ChangedFile<'_>) -> io::Result<()> {
        let path = shown(file.path());
        let title = self.style.strong(format!("diff --git a/{path} b/{path}"));
        writeln!(self.out, "{title}")?;
        match file.modes() {
            (None, Some(new)) => writeln!(self.out, "new file mode {new}")?,
            (Some(old), None) => writeln!(self.out, "deleted file mode {old}")?,
            (Some(old), Some(new)) if old != new => writeln!(self.out, "old mode {old}\nnew mode {new}")?,
            _ => {}
        }
        let mut marks = Marks::of(self.shown.map.filter(|_| !self.shown.raw), &path);
        for mark in marks.of_file() {
            self.mark(mark)?;
        }
        match file.lines(self.shown.contents) {
            Ok(lines) => self.lines(&lines.diff, &mut marks),
            Err(why) => {
                let (a, b) = file.names();
                writeln!(self.out, "{a} and {b} differ: {why}")
            }
        }
    }

    fn lines(&mut self, text: &str, marks: &mut Marks<'_>) -> io::Result<()> {
        if self.shown.raw {
            return self.out.write_all(text.as_bytes());
        }
        for (n, line) in text.lines().enumerate() {
            if n >= 2 {
                for mark in marks.before(line) {
                    self.mark(mark)?;
                }
            }
            let line = plain_lines(line);
            let line = match line.bytes().next() {
                _ if n < 2 => self.style.strong(line),
                Some(b'+') => self.style.good(line),
                Some(b'-') => self.style.bad(line),
                Some(b'@') => self.style.note(line),
                _ => line,
            };
            writeln!(self.out, "{line}")?;
        }
        Ok(())
    }

    /// What is known of a hunk, before its first line.
    fn mark(&mut self, hunk: &MappedHunk) -> io::Result<()> {
        let note = hunk.note.as_ref().map_or_else(String::new, |note| format!(" ({note})"));
        let text = plain_lines(&format!("{} {}{note}", mark(hunk.state), hunk.state.words()));
        let text = match hunk.state {
            HunkState::NotHeld => self.style.warn(text),
            _ => self.style.note(text),
        };
        writeln!(self.out, "{text}")
    }
}
