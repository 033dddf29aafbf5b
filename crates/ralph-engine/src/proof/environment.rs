//! What lies around a workspace's files and may decide a verification: installed packages, ignored files, and runner
//! configuration outside the workspace. Recorded before the first call, compared before a proof.

use crate::room::dependencies::{self, Dependencies, DependencyChange, How, PythonPlaces};
use crate::room::{DependencyFolder, IgnoredFiles, OutsideFiles, OutsidePlaces};
use ralph_diagnostics::Discard;
use ralph_tree::Index;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

const PACKAGES: &str = "packages.json";
const IGNORED: &str = "ignored";
const OUTSIDE: &str = "outside.json";

/// Where to look, from the environment. The command line reads it.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// `$HOME`.
    pub home: Option<PathBuf>,
    /// `$XDG_CONFIG_HOME`.
    pub config_home: Option<PathBuf>,
    /// `$VIRTUAL_ENV`.
    pub virtual_env: Option<PathBuf>,
    /// `$PATH`.
    pub path: Option<OsString>,
}

/// What lay around the files at one time.
#[derive(Debug, Default)]
pub struct Environment {
    packages: Option<Dependencies>,
    /// Ignored files that the rooms may show.
    pub ignored: IgnoredFiles,
    outside: OutsideFiles,
}

/// What changed around the files.
#[derive(Debug, Default)]
pub(super) struct EnvironmentChanges {
    /// Configuration outside the workspace.
    pub outside: Vec<String>,
    /// Packages that were installed or updated together with their manifest.
    pub installed: Vec<String>,
    /// Packages that were edited, or changed without their manifest.
    pub edited: Vec<String>,
}

impl Environment {
    /// Looks at everything now. `is_own` tells ralph's own files.
    pub fn record(
        workspace: &Path,
        index: &Index,
        places: &Places,
        package_cache: &Path,
        is_own: &dyn Fn(&[u8]) -> bool,
    ) -> Environment {
        let folders = dependencies::find(workspace, index);
        let ignored = IgnoredFiles::record(workspace, index, &folders, is_own);
        let packages = Dependencies::record(workspace, &folders, package_cache);
        Environment {
            packages: logged(packages, "look at installed packages"),
            ignored: logged(ignored, "list ignored files").unwrap_or_default(),
            outside: OutsideFiles::record(workspace, places.outside()),
        }
    }

    /// Keeps it in a run's folder, for a later process of the run.
    pub fn save(&self, folder: &Path) {
        if let Some(packages) = &self.packages {
            packages.save(&folder.join(PACKAGES)).discard("save the list of installed packages");
        }
        self.ignored.save(&folder.join(IGNORED)).discard("save the list of ignored files");
        self.outside.save(&folder.join(OUTSIDE)).discard("save the list of outside configuration");
        let files = [PACKAGES, IGNORED, OUTSIDE].map(|name| folder.join(name));
        let mut files: Vec<PathBuf> = files.into_iter().filter(|file| file.exists()).collect();
        files.push(folder.to_owned());
        ralph_os::sync_batch(&files).discard("sync what lies around the baseline");
    }

    /// What an earlier process of the run kept.
    pub fn load(folder: &Path) -> Option<Environment> {
        Some(Environment {
            packages: Dependencies::load(&folder.join(PACKAGES)),
            ignored: IgnoredFiles::load(&folder.join(IGNORED)).unwrap_or_default(),
            outside: OutsideFiles::load(&folder.join(OUTSIDE))?,
        })
    }

    /// What changed since. `manifest_changed`: some manifest or lock file is among the changes, so that packages may
    /// differ.
    pub(super) fn changes(
        &self,
        workspace: &Path,
        folders: &[DependencyFolder],
        (places, package_cache): (&Places, &Path),
        manifest_changed: bool,
    ) -> EnvironmentChanges {
        let outside = self.outside.changed(&OutsideFiles::record(workspace, places.outside()));
        let mut found = EnvironmentChanges { outside, ..EnvironmentChanges::default() };
        let now = Dependencies::record(workspace, folders, package_cache);
        let (Some(before), Some(now)) = (&self.packages, logged(now, "look at installed packages")) else {
            return found;
        };
        for change in dependencies::compare(before, &now) {
            let list =
                if is_edit(&change, manifest_changed) { &mut found.edited } else { &mut found.installed };
            list.push(change.to_string());
        }
        found
    }
}

/// The value; a failure is logged.
fn logged<T>(result: io::Result<T>, what: &str) -> Option<T> {
    result.inspect_err(|error| tracing::warn!(%error, "failed: {what}")).ok()
}

/// Whether a package changed in a way that installing does not explain.
fn is_edit(change: &DependencyChange, manifest_changed: bool) -> bool {
    match change.how {
        How::Edited => true,
        How::StartFile | How::Version { .. } => !manifest_changed,
        How::Added | How::Removed => false,
    }
}

impl Places {
    fn outside(&self) -> OutsidePlaces<'_> {
        OutsidePlaces {
            home: self.home.as_deref(),
            config_home: self.config_home.as_deref(),
            path: self.path.as_deref(),
        }
    }

    /// Directories that Python packages are installed in.
    pub(super) fn python_sites(&self, workspace: &Path, folders: &[DependencyFolder]) -> Vec<PathBuf> {
        let places = PythonPlaces {
            virtual_env: self.virtual_env.as_deref(),
            home: self.home.as_deref(),
            path: self.path.as_deref(),
        };
        dependencies::site_directories(workspace, folders, places)
    }
}
