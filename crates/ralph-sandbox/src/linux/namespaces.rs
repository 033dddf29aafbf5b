//! The backend `namespaces`: builds a plan in a mount namespace of its own and enters the others.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, mkdirat, openat};
use rustix::thread::UnshareFlags;

use super::capabilities::can_mount;
use super::covers::Covers;
use super::dev::Nodes;
use super::failure::Step as _;
use super::id_maps::{AllIdsMapper, map_own, own_ids};
use super::limits;
use super::mount_tree::{Tree, make_private, set_all};
use super::paths::{Found, Paths, open, open_below, open_own};
use super::shared_layers::SharedLayers;
use super::steps::{Applied, Blank, Preparation, Step, copy, missing_layers};
use super::sys::{self, NO_DEV, NO_SUID, READ_ONLY};
use super::workspace::Workspace;
use crate::report::Failure;
use crate::{Ids, Network, Plan};

/// What root could write to in `/proc` without any capability.
pub(super) const WRITABLE_PROC: [&str; 9] =
    ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "asound", "scsi", "mtrr"];

/// Where the first process is born.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Born {
    /// In a pid namespace alone, able to mount.
    AbleToMount,
    /// In all namespaces of the plan.
    InNamespaces,
}

/// Done by the box: its next child is the first process of a pid namespace.
///
/// Whoever may mount does so before entering a user namespace: in one, every mount that was there before is locked, and no
/// overlay can be made over a directory with a locked mount below it. Entering one later locks what was built.
pub(super) fn before_fork(plan: &Plan) -> Result<Born, Failure> {
    if can_mount() {
        unshare(UnshareFlags::NEWPID)?;
        return Ok(Born::AbleToMount);
    }
    let (user, group) = own_ids();
    unshare(beside_pids(plan) | UnshareFlags::NEWPID)?;
    map_own(user, group).step("the kernel maps no user and group ids into a namespace")?;
    Ok(Born::InNamespaces)
}

/// Done by the first process: builds the plan and enters the namespaces that it is not in yet. Returns what could not be
/// done as planned.
pub(super) fn enter(plan: &Plan, born: Born) -> Result<Vec<String>, Failure> {
    if born == Born::AbleToMount {
        unshare(UnshareFlags::NEWNS)?;
    }
    let notes = build(plan)?;
    show_proc(plan)?;
    if born == Born::AbleToMount {
        let (user, group) = own_ids();
        let mapper = match plan.ids {
            Ids::All => {
                Some(AllIdsMapper::start().step("the kernel maps no user and group ids into a namespace")?)
            }
            Ids::Own => None,
        };
        unshare(beside_pids(plan))?;
        match mapper {
            Some(mapper) => mapper.map().step("the kernel maps no user and group ids into a namespace")?,
            None => map_own(user, group).step("the kernel maps no user and group ids into a namespace")?,
        }
    }
    if plan.network != Network::Open {
        sys::loopback_up().step("the loopback inside cannot be switched on")?;
    }
    Ok(notes)
}

fn unshare(flags: UnshareFlags) -> Result<(), Failure> {
    sys::unshare(flags).map_err(|error| no_namespaces(&error))
}

/// Both numbers stand for a limit: the one of this namespace, and how deep they may lie in each other.
fn no_namespaces(error: &std::io::Error) -> Failure {
    match error.raw_os_error().unwrap_or_default() {
        libc::ENOSPC | libc::EUSERS => {
            Failure::sandbox("no more namespaces may be made here (user.max_user_namespaces)", 0)
        }
        errno => Failure::sandbox("the kernel makes no namespaces", errno),
    }
}

fn beside_pids(plan: &Plan) -> UnshareFlags {
    let all = UnshareFlags::NEWUSER
        | UnshareFlags::NEWNS
        | UnshareFlags::NEWIPC
        | UnshareFlags::NEWUTS
        | UnshareFlags::NEWCGROUP;
    if plan.network == Network::Open { all } else { all | UnshareFlags::NEWNET }
}

