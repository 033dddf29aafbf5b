//! After `ralph init` wrote its files: asks whether to commit them, or says how. An agent may commit them, too.

use crate::cli::Here;
use crate::cli::questions::Questions;
use crate::init::commit;
use crate::plain::plain;
use crate::print::say;
use crate::problem::{Code, Problem};

/// Asks whether to commit what was written, and tells everybody else how.
pub(super) fn offer_commit(written: &[&str], unasked: bool, here: &Here) -> Result<(), Problem> {
    if written.is_empty() || !commit::is_possible(&here.workspace) {
        return Ok(());
    }
    let command = commit::command(written);
    if unasked {
        say(&format!("Not committed yet: {command}\n"));
        return Ok(());
    }
    let mut questions = Questions::new(std::io::stdin().lock(), std::io::stderr());
    let known = |answer: &str| match answer {
        "y" | "yes" => Ok(true),
        "n" | "no" => Ok(false),
        _ => Err("type y or n".to_owned()),
    };
    let what = format!("Commit {} (y/n)", written.join(", "));
    let wanted = questions.ask(&what, "n", known).map_err(|e| {
        Problem::new(Code::Input, "cannot read the answer").cause(&e).hint("use --yes to skip the questions")
    })?;
    let told = match wanted {
        Some(true) => match commit::commit(&here.workspace, written) {
            Ok(()) => format!("Committed: {}\n", commit::MESSAGE),
            Err(error) => format!("Not committed ({}). Later: {command}\n", plain(&error.to_string())),
        },
        _ => format!("Not committed. Later: {command}\n"),
    };
    say(&told);
    Ok(())
}
