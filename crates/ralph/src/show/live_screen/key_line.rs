//! The last line of the panel: which keys there are, or what is typed. Pure, like the lines above it.

use super::page::Page;
use crate::plain::{fit, plain};
use crate::style::Style;
use ralph_view::wrap::wrap;
use std::time::Instant;

/// What the keyboard has changed.
#[derive(Debug, Default)]
pub struct KeyLine {
    /// A hint that is being typed.
    pub hint: Option<Vec<u8>>,
    /// The keys are explained.
    pub help: bool,
    /// A page is shown instead of the panel.
    pub page: Option<Page>,
    /// The answer to what was asked, and when it was given.
    pub answer: Option<(String, Instant)>,
    /// The run is paused.
    pub paused: bool,
    /// It waits.
    pub waiting: bool,
    /// There is no keyboard.
    pub no_keyboard: bool,
    /// The run is in another process: leaving does not stop it.
    pub attached: bool,
}

/// All lines, the last one by what is typed.
pub fn with_key_line(body: &[String], keys: &KeyLine, size: (usize, usize), style: Style) -> Vec<String> {
    let width = size.0.saturating_sub(1);
    let mut lines = body.to_vec();
    if let Some(typed) = &keys.hint {
        let text = plain(&format!("{}▏", String::from_utf8_lossy(typed)));
        let line = format!("{} {}", style.note("hint›"), last(&text, width.saturating_sub(6)));
        return with_last(lines, vec![line]);
    }
    if let Some((answer, _)) = &keys.answer {
        return with_last(lines, vec![style.note(fit(answer, width))]);
    }
    if keys.no_keyboard || body.is_empty() {
        return lines;
    }
    if keys.help {
        let help = help(keys.attached).map(|line| wrap(line, width));
        lines.extend(help.iter().flat_map(|line| line.lines()).map(|line| style.faint(fit(line, width))));
        let room = size.1.saturating_sub(2).max(1);
        lines.drain(..lines.len().saturating_sub(room));
        return lines;
    }
    if lines.len() > 1 {
        lines.push(style.faint(fit(&known_keys(keys, width), width)));
    }
    lines
}

/// As many keys as fit, in the order in which they are missed; help always.
fn known_keys(keys: &KeyLine, width: usize) -> String {
    const HELP: &str = "? help";
    let pause = if keys.paused { "p continue" } else { "p pause" };
    let wait = if keys.waiting { "c continue now" } else { "" };
    let leave = if keys.attached { "q leave" } else { "" };
    let stop = if width < 70 { "s stop after" } else { "s stop after this iteration" };
    let mut line = String::new();
    for key in ["h hint", wait, leave, pause, "o output", "d diff", stop].iter().filter(|key| !key.is_empty())
    {
        if line.len() + key.len() + 2 + HELP.len() <= width {
            line = format!("{line}{key}  ");
        }
    }
    line + HELP
}

fn help(attached: bool) -> [&'static str; 9] {
    let (ctrl_c, ctrl_z) = match attached {
        true => (
            "q       leave, as Ctrl-C does; the run continues",
            "Ctrl-Z  suspend this view; the run continues",
        ),
        false => (
            "Ctrl-C  stop the agent now and inspect its work; twice: exit at once",
            "Ctrl-Z  suspend ralph and its agent; fg continues",
        ),
    };
    [
        "h       type a hint for the next prompt (Enter sends it, Esc cancels)",
        "p       pause before the next call, or continue",
        "c       continue: end a pause or a wait",
        "s       stop after this iteration",
        "o       show the agent's output",
        "d       show the diff of this run",
        ctrl_c,
        ctrl_z,
        "?       close this help",
    ]
}

/// In a terminal with one line the last one takes its place.
fn with_last(mut lines: Vec<String>, last: Vec<String>) -> Vec<String> {
    if lines.len() == 1 {
        return last;
    }
    lines.extend(last);
    lines
}

/// The end of a text that fits.
fn last(text: &str, columns: usize) -> String {
    let back: String = text.chars().rev().collect();
    fit(&back, columns).chars().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn however_narrow_the_panel_help_is_offered() {
        let shown = |keys: &KeyLine, width| known_keys(keys, width);
        let keys = KeyLine::default();
        assert_eq!(shown(&keys, 8), "? help");
        assert_eq!(shown(&keys, 39), "h hint  p pause  o output  ? help");
        assert_eq!(
            shown(&keys, 79),
            "h hint  p pause  o output  d diff  s stop after this iteration  ? help"
        );
        let waits = KeyLine { waiting: true, attached: true, ..KeyLine::default() };
        assert_eq!(shown(&waits, 39), "h hint  c continue now  q leave  ? help");
    }

    #[test]
    fn help_fits_into_forty_columns_and_loses_no_word() {
        let body = vec!["title".to_string(), "doing".to_string()];
        let keys = KeyLine { help: true, ..KeyLine::default() };
        let lines = with_key_line(&body, &keys, (40, 24), Style::default());
        assert!(lines.iter().all(|line| line.chars().count() < 40), "{lines:?}");
        let words = |text: String| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let all = help(false).join(" ");
        assert!(words(lines.join(" ")).ends_with(&words(all)), "{lines:?}");
    }
}
