//! A page over the whole screen: what an agent said and did, a diff, the output of a verification, a prompt, an explanation,
//! the keys. It scrolls and can be searched; one that grows follows its end until somebody scrolls back.

use crate::row::{Look, Row, columns, folded};
use ralph_rules::counting::counted;

/// Lines of a page at most; the rest is to be had by a command.
pub const MOST_LINES: usize = 20_000;

/// What a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// What the agent said and did in an iteration.
    Transcript,
    /// What the run changed.
    Diff,
    /// The output of an iteration's verification.
    Verification,
    /// What the agent was told in an iteration.
    Prompt,
    /// Every decision, and how the run ended.
    Explanation,
    /// The keys.
    Help,
}

/// Which page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageWanted {
    /// What it shows.
    pub kind: PageKind,
    /// Of which run.
    pub run: String,
    /// Of which iteration, where that matters.
    pub iteration: Option<u32>,
}

/// One line of a page, before it is folded to the width of the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLine {
    /// What stands before it, once: a time of day, or nothing.
    pub before: String,
    /// Its text.
    pub text: String,
    /// How it looks.
    pub look: Look,
}

impl PageLine {
    /// A line that looks so.
    pub fn new(text: impl Into<String>, look: Look) -> PageLine {
        PageLine { before: String::new(), text: text.into(), look }
    }
}

/// An open page.
#[derive(Debug)]
pub struct Page {
    /// What it shows.
    pub wanted: PageWanted,
    lines: Vec<PageLine>,
    /// The lines, folded to the width.
    rows: Vec<Row>,
    width: usize,
    height: usize,
    top: usize,
    /// The end is shown, also of what is still to come.
    follows: bool,
    needle: String,
}

impl Page {
    /// A page whose content is being read.
    pub fn opened(wanted: PageWanted, (width, height): (usize, usize)) -> Page {
        let follows = wanted.kind == PageKind::Transcript;
        let lines = vec![PageLine::new("reading…", Look::Faint)];
        let mut page = Page {
            wanted,
            lines: Vec::new(),
            rows: Vec::new(),
            width,
            height,
            top: 0,
            follows,
            needle: String::new(),
        };
        page.set_lines(lines);
        page
    }

    /// Shows these lines, from where it was.
    pub fn set_lines(&mut self, mut lines: Vec<PageLine>) {
        if lines.len() > MOST_LINES {
            lines.truncate(MOST_LINES);
            let rest = format!("Only the first {MOST_LINES} lines are shown here.");
            lines.push(PageLine::new(rest, Look::Faint));
        }
        if lines != self.lines {
            self.lines = lines;
            self.fold();
        }
    }

    /// For another size of the screen.
    pub fn resize(&mut self, (width, height): (usize, usize)) {
        if (self.width, self.height) != (width, height) {
            (self.width, self.height) = (width, height);
            self.fold();
        }
    }

    fn fold(&mut self) {
        self.rows = self.lines.iter().flat_map(|line| folded_line(line, self.width)).collect();
        self.top = if self.follows { self.last_top() } else { self.top.min(self.last_top()) };
    }

    fn last_top(&self) -> usize {
        self.rows.len().saturating_sub(self.height)
    }

    /// The rows that are seen.
    pub fn seen(&self) -> &[Row] {
        let end = self.top.saturating_add(self.height).min(self.rows.len());
        self.rows.get(self.top..end).unwrap_or_default()
    }

    /// `lines 1 to 20 of 97`, or what was searched for.
    pub fn place(&self) -> String {
        let end = self.top.saturating_add(self.height).min(self.rows.len());
        let place = match self.rows.len() <= self.height {
            true => counted(self.rows.len() as u64, "line"),
            false => format!("lines {} to {end} of {}", self.top + 1, self.rows.len()),
        };
        match self.needle.is_empty() {
            true => place,
            false => format!("/{} {} found · {place}", self.needle, self.found().count()),
        }
    }

    /// Scrolls by rows.
    pub fn scroll(&mut self, by: isize) {
        self.top = self.top.saturating_add_signed(by).min(self.last_top());
        self.follows = self.wanted.kind == PageKind::Transcript && self.top == self.last_top();
    }

