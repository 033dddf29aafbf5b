//! Writes HTML. Every text is escaped here and made plain, so that nothing an agent wrote becomes markup.

use crate::plain::{plain, plain_lines};
use std::fmt::Write;

/// HTML under construction, of bounded size.
pub(super) struct Markup {
    text: String,
    most: usize,
    /// Something was left out because of the size.
    cut: bool,
}

impl Markup {
    pub(super) fn new(most: usize) -> Markup {
        Markup { text: String::new(), most, cut: false }
    }

    /// Markup of ralph's own; never anything that others wrote.
    pub(super) fn raw(&mut self, markup: &str) {
        self.text.push_str(markup);
    }

    /// A text on one line; left out if the page would become too large.
    pub(super) fn text(&mut self, text: &str) {
        if self.has_room_for(text.len()) {
            escape(&mut self.text, &plain(text));
        }
    }

    /// `<tag class="…">text</tag>`; attributes are ralph's names with any values.
    pub(super) fn element(&mut self, tag: &str, attributes: &[(&str, &str)], text: &str) {
        self.open(tag, attributes);
        self.text(text);
        self.close(tag);
    }

    /// Several lines, as they are; cut if the page would become too large.
    pub(super) fn lines(&mut self, tag: &str, attributes: &[(&str, &str)], text: &str) {
        if !self.has_room_for(text.len()) {
            self.element("p", &[("class", "faint")], "Left out: the report would become too large.");
            return;
        }
        self.open(tag, attributes);
        escape(&mut self.text, &plain_lines(text));
        self.close(tag);
    }

    pub(super) fn open(&mut self, tag: &str, attributes: &[(&str, &str)]) {
        let _ = write!(self.text, "<{tag}");
        for (name, value) in attributes {
            let _ = write!(self.text, " {name}=\"");
            escape(&mut self.text, &plain(value));
            self.text.push('"');
        }
        self.text.push('>');
    }

    pub(super) fn close(&mut self, tag: &str) {
        let _ = writeln!(self.text, "</{tag}>");
    }

    /// Whether so much text still fits; an escaped character takes six bytes at most.
    pub(super) fn has_room_for(&mut self, bytes: usize) -> bool {
        let fits = self.text.len().saturating_add(bytes.saturating_mul(6)) < self.most;
        self.cut |= !fits;
        fits
    }

    /// The page, closed.
    pub(super) fn finish(mut self) -> String {
        if self.cut {
            self.element("p", &[("class", "faint")], "Parts were left out: a report has 2 MB at most.");
        }
        self.raw("</main>\n</body>\n</html>\n");
        self.text
    }
}

fn escape(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_others_wrote_becomes_markup() {
        let mut page = Markup::new(10_000);
        page.element(
            "p",
            &[("title", "\"><script>alert(1)</script>")],
            "<img src=x onerror=alert(1)>&amp;'\u{202e}\0",
        );
        page.lines("pre", &[], "</pre><script>\nalert(1)\x1b[31m");
        let text = page.finish();
        assert!(!text.contains("<script") && !text.contains("<img"), "{text}");
        assert!(text.contains("&lt;img src=x onerror=alert(1)&gt;&amp;amp;&#39;\\u{202e}\\u{0}"), "{text}");
        assert!(text.contains("&lt;/pre&gt;&lt;script&gt;\nalert(1)\\u{1b}[31m"), "{text}");
    }

    #[test]
    fn a_page_stays_within_its_size_and_says_so() {
        let mut page = Markup::new(1_000);
        page.lines("pre", &[], &"x".repeat(400));
        let text = page.finish();
        assert!(text.contains("Left out") && text.contains("2 MB at most"), "{text}");
        assert!(text.len() < 1_000 && text.ends_with("</html>\n"));
    }
}
