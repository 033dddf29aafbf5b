//! `ralph hook install`: writes the plugin folder and registers it with the client's own command. Where a step fails, what
//! was new is taken back.

use super::client::{Client, Found, Hooks, Scope};
use super::plugin::{self, Plugin};
use super::standing::program_problem;
use crate::cli::Here;
use crate::plain::plain;
use crate::print::print;
use crate::problem::{Code, Problem};
use std::path::Path;

/// Arguments of `ralph hook install`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Client to install the hooks in.
    #[arg(value_enum)]
    client: Client,
    /// Where they are on: user (all projects), project (committed) or local (this project, only you).
    #[arg(long, value_enum, default_value_t = Scope::User, value_name = "SCOPE", hide_possible_values = true)]
    scope: Scope,
}

/// Installs the plugin, or brings it up to date.
pub fn install(args: &Args, here: &Here) -> Result<u8, Problem> {
    let found = args.client.found(here)?;
    possible(args, here)?;
    let root = plugin::root(&here.home()?, args.client.info().name);
    let is_new = !root.exists();
    let plugin = Plugin::current();
    // First of all: a client whose marketplace has lost its folder does not even list its plugins.
    plugin.write(&root).map_err(|error| {
        Problem::new(Code::Busy, format!("cannot write {}", root.display())).cause(&error)
    })?;
    let done = not_taken(&found, &root).and_then(|()| {
        let register = || found.add_marketplace(&root).and_then(|()| found.add(args.scope, &plugin.version));
        register().map_err(|refused| take_back(&found, &root, is_new, refused.problem(cannot(&found))))
    });
    if let Err(problem) = done {
        if is_new {
            let _ = plugin::forget(&root);
        }
        return Err(problem);
    }
    print(&said(&found, args.scope, here));
    Ok(0)
}

/// What the client did before it refused. The reason counts, not whether there was something to take back.
fn take_back(found: &Found, root: &Path, is_new: bool, problem: Problem) -> Problem {
    if !is_new {
        return problem;
    }
    if found.marketplace().is_ok_and(|place| place.is_some_and(|place| same(&place, root))) {
        let _ = found.remove_marketplace();
    }
    problem.hint("nothing was installed; fix what the client says, then run this command again")
}

/// What would not work is refused before anything is written.
fn possible(args: &Args, here: &Here) -> Result<(), Problem> {
    if args.client == Client::Codex && args.scope != Scope::User {
        let message = format!("Codex has no scope `{}` for plugins", args.scope.name());
        return Err(Problem::new(Code::Usage, message).hint("omit --scope: Codex installs for the user"));
    }
    let Some(lost) = program_problem(here) else { return Ok(()) };
    let exe = std::env::current_exe().ok();
    let dir = exe.as_deref().and_then(Path::parent).map_or("its directory".into(), Path::to_string_lossy);
    Err(Problem::new(Code::Unavailable, lost).hint(format!("add {dir} to PATH, then run this command again")))
}

/// A marketplace of the same name that is not ours would be replaced.
fn not_taken(found: &Found, root: &Path) -> Result<(), Problem> {
    let place = found.marketplace().map_err(|refused| refused.problem(cannot(found)))?;
    let Some(place) = place.filter(|place| !same(place, root)) else { return Ok(()) };
    let info = found.client.info();
    let message = format!("{} has another marketplace named ralph: {}", info.title, place.display());
    let remove = format!("{} plugin marketplace remove ralph", info.program.unwrap_or(info.name));
    Err(Problem::new(Code::Busy, message).hint(format!("if it is not needed: `{remove}`")))
}

/// Clients may follow links.
pub fn same(place: &Path, root: &Path) -> bool {
    place == root
        || place.canonicalize().is_ok_and(|place| root.canonicalize().is_ok_and(|root| place == root))
}

fn cannot(found: &Found) -> String {
    format!("{} did not take the plugin", found.client.info().title)
}

/// What to type next.
fn said(found: &Found, scope: Scope, here: &Here) -> String {
    let title = found.client.info().title;
    let mut text = format!("Installed the ralph plugin in {title} (scope {}).\n", scope.name());
    if found.hooks(here) == Hooks::Untrusted {
        text += "\nCodex skips new or changed hooks, without a word, until you trust them:\n  start `codex`, type /hooks, \
                 and trust the two hooks of ralph\n";
    }
    if let Hooks::Off(by) = found.hooks(here) {
        text += &format!("\nwarning: hooks are switched off by {}\n", plain(&by));
    }
    let start = match found.client {
        Client::Claude => "/ralph:loop",
        Client::Codex => "$ralph:loop",
    };
    text + &format!(
        "\nIn a new session, type:\n  {start} Make the tests pass --max-iterations 8 --max-cost 5\n\n`ralph hook status` \
         tells whether the hooks run; `ralph hook uninstall {}` removes them.\n",
        found.client.info().name
    )
}
