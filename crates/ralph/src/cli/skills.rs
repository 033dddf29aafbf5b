//! `ralph skills`: which skills there are (`list`), what one says (`show`), and whether a loop can use it (`check`).

mod check;
mod list;

use super::{Here, examples};
use crate::print::{print, print_json};
use crate::problem::Problem;
use crate::skills::{self, Skill};
use serde_json::{Value, json};

/// Arguments of `ralph skills`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List skills, where each comes from, and whether a loop can use it
    #[command(before_help = examples::SKILLS)]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a skill
    #[command(before_help = examples::SKILLS)]
    Show {
        /// Its name
        #[arg(value_name = "NAME")]
        skill: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check that a loop can use a skill: promise, completion criteria, verification
    #[command(before_help = examples::SKILLS)]
    Check {
        /// Its name
        #[arg(value_name = "NAME")]
        skill: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Runs the subcommand.
pub fn skills(args: &Args, here: &Here) -> Result<u8, Problem> {
    match &args.what {
        What::List { json } => list::list(*json, here),
        What::Show { skill, json } => show(skill, *json, here),
        What::Check { skill, json } => check::check(skill, *json, here),
    }
}

fn show(name: &str, json: bool, here: &Here) -> Result<u8, Problem> {
    let skill = skills::find(name, &here.workspace, &here.env)?;
    match json {
        true => print_json(&shown(&skill))?,
        false => print(&crate::plain::plain_lines(&skill.text)),
    }
    Ok(0)
}

fn shown(skill: &Skill) -> Value {
    json!({
        "v": 1, "type": "skill", "name": skill.name, "description": skill.description,
        "source": skill.source.word(), "path": skill.path, "hash": skill.hash, "promise": skill.promise,
        "criteria": skill.criteria, "kinds": skill.kinds(), "text": skill.text,
    })
}
