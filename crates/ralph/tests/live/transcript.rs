//! A documentation page as a transcript: blocks ```` ```console ```` hold commands and what they print, blocks such as
//! ```` ```python slug.py ```` a file that is written before the next command. Other blocks are for the reader alone. A longer
//! fence surrounds what has fences in it.

use std::fmt::Write as _;

/// Separates what one command printed from the next in the output of a whole page.
const MARK: char = '\u{1e}';

/// One thing a reader does.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    /// Prose, and blocks that nothing is done with: as they stand.
    Text(String),
    /// A file and its contents.
    File { path: String, contents: String },
    /// A command and what the page says it prints.
    Command { command: String, printed: String },
}

/// A page, in pieces that make up the whole of it.
pub struct Transcript(Vec<Piece>);

impl Transcript {
    /// Reads a page.
    pub fn read(page: &str) -> Transcript {
        let mut pieces = Vec::new();
        let mut lines = page.split_inclusive('\n');
        while let Some(line) = lines.next() {
            let info = line.trim_start_matches('`');
            let (fence, info) = (&line[..line.len() - info.len()], info.trim_end());
            if fence.len() < 3 {
                text(&mut pieces, line);
                continue;
            }
            let block: Vec<&str> = lines.by_ref().take_while(|line| line.trim_end() != fence).collect();
            text(&mut pieces, line);
            match info.split_once(' ') {
                _ if info == "console" => commands(&mut pieces, &block),
                Some((_, path)) => {
                    pieces.push(Piece::File { path: path.to_owned(), contents: block.concat() });
                }
                None => text(&mut pieces, &block.concat()),
            }
            text(&mut pieces, &format!("{fence}\n"));
        }
        Transcript(pieces)
    }

    /// The page as a script of the shell: everything that is printed goes to stdout, with a mark after each command.
    pub fn script(&self) -> String {
        // The mark leaves `$?` as the command left it.
        let mut script = format!("exec 2>&1\nmark() {{ local code=$?; printf '{MARK}'; return $code; }}\n");
        for piece in &self.0 {
            let _ = match piece {
                Piece::Text(_) => continue,
                Piece::File { path, contents } => {
                    write!(
                        script,
                        "mkdir -p \"$(dirname '{path}')\" && cat > '{path}' <<'END OF FILE'\n{contents}END OF FILE\n"
                    )
                }
                Piece::Command { command, .. } => write!(script, "{command}\nmark\n"),
            };
        }
        script
    }

    /// The commands, each with what the page says it prints.
    pub fn commands(&self) -> Vec<(&str, &str)> {
        let commands = self.0.iter().filter_map(|piece| match piece {
            Piece::Command { command, printed } => Some((command.as_str(), printed.as_str())),
            Piece::Text(_) | Piece::File { .. } => None,
        });
        commands.collect()
    }

    /// The same page with what its commands really print.
    pub fn with_printed(&self, printed: &[String]) -> String {
        let mut printed = printed.iter();
        let mut page = String::new();
        for piece in &self.0 {
            let _ = match piece {
                Piece::Text(text) => write!(page, "{text}"),
                Piece::File { contents, .. } => write!(page, "{contents}"),
                Piece::Command { command, .. } => {
                    write!(page, "$ {command}\n{}", printed.next().map_or("", String::as_str))
                }
            };
        }
        page
    }
}

/// What each command of a script printed.
pub fn printed(output: &str) -> Vec<String> {
    let mut each: Vec<String> = output.split(MARK).map(|text| ended(text.to_owned())).collect();
    each.pop();
    each
}

/// The lines of a page end with a line break, whether a command prints one or not.
fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Text, added to the text before it.
fn text(pieces: &mut Vec<Piece>, more: &str) {
    match pieces.last_mut() {
        Some(Piece::Text(text)) => text.push_str(more),
        _ => pieces.push(Piece::Text(more.to_owned())),
    }
}

fn commands(pieces: &mut Vec<Piece>, block: &[&str]) {
    for line in block {
        if let Some(command) = line.strip_prefix("$ ") {
            pieces.push(Piece::Command { command: command.trim_end().to_owned(), printed: String::new() });
        } else if let Some(Piece::Command { printed, .. }) = pieces.last_mut() {
            printed.push_str(line);
        } else {
            text(pieces, line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# A page\n\n`a.py` is wrong:\n\n```python src/a.py\nx = 1\n```\n\n````console\n$ ls\na.py\n$ true\n$ cat a\n\
                        ```\n\n````\n\nLook:\n\n```toml\n$ x\n```\n";

    #[test]
    fn a_page_is_read_whole() {
        let page = Transcript::read(PAGE);
        assert_eq!(page.commands(), [("ls", "a.py\n"), ("true", ""), ("cat a", "```\n\n")]);
        let kept: Vec<String> = page.commands().iter().map(|(_, printed)| (*printed).to_owned()).collect();
        assert_eq!(page.with_printed(&kept), PAGE);
    }

    #[test]
    fn what_is_printed_replaces_what_the_page_says() {
        let page = Transcript::read(PAGE);
        let now = printed("a.py\nb.py\n\u{1e}\u{1e}x\u{1e}");
        assert_eq!(now, ["a.py\nb.py\n", "", "x\n"]);
        let page = page.with_printed(&now);
        assert!(page.contains("$ ls\na.py\nb.py\n$ true\n$ cat a\nx\n````\n"), "{page}");
    }

    #[test]
    fn files_are_written_where_they_stand_and_the_exit_code_is_kept() {
        let script = Transcript::read(PAGE).script();
        assert!(
            script.contains("cat > 'src/a.py' <<'END OF FILE'\nx = 1\nEND OF FILE\nls\nmark\n"),
            "{script}"
        );
    }
}
