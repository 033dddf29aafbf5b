//! Whether an engine and an image can be used, asked before a run starts: at night nobody pulls an image or starts a daemon.

use super::engine::{ask, find};
use crate::plan::{Container, ContainerEngine, ContainerUser};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Why a run cannot start with `mode = "container"`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// No image is set.
    #[error(
        "sandbox.container.image is not set: name an image that has the agent and everything the verification needs"
    )]
    NoImage,
    /// `network = "hosts"`.
    #[error(
        "network = \"hosts\" is not possible with mode = \"container\": use \"open\" or \"off\", or mode = \"require\", \
         which can limit a program to hosts"
    )]
    Hosts,
    /// The engine's program was not found.
    #[error(
        "{engine} was not found on PATH: install it, or set sandbox.container.engine to the engine you have"
    )]
    NotFound {
        /// Its name.
        engine: &'static str,
    },
    /// The engine cannot be used.
    #[error("{engine} does not answer: {why}; `{engine} info` must work for this user")]
    NoAnswer {
        /// Its name.
        engine: &'static str,
        /// What it says.
        why: String,
    },
    /// The image is not there.
    #[error("the image {image} is not on this machine; ralph pulls none, run `{engine} pull {image}`")]
    ImageMissing {
        /// The engine's name.
        engine: &'static str,
        /// The image.
        image: String,
    },
    /// The image is a directory, and the engine takes none or it does not exist.
    #[error("sandbox.container.image = \"{0}\" is not a directory that can be a root; only podman takes one")]
    Directory(String),
    /// A container was tried, and did not do what it must.
    #[error("a container of {image} cannot be used: {why}")]
    DoesNotHold {
        /// The image.
        image: String,
        /// What is wrong.
        why: String,
    },
}

/// A container of this engine and image, without variables and labels, if the engine answers and has the image.
pub fn check(
    engine: ContainerEngine,
    image: &str,
    path: &OsStr,
    workspace: &Path,
) -> Result<Container, Unusable> {
    if image.is_empty() {
        return Err(Unusable::NoImage);
    }
    let name = engine.program();
    let program = find(engine, path, workspace).ok_or(Unusable::NotFound { engine: name })?;
    let container = describe(engine, &program).map_err(|why| Unusable::NoAnswer { engine: name, why })?;
    if image.starts_with('/') {
        if engine != ContainerEngine::Podman || !Path::new(image).is_dir() {
            return Err(Unusable::Directory(image.to_owned()));
        }
    } else if ask(Command::new(&program).args(["image", "inspect", "--format", "{{.Id}}", image])).is_err() {
        return Err(Unusable::ImageMissing { engine: name, image: image.to_owned() });
    }
    Ok(Container { image: image.to_owned(), ..container })
}

/// What the engine says about itself. The user inside is the one whose files are the user's outside: in an engine without
/// root that is mapped, and for docker's it is root.
fn describe(engine: ContainerEngine, program: &Path) -> Result<Container, String> {
    let info = |format: &str| ask(Command::new(program).args(["info", "--format", format]));
    let own = ContainerUser::Ids {
        uid: rustix::process::getuid().as_raw(),
        gid: rustix::process::getgid().as_raw(),
    };
    let (user, layers, filter) = match engine {
        ContainerEngine::Podman => {
            let said = info(
                "{{.Host.Security.Rootless}} {{.Host.ServiceIsRemote}} {{.Host.Security.SECCOMPProfilePath}}",
            )?;
            let mut words = said.splitn(3, ' ');
            let user = if words.next() == Some("true") { ContainerUser::KeepId } else { own };
            let is_local = words.next() == Some("false");
            (user, is_local, words.next().filter(|path| !path.is_empty()).map(PathBuf::from))
        }
        // Its own filter refuses what podman's lets pass.
        ContainerEngine::Docker => {
            let said = info("{{.SecurityOptions}} {{.OperatingSystem}}")?;
            let root = ContainerUser::Ids { uid: 0, gid: 0 };
            let user = if said.contains("name=rootless") { root } else { own };
            (user, !said.contains("Docker Desktop"), None)
        }
    };
    let (program, image) = (program.to_owned(), String::new());
    Ok(Container { engine, program, image, user, env: vec![], labels: vec![], layers, filter })
}
