//! What the agent said and did lately, for a screen: each tool with whether it still runs, is done or failed.

use crate::plain::plain_lines;
use std::collections::VecDeque;

/// Pieces that are kept; older ones are in the transcript (`ralph logs`).
const KEPT: usize = 500;

/// The latest of what the agent said and did.
#[derive(Debug, Default)]
pub struct AgentOutput(VecDeque<Piece>);

#[derive(Debug)]
struct Piece {
    words: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Said,
    Runs,
    Done,
    Failed,
}

impl AgentOutput {
    /// The agent said this.
    pub fn said(&mut self, words: &str) {
        self.add(words, Kind::Said);
    }

    /// A tool started.
    pub fn tool(&mut self, words: &str) {
        self.add(words, Kind::Runs);
    }

    /// A tool ended. Agents do not say which: it is taken to be the one that started first.
    pub fn tool_ended(&mut self, failed: bool) {
        if let Some(piece) = self.0.iter_mut().find(|piece| piece.kind == Kind::Runs) {
            piece.kind = if failed { Kind::Failed } else { Kind::Done };
        }
    }

    /// The call ended, and whatever it started with it.
    pub fn call_ended(&mut self) {
        self.0.iter_mut().filter(|piece| piece.kind == Kind::Runs).for_each(|piece| piece.kind = Kind::Done);
    }

    /// The tool that started last and still runs.
    pub fn running_tool(&self) -> Option<&str> {
        self.0.iter().rev().find(|piece| piece.kind == Kind::Runs).map(|piece| piece.words.as_str())
    }

    /// The tool that ended last, and whether it failed.
    pub fn ended_tool(&self) -> Option<(&str, bool)> {
        let mut ended = self.0.iter().rev().filter(|piece| matches!(piece.kind, Kind::Done | Kind::Failed));
        ended.next().map(|piece| (piece.words.as_str(), piece.kind == Kind::Failed))
    }

    /// All of it in lines without colours, oldest first.
    pub fn lines(&self) -> Vec<String> {
        self.0.iter().flat_map(Piece::lines).collect()
    }

    /// The first line of each of the latest pieces, without a tool that still runs.
    pub fn latest(&self, pieces: usize) -> Vec<String> {
        let over = self.0.iter().rev().filter(|piece| piece.kind != Kind::Runs).take(pieces);
        let mut lines: Vec<String> = over.filter_map(|piece| piece.lines().into_iter().next()).collect();
        lines.reverse();
        lines
    }

    fn add(&mut self, words: &str, kind: Kind) {
        if self.0.len() >= KEPT {
            self.0.pop_front();
        }
        self.0.push_back(Piece { words: words.into(), kind });
    }
}

impl Piece {
    fn lines(&self) -> Vec<String> {
        let mark = match self.kind {
            Kind::Said => "·",
            Kind::Runs => "▸",
            Kind::Done => "✓",
            Kind::Failed => "✗",
        };
        let text = plain_lines(&self.words).replace('\t', "    ");
        let line = |(n, line)| if n == 0 { format!("{mark} {line}") } else { format!("  {line}") };
        text.lines().enumerate().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_ended_no_longer_runs() {
        let mut output = AgentOutput::default();
        output.said("Two\nlines\x1b[2J");
        output.tool("Read a.rs");
        output.tool("Bash make");
        assert_eq!((output.running_tool(), output.ended_tool()), (Some("Bash make"), None));
        output.tool_ended(false);
        assert_eq!(
            (output.running_tool(), output.ended_tool()),
            (Some("Bash make"), Some(("Read a.rs", false)))
        );
        output.tool_ended(true);
        output.tool_ended(true);
        assert_eq!((output.running_tool(), output.ended_tool()), (None, Some(("Bash make", true))));
        assert_eq!(output.lines(), ["· Two", "  lines\\u{1b}[2J", "✓ Read a.rs", "✗ Bash make"]);
        assert_eq!(output.latest(2), ["✓ Read a.rs", "✗ Bash make"]);
    }

    #[test]
    fn only_the_latest_is_kept() {
        let mut output = AgentOutput::default();
        (0..KEPT + 7).for_each(|n| output.said(&n.to_string()));
        assert_eq!((output.lines().len(), output.lines().first().map(String::as_str)), (KEPT, Some("· 7")));
    }
}
