//! What an iteration changed, as a unified diff of two snapshots, their contents from the snapshot store. Large and
//! binary files are only named; a comparison that takes too long gets coarser, never stuck.

use crate::hunk_marks::Marks;
use crate::plain::plain_lines;
use crate::style::Style;
use ralph_engine::receipt::mark;
use ralph_engine::workspace_files::WorkspaceFiles;
use ralph_rules::record::{ChangeMap, HunkState, MappedHunk};
use ralph_snapshots::Blobs;
use ralph_tree::{Entry, Index, Kind, shown, side_by_side};
use similar::TextDiff;
use std::io::{self, Read, Write};
use std::time::Duration;

/// Larger files are only named.
const LARGEST: u64 = 4 << 20;
/// How long one file may be compared exactly.
const EXACT: Duration = Duration::from_millis(500);
/// A NUL this early makes a file binary, as for git.
const LOOK: usize = 8_000;

/// Two moments of a workspace.
pub struct Moments {
    /// Before.
    pub before: Index,
    /// After.
    pub after: Index,
}

/// How a diff is printed.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The contents.
    pub blobs: &'a Blobs,
    /// Colors.
    pub style: Style,
    /// Contents as they are: fit for `git apply`, not for a terminal.
    pub raw: bool,
    /// Which hunks a check notices: a mark is printed at each.
    pub map: Option<&'a ChangeMap>,
}

struct Page<'a, W> {
    out: W,
    style: Style,
    shown: Shown<'a>,
    /// The workspace as it is now, for contents that were not saved yet.
    live: Option<&'a WorkspaceFiles>,
}

/// Writes what changed; says how many files did.
pub fn diff(out: impl Write, moments: &Moments, shown: Shown<'_>) -> io::Result<u32> {
    diff_pages(Page { out, style: shown.style, shown, live: None }, moments)
}

/// The same up to this moment: contents that no snapshot has yet are read from the workspace.
pub fn live_diff(
    out: impl Write,
    moments: &Moments,
    shown: Shown<'_>,
    workspace: &WorkspaceFiles,
) -> io::Result<u32> {
    diff_pages(Page { out, style: shown.style, shown, live: Some(workspace) }, moments)
}

fn diff_pages(mut page: Page<'_, impl Write>, moments: &Moments) -> io::Result<u32> {
    let mut files = 0;
    let work = |entry: &Entry<'_>| (entry.counts || entry.protected) && entry.kind != Kind::Directory;
    for (old, new) in side_by_side(&moments.before, &moments.after) {
        let (old, new) = (old.filter(work), new.filter(work));
        if old.as_ref().map(what) != new.as_ref().map(what) {
            files += 1;
            page.file(old.as_ref(), new.as_ref())?;
        }
    }
    page.out.flush()?;
    Ok(files)
}

fn what(entry: &Entry<'_>) -> (Kind, u128, bool) {
    (entry.kind, entry.hash, entry.kind == Kind::File && entry.mode & 0o100 != 0)
}

/// git's word for kind and executable bit.
fn mode(entry: &Entry<'_>) -> &'static str {
    match what(entry) {
        (Kind::Symlink, ..) => "120000",
        (_, _, true) => "100755",
        _ => "100644",
    }
}

impl<W: Write> Page<'_, W> {
    fn file(&mut self, old: Option<&Entry<'_>>, new: Option<&Entry<'_>>) -> io::Result<()> {
        let Some(entry) = new.or(old) else { return Ok(()) };
        let path = shown(entry.path);
        let (a, b) = (format!("a/{path}"), format!("b/{path}"));
        let title = self.style.strong(format!("diff --git {a} {b}"));
        writeln!(self.out, "{title}")?;
        match (old, new) {
            (None, Some(new)) => writeln!(self.out, "new file mode {}", mode(new))?,
            (Some(old), None) => writeln!(self.out, "deleted file mode {}", mode(old))?,
            (Some(old), Some(new)) if mode(old) != mode(new) => {
                writeln!(self.out, "old mode {}\nnew mode {}", mode(old), mode(new))?;
            }
            _ => {}
        }
        let (a, b) =
            (if old.is_some() { &a } else { "/dev/null" }, if new.is_some() { &b } else { "/dev/null" });
        let mut marks = Marks::of(self.shown.map.filter(|_| !self.shown.raw), &path);
        for mark in marks.of_file() {
            self.mark(mark)?;
        }
        match (self.text(old), self.text(new)) {
            (Ok(before), Ok(after)) => self.texts(&before, &after, (a, b), &mut marks),
            (Err(why), _) | (_, Err(why)) => writeln!(self.out, "{a} and {b} differ: {why}"),
        }
    }

    /// A side's text, or why it is not shown.
    fn text(&self, entry: Option<&Entry<'_>>) -> Result<String, &'static str> {
        let Some(entry) = entry else { return Ok(String::new()) };
        if entry.kind == Kind::Special {
            return Err("a special file");
        }
        if entry.size > LARGEST {
            return Err("too large to show");
        }
        let mut bytes = Vec::new();
        match (self.shown.blobs.open(entry.hash), self.live, std::str::from_utf8(entry.path)) {
            (Ok(file), ..) => {
                file.take(LARGEST).read_to_end(&mut bytes).map_err(|_| "its content cannot be read")?;
            }
            (Err(_), Some(live), Ok(path)) if entry.kind == Kind::File => {
                bytes = live.read(path, LARGEST).map_err(|_| "its content cannot be read")?.into_bytes();
            }
            _ => return Err("its content was not saved, or was pruned"),
        }
        if bytes.iter().take(LOOK).any(|byte| *byte == 0) {
            return Err("a binary file");
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn texts(
        &mut self,
        before: &str,
        after: &str,
        (a, b): (&str, &str),
        marks: &mut Marks<'_>,
    ) -> io::Result<()> {
        let diff = TextDiff::configure().timeout(EXACT).diff_lines(before, after);
        let text = diff.unified_diff().context_radius(3).header(a, b).to_string();
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
