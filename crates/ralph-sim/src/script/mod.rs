//! The script: what the simulated agent does in each iteration. `split_lines` splits the text, `parse` turns one line into
//! an `Action`, this file keeps the sections and chooses the one to perform.

mod action;
mod parse;
mod split_lines;
mod values;

pub use action::{Action, Class, CostSays, Fail, Reset};
#[cfg(test)]
pub use parse::NAMES;
pub use split_lines::from_inline;

use split_lines::Line;

/// A mistake in a script, with its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Mistake {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong and what would be right.
    pub what: String,
}

/// Which call a section is for: the iteration, and the number of the call within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Header {
    /// `[3]` or `[3.2]`.
    Call(u32, u32),
    /// `[*]`: every iteration without a section of its own.
    Other,
}

/// A whole script.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    always: Vec<Action>,
    sections: Vec<(Header, Vec<Action>)>,
}

impl Script {
    /// Parses a script; reports all mistakes at once.
    pub fn parse(text: &str) -> Result<Script, Vec<Mistake>> {
        let (lines, mut mistakes) = split_lines::cut(text);
        let mut script = Script::default();
        for line in &lines {
            if let Err(what) = script.take(line) {
                mistakes.push(Mistake { line: line.number, what });
            }
        }
        mistakes.sort_by_key(|m| m.line);
        if mistakes.is_empty() { Ok(script) } else { Err(mistakes) }
    }

    fn take(&mut self, line: &Line) -> Result<(), String> {
        if line.text.starts_with('[') {
            let header = header(&line.text)?;
            if self.sections.iter().any(|(known, _)| *known == header) {
                return Err(format!("section {} occurs twice: merge the two", line.text));
            }
            self.sections.push((header, Vec::new()));
            return Ok(());
        }
        let action = parse::action(line)?;
        match self.sections.last_mut() {
            Some((_, actions)) => actions.push(action),
            None => self.always.push(action),
        }
        Ok(())
    }

    /// Whether some section is for a second or later call of one iteration, so that calls must be counted.
    pub fn counts_calls(&self) -> bool {
        self.sections.iter().any(|(header, _)| matches!(header, Header::Call(_, call) if *call > 1))
    }

    /// What to do in this call: the lines before all sections, then the section of this iteration, otherwise
    /// `[*]`, otherwise the nearest earlier section. `None` if the script has sections but none for this call.
    pub fn choose(&self, iteration: u32, call: u32) -> Option<Vec<Action>> {
        let mut actions = self.always.clone();
        if self.sections.is_empty() {
            return Some(actions);
        }
        let nearest = self
            .sections
            .iter()
            .filter(|(header, _)| matches!(header, Header::Call(i, c) if (*i, *c) <= (iteration, call)))
            .max_by_key(|(header, _)| *header);
        let own = nearest.filter(|(header, _)| matches!(header, Header::Call(i, _) if *i == iteration));
        let other = self.sections.iter().find(|(header, _)| *header == Header::Other);
        let (_, section) = own.or(other).or(nearest)?;
        actions.extend(section.iter().cloned());
        Some(actions)
    }
}

fn header(text: &str) -> Result<Header, String> {
    let text = text.split_once('#').map_or(text, |(before, _)| before).trim();
    let wrong =
        || format!("{text} is not a valid section; use [1], [2.3] (third call of iteration 2) or [*]");
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).ok_or_else(wrong)?.trim();
    if inner == "*" {
        return Ok(Header::Other);
    }
    let (iteration, call) = inner.split_once('.').unwrap_or((inner, "1"));
    match (iteration.parse(), call.parse()) {
        (Ok(iteration), Ok(call)) if iteration > 0 && call > 0 => Ok(Header::Call(iteration, call)),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests;
