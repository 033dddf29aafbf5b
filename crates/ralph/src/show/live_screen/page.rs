//! A page that is shown instead of the panel: the agent's output, or the diff of the run. It scrolls; the output follows
//! the agent until it is scrolled back.

use crate::plain::fit;
use crate::style::Style;
use ralph_view::wrap::wrap;

/// What a page shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// What the agent said and did.
    Output,
    /// What the run changed.
    Diff,
}

/// A page while it is shown.
#[derive(Debug)]
pub struct Page {
    kind: PageKind,
    lines: Vec<String>,
    /// The first row shown; none follows the end.
    top: Option<usize>,
    /// The last row that can be the first, and how many are shown, as drawn last.
    drawn: (usize, usize),
}

impl Page {
    /// Of this kind, with these lines.
    pub fn new(kind: PageKind, lines: Vec<String>) -> Page {
        let top = (kind == PageKind::Diff).then_some(0);
        Page { kind, lines, top, drawn: (0, 1) }
    }

    /// What it shows.
    pub fn kind(&self) -> PageKind {
        self.kind
    }

    /// Its lines, as they are now.
    pub fn set_lines(&mut self, lines: Vec<String>) {
        self.lines = lines;
    }

    /// A key that scrolls; others change nothing.
    pub fn scroll(&mut self, key: u8) {
        let (last, height) = self.drawn;
        let top = self.top.unwrap_or(last);
        let top = match key {
            b'j' | b'\r' | b'\n' => top.saturating_add(1),
            b'k' => top.saturating_sub(1),
            b' ' => top.saturating_add(height),
            b'b' => top.saturating_sub(height),
            b'g' => 0,
            b'G' => last,
            _ => return,
        };
        let follows = self.kind == PageKind::Output && top >= last;
        self.top = (!follows).then_some(top.min(last));
    }

    /// Exactly as many lines as the terminal has rows, none wider than it.
    pub fn draw(&mut self, (columns, rows): (usize, usize), style: Style) -> Vec<String> {
        let (width, height) = (columns.saturating_sub(1), rows.saturating_sub(2).max(1));
        let all: Vec<String> = self.lines.iter().flat_map(|line| self.rows_of(line, width)).collect();
        self.drawn = (all.len().saturating_sub(height), height);
        let top = self.top.unwrap_or(self.drawn.0).min(self.drawn.0);
        let title = match self.kind {
            PageKind::Output => "Agent output",
            PageKind::Diff => "Diff of this run",
        };
        let shown = all.len().min(top + height);
        let place = format!("{title}, lines {} to {shown} of {}", (top + 1).min(shown), all.len());
        let mut lines = vec![style.strong(fit(&place, width))];
        lines.extend(all.iter().skip(top).take(height).map(|row| self.painted(row, style)));
        lines.resize(height + 1, String::new());
        let keys =
            if width < 60 { "j/k scroll  q back" } else { "j/k line  space/b page  g/G top, end  q back" };
        lines.push(style.faint(fit(keys, width)));
        lines.truncate(rows.max(1));
        lines
    }

    /// Words wrap; a line of a diff is cut into pieces, so that its indent stays what it is.
    fn rows_of(&self, line: &str, width: usize) -> Vec<String> {
        if self.kind == PageKind::Output {
            return wrap(line, width).lines().map(|row| fit(row, width)).collect();
        }
        let (mut rows, mut rest) = (Vec::new(), line);
        loop {
            let row = fit(rest, width.max(2));
            rest = rest.get(row.len()..).unwrap_or_default();
            rows.push(row);
            if rest.is_empty() {
                return rows;
            }
        }
    }

    fn painted(&self, row: &str, style: Style) -> String {
        match (self.kind, row.chars().next()) {
            (PageKind::Output, Some('✓')) | (PageKind::Diff, Some('+')) => style.good(row),
            (PageKind::Output, Some('✗')) | (PageKind::Diff, Some('-')) => style.bad(row),
            (PageKind::Output, Some('▸')) | (PageKind::Diff, Some('@')) => style.note(row),
            (PageKind::Diff, Some('d')) => style.strong(row),
            _ => row.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(n: usize) -> Vec<String> {
        (1..=n).map(|n| format!("line {n}")).collect()
    }

    fn first_and_last(page: &mut Page) -> (String, String) {
        let lines = page.draw((40, 12), Style::default());
        assert_eq!(lines.len(), 12);
        (lines[1].clone(), lines[10].clone())
    }

    #[test]
    fn output_follows_until_it_is_scrolled_back() {
        let mut page = Page::new(PageKind::Output, numbered(30));
        assert_eq!(first_and_last(&mut page).1, "line 30");
        page.set_lines(numbered(31));
        assert_eq!(first_and_last(&mut page).1, "line 31");
        page.scroll(b'k');
        page.set_lines(numbered(40));
        assert_eq!(first_and_last(&mut page).1, "line 30", "it stays where it was scrolled to");
        page.scroll(b'G');
        page.set_lines(numbered(50));
        assert_eq!(first_and_last(&mut page).1, "line 50");
    }

    #[test]
    fn a_diff_begins_at_its_top_and_ends_at_its_end() {
        let mut page = Page::new(PageKind::Diff, numbered(25));
        assert_eq!(first_and_last(&mut page).0, "line 1");
        page.scroll(b' ');
        assert_eq!(first_and_last(&mut page).0, "line 11");
        page.scroll(b' ');
        page.scroll(b' ');
        assert_eq!(first_and_last(&mut page), ("line 16".into(), "line 25".into()));
        page.scroll(b'g');
        assert_eq!(first_and_last(&mut page).0, "line 1");
    }

    #[test]
    fn a_page_of_any_size_fits() {
        for size in [(0, 0), (1, 1), (2, 3), (10, 4)] {
            for kind in [PageKind::Output, PageKind::Diff] {
                let mut page = Page::new(kind, vec!["+ 日本 a long line of a file".into(), String::new()]);
                let lines = page.draw(size, Style::default());
                assert!(lines.len() <= size.1.max(1), "{size:?}: {lines:?}");
            }
        }
    }
}
