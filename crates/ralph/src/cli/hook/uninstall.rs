//! `ralph hook uninstall`: takes the plugin back with the client's own command, and removes ralph's folder once nothing
//! refers to it any more.

use super::client::ask::Refused;
use super::client::{Client, Found, Registration, Scope};
use super::install::same;
use super::plugin::{self, Plugin};
use crate::cli::Here;
use crate::print::print;
use crate::problem::{Code, Problem};
use std::path::Path;

/// Arguments of `ralph hook uninstall`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Client to remove the hooks from.
    #[arg(value_enum)]
    client: Client,
    /// Only this scope: user, project or local (default: all of this directory).
    #[arg(long, value_enum, value_name = "SCOPE", hide_possible_values = true)]
    scope: Option<Scope>,
}

/// Removes the plugin.
pub fn uninstall(args: &Args, here: &Here) -> Result<u8, Problem> {
    let found = args.client.found(here)?;
    let info = args.client.info();
    let root = plugin::root(&here.home()?, info.name);
    let cannot = |refused: Refused| {
        refused.problem(format!("{} did not remove the plugin", info.title)).hint(
            "ralph's folder is still there, so nothing is broken; fix what the client says, and try again",
        )
    };
    if found.registrations().is_err() && !root.exists() {
        // A client whose marketplace has lost its folder does not even list its plugins.
        let _ = Plugin::current().write(&root);
    }
    let ours = found.here(&found.registrations().map_err(cannot)?);
    let wanted: Vec<&Registration> =
        ours.iter().filter(|one| args.scope.is_none_or(|scope| scope == one.scope)).collect();
    for one in &wanted {
        found.remove(one.scope).map_err(cannot)?;
    }
    let left = found.registrations().map_err(cannot)?;
    let gone = wanted.iter().map(|one| one.scope.name()).collect::<Vec<_>>().join(", ");
    let mut text = match wanted.is_empty() {
        true => format!("The ralph plugin is not installed in {} here.\n", info.title),
        false => format!("Removed the ralph plugin from {} (scope {gone}).\n", info.title),
    };
    if left.is_empty() {
        forget(&found, &root, cannot)?;
    }
    for one in &left {
        let place = one.project.as_deref().unwrap_or(&here.workspace).display();
        text += &format!("It is still on in {place} (scope {}).\n", one.scope.name());
    }
    print(&text);
    Ok(0)
}

/// The marketplace, if it is ours, and then the folder that it refers to.
fn forget(found: &Found, root: &Path, cannot: impl Fn(Refused) -> Problem) -> Result<(), Problem> {
    if found.marketplace().map_err(&cannot)?.is_some_and(|place| same(&place, root)) {
        found.remove_marketplace().map_err(&cannot)?;
    }
    plugin::forget(root)
        .map_err(|error| Problem::new(Code::Busy, format!("cannot remove {}", root.display())).cause(&error))
}
