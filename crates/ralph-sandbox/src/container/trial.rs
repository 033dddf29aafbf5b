//! Trying a container out: whether one with the run's own plan holds what it must, and has the programs that the run needs.

use super::check::Unusable;
use super::engine::{ask, remove};
use super::mounts::{Kind, look};
use crate::box_stage::ProgramArgs;
use crate::plan::{Container, Ids, Mount, Network, Plan};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

const SCRIPT: &str = include_str!("trial.sh");
/// CHOWN, DAC_OVERRIDE, FOWNER and FSETID, as a set of bits.
const ROOT_CAPABILITIES: u64 = 0b1_1011;

/// Runs a container of this plan once. It must not write a protected path, rename a directory above one, change mounts, see a
/// process outside, hold a capability, or have a network that the plan does not give it; and it must have these programs.
/// Returns what of the plan could not be done.
pub fn try_out(plan: &Plan, container: &Container, programs: &[&OsStr]) -> Result<Vec<String>, Unusable> {
    if matches!(plan.network, Network::Gate { .. }) {
        return Err(Unusable::Hosts);
    }
    let tried = said_by_trial(plan, container, programs);
    let tried = tried.and_then(|(said, notes)| judge(&said, plan).map(|()| notes));
    tried.map_err(|why| Unusable::DoesNotHold { image: container.image.clone(), why })
}

/// What the trial said, and what of the plan could not be done.
fn said_by_trial(
    plan: &Plan,
    container: &Container,
    programs: &[&OsStr],
) -> Result<(String, Vec<String>), String> {
    let args = arguments(plan, programs);
    let start = ProgramArgs { cwd: plan.workspace.clone(), program: "/bin/sh".into(), args };
    let name = super::attached::name();
    let notes = super::attached::create(plan, container, &name, &start)?;
    let said = ask(Command::new(&container.program).args(["start", "--attach", &name]));
    let removed = remove(&container.program, &[&name]);
    let said = said?;
    removed.map(|()| (said, notes))
}

fn arguments(plan: &Plan, programs: &[&OsStr]) -> Vec<OsString> {
    let protected = plan.mounts.iter().filter_map(|mount| match mount {
        Mount::Protect(path) if matches!(look(path), Some(Kind::Directory | Kind::File)) => {
            Some(path.clone())
        }
        _ => None,
    });
    let protected: Vec<PathBuf> = protected.collect();
    let inside = |path: &&Path| path.starts_with(&plan.workspace) && *path != plan.workspace;
    let above = protected.iter().flat_map(|path| path.ancestors().skip(1).take_while(inside));
    let above: BTreeSet<PathBuf> = above.map(Path::to_owned).collect();
    let mut args: Vec<OsString> = ["-c", SCRIPT, "trial"].map(OsString::from).to_vec();
    args.push(std::process::id().to_string().into());
    args.push(protected.len().to_string().into());
    args.extend(protected.into_iter().map(OsString::from));
    args.push(above.len().to_string().into());
    args.extend(above.into_iter().map(OsString::from));
    args.extend(programs.iter().map(OsString::from));
    args
}

/// What is wrong with what the trial said.
fn judge(said: &str, plan: &Plan) -> Result<(), String> {
    let allowed = if plan.ids == Ids::All { ROOT_CAPABILITIES } else { 0 };
    let mut seen_capabilities = false;
    for line in said.lines() {
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        match what {
            "workspace" => return Err("the workspace cannot be written inside; check who owns it".to_owned()),
            "write" => return Err(format!("{rest} is protected and can be written inside")),
            "rename" => return Err(format!("{rest} can be renamed inside, with a protected path in it")),
            "mount" => {
                let why = "programs inside can change mounts in a namespace of their own, so protected paths are not";
                return Err(format!("{why} safe; the engine's system call filter must refuse it"));
            }
            "process" => return Err("processes outside are seen inside".to_owned()),
            "capabilities" => {
                seen_capabilities = true;
                if u64::from_str_radix(rest, 16).is_ok_and(|held| held & !allowed == 0) {
                    continue;
                }
                return Err(format!("the program inside has capabilities ({rest})"));
            }
            "network" if plan.network == Network::Off && rest != "lo" => {
                return Err(format!("the network is off and {rest} is there inside"));
            }
            "missing" => return Err(format!("it has no program {rest}; add it to the image")),
            _ => {}
        }
    }
    let whole = seen_capabilities && said.lines().last() == Some("done");
    if whole { Ok(()) } else { Err("its shell did not finish the trial".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Backend;

    fn plan(network: Network, ids: Ids) -> Plan {
        let (workspace, tmp) = ("/w".into(), "/t".into());
        let (backend, nested) = (Backend::Landlock, false);
        Plan { backend, workspace, tmp, mounts: vec![], network, processes: 0, memory: 0, nested, ids }
    }

    #[test]
    fn what_a_trial_says_is_judged() {
        let (open, own) = (plan(Network::Open, Ids::Own), "capabilities 0000000000000000");
        let judged = |said: &str, plan: &Plan| judge(said, plan).err().unwrap_or_default();
        assert_eq!(judged(&format!("{own}\nnetwork lo\nnetwork eth0\ndone"), &open), "");
        for (said, why) in [
            ("workspace", "cannot be written"),
            ("write /w/.env", "/w/.env is protected"),
            ("rename /w/src", "/w/src can be renamed"),
            ("mount", "can change mounts"),
            ("process", "processes outside"),
            ("capabilities 00000000a80425fb", "has capabilities"),
            ("capabilities 000000000000001b", "has capabilities"),
            ("missing claude", "no program claude"),
        ] {
            let found = judged(&format!("{said}\n{own}\ndone"), &open);
            assert!(found.contains(why), "{said}: {found}");
        }
        assert!(judged("done", &open).contains("did not finish"));
        assert!(judged(own, &open).contains("did not finish"));
        let off = plan(Network::Off, Ids::All);
        assert_eq!(judged("capabilities 000000000000001b\nnetwork lo\ndone", &off), "");
        assert!(judged("network eth0\ndone", &off).contains("eth0"));
    }
}
