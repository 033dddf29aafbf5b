//! The rules of the backend `landlock`: what may be read and written.
//!
//! Landlock only grants, and what is granted on a directory holds for all below it. So what is hidden is left out by granting
//! the entries around it, one by one, and nothing inside the workspace can be hidden or protected. It shows no other files in
//! a file's place, so a layer is not a layer here: its [`LayerFallback`] says what is written.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath,
    Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use rustix::system::uname;

use super::failure::Step as _;
use super::namespaces::name_resolution;
use super::paths::{Found, Paths, open};
use crate::report::Failure;
use crate::{LayerFallback, Mount, Network, Plan};

/// The oldest version with which a file outside cannot be emptied: Linux 6.2.
const OLDEST: ABI = ABI::V3;
/// Device files are not operated, abstract sockets and signals stay inside: Linux 6.12.
const COMPLETE: ABI = ABI::V6;

/// Device files that every program may use.
const DEVICES: [&str; 8] = ["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"];

/// Replaced by something of their own in other backends.
const HIDDEN: [&str; 4] = ["/run", "/tmp", "/var/tmp", "/dev"];

/// Keeps this process and all that it starts from whatever the plan does not grant. Returns what could not be done.
pub(super) fn restrict(plan: &Plan) -> Result<Vec<String>, Failure> {
    if matches!(plan.network, Network::Gate { .. }) {
        return Err(Failure::sandbox("Landlock cannot limit the network to hosts", 0));
    }
    let mut grants = Grants::default();
    grants.of_plan(plan)?;
    let mut notes = grants.notes;
    let rules = grants.rules;
    let restricted = ruleset(plan).and_then(|mut ruleset| {
        for (path, access) in rules {
            ruleset = ruleset.add_rule(PathBeneath::new(path, access))?;
        }
        ruleset.restrict_self()
    });
    match restricted.map_err(|_| no_landlock())?.landlock {
        LandlockStatus::Available { effective_abi, .. } if effective_abi >= COMPLETE => {}
        _ => notes.push("abstract sockets and signals: not contained, they need Linux 6.12".to_owned()),
    }
    Ok(notes)
}

fn ruleset(plan: &Plan) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(COMPLETE))?
        .scope(Scope::from_all(COMPLETE))?;
    if plan.network == Network::Off {
        ruleset = ruleset.handle_access(AccessNet::from_all(COMPLETE))?;
    }
    Ok(ruleset.create()?.set_compatibility(CompatLevel::BestEffort))
}

fn no_landlock() -> Failure {
    let modules = fs::read_to_string("/sys/kernel/security/lsm").ok();
    Failure::sandbox(no_landlock_words(modules.as_deref(), &uname().release().to_string_lossy()), 0)
}

/// `modules`: the kernel's security modules that are on, if that can be read.
fn no_landlock_words(modules: Option<&str>, release: &str) -> String {
    let is_off = modules.is_some_and(|on| on.trim().split(',').all(|it| it != "landlock"));
    match is_off {
        true => "Landlock is not switched on in this kernel (see `lsm=` of its command line)".to_owned(),
        false => {
            format!("Landlock of this kernel ({release}) cannot hold files; it needs Linux 6.2 or newer")
        }
    }
}

/// Keeps abstract sockets of this machine away where its network is shared; false if the kernel cannot.
pub(super) fn scope_abstract_sockets() -> bool {
    let scoped = || {
        let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        ruleset.scope(Scope::AbstractUnixSocket)?.create()?.restrict_self()
    };
    scoped().is_ok()
}

/// What is granted.
#[derive(Default)]
struct Grants {
    rules: Vec<(OwnedFd, BitFlags<AccessFs>)>,
    notes: Vec<String>,
}

/// Reads of files and directories, and executing.
fn reading() -> BitFlags<AccessFs> {
    AccessFs::from_read(COMPLETE)
}

/// Everything but making and operating device files.
fn writing() -> BitFlags<AccessFs> {
    AccessFs::from_all(COMPLETE) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev)
}

