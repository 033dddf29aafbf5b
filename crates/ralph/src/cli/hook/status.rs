//! `ralph hook status`: how hook mode stands with each client.

use super::client::CLIENTS;
use super::plugin::Plugin;
use super::standing::{Standing, Word, standing};
use crate::cli::Here;
use crate::plain::plain;
use crate::print::{print, print_json};
use crate::problem::Problem;
use crate::style::Style;
use serde_json::json;
use std::fmt::Write;

/// Arguments of `ralph hook status`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// What nobody can observe from outside.
const UNSEEN: &str = "settings that an organization manages may switch hooks off without ralph seeing it";

/// Shows it.
pub fn status(args: &Args, here: &Here) -> Result<u8, Problem> {
    let all: Vec<Standing> =
        CLIENTS.into_iter().map(|client| standing(client, here)).collect::<Result<_, _>>()?;
    if args.json {
        let version = Plugin::current().version;
        print_json(
            &json!({"v": 1, "type": "hook_status", "version": version, "clients": all, "unseen": UNSEEN}),
        )?;
    } else {
        print(&table(&all, here.out_style()));
    }
    Ok(0)
}

fn table(all: &[Standing], style: Style) -> String {
    let mut text = String::new();
    for one in all {
        let word = format!("{:<13}", one.state.shown());
        let word = match one.state {
            Word::Installed => style.good(word),
            Word::NoClient | Word::NotInstalled => style.faint(word),
            _ => style.warn(word),
        };
        let _ = writeln!(text, "{:<12} {word} {}", one.title, plain(&one.fact));
        for fix in one.fix.iter() {
            let _ = writeln!(text, "{:<12} {:<13} {} {}", "", "", style.note("→"), plain(fix));
        }
        for place in &one.elsewhere {
            let _ = writeln!(text, "{:<12} {:<13} also on in {}", "", "", plain(&place.to_string_lossy()));
        }
    }
    let _ = writeln!(text, "\n{}", style.faint(format!("Not visible from here: {UNSEEN}.")));
    text
}
