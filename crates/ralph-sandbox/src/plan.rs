//! What a contained program sees and may do. Made by the policy, built by a backend; plain data between the two, so that
//! every backend is given the same plan and can be tried on any.

use crate::path_json;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What builds a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// Namespaces that ralph makes itself.
    Namespaces,
    /// bubblewrap, by this program.
    Bwrap(#[serde(with = "path_json")] PathBuf),
    /// Landlock and seccomp: no namespaces, so it protects no path inside the workspace and hides no process.
    Landlock,
    /// A container of the user's own engine and image: the disk is the image's, and only what the plan names is the user's.
    Container(Container),
}

/// What a container is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Container {
    /// Which engine.
    pub engine: ContainerEngine,
    /// Its program.
    #[serde(with = "path_json")]
    pub program: PathBuf,
    /// The image; an absolute path is a directory that podman takes as the root, under a layer that is dropped.
    pub image: String,
    /// Who runs inside.
    pub user: ContainerUser,
    /// Names of the variables that are passed on; the values are those of the process that runs the engine.
    pub env: Vec<String>,
    /// Name and value of each label, by which a container that was left behind is found.
    pub labels: Vec<(String, String)>,
    /// Whether the engine can make layers of the user's directories: it runs on this system.
    pub layers: bool,
    /// The file with the engine's system call filter, if its own has to be narrowed.
    pub filter: Option<PathBuf>,
}

/// A program that runs containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContainerEngine {
    /// podman.
    Podman,
    /// docker.
    Docker,
}

/// The user inside a container, chosen so that what it writes belongs to the user outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContainerUser {
    /// The user's own ids, mapped by podman without root.
    KeepId,
    /// These ids.
    Ids {
        /// The user.
        uid: u32,
        /// The group.
        gid: u32,
    },
}

/// A program's surroundings. Every backend begins with the whole disk read-only and without set-uid programs, a `/dev`, a
/// `/proc` and a `/tmp` (also at `/var/tmp`) of its own, and an empty `/run`; `mounts` are then applied in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What builds it.
    pub backend: Backend,
    /// The workspace: written for real.
    #[serde(with = "path_json")]
    pub workspace: PathBuf,
    /// The directory shown as `/tmp` and `/var/tmp`; made for one call and deleted after it.
    #[serde(with = "path_json")]
    pub tmp: PathBuf,
    /// Everything else, in order: first what lies outside the workspace, then the workspace itself, then what lies inside
    /// it. A path that does not exist is passed over; a layer over one is made where its mount point leaves nothing on the
    /// user's disk: in a layer, or in something empty. A symbolic link is followed, except below a directory that the
    /// program writes for real: there it could lead anywhere, so the entry is passed over and a note says so. Links that
    /// lead to what is shown, and are not seen because something hides them, are made again.
    pub mounts: Vec<Mount>,
    /// What of the network is reached.
    pub network: Network,
    /// Most processes at a time; 0 for no limit.
    pub processes: u64,
    /// Most bytes of memory; 0 for no limit.
    pub memory: u64,
    /// Whether programs inside may make namespaces of their own, as browsers do. Mount namespaces are refused all the same:
    /// in one of its own a program could rename what is protected here.
    pub nested: bool,
    /// Which user and group ids exist inside.
    pub ids: Ids,
}

impl Plan {
    /// The least that a backend can be asked for: a workspace, and nothing shown, hidden, protected or limited.
    #[must_use]
    pub fn bare(backend: Backend, workspace: PathBuf, tmp: PathBuf) -> Plan {
        Plan {
            backend,
            workspace,
            tmp,
            mounts: Vec::new(),
            network: Network::Open,
            processes: 0,
            memory: 0,
            nested: true,
            ids: Ids::Own,
        }
    }
}

/// One change of what is seen. Every source is the path as it is outside, before the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mount {
    /// An empty read-only directory, or an empty read-only file, in its place.
    Hide(#[serde(with = "path_json")] PathBuf),
    /// An empty writable directory in its place, gone after the call.
    Empty(#[serde(with = "path_json")] PathBuf),
    /// The same path, read-only; made visible again inside an `Empty` or `Hide`.
    Show(#[serde(with = "path_json")] PathBuf),
    /// The same path, written for real. A socket counts.
    Write(#[serde(with = "path_json")] PathBuf),
    /// The directory under a layer: what is written goes to `upper`. `work` is an empty directory beside it.
    Layer {
        /// The directory.
        #[serde(with = "path_json")]
        at: PathBuf,
        /// Receives what is written.
        #[serde(with = "path_json")]
        upper: PathBuf,
        /// For the file system's own use.
        #[serde(with = "path_json")]
        work: PathBuf,
        /// What is done where no layer can be made; a note says so.
        #[serde(default)]
        fallback: LayerFallback,
    },
    /// Another file or directory, shown read-only at this path.
    Replace {
        /// What is shown.
        #[serde(with = "path_json")]
        from: PathBuf,
        /// Where; the path exists.
        #[serde(with = "path_json")]
        at: PathBuf,
    },
    /// A path inside the workspace, read-only, with every directory between the workspace and it pinned, so that it cannot
    /// be renamed away. Of a link the link itself, where the backend can: it cannot be replaced, and what it leads to is not
    /// touched.
    Protect(#[serde(with = "path_json")] PathBuf),
}

/// What takes a layer's place where the system or the backend cannot make one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerFallback {
    /// The real directory, read-only.
    #[default]
    ReadOnly,
    /// The real directory, written for real. Never for a directory with programs in it.
    Write,
    /// The layer's `upper` directory alone.
    Upper,
}

impl LayerFallback {
    /// For a note.
    pub(crate) fn instead(self) -> &'static str {
        match self {
            LayerFallback::ReadOnly => "shown read-only",
            LayerFallback::Write => "written for real",
            LayerFallback::Upper => "only the layer's own files are seen",
        }
    }
}

/// What of the network a program reaches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// Everything.
    Open,
    /// A gate on loopback, which ralph answers, and these ports of the loopback outside.
    Gate {
        /// Ports on 127.0.0.1 that lead to the same port outside.
        forward: Vec<u16>,
    },
    /// Nothing but a loopback of its own.
    Off,
}

/// Which user and group ids exist inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ids {
    /// The user's own alone.
    Own,
    /// All: for root in a workspace of somebody else. Keeps the capabilities to write there, and no others.
    All,
}
