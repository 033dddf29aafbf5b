//! Where `ralph init` writes its files.

use super::Here;
use super::questions::Questions;
use super::workspace::config_above;
use crate::init::ignore;
use crate::init::write::is_there;
use crate::plain::plain;
use crate::print::say;
use crate::problem::{Code, Problem};

/// Where the files are written. In a subdirectory of a repository a person is asked, and everybody else is told.
pub fn place(asks: bool, here: &Here) -> Result<Here, Problem> {
    let root = ignore::repository(&here.workspace).filter(|root| *root != here.workspace && !here.named);
    let Some(root) = root.filter(|_| !is_there(&here.workspace.join("ralph.toml"))) else {
        return Ok(here.clone());
    };
    if let Some(above) = config_above(&here.workspace) {
        say(&format!(
            "{} exists. A ralph.toml here replaces it for everything below {}.\n",
            plain(&above.to_string_lossy()),
            plain(&here.workspace.to_string_lossy())
        ));
    }
    let (this, whole) = (plain(&here.workspace.to_string_lossy()), plain(&root.to_string_lossy()));
    if asks {
        let mut questions = Questions::new(std::io::stdin().lock(), std::io::stderr());
        let what = format!("Set up this directory (.) or the whole repository {whole} (root)?");
        let known = |answer: &str| match answer {
            "." => Ok(false),
            "root" => Ok(true),
            _ => Err("type . or root".to_owned()),
        };
        let all = questions.ask(&what, ".", known).map_err(|e| unanswered(&e))?.unwrap_or_default();
        let workspace = if all { root.to_path_buf() } else { here.workspace.clone() };
        return Ok(Here { workspace, ..here.clone() });
    }
    say(&format!(
        "Setting up {this}, a part of the repository {whole} (for all of it: ralph init -C {whole}).\n"
    ));
    Ok(here.clone())
}

/// The problem of answers that cannot be read.
pub fn unanswered(error: &std::io::Error) -> Problem {
    Problem::new(Code::Input, "cannot read the answers").cause(error).hint("use --yes to skip the questions")
}
