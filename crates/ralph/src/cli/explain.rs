//! `ralph explain`: every decision in a run, and why it stopped.

use super::{Here, runs};
use crate::plain::plain_lines;
use crate::print::{print, print_json};
use crate::problem::{Code, Problem};
use ralph_rules::record::Record;
use ralph_view::explanation::{explanation, with_grounds};
use ralph_view::iteration_parts::prompt_file;
use std::path::Path;

/// The command's arguments.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run id (default: the latest run here).
    run: Option<String>,
    /// Print the prompt of this iteration (default: the latest).
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "0", conflicts_with = "json")]
    prompt: Option<u32>,
    /// Print the records as a JSON array; decisions about an iteration include their grounds.
    #[arg(long)]
    json: bool,
}

/// Prints the story of a run.
pub fn explain(args: &Args, here: &Here) -> Result<u8, Problem> {
    let home = here.home()?;
    let store = runs::store(&home)?;
    let row = runs::find(&store, args.run.as_deref(), here)?;
    let records = runs::records_to_the_end(&store, &row.id)?;
    if let Some(iteration) = args.prompt {
        print(&prompt(records, iteration, &home.run(&row.id))?);
        return Ok(0);
    }
    if args.json {
        return print_json(&with_grounds(records)).map(|()| 0);
    }
    print(&explanation(records, runs::is_alive(&row, &home), here.out_style()));
    Ok(0)
}

/// A prompt as it was saved beside the journal; of several attempts the last. A review is no attempt.
fn prompt(records: &[Record], iteration: u32, folder: &Path) -> Result<String, Problem> {
    let file = prompt_file(records, iteration).ok_or_else(|| {
        let message = match iteration {
            0 => "the run has no prompt: no iteration started".into(),
            n => format!("the run has no iteration {n}"),
        };
        Problem::new(Code::Usage, message).hint("`ralph status` lists the iterations of a run")
    })?;
    let path = folder.join(file);
    let text = std::fs::read(&path).map_err(|e| {
        Problem::new(Code::Input, format!("the prompt {} cannot be read", path.display())).cause(&e)
    })?;
    Ok(plain_lines(&String::from_utf8_lossy(&text)))
}
