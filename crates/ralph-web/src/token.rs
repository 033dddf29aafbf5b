//! The token that every reader of runs must send: 256 bits from the operating system. Other users of the machine, and
//! agents, can reach a port on loopback; they cannot read this.

use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes of a new token.
const BYTES: usize = 32;
/// Characters of the shortest token that is taken from a file: 128 bits in hexadecimal digits.
const SHORTEST: usize = 32;
/// Characters of the longest one.
const LONGEST: usize = 256;

/// A bearer token. Its text is shown only where it is asked for.
#[derive(Clone)]
pub struct Token(String);

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The operating system gave no random bytes.
    #[error("the operating system gave no random bytes: {0}")]
    Random(getrandom::Error),
    /// The file, or a directory on the way to it, cannot be made.
    #[error("the token file {} cannot be created: {source}. Name a file in a directory that you can write", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file cannot be read.
    #[error("the token file {} cannot be read: {source}. Name a file of your own", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Somebody else can read the file, or could have written it.
    #[error("other users can read or write the token file {}. Make it yours alone: chmod 600 {}", path.display(), path.display())]
    NotPrivate {
        /// The file.
        path: PathBuf,
    },
    /// The file is another user's.
    #[error("the token file {} belongs to another user. Name a file of your own", path.display())]
    NotYours {
        /// The file.
        path: PathBuf,
    },
    /// The file does not hold a token.
    #[error(
        "the token file {} must hold one line of {SHORTEST} to {LONGEST} letters, digits, `-` or `_`. Delete it, and a new one is made",
        path.display()
    )]
    NotAToken {
        /// The file.
        path: PathBuf,
    },
}

impl Token {
    /// A new token.
    pub fn new() -> Result<Token, TokenError> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(TokenError::Random)?;
        Ok(Token(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The token in a file, which is made if it is missing. A file that others can read or write is refused.
    pub fn in_file(path: &Path) -> Result<Token, TokenError> {
        let failed = |source| TokenError::Create { path: path.to_owned(), source };
        if path.symlink_metadata().is_ok() {
            return read(path);
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let token = Token::new()?;
        let new = folder.join(format!(".{}.new", Token::new()?.text()));
        match token.write(&new, path) {
            Ok(()) => Ok(token),
            // Another ralph was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read(path),
            Err(error) => Err(failed(error)),
        }
    }

    /// Writes the file by way of a new one: whoever finds it finds a token in it.
    fn write(&self, new: &Path, path: &Path) -> io::Result<()> {
        let written =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(new).and_then(|mut file| {
                writeln!(file, "{}", self.0)?;
                file.sync_all()?;
                // Unlike a rename, a link never replaces a file.
                std::fs::hard_link(new, path)
            });
        let _ = std::fs::remove_file(new);
        written
    }

    /// Its text, for the address that is printed.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether somebody sent this very token. Takes as long for a token that is wrong in its first character as for one
    /// that is wrong in its last: both are hashed first, so not even the length shows.
    pub fn is(&self, sent: &[u8]) -> bool {
        blake3::hash(sent) == blake3::hash(self.0.as_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

fn read(path: &Path) -> Result<Token, TokenError> {
    let failed = |source| TokenError::File { path: path.to_owned(), source };
    // Not blocking: a pipe in the place of the file must not hold the command up.
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or(0);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    if meta.mode() & 0o077 != 0 {
        return Err(TokenError::NotPrivate { path: path.to_owned() });
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(TokenError::NotYours { path: path.to_owned() });
    }
    let text = first_line(file).map_err(failed)?;
    let fits = (SHORTEST..=LONGEST).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
    if !fits || !meta.is_file() {
        return Err(TokenError::NotAToken { path: path.to_owned() });
    }
    Ok(Token(text))
}

fn first_line(file: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.take(u64::try_from(LONGEST).unwrap_or(u64::MAX) + 2).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_token_has_256_bits_and_is_another_one_each_time() {
        let (one, other) = (Token::new().unwrap(), Token::new().unwrap());
        assert_eq!(one.text().len(), 64);
        assert!(one.text().bytes().all(|b| b.is_ascii_hexdigit()));
        assert_ne!(one.text(), other.text());
        assert!(!format!("{one:?}").contains(one.text()));
    }

    #[test]
    fn only_the_very_token_is_taken() {
        let token = Token::new().unwrap();
        let text = token.text();
        assert!(token.is(text.as_bytes()));
        for wrong in ["", "x", &text[1..], &text[..63], &format!("{text} "), &text.to_uppercase(), "\0"] {
            assert!(!token.is(wrong.as_bytes()), "{wrong:?}");
        }
    }

    #[test]
    fn a_token_file_is_made_for_its_owner_alone_and_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        let made = Token::in_file(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(Token::in_file(&path).unwrap().text(), made.text());
    }

    #[test]
    fn a_token_file_that_others_can_read_or_that_holds_no_token_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        let refused = |text: &str, mode: u32| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            Token::in_file(&path).unwrap_err().to_string()
        };
        let good = "0123456789abcdef0123456789abcdef\n";
        for mode in [0o604, 0o640, 0o620, 0o666, 0o610] {
            assert!(refused(good, mode).contains("chmod 600"), "{mode:o}");
        }
        let long = "a".repeat(LONGEST + 1);
        for text in ["", "short", "two words in a line that is long enough", &long, "ü".repeat(32).as_str()]
        {
            assert!(refused(text, 0o600).contains("must hold one line"), "{text}");
        }
        assert!(Token::in_file(dir.path()).is_err());
        let below_a_file = Token::in_file(&path.join("token")).unwrap_err().to_string();
        assert!(below_a_file.contains("cannot be created"), "{below_a_file}");
    }

    #[test]
    fn a_token_file_is_whole_as_soon_as_it_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let path = path.clone();
                std::thread::spawn(move || Token::in_file(&path).unwrap().0)
            })
            .collect();
        let tokens: Vec<String> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(tokens.iter().all(|token| *token == tokens[0]), "{tokens:?}");
        let left: Vec<_> =
            std::fs::read_dir(dir.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(left, ["token"]);
    }

    #[test]
    fn a_missing_folder_is_made_for_its_owner_alone() {
        let dir = tempfile::tempdir().unwrap();
        let made = Token::in_file(&dir.path().join("config/ralph/serve.token")).unwrap();
        assert_eq!(made.text().len(), 64);
        let mode = std::fs::metadata(dir.path().join("config/ralph")).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
    }
}
