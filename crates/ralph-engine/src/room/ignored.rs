//! Ignored files that were there before the agent worked and have not been touched since: a `.env`, a generated version
//! file, an extension that was built in place. A room may show them, because the agent did not make them.

use super::built::is_built;
use super::bytes::{Fields, Reader};
use super::dependencies::DependencyFolder;
use super::folder::RoomFolder;
use super::manifest::Stamp;
use super::seed;
use ralph_tree::{Index, TreePath};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The last character is the version.
const MAGIC: &[u8; 8] = b"RLPIGNO1";
const MOST_FILES: usize = 20_000;
const MOST_BYTES: u64 = 256 << 20;
/// So many files are looked at, however many are kept.
const MOST_LOOKS: usize = 200_000;

/// Ignored files of a workspace as they were at the baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IgnoredFiles {
    pub(super) files: BTreeMap<Vec<u8>, Stamp>,
    left_out: Vec<TreePath>,
}

/// What [`IgnoredFiles::seed`] did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Seeded {
    /// How many files it copied into the room.
    pub copied: usize,
    /// Files that were changed or removed since the baseline; the room does not show them.
    pub changed: Vec<TreePath>,
}

impl IgnoredFiles {
    /// Lists the ignored files of a workspace outside dependency folders and well-known build directories. `index` is
    /// of the workspace; `is_own` says which files are ralph's.
    pub fn record(
        workspace: &Path,
        index: &Index,
        dependencies: &[DependencyFolder],
        is_own: &dyn Fn(&[u8]) -> bool,
    ) -> io::Result<IgnoredFiles> {
        let mut listing = Listing {
            workspace,
            index,
            dependencies,
            is_own,
            found: IgnoredFiles::default(),
            bytes: 0,
            looks: 0,
        };
        listing.run()?;
        Ok(listing.found)
    }

    /// Copies the files that are still exactly the same into a filled room, unless the room has its own at that path.
    /// Those of an earlier call that changed meanwhile are removed from it.
    pub fn seed(&self, folder: &RoomFolder, workspace: &Path) -> io::Result<Seeded> {
        seed::seed(self, folder, workspace)
    }

    /// How many files are listed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether no file is listed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Files and directories that were not listed because there is too much in them.
    #[must_use]
    pub fn left_out(&self) -> &[TreePath] {
        &self.left_out
    }

    /// Writes the list to a file.
    pub fn save(&self, path: &Path) -> io::Result<()> {
        let mut fields = Fields::new(MAGIC);
        fields.put((self.left_out.len() as u64).to_le_bytes());
        self.left_out.iter().for_each(|path| fields.put_bytes(path.as_bytes()));
        for (path, stamp) in &self.files {
            fields.put_bytes(path);
            stamp.put(&mut fields);
        }
        fields.save(path)
    }

    /// Reads it back; none if there is none of this version.
    #[must_use]
    pub fn load(path: &Path) -> Option<IgnoredFiles> {
        let bytes = fs::read(path).ok()?;
        let mut fields = Reader::new(&bytes, MAGIC)?;
        let mut all = IgnoredFiles::default();
        for _ in 0..u64::from_le_bytes(fields.take()?) {
            all.left_out.push(fields.take_bytes()?.into());
        }
        while !fields.is_empty() {
            let path = fields.take_bytes()?.to_vec();
            all.files.insert(path, Stamp::take(&mut fields)?);
        }
        Some(all)
    }
}

/// Listing under way.
struct Listing<'a> {
    workspace: &'a Path,
    index: &'a Index,
    dependencies: &'a [DependencyFolder],
    is_own: &'a dyn Fn(&[u8]) -> bool,
    found: IgnoredFiles,
    bytes: u64,
    looks: usize,
}

impl Listing<'_> {
    /// Goes through the directories that count; what is ignored in them is taken or left out as a whole.
    fn run(&mut self) -> io::Result<()> {
        let mut open = vec![Vec::new()];
        while let Some(dir) = open.pop() {
            for (path, is_dir) in self.names_in(&dir)? {
                let counts = self.index.get(&path).is_some_and(|entry| entry.counts);
                match (counts, is_dir) {
                    (true, true) => open.push(path),
                    (true, false) => {}
                    (false, _) => self.take(&path, is_dir),
                }
            }
        }
        Ok(())
    }

    /// The paths in a directory that are of interest, each with whether it is a directory.
    fn names_in(&self, dir: &[u8]) -> io::Result<Vec<(Vec<u8>, bool)>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.workspace.join(OsStr::from_bytes(dir)))? {
            let entry = entry?;
            let (name, kind) = (entry.file_name(), entry.file_type()?);
            let path = match dir {
                b"" => name.as_bytes().to_vec(),
                dir => [dir, b"/", name.as_bytes()].concat(),
            };
            let built = (kind.is_dir() || kind.is_symlink()) && is_built(&name);
            let installed = self.dependencies.iter().any(|folder| folder.path.as_bytes() == path);
            let special = !(kind.is_dir() || kind.is_file() || kind.is_symlink());
            if !built && !installed && !special && !(self.is_own)(&path) {
                names.push((path, kind.is_dir()));
            }
        }
        Ok(names)
    }

    /// Lists an ignored file, or everything in an ignored directory, if it is not too much.
    fn take(&mut self, top: &[u8], is_dir: bool) {
        let (mut files, mut bytes, mut open) = (BTreeMap::new(), self.bytes, vec![(top.to_vec(), is_dir)]);
        while let Some((path, is_dir)) = open.pop() {
            self.looks += 1;
            let within = files.len() + self.found.files.len() < MOST_FILES && self.looks < MOST_LOOKS;
            if !within || bytes > MOST_BYTES {
                return self.found.left_out.push(top.into());
            }
            if is_dir {
                // A directory that cannot be read shows nothing.
                open.extend(self.names_in(&path).unwrap_or_default());
            } else if let Ok(meta) = self.workspace.join(OsStr::from_bytes(&path)).symlink_metadata() {
                bytes = bytes.saturating_add(meta.len());
                files.insert(path, Stamp::from(&meta));
            }
        }
        match bytes > MOST_BYTES {
            true => self.found.left_out.push(top.into()),
            false => {
                self.bytes = bytes;
                self.found.files.append(&mut files);
            }
        }
    }
}
