//! A place where the baseline's oracle meets the new work: a layer over the workspace at its own path, seen by the
//! verification alone; or, where the system does not permit that, a copy. What is written there is dropped.

use super::base::Base;
use super::{Changed, How, Sources, copy, parts};
use ralph_supervisor::Layer;
use ralph_tree::Kind;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// One file as the view shall show it.
#[derive(Debug)]
enum Put {
    File { content: Vec<u8>, mode: u32 },
    Link { target: Vec<u8> },
    Mask,
}

/// What the view shows in place of what the agent left.
#[derive(Debug)]
pub struct Shown {
    puts: Vec<(Vec<u8>, Put)>,
}

impl Shown {
    /// The baseline's files for those that changed; added ones are masked, so that they cannot speak for others.
    pub fn of(changed: &[Changed], base: &Base, sources: Sources<'_>) -> io::Result<Shown> {
        let mut puts = Vec::with_capacity(changed.len());
        for one in changed {
            let path = one.path.as_bytes();
            puts.push((path.to_vec(), put(one, base, sources)?));
        }
        Ok(Shown { puts })
    }

    /// Writes them as the upper layer of a view over `workspace`.
    pub fn layer(&self, workspace: &Path, dir: &Path) -> io::Result<Layer> {
        copy::remove(dir)?;
        let (upper, work) = (dir.join("upper"), dir.join("work"));
        fs::create_dir_all(&upper)?;
        fs::create_dir_all(&work)?;
        like(workspace, &upper)?;
        for (path, put) in &self.puts {
            parents(workspace, &upper, path)?;
            let at = upper.join(OsStr::from_bytes(path));
            match put {
                Put::Mask => ralph_os::hide(&at)?,
                other => other.write(&at)?,
            }
        }
        Ok(Layer { over: workspace.to_owned(), upper, work })
    }

    /// Makes a copy of the workspace with them in it.
    pub fn copy(&self, workspace: &Path, dir: &Path) -> io::Result<PathBuf> {
        copy::remove(dir)?;
        copy::copy(workspace, dir)?;
        for (path, put) in &self.puts {
            let at = dir.join(OsStr::from_bytes(path));
            clear(dir, path)?;
            match put {
                Put::Mask => {}
                other => {
                    fs::create_dir_all(at.parent().unwrap_or(dir))?;
                    other.write(&at)?;
                }
            }
        }
        Ok(dir.to_owned())
    }
}

fn put(one: &Changed, base: &Base, sources: Sources<'_>) -> io::Result<Put> {
    let path = one.path.as_bytes();
    let Some(was) = base.was(path).filter(|_| one.how != How::Added) else { return Ok(Put::Mask) };
    let gone = || {
        io::Error::new(io::ErrorKind::NotFound, format!("the baseline's {} is not kept any more", one.path))
    };
    let content = sources.old(was.hash).ok_or_else(gone)?;
    if was.kind == Kind::Symlink {
        return Ok(Put::Link { target: content });
    }
    let content = match one.how {
        How::Part => parts::put_back(path, &content, &sources.now(path).unwrap_or_default()),
        _ => content,
    };
    Ok(Put::File { content, mode: u32::from(was.mode) })
}

impl Put {
    /// With the time of now: what was built from the other content must not pass for built from this one.
    fn write(&self, at: &Path) -> io::Result<()> {
        match self {
            Put::File { content, mode } => {
                let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(at)?;
                file.write_all(content)?;
                file.set_permissions(fs::Permissions::from_mode(*mode))
            }
            Put::Link { target } => std::os::unix::fs::symlink(OsStr::from_bytes(target), at),
            Put::Mask => Ok(()),
        }
    }
}

/// The directories on the way, with the rights they have in the workspace.
fn parents(workspace: &Path, upper: &Path, path: &[u8]) -> io::Result<()> {
    for (at, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
        let dir = OsStr::from_bytes(path.get(..at).unwrap_or_default());
        match fs::create_dir(upper.join(dir)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => {
                made?;
                like(&workspace.join(dir), &upper.join(dir))?;
            }
        }
    }
    Ok(())
}

fn like(theirs: &Path, ours: &Path) -> io::Result<()> {
    let mode = theirs.symlink_metadata().ok().filter(fs::Metadata::is_dir).map_or(0o755, |meta| meta.mode());
    fs::set_permissions(ours, fs::Permissions::from_mode(mode & 0o7777 | 0o700))
}

/// Removes what stands at a path of the copy, or in its way: a link where a directory was.
fn clear(dir: &Path, path: &[u8]) -> io::Result<()> {
    let ends =
        path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at).chain([path.len()]);
    for end in ends {
        let at = dir.join(OsStr::from_bytes(path.get(..end).unwrap_or_default()));
        match at.symlink_metadata() {
            Ok(meta) if meta.is_dir() && end == path.len() => return copy::remove(&at),
            Ok(meta) if !meta.is_dir() => return fs::remove_file(&at),
            Ok(_) => {}
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}
