//! Returns logins that an agent renewed inside its sandbox to its real state. Only files that the adapter names, only regular
//! ones, only if they changed and look like what they are; nothing else that was written there leaves the layer. A login that
//! the user renewed in the meantime, or removed, stays as the user left it.
//!
//! The agent may have put a link in the place of the file or of a directory above it, so none is followed: neither in the layer
//! nor in the real directory, which some backends let agents write.

use ralph_diagnostics::Discard;
use ralph_os::{NoFollowDir, place_durably};
use ralph_sandbox::policy::BroughtBack;
use rustix::io::Errno;
use std::fs::{self, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A larger file is not a login.
const LARGEST: u64 = 1 << 20;

/// A login file that an agent may renew.
#[derive(Debug)]
pub(super) struct Login {
    place: BroughtBack,
    /// The user's own when the program started.
    was: Option<Vec<u8>>,
}

impl Login {
    /// The program is about to start. One that an earlier call could not bring back is still in the layer; it stays unless the
    /// user's own is newer.
    pub(super) fn before(place: BroughtBack) -> Login {
        let mut login = Login { place, was: None };
        let modified = |found: Option<Metadata>| found?.modified().ok();
        if let (Some(left), Some(users)) = (modified(login.left()), modified(login.users()))
            && users > left
        {
            login.remove();
        }
        login.was = login.content(&login.place.directory);
        login
    }

    /// Copies it back, and deletes it in the layer, where it would cover a newer login of the user. If it cannot be written, it
    /// stays in the layer: a service that renews a login usually ends the old one. Returns what to say then.
    pub(super) fn bring_back(&self) -> Option<String> {
        self.left()?;
        if self.content(&self.place.directory) != self.was {
            tracing::info!(file = %self.real().display(), "the user changed this login during the call; it is kept");
        } else if let Some(new) = self.renewed()
            && let Err(error) = self.write(&new)
        {
            return Some(format!(
                "the agent renewed its login, but {} could not be written: {}; the next call tries again",
                self.real().display(),
                in_words(&error)
            ));
        }
        self.remove();
        None
    }

    fn real(&self) -> PathBuf {
        self.place.directory.join(&self.place.file)
    }

    fn file(&self) -> &[u8] {
        self.place.file.as_os_str().as_bytes()
    }

    fn left(&self) -> Option<Metadata> {
        NoFollowDir::open(&self.place.layer).ok()?.metadata(self.file())
    }

    fn users(&self) -> Option<Metadata> {
        NoFollowDir::open(&self.place.directory).ok()?.metadata(self.file())
    }

    fn remove(&self) {
        let removed = NoFollowDir::open(&self.place.layer).and_then(|layer| layer.remove_file(self.file()));
        removed.discard("remove a login from the agent's layer");
    }

    fn content(&self, dir: &Path) -> Option<Vec<u8>> {
        let file = NoFollowDir::open(dir).and_then(|dir| dir.open_file(self.file())).ok()?;
        let mut bytes = Vec::new();
        file.take(LARGEST + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= LARGEST).then_some(bytes)
    }

    /// What is to be written; none if it is no login, or the same.
    fn renewed(&self) -> Option<Vec<u8>> {
        let new = self.content(&self.place.layer)?;
        // Where the user made it a link, the user decides what it is.
        let is_file = self.users().is_none_or(|there| there.is_file());
        let comes_back = is_well_formed(&self.place.file, &new) && is_file;
        if !comes_back {
            tracing::warn!(file = %self.real().display(), "what the agent left there does not come back");
        }
        (comes_back && self.was.as_ref() != Some(&new)).then_some(new)
    }

    fn write(&self, new: &[u8]) -> io::Result<()> {
        let mode = self.users().map_or(0o600, |there| there.permissions().mode() & 0o777);
        // Held, so that the path leads to the same directory until the file is in its place.
        let (_held, here) = NoFollowDir::open(&self.place.directory)?.resolved(self.file())?;
        let dir = here.parent().ok_or(io::ErrorKind::NotFound)?;
        // For the user alone from its first byte on.
        let mut draft =
            tempfile::Builder::new().permissions(fs::Permissions::from_mode(mode)).tempfile_in(dir)?;
        draft.write_all(new)?;
        // What is left of it is removed if that fails.
        place_durably(&draft.into_temp_path(), &here)
    }
}

fn in_words(error: &io::Error) -> String {
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::LOOP) => "a directory above it is a link".into(),
        _ => error.to_string(),
    }
}

