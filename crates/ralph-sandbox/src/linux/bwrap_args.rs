//! A plan as arguments of bubblewrap.
//!
//! What differs from the backend `namespaces`: a hidden directory is read-only by its mode alone, because bubblewrap reads
//! the whole list of mounts for every mount that it makes read-only; for the same reason root sees no `/proc/fs` and the like. Overlays need bubblewrap 0.11; before that, and over a
//! directory in which something else is mounted, a layer's [`LayerFallback`] is built. With all ids there is no user
//! namespace, because bubblewrap maps one id only; the program keeps the capabilities for files and no others.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::io::FdFlags;
use rustix::process::getuid;

use super::covers::{Covers, Ground};
use super::failure::Step as _;
use super::mount_tree::mount_points_below;
use super::namespaces::{WRITABLE_PROC, name_resolution};
use super::paths::{Found, Paths};
use crate::report::Failure;
use crate::{Ids, LayerFallback, Mount, Network, Plan};

/// Where the first process inside is found.
pub(super) const INIT: &str = "/run/ralph-init";

/// What programs read in what root could write to in `/proc`; the rest is covered by empty directories.
const NEEDED_PROC: [&str; 1] = ["sys"];

/// The arguments, with what cannot be done as planned.
#[derive(Debug)]
pub(super) struct Arguments<'a> {
    plan: &'a Plan,
    /// Whether this bubblewrap can make overlays.
    overlays: bool,
    paths: Paths,
    /// What the mounts so far cover.
    covers: Covers,
    /// Links that were made.
    links: BTreeSet<PathBuf>,
    /// The system's list of mounts.
    mounts: Vec<u8>,
    /// Outside the workspace.
    outside: Vec<OsString>,
    /// In the workspace.
    inside: Vec<OsString>,
    protected: Vec<PathBuf>,
    pub notes: Vec<String>,
    /// Copies of a descriptor without contents, one for each hidden file, which bubblewrap inherits.
    pub empty_files: Vec<OwnedFd>,
    null: &'a OwnedFd,
}

impl<'a> Arguments<'a> {
    /// All of them, up to the program.
    pub fn of(
        plan: &'a Plan,
        init: &Path,
        overlays: bool,
        null: &'a OwnedFd,
    ) -> Result<(Vec<OsString>, Arguments<'a>), Failure> {
        let workspace = plan.workspace.canonicalize().at("workspace", &plan.workspace)?;
        let mut this = Arguments {
            plan,
            overlays,
            paths: Paths { written: vec![workspace.clone()] },
            covers: Covers::default(),
            links: BTreeSet::new(),
            mounts: fs::read("/proc/self/mountinfo").step("list of mounts")?,
            outside: Vec::new(),
            inside: Vec::new(),
            protected: Vec::new(),
            notes: Vec::new(),
            empty_files: Vec::new(),
            null,
        };
        for mount in &plan.mounts {
            this.add(mount, &workspace)?;
        }
        let mut all = this.base(init)?;
        all.append(&mut this.outside);
        this.workspace(&workspace, &mut all);
        all.append(&mut this.inside);
        Ok((all, this))
    }