fn build(plan: &Plan) -> Result<Vec<String>, Failure> {
    make_private().step("mounts cannot be made private")?;
    let workspace_at = plan.workspace.canonicalize().at("workspace", &plan.workspace)?;
    // While everything can still be reached and written to: hold what is shown again later.
    let nodes = Nodes::hold();
    let paths = Paths { written: vec![workspace_at.clone()] };
    let mut preparation = Preparation {
        missing_layers: missing_layers(&plan.mounts, &paths),
        paths,
        workspace: &workspace_at,
        mounts: fs::read("/proc/self/mountinfo").step("list of mounts")?,
        shared: SharedLayers::of(&plan.mounts),
        covers: Covers::default(),
        empty: None,
        steps: base(plan)?,
        notes: Vec::new(),
    };
    for mount in &plan.mounts {
        preparation.add(mount)?;
    }
    let (steps, notes) = (preparation.steps, preparation.notes);
    let workspace = Workspace::hold(&workspace_at)?;

    set_all(READ_ONLY | NO_SUID | NO_DEV).step("read-only root")?;
    let mut applied = Applied { blank: blank()?, closed_later: Vec::new() };
    nodes.show()?;
    let places: Vec<PathBuf> =
        steps.iter().map(|step| step.at().to_owned()).chain([workspace_at.clone()]).collect();
    let (inside, outside): (Vec<_>, Vec<_>) =
        steps.into_iter().partition(|step| step.at().starts_with(&workspace_at));
    for step in outside {
        applied.apply(step, &places)?;
    }
    workspace.show(&inside, &applied.blank)?;
    // The workspace itself is there already.
    for step in inside.into_iter().filter(|step| step.at() != workspace_at) {
        applied.apply(step, &places)?;
    }
    for tree in applied.closed_later {
        tree.set_top(READ_ONLY).step("hidden directories")?;
    }
    Ok(notes)
}

/// What every plan begins with, besides the read-only root and `/dev`: `/run`, `/tmp` and `/var/tmp`.
fn base(plan: &Plan) -> Result<Vec<Step>, Failure> {
    let mut steps = Vec::new();
    let mut shown = None;
    for run in ["/run", "/var/run"] {
        let found = Paths::default().find(Path::new(run)).step(run)?;
        if let Found::At(at) = found
            && shown.as_ref() != Some(&at)
        {
            steps.push(Step::Hide { at: at.clone(), dir: true });
            shown = Some(at);
        }
    }
    if let Some(resolver) = name_resolution(plan)
        && let Ok(fd) = open(&resolver)
    {
        let dir = super::paths::is_dir(&fd).step("/etc/resolv.conf")?;
        steps.push(Step::Attach { tree: copy(&fd, READ_ONLY).step("/etc/resolv.conf")?, at: resolver, dir });
    }
    let tmp = open_own(&plan.tmp).at("tmp", &plan.tmp)?;
    let mut places = Vec::new();
    for name in ["/tmp", "/var/tmp"] {
        if let Found::At(at) = Paths::default().find(Path::new(name)).step(name)?
            && !places.contains(&at)
        {
            let tree = copy(&tmp, 0).at("tmp", &plan.tmp)?;
            steps.push(Step::Attach { tree, at: at.clone(), dir: true });
            places.push(at);
        }
    }
    Ok(steps)
}

/// What `/etc/resolv.conf` leads to, if that is below `/run` and names can be resolved inside. Otherwise it must not be there: the
/// directory has a socket of the system's resolver, and whoever connects to it sends names out of any network namespace.
pub(super) fn name_resolution(plan: &Plan) -> Option<PathBuf> {
    if plan.network != Network::Open {
        return None;
    }
    let leads_to = Path::new("/etc/resolv.conf").canonicalize().ok()?;
    let resolved = Path::new("/run/systemd/resolve");
    if leads_to.starts_with(resolved) {
        return Some(resolved.to_owned());
    }
    leads_to.starts_with("/run").then_some(leads_to)
}

/// An empty read-only directory and file. They lie on a mount that the new `/dev` covers, where nobody sees them.
fn blank() -> Result<Blank, Failure> {
    let make = || -> std::io::Result<Blank> {
        let tree =
            Tree::new("tmpfs", &[("mode", "755"), ("size", "4k")], rustix::mount::MountAttrFlags::empty())?;
        mkdirat(&tree, "dir", Mode::from_raw_mode(0o755))?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC;
        openat(&tree, "file", flags, Mode::from_raw_mode(0o444)).map(drop)?;
        tree.set(READ_ONLY | NO_SUID | NO_DEV)?;
        tree.attach(open(Path::new("/dev"))?)?;
        let part = |name: &str| -> std::io::Result<OwnedFd> { Ok(open_below(&tree, Path::new(name))?) };
        Ok(Blank { dir: part("dir")?, file: part("file")? })
    };
    make().step("empty directory")
}

/// Mounts the `/proc` of this pid namespace, whose first process this is, and covers what root could write to in it.
fn show_proc(plan: &Plan) -> Result<(), Failure> {
    let show = || -> std::io::Result<()> {
        let proc = Tree::new_proc()?;
        proc.attach(open(Path::new("/proc"))?)?;
        if !rustix::process::getuid().is_root() {
            return Ok(());
        }
        if plan.processes > 0 && limits::pid_max_is_per_namespace() {
            limits::limit_pids(plan.processes)?;
        }
        for name in WRITABLE_PROC {
            if let Ok(fd) = open_below(&proc, Path::new(name)) {
                copy(&fd, READ_ONLY)?.attach(&fd)?;
            }
        }
        Ok(())
    };
    show().step("a new /proc cannot be mounted")
}