/// Not empty, text, and JSON if its name says so: what replaces a login must be able to be one.
fn is_well_formed(name: &Path, bytes: &[u8]) -> bool {
    let json = || serde_json::from_slice::<serde_json::Value>(bytes).is_ok_and(|value| value.is_object());
    let is_json = name.extension().is_some_and(|extension| extension == "json");
    !bytes.trim_ascii().is_empty() && str::from_utf8(bytes).is_ok() && (!is_json || json())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::unix::fs::symlink;
    use std::time::SystemTime;

    struct Place {
        dir: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Place {
            let dir = tempfile::tempdir().unwrap();
            fs::create_dir_all(dir.path().join("upper")).unwrap();
            fs::create_dir_all(dir.path().join("real")).unwrap();
            Place { dir }
        }
        fn layer(&self) -> PathBuf {
            self.dir.path().join("upper/auth.json")
        }
        fn real(&self) -> PathBuf {
            self.dir.path().join("real/auth.json")
        }
        fn login(&self) -> Login {
            self.login_at("auth.json")
        }
        fn login_at(&self, file: &str) -> Login {
            let at = |dir| self.dir.path().join(dir);
            Login::before(BroughtBack { layer: at("upper"), directory: at("real"), file: file.into() })
        }
        fn bring(&self) -> Option<String> {
            self.login().bring_back();
            fs::read_to_string(self.real()).ok()
        }
    }

    #[test]
    fn a_renewed_login_comes_back_and_leaves_the_layer() {
        let place = Place::new();
        fs::write(place.real(), r#"{"token":"old"}"#).unwrap();
        fs::set_permissions(place.real(), fs::Permissions::from_mode(0o640)).unwrap();
        assert_eq!(place.bring().as_deref(), Some(r#"{"token":"old"}"#), "nothing was renewed");
        fs::write(place.layer(), r#"{"token":"new"}"#).unwrap();
        assert_eq!(place.bring().as_deref(), Some(r#"{"token":"new"}"#));
        assert!(!place.layer().exists());
        assert_eq!(fs::metadata(place.real()).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_login_that_the_user_changed_meanwhile_stays_the_users() {
        for (old, mine) in
            [(Some("{\"old\":1}"), Some("{\"mine\":1}")), (Some("{\"old\":1}"), None), (None, Some("{}"))]
        {
            let place = Place::new();
            old.into_iter().for_each(|text| fs::write(place.real(), text).unwrap());
            let login = place.login();
            fs::write(place.layer(), r#"{"renewed":1}"#).unwrap();
            match mine {
                Some(text) => fs::write(place.real(), text).unwrap(),
                None => fs::remove_file(place.real()).unwrap(),
            }
            login.bring_back();
            assert_eq!(fs::read_to_string(place.real()).ok().as_deref(), mine, "it was {old:?}");
            assert!(!place.layer().exists(), "it would cover the user's");
        }
    }

    #[test]
    fn a_login_that_cannot_be_written_stays_in_the_layer_for_the_next_call() {
        let place = Place::new();
        fs::remove_dir(place.dir.path().join("real")).unwrap();
        fs::write(place.layer(), r#"{"renewed":1}"#).unwrap();
        let said = place.login().bring_back().unwrap();
        assert!(said.contains("could not be written") && said.contains("auth.json"), "{said}");
        assert!(place.layer().exists(), "it may be the only one that is still valid");
        fs::create_dir(place.dir.path().join("real")).unwrap();
        assert_eq!(place.bring().as_deref(), Some(r#"{"renewed":1}"#));
        assert!(!place.layer().exists());
    }

    #[test]
    fn one_that_was_left_makes_room_for_a_newer_one_of_the_user() {
        let place = Place::new();
        fs::write(place.layer(), r#"{"left":1}"#).unwrap();
        let earlier = SystemTime::now() - std::time::Duration::from_secs(60);
        File::options().write(true).open(place.layer()).unwrap().set_modified(earlier).unwrap();
        fs::write(place.real(), r#"{"mine":1}"#).unwrap();
        assert_eq!(place.bring().as_deref(), Some(r#"{"mine":1}"#));
        assert!(!place.layer().exists());
    }

    #[test]
    fn a_first_login_is_for_the_user_alone() {
        let place = Place::new();
        fs::write(place.layer(), "{}").unwrap();
        assert_eq!(place.bring().as_deref(), Some("{}"));
        assert_eq!(fs::metadata(place.real()).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_cannot_be_a_login_does_not_come_back() {
        for bytes in ["", "  \n", "not json", "[1]", "\"text\""] {
            let place = Place::new();
            fs::write(place.real(), "{\"kept\":1}").unwrap();
            fs::write(place.layer(), bytes).unwrap();
            assert_eq!(place.bring().as_deref(), Some("{\"kept\":1}"), "{bytes:?}");
        }
    }

    #[test]
    fn links_are_not_followed_in_either_direction() {
        let place = Place::new();
        let secret = place.dir.path().join("secret.json");
        fs::write(&secret, "{\"secret\":1}").unwrap();
        symlink(&secret, place.layer()).unwrap();
        assert_eq!(place.bring(), None, "a link in the layer");
        assert!(secret.exists() && place.layer().symlink_metadata().is_err(), "the link alone is removed");
        let place = Place::new();
        let target = place.dir.path().join("target.json");
        fs::write(&target, "{\"mine\":1}").unwrap();
        symlink(&target, place.real()).unwrap();
        fs::write(place.layer(), "{\"new\":1}").unwrap();
        place.bring();
        assert_eq!(fs::read_to_string(&target).unwrap(), "{\"mine\":1}", "a link of the user");
    }

    /// An agent may put a link in the place of any directory below its state, as Pi's login lies in one.
    #[test]
    fn a_link_in_the_place_of_a_directory_above_a_login_leads_nowhere() {
        let (theirs, mine) = ("{\"theirs\":1}", "{\"mine\":1}");
        for links in [&["upper/agent"] as &[_], &["real/agent"], &["upper/agent", "real/agent"]] {
            let place = Place::new();
            let at = |path: &str| place.dir.path().join(path);
            fs::create_dir(at("other")).unwrap();
            fs::write(at("other/auth.json"), mine).unwrap();
            for dir in ["upper/agent", "real/agent"] {
                match links.contains(&dir) {
                    true => symlink(at("other"), at(dir)).unwrap(),
                    false => fs::create_dir(at(dir)).unwrap(),
                }
            }
            let in_layer = !links.contains(&"upper/agent");
            if in_layer {
                fs::write(at("upper/agent/auth.json"), theirs).unwrap();
            }
            let said = place.login_at("agent/auth.json").bring_back();
            assert_eq!(fs::read_to_string(at("other/auth.json")).unwrap(), mine, "{links:?}");
            assert_eq!(fs::read_dir(at("other")).unwrap().count(), 1, "{links:?}");
            assert_eq!(said.is_some(), in_layer, "{links:?}: {said:?}");
            if !links.contains(&"real/agent") {
                assert_eq!(
                    fs::read_dir(at("real/agent")).unwrap().count(),
                    0,
                    "nothing is copied: {links:?}"
                );
            }
        }
    }

    #[test]
    fn a_directory_that_the_user_made_a_link_is_the_users_own() {
        let place = Place::new();
        fs::rename(place.dir.path().join("real"), place.dir.path().join("dotfiles")).unwrap();
        symlink(place.dir.path().join("dotfiles"), place.dir.path().join("real")).unwrap();
        fs::write(place.real(), r#"{"old":1}"#).unwrap();
        let login = place.login();
        fs::write(place.layer(), r#"{"renewed":1}"#).unwrap();
        assert_eq!(login.bring_back(), None);
        assert_eq!(fs::read_to_string(place.real()).unwrap(), r#"{"renewed":1}"#);
    }
}
