//! Reads what a page shows: from the journal, the transcripts and the snapshots of a run. What was pruned is said so.

use crate::page::{PageKind, PageLine, PageWanted};
use crate::page_lines;
use crate::row::Look;
use crate::worker::Texts;
use ralph_engine::home::Home;
use ralph_engine::journal;
use ralph_engine::outcome::{last_ending, outcome};
use ralph_rules::record::Record;
use ralph_rules::state::State;
use ralph_store::Store;
use ralph_view::explanation::explanation;
use ralph_view::iteration_parts::{prompt, verifications};
use ralph_view::log_lines::LogLines;
use ralph_view::plain::plain;
use ralph_view::run_receipt::receipt;
use ralph_view::run_state::is_alive;
use ralph_view::story::{Story, StoryError};
use ralph_view::style::Style;
use std::error::Error;
use std::io::{self, Write};

/// Bytes of a prompt that are shown.
const PROMPT: usize = 1 << 20;
/// Bytes of a transcript that are shown, the latest.
const TRANSCRIPT: usize = 2 << 20;

/// The lines of a page, or why there are none.
pub fn read_page(wanted: &PageWanted, home: &Home, texts: &Texts) -> Vec<PageLine> {
    if wanted.kind == PageKind::Diff {
        return page_lines::diff((texts.diff)(&wanted.run));
    }
    match read(wanted, home, texts) {
        Ok(lines) => lines,
        Err(error) => vec![PageLine::new(plain(&format!("This cannot be shown: {error}")), Look::Plain)],
    }
}

fn read(wanted: &PageWanted, home: &Home, texts: &Texts) -> Result<Vec<PageLine>, Box<dyn Error>> {
    let store = home.store_at_once()?.ok_or("there is no database")?;
    let row = store.run(&wanted.run)?.ok_or("the run is gone")?;
    let redacted = |text: &str| (texts.redact)(&row.workspace, text);
    let n = wanted.iteration.unwrap_or(0);
    if wanted.kind == PageKind::Transcript {
        let (text, is_cut) = transcript(&store, home, &wanted.run, n)?;
        let earlier = is_cut.then(|| page_lines::earlier_lines(wanted));
        return Ok(earlier.into_iter().chain(page_lines::text(&redacted(&text))).collect());
    }
    let records = journal::read(&store, &wanted.run)?;
    let state = State::of(&records);
    let zone = state.start.as_ref().map_or("UTC", |start| start.zone.as_str());
    Ok(match wanted.kind {
        PageKind::Verification => page_lines::verifications(&verifications(&records, n), zone),
        PageKind::Prompt => match prompt(&records, n, &home.run(&wanted.run), PROMPT) {
            Some(prompt) if prompt.pruned => {
                vec![PageLine::new("The prompt was deleted with old files.", Look::Faint)]
            }
            Some(prompt) => page_lines::text(&redacted(&prompt.text)),
            None => vec![PageLine::new("There was no prompt.", Look::Faint)],
        },
        PageKind::Explanation => {
            let alive = is_alive(&row, home);
            let text = ended(&records, &state) + &explanation(&records, alive, Style::default());
            page_lines::text(&redacted(&text))
        }
        PageKind::Transcript | PageKind::Diff | PageKind::Help => Vec::new(),
    })
}

/// The receipt of a run that ended.
fn ended(records: &[Record], state: &State) -> String {
    match state.ending.and(last_ending(records)) {
        Some((ending, why)) => receipt(&outcome(state, ending, why), state, Style::default()) + "\n",
        None => String::new(),
    }
}

/// What the agent said and did in an iteration, and whether that is only the end of it.
fn transcript(store: &dyn Store, home: &Home, run: &str, n: u32) -> Result<(String, bool), Box<dyn Error>> {
    let mut end = End::default();
    let story = Story { store, run, folder: home.run(run), iteration: Some(n), running: &|| false };
    match story.walk(false, &mut LogLines::new(&mut end, Style::default(), false)) {
        Ok(_) => Ok((end.text(), end.is_cut)),
        Err(StoryError::Output(error)) => Err(error.into()),
        Err(StoryError::Store(error)) => Err(error.into()),
        Err(StoryError::Unreadable(why)) => Err(why.into()),
    }
}

/// Keeps the end of what is written.
#[derive(Default)]
struct End {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl End {
    fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        match text.split_once('\n').filter(|_| self.is_cut) {
            Some((_, whole_lines)) => whole_lines.to_owned(),
            None => text.trim_start_matches('\n').to_owned(),
        }
    }
}

impl Write for End {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 2 * TRANSCRIPT {
            self.bytes.drain(..self.bytes.len() - TRANSCRIPT);
            self.is_cut = true;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