    fn base(&self, init: &Path) -> Result<Vec<OsString>, Failure> {
        let mut all: Vec<OsString> = Vec::new();
        let mut add = |words: &[&str]| all.extend(words.iter().map(OsString::from));
        add(&["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--as-pid-1"]);
        add(&["--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
        match self.plan.ids {
            Ids::Own => add(&["--unshare-user"]),
            Ids::All => {
                for name in ["CAP_DAC_OVERRIDE", "CAP_CHOWN", "CAP_FOWNER", "CAP_FSETID"] {
                    add(&["--cap-add", name]);
                }
            }
        }
        if self.plan.network != Network::Open {
            add(&["--unshare-net"]);
        }
        if matches!(&self.plan.network, Network::Gate { forward } if forward.iter().any(|port| *port < 1024))
        {
            // For the first process, which gives it up before the program starts.
            add(&["--cap-add", "CAP_NET_BIND_SERVICE"]);
        }
        add(&["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
        if getuid().is_root() {
            for name in WRITABLE_PROC {
                let path = format!("/proc/{name}");
                if NEEDED_PROC.contains(&name) {
                    add(&["--ro-bind", &path, &path]);
                } else if Path::new(&path).is_dir() {
                    add(&["--perms", "555", "--tmpfs", &path]);
                } else {
                    add(&["--ro-bind-try", &path, &path]);
                }
            }
        }
        add(&["--perms", "755", "--tmpfs", "/run", "--ro-bind"]);
        all.extend([init.as_os_str().to_owned(), INIT.into()]);
        if let Some(resolver) = name_resolution(self.plan) {
            all.extend(["--ro-bind".into(), resolver.clone().into(), resolver.into()]);
        }
        let tmp = self.plan.tmp.canonicalize().at("tmp", &self.plan.tmp)?;
        for name in ["/tmp", "/var/tmp"] {
            if let Found::At(at) = Paths::default().find(Path::new(name)).step(name)? {
                all.extend(["--bind".into(), tmp.clone().into(), at.into()]);
            }
        }
        Ok(all)
    }

    /// Mounted twice, see [`super::workspace`].
    fn workspace(&self, at: &Path, all: &mut Vec<OsString>) {
        let mut bind = |words: [&Path; 3]| all.extend(words.map(|word| word.as_os_str().to_owned()));
        let mut pins: BTreeSet<PathBuf> = BTreeSet::new();
        for path in &self.protected {
            pins.extend(path.ancestors().skip(1).take_while(|dir| *dir != at).map(Path::to_owned));
        }
        if !pins.is_empty() {
            bind([Path::new("--bind"), at, at]);
            // The deepest first: one that is covered cannot be reached any more.
            for pin in pins.iter().rev() {
                all.extend(["--tmpfs".into(), pin.clone().into()]);
            }
        }
        all.extend(["--bind".into(), at.into(), at.into()]);
    }

    fn add(&mut self, mount: &Mount, workspace: &Path) -> Result<(), Failure> {
        let (what, path) = match mount {
            Mount::Hide(path) => ("hide", path),
            Mount::Empty(path) => ("empty", path),
            Mount::Show(path) => ("show", path),
            Mount::Write(path) => ("write", path),
            Mount::Layer { at, .. } => ("layer", at),
            Mount::Replace { at, .. } => ("replace", at),
            Mount::Protect(path) => ("protect", path),
        };
        let at = match self.paths.find(path).at(what, path)? {
            Found::At(at) => at,
            Found::Missing => {
                let words = self.layer_over_nothing(mount, workspace)?;
                self.outside.extend(words);
                return Ok(());
            }
            Found::Link(_) => {
                self.notes.push(format!("{what} {}: passed over, a symbolic link", path.display()));
                return Ok(());
            }
        };
        let words = self.words(mount, &at)?;
        if matches!(mount, Mount::Show(_)) {
            let links = self.hidden_links(path)?;
            self.outside.extend(links);
        }
        self.covers.add(&at, self.ground(mount, &words));
        if !at.starts_with(workspace) {
            self.outside.extend(words);
        } else if at != workspace {
            self.inside.extend(words);
        }
        Ok(())
    }

    /// What a mount covers its place with.
    fn ground(&self, mount: &Mount, words: &[OsString]) -> Ground {
        match mount {
            Mount::Hide(_) | Mount::Empty(_) => Ground::Empty,
            Mount::Layer { fallback: LayerFallback::Upper, .. } => Ground::Layer,
            Mount::Layer { .. } if words.iter().any(|word| word == "--overlay") => Ground::Layer,
            _ => Ground::Real,
        }
    }

    /// Links on the way to what is shown that are not seen themselves.
    fn hidden_links(&mut self, path: &Path) -> Result<Vec<OsString>, Failure> {
        let mut words: Vec<OsString> = Vec::new();
        for link in self.paths.links(path).at("show", path)? {
            if self.covers.hide(&link.at) && self.links.insert(link.at.clone()) {
                words.extend(["--symlink".into(), link.to.into(), link.at.into()]);
            }
        }
        Ok(words)
    }

    /// A layer whose directory is missing, where its mount point is not made on the user's disk. Only what was written to it is
    /// seen then, and that is the layer's own directory.
    fn layer_over_nothing(&mut self, mount: &Mount, workspace: &Path) -> Result<Vec<OsString>, Failure> {
        let Mount::Layer { at, upper, .. } = mount else { return Ok(Vec::new()) };
        let place = self.paths.place(at).at("layer", at)?;
        let Some(at) = place.filter(|at| !at.starts_with(workspace) && self.covers.can_make(at)) else {
            return Ok(Vec::new());
        };
        self.covers.add(&at, Ground::Layer);
        Ok(vec!["--bind".into(), upper.into(), at.into()])
    }

    fn words(&mut self, mount: &Mount, at: &Path) -> Result<Vec<OsString>, Failure> {
        let own = |option: &str| [option.into(), at.into(), at.into()].to_vec();
        Ok(match mount {
            Mount::Hide(_) if at.is_dir() => tmpfs(at, 0o555),
            Mount::Hide(_) => {
                let empty = rustix::io::fcntl_dupfd_cloexec(self.null, 3).step("descriptors")?;
                rustix::io::fcntl_setfd(&empty, FdFlags::empty()).step("descriptors")?;
                let number = empty.as_raw_fd().to_string();
                self.empty_files.push(empty);
                vec!["--ro-bind-data".into(), number.into(), at.into()]
            }
            Mount::Empty(_) => tmpfs(at, mode_of(at)),
            Mount::Show(_) => own("--ro-bind"),
            Mount::Write(_) => {
                self.paths.written.push(at.to_owned());
                own("--bind")
            }
            Mount::Replace { from, .. } => vec!["--ro-bind".into(), from.into(), at.into()],
            Mount::Layer { upper, work, fallback, .. } => self.layer(at, upper, work, *fallback)?,
            // What lies in a directory that is protected already needs nothing more.
            Mount::Protect(_) if self.protected.iter().any(|dir| at.starts_with(dir)) => Vec::new(),
            Mount::Protect(_) => {
                self.protected.push(at.to_owned());
                own("--ro-bind")
            }
        })
    }

    fn layer(
        &mut self,
        at: &Path,
        upper: &Path,
        work: &Path,
        fallback: LayerFallback,
    ) -> Result<Vec<OsString>, Failure> {
        let why = if !self.overlays {
            "bubblewrap before 0.11 makes no overlays"
        } else if !mount_points_below(at, &self.mounts).is_empty() {
            "something is mounted in it"
        } else {
            let words =
                ["--overlay-src".into(), at.into(), "--overlay".into(), upper.into(), work.into(), at.into()];
            return Ok(words.to_vec());
        };
        self.notes.push(format!("layer {}: {why}; {}", at.display(), fallback.instead()));
        match fallback {
            LayerFallback::ReadOnly => Ok(vec!["--ro-bind".into(), at.into(), at.into()]),
            LayerFallback::Write => Ok(vec!["--bind".into(), at.into(), at.into()]),
            LayerFallback::Upper => Ok(vec!["--bind".into(), upper.into(), at.into()]),
        }
    }
}

fn tmpfs(at: &Path, mode: u32) -> Vec<OsString> {
    vec!["--perms".into(), format!("{mode:o}").into(), "--tmpfs".into(), at.into()]
}

fn mode_of(dir: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(dir).map_or(0o755, |meta| meta.permissions().mode() & 0o777 | 0o700)
}
