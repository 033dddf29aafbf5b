//! What an agent, a repository or a file says, made safe for a terminal: control characters, escape sequences and
//! marks that reorder text become visible. Everything that is printed and was not written by ralph goes through here.

/// One line: white space becomes spaces.
pub fn plain(text: &str) -> String {
    clean(text.trim_end(), |c| matches!(c, '\n' | '\r' | '\t').then_some(' '))
}

/// Several lines: line ends and tabs stay.
pub fn plain_lines(text: &str) -> String {
    clean(&text.replace("\r\n", "\n"), |c| matches!(c, '\n' | '\t').then_some(c))
}

fn clean(text: &str, space: impl Fn(char) -> Option<char>) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match space(c) {
            Some(space) => out.push(space),
            None if c.is_control() || reorders(c) => out.extend(c.escape_default()),
            None => out.push(c),
        }
    }
    out
}

/// Marks that hide or reorder what follows, characters that nobody sees (text can be smuggled in them), and the separators
/// some terminals take for line ends. Joiners and variation selectors stay: scripts and emoji need them.
fn reorders(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// As many characters as fit into `columns`. Without a table of widths every character beyond the plain alphabets
/// counts as two columns: a line may end early, it never wraps.
pub fn fit(text: &str, columns: usize) -> String {
    let mut left = columns;
    text.chars()
        .take_while(|c| {
            let width = columns_of(*c);
            let fits = width <= left;
            left = left.saturating_sub(width);
            fits
        })
        .collect()
}

/// The most columns a character takes.
pub fn columns_of(c: char) -> usize {
    if c < '\u{1100}' { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_a_cursor_gets_through() {
        let table = [
            ("plain words, ümläut 日本", "plain words, ümläut 日本"),
            ("a\x1b[31mred\x1b[0m", "a\\u{1b}[31mred\\u{1b}[0m"),
            ("\x1b]0;title\x07", "\\u{1b}]0;title\\u{7}"),
            ("two\nlines\r\tand a tab\n", "two lines  and a tab"),
            ("csi \u{9b}2J, delete \u{7f}", "csi \\u{9b}2J, delete \\u{7f}"),
            ("evil\u{202e}txt.exe", "evil\\u{202e}txt.exe"),
            ("soft\u{ad}, arabic \u{61c}, tag \u{e0041}", "soft\\u{ad}, arabic \\u{61c}, tag \\u{e0041}"),
            ("👩\u{200d}💻 ❤\u{fe0f}", "👩\u{200d}💻 ❤\u{fe0f}"),
        ];
        for (before, after) in table {
            assert_eq!(plain(before), after);
        }
        assert_eq!(plain_lines("a\r\n\tb\x1bc\rd"), "a\n\tb\\u{1b}c\\rd");
    }

    #[test]
    fn a_line_never_gets_wider_than_asked() {
        let table = [
            ("hello", 3, "hel"),
            ("日本語", 4, "日本"),
            ("日本語", 5, "日本"),
            ("a🎉b", 2, "a"),
            ("x", 0, ""),
        ];
        for (text, columns, fits) in table {
            assert_eq!(fit(text, columns), fits, "{text} in {columns}");
        }
    }
}
