//! The object files of the repositories at one moment, and copies of their packs' indexes: when a pack is gone, its index
//! says which objects were in it.

use super::repositories::{History, Repositories};
use ralph_diagnostics::Discard;
use ralph_os::{Links, open_regular};
use ralph_tree::{ObjectFiles, Repository};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// Indexes of packs, in the run's folder.
pub const PACKS: &str = "packs";
/// Larger indexes are not copied: 30 bytes for each object.
const LARGEST: u64 = 256 << 20;

/// The object files of one repository, which its work trees share.
#[derive(Clone, Debug)]
pub struct Objects {
    /// The directory of objects, for display: `.git/objects`.
    pub name: String,
    /// The repository.
    pub repository: Repository,
    /// The files.
    pub files: ObjectFiles,
}

impl Objects {
    /// Those of each repository before a step. What is unchanged since `earlier` is not read again.
    pub fn of(workspace: &Path, histories: &[History], earlier: &[Objects]) -> Vec<Objects> {
        let root = workspace.canonicalize().unwrap_or_else(|_| workspace.to_path_buf());
        let known: BTreeMap<&Path, &Objects> =
            earlier.iter().map(|known| (known.repository.common.as_path(), known)).collect();
        let (mut all, mut seen) = (Vec::new(), BTreeSet::new());
        for History { repository, .. } in histories {
            if !seen.insert(&repository.common) {
                continue;
            }
            let known = known.get(repository.common.as_path());
            let common = repository.common.strip_prefix(&root).unwrap_or(&repository.common);
            let name = common.join("objects").display().to_string();
            let files = ObjectFiles::look(repository, known.map(|known| &known.files), false);
            all.push(Objects { name, repository: repository.clone(), files });
        }
        all
    }

    /// The same after a step.
    pub fn again(&self) -> Objects {
        Objects { files: ObjectFiles::look(&self.repository, Some(&self.files), true), ..self.clone() }
    }

    /// Writes them to a folder of the moment, for a process that comes after a crash. A power cut may take them away: then
    /// nothing is known of that step, and nobody is blamed.
    pub fn save(&self, folder: &Path, n: usize) -> io::Result<()> {
        let (path, text) = (file(folder, n), self.files.to_text());
        if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            return Ok(());
        }
        let draft = path.with_extension(format!("objects.{}.tmp", std::process::id()));
        fs::write(&draft, text)?;
        fs::rename(&draft, &path)
    }

    /// Reads them from there.
    pub fn load(folder: &Path, n: usize, name: String, repository: Repository) -> Option<Objects> {
        let files = ObjectFiles::from_text(&fs::read_to_string(file(folder, n)).ok()?)?;
        Some(Objects { name, repository, files })
    }
}

fn file(folder: &Path, n: usize) -> PathBuf {
    folder.join(format!("{n}.objects"))
}

/// Copies the indexes of packs that are new to the run. Of a pack without one it is not known later what was in it.
pub fn keep_pack_indexes(repositories: &Repositories, folder: &Path) {
    for index in repositories.objects.iter().flat_map(|objects| objects.files.pack_indexes()) {
        let kept = kept_index(folder, &index);
        if !kept.exists() {
            copy(&index, &kept).discard("copy the index of a pack");
        }
    }
}

/// Where the copy of a pack's index is.
pub fn kept_index(folder: &Path, pack: &Path) -> PathBuf {
    folder.join(PACKS).join(pack.with_extension("idx").file_name().unwrap_or_default())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = open_regular(from, Links::Follow)?;
    if from.metadata()?.len() > LARGEST {
        return Ok(());
    }
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    let draft = to.with_extension("draft");
    io::copy(&mut from, &mut File::create(&draft)?)?;
    fs::rename(&draft, to)
}