impl Grants {
    fn of_plan(&mut self, plan: &Plan) -> Result<(), Failure> {
        let workspace = plan.workspace.canonicalize().at("workspace", &plan.workspace)?;
        let mut paths = Paths { written: vec![workspace.clone()] };
        // What is hidden, and after how many mounts.
        let mut hidden: Vec<(usize, PathBuf)> = Vec::new();
        let mut shown: Vec<(usize, PathBuf)> = vec![(0, PathBuf::from("/"))];
        let mut written = vec![workspace, plan.tmp.canonicalize().at("tmp", &plan.tmp)?];
        for path in HIDDEN {
            hidden.extend(find(&paths, Path::new(path))?.map(|at| (0, at)));
        }
        shown.extend(name_resolution(plan).map(|at| (1, at)));
        for (at, mount) in plan.mounts.iter().enumerate().map(|(at, mount)| (at + 2, mount)) {
            match mount {
                Mount::Hide(path) | Mount::Empty(path) => {
                    hidden.extend(find(&paths, path)?.map(|it| (at, it)));
                }
                Mount::Show(path) => shown.extend(find(&paths, path)?.map(|it| (at, it))),
                Mount::Write(path) => {
                    let found = find(&paths, path)?;
                    paths.written.extend(found.clone());
                    written.extend(found);
                }
                Mount::Layer { at: path, upper, fallback, .. } => {
                    shown.extend(find(&paths, path)?.map(|it| (at, it)));
                    match fallback {
                        LayerFallback::ReadOnly => {}
                        LayerFallback::Write => written.extend(find(&paths, path)?),
                        LayerFallback::Upper => written.extend(find(&Paths::default(), upper)?),
                    }
                }
                // Not to be read as it is; what it is replaced by is not seen in its place.
                Mount::Replace { from: _, at: path } => {
                    self.notes.push(format!("replace {}: hidden instead", path.display()));
                    hidden.extend(find(&paths, path)?.map(|it| (at, it)));
                }
                Mount::Protect(_) => {}
            }
        }
        self.note_hidden_in(&written, &hidden);
        for (at, path) in shown {
            let later: Vec<&Path> =
                hidden.iter().filter(|(it, _)| *it >= at).map(|(_, path)| path.as_path()).collect();
            self.read_around(&path, &later);
        }
        for path in written {
            self.rules.push((open(&path).at("write", &path)?, writing()));
        }
        self.devices();
        Ok(())
    }

    /// What is written is granted as a whole.
    fn note_hidden_in(&mut self, written: &[PathBuf], hidden: &[(usize, PathBuf)]) {
        let inside = |path: &PathBuf| written.iter().any(|dir| path != dir && path.starts_with(dir));
        for (_, path) in hidden.iter().filter(|(_, path)| inside(path)) {
            self.notes.push(format!(
                "hide {}: not hidden, it is inside a directory that is written",
                path.display()
            ));
        }
    }

    /// Grants reading a directory without what is hidden below it.
    fn read_around(&mut self, path: &Path, hidden: &[&Path]) {
        if hidden.contains(&path) && path != Path::new("/") {
            return;
        }
        // A link is not followed: what it leads to is granted, or hidden, where it lies.
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(fd) = openat(CWD, path, flags, Mode::empty()) else { return };
        let is_link = |fd: &OwnedFd| {
            fstat(fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
        };
        if is_link(&fd) {
            return;
        }
        if !hidden.iter().any(|it| it.starts_with(path)) {
            self.rules.push((fd, reading()));
            return;
        }
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            self.read_around(&entry.path(), hidden);
        }
    }

    fn devices(&mut self) {
        let access = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::ReadDir | AccessFs::IoctlDev;
        for name in DEVICES {
            self.rules.extend(open(&Path::new("/dev").join(name)).ok().map(|fd| (fd, access)));
        }
        // Locks and pools of the usual languages lie there.
        self.rules.extend(open(Path::new("/dev/shm")).ok().map(|fd| (fd, writing())));
    }
}

/// Where a path leads; nowhere if it is missing or a link that is not followed.
fn find(paths: &Paths, path: &Path) -> Result<Option<PathBuf>, Failure> {
    match paths.find(path).at("path", path)? {
        Found::At(at) => Ok(Some(at)),
        Found::Missing | Found::Link(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_there_is_no_landlock_is_said_in_words() {
        let said = |modules| no_landlock_words(modules, "5.15.0");
        assert!(said(Some("lockdown,capability,yama\n")).contains("not switched on"));
        assert!(said(Some("landlock,capability\n")).contains("5.15.0"));
        assert!(said(None).contains("needs Linux 6.2"));
    }
}
