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
    /// The program is about to start.
    pub(super) fn before(file: Copied) -> Login {
        Login { was: content(&file.to), file }
    }

    /// Copies it back, and deletes it in the layer, where it would cover a newer login of the user.
    pub(super) fn bring_back(&self) {
        let Copied { from, to } = &self.file;
        if fs::symlink_metadata(from).is_err() {
            return;
        }
        if content(to) == self.was {
            one(from, to).discard("bring back a login that the agent renewed");
        } else {
            tracing::info!(file = %to.display(), "the user changed this login during the call; it is kept");
        }
        fs::remove_file(from).discard("remove a login from the agent's layer");
    }
}

fn content(file: &Path) -> Option<Vec<u8>> {
    read_regular(file, LARGEST, Links::Refuse).ok()
}

fn one(from: &Path, to: &Path) -> io::Result<()> {
    let new = read_regular(from, LARGEST, Links::Refuse)?;
    if !is_well_formed(to, &new) {
        return Err(io::Error::other(format!("{} is not what it was", to.display())));
    }
    // Where the user made it a link, the user decides what it is.
    match fs::symlink_metadata(to) {
        Ok(there) if !there.is_file() => {
            return Err(io::Error::other(format!("{} is not a file", to.display())));
        }
        Ok(_) if content(to).is_some_and(|old| old == new) => return Ok(()),
        _ => {}
    }
    let mode = fs::metadata(to).map_or(0o600, |there| there.permissions().mode() & 0o777);
    let dir = to.parent().ok_or(io::ErrorKind::NotFound)?;
    // For the user alone from its first byte on.
    let mut draft =
        tempfile::Builder::new().permissions(fs::Permissions::from_mode(mode)).tempfile_in(dir)?;
    draft.write_all(&new)?;
    place_durably(draft.into_temp_path().keep()?.as_path(), to)
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