    /// Rows of a screenful.
    pub fn screenful(&self) -> isize {
        isize::try_from(self.height.saturating_sub(1).max(1)).unwrap_or(isize::MAX)
    }

    /// To the beginning.
    pub fn to_start(&mut self) {
        self.scroll(isize::MIN);
    }

    /// To the end.
    pub fn to_end(&mut self) {
        self.scroll(isize::MAX);
    }

    /// Searches for this, regardless of case.
    pub fn search(&mut self, needle: &str) {
        self.needle = needle.to_lowercase();
        let first = self.found().find(|at| *at >= self.top).or_else(|| self.found().next());
        if let Some(first) = first {
            self.go_to(first);
        }
    }

    /// To the next place of what was searched for, or the one before.
    pub fn next(&mut self, back: bool) {
        let next = match back {
            false => self.found().find(|at| *at > self.top).or_else(|| self.found().next()),
            true => self.found().take_while(|at| *at < self.top).last().or_else(|| self.found().last()),
        };
        if let Some(at) = next {
            self.go_to(at);
        }
    }

    fn go_to(&mut self, row: usize) {
        self.top = row.min(self.last_top());
        self.follows = false;
    }

    fn found(&self) -> impl Iterator<Item = usize> {
        let holds = |row: &Row| !self.needle.is_empty() && row.words().to_lowercase().contains(&self.needle);
        self.rows.iter().enumerate().filter(move |(_, row)| holds(row)).map(|(at, _)| at)
    }

    /// Whether a row holds what was searched for.
    pub fn is_found(&self, row: &Row) -> bool {
        !self.needle.is_empty() && row.words().to_lowercase().contains(&self.needle)
    }
}

fn folded_line(line: &PageLine, width: usize) -> Vec<Row> {
    let margin = columns(&line.before).min(width / 2);
    let text = line.text.replace('\t', "    ");
    let pieces = folded(&text, width.saturating_sub(margin));
    let rows = pieces.into_iter().enumerate().map(|(at, piece)| {
        let before = if at == 0 { line.before.clone() } else { " ".repeat(margin) };
        Row::looking(before, Look::Faint).with(piece, line.look)
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(kind: PageKind, lines: usize) -> Page {
        let wanted = PageWanted { kind, run: "r".into(), iteration: None };
        let mut page = Page::opened(wanted, (20, 5));
        page.set_lines((1..=lines).map(|n| PageLine::new(format!("line {n}"), Look::Plain)).collect());
        page
    }

    #[test]
    fn a_transcript_follows_its_end_unless_scrolled() {
        let mut page = page(PageKind::Transcript, 10);
        assert_eq!(page.place(), "lines 6 to 10 of 10");
        page.set_lines((1..=12).map(|n| PageLine::new(format!("line {n}"), Look::Plain)).collect());
        assert_eq!(page.place(), "lines 8 to 12 of 12");
        page.scroll(-1);
        page.set_lines((1..=14).map(|n| PageLine::new(format!("line {n}"), Look::Plain)).collect());
        assert_eq!(page.place(), "lines 7 to 11 of 14");
        page.to_end();
        page.set_lines((1..=16).map(|n| PageLine::new(format!("line {n}"), Look::Plain)).collect());
        assert_eq!(page.place(), "lines 12 to 16 of 16");
    }

    #[test]
    fn a_page_is_searched_in_both_directions_and_around_its_ends() {
        let mut page = page(PageKind::Diff, 30);
        page.search("LINE 2");
        assert_eq!(page.place(), "/line 2 11 found · lines 2 to 6 of 30");
        page.next(false);
        assert!(page.place().ends_with("lines 20 to 24 of 30"));
        page.next(true);
        page.next(true);
        assert!(page.place().ends_with("lines 26 to 30 of 30"), "{}", page.place());
        page.search("nowhere");
        assert!(page.place().starts_with("/nowhere 0 found"));
    }

    #[test]
    fn a_page_of_no_size_does_not_fall_over() {
        let mut page = page(PageKind::Diff, 3);
        page.resize((0, 0));
        page.scroll(1);
        page.to_end();
        assert!(page.seen().is_empty());
    }
}
