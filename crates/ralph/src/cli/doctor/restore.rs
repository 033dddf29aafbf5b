//! `ralph doctor --restore`: the newest copy becomes the database, and what was spent since then is counted again.

use crate::cli::{Here, resolve, runs};
use crate::config;
use crate::print::say;
use crate::problem::{Code, Problem};
use ralph_engine::home::Home;
use ralph_engine::recount::{Pricing, recount};
use ralph_tree::{LockError, NobodyWorks, WorkspaceLock};

/// Restores the copy and says what was done.
pub fn restore(here: &Here) -> Result<(), Problem> {
    let home = here.home()?;
    let nobody = nobody_works(&home)?;
    let done = ralph_store::restore(home.dir()).map_err(|e| runs::broken(&e))?;
    drop(nobody);
    let done = done.ok_or_else(|| {
        let place = home.dir().join("copies");
        Problem::new(Code::Journal, format!("there is no copy of the database in {}", place.display()))
            .hint("a run makes one a day; to start anew, move the state directory away")
    })?;
    let aside = match &done.set_aside {
        Some(path) => format!("; the database it replaces is kept as {}", path.display()),
        None => String::new(),
    };
    say(&format!("Restored {}{aside}.\n", done.from.display()));
    let store = home.store().map_err(|e| runs::broken(&e))?;
    let prices = config::load_files(&here.workspace, &here.env)?.settings.prices();
    let zone = resolve::zone(here);
    let found =
        recount(&home, &store, Pricing { prices: &prices, zone: &zone }).map_err(|e| runs::broken(&e))?;
    say(&match found.calls {
        0 => "No calls were made since then.\n".to_owned(),
        1 => format!("Counted 1 call since then from its transcript: {}.\n", found.cost),
        n => format!("Counted {n} calls since then from their transcripts: {}.\n", found.cost),
    });
    if !found.without_journal.is_empty() {
        let runs: Vec<&str> = found.without_journal.iter().map(|run| runs::short(run)).collect();
        say(&format!("Runs that began since then cannot be resumed: {}.\n", runs.join(", ")));
    }
    Ok(())
}

/// A run would go on writing to the database that is moved away.
fn nobody_works(home: &Home) -> Result<NobodyWorks, Problem> {
    let made = Home::create_private_dir(&home.locks());
    made.map_err(|e| Problem::new(Code::Journal, "the lock directory cannot be created").cause(&e))?;
    WorkspaceLock::nobody(&home.locks()).map_err(|error| match error {
        LockError::Held { workspace, who, .. } => {
            let message = format!("the database is in use: {who} is active in {}", workspace.display());
            Problem::new(Code::Busy, message)
                .hint("stop it first with `ralph stop`, or end its process, then restore")
        }
        error @ LockError::Io { .. } => {
            Problem::new(Code::Journal, "cannot find out whether a run is active").cause(&error)
        }
    })
}
