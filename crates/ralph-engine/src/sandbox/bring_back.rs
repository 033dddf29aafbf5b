//! Returns logins that an agent renewed inside its sandbox to its real state. Only files that the adapter names, only regular
//! ones, only if they changed and look like what they are; nothing else that was written there leaves the layer. A login that
//! the user renewed in the meantime, or removed, stays as the user left it.

use ralph_diagnostics::Discard;
use ralph_os::{Links, place_durably, read_regular};
use ralph_sandbox::policy::Copied;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::SystemTime;

/// A larger file is not a login.
const LARGEST: u64 = 1 << 20;

/// A login file that an agent may renew.
#[derive(Debug)]
pub(super) struct Login {
    file: Copied,
    /// The user's own when the program started.
    was: Option<Vec<u8>>,
}

impl Login {
    /// The program is about to start. One that an earlier call could not bring back is still in the layer; it stays unless the
    /// user's own is newer.
    pub(super) fn before(file: Copied) -> Login {
        if let (Some(left), Some(users)) = (modified(&file.from), modified(&file.to))
            && users > left
        {
            remove(&file.from);
        }
        Login { was: content(&file.to), file }
    }

    /// Copies it back, and deletes it in the layer, where it would cover a newer login of the user. If it cannot be written, it
    /// stays in the layer: a service that renews a login usually ends the old one. Returns what to say then.
    pub(super) fn bring_back(&self) -> Option<String> {
        let Copied { from, to } = &self.file;
        fs::symlink_metadata(from).ok()?;
        if content(to) != self.was {
            tracing::info!(file = %to.display(), "the user changed this login during the call; it is kept");
        } else if let Some(new) = renewed(from, to)
            && let Err(error) = write(&new, to)
        {
            return Some(format!(
                "the agent renewed its login, but {} could not be written: {error}; the next call tries again",
                to.display()
            ));
        }
        remove(from);
        None
    }
}

fn remove(file: &Path) {
    fs::remove_file(file).discard("remove a login from the agent's layer");
}

fn modified(file: &Path) -> Option<SystemTime> {
    fs::symlink_metadata(file).ok()?.modified().ok()
}

fn content(file: &Path) -> Option<Vec<u8>> {
    read_regular(file, LARGEST, Links::Refuse).ok()
}

/// What is to be written; none if it is no login, or the same.
fn renewed(from: &Path, to: &Path) -> Option<Vec<u8>> {
    let new = content(from)?;
    // Where the user made it a link, the user decides what it is.
    let is_file = fs::symlink_metadata(to).map_or(true, |there| there.is_file());
    let comes_back = is_well_formed(to, &new) && is_file;
    if !comes_back {
        tracing::warn!(file = %to.display(), "what the agent left there does not come back");
    }
    (comes_back && content(to).is_none_or(|old| old != new)).then_some(new)
}

fn write(new: &[u8], to: &Path) -> io::Result<()> {
    let mode = fs::metadata(to).map_or(0o600, |there| there.permissions().mode() & 0o777);
    let dir = to.parent().ok_or(io::ErrorKind::NotFound)?;
    // For the user alone from its first byte on.
    let mut draft =
        tempfile::Builder::new().permissions(fs::Permissions::from_mode(mode)).tempfile_in(dir)?;
    draft.write_all(new)?;
    // What is left of it is removed if that fails.
    place_durably(&draft.into_temp_path(), to)
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
    use std::path::PathBuf;

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
            Login::before(Copied { from: self.layer(), to: self.real() })
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
        std::os::unix::fs::symlink(&secret, place.layer()).unwrap();
        assert_eq!(place.bring(), None, "a link in the layer");
        let place = Place::new();
        let target = place.dir.path().join("target.json");
        fs::write(&target, "{\"mine\":1}").unwrap();
        std::os::unix::fs::symlink(&target, place.real()).unwrap();
        fs::write(place.layer(), "{\"new\":1}").unwrap();
        place.bring();
        assert_eq!(fs::read_to_string(&target).unwrap(), "{\"mine\":1}", "a link of the user");
    }
}
