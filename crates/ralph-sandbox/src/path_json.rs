//! Paths in JSON, whatever bytes they have: as text, or as a list of bytes where they are no UTF-8. A file name of a workspace
//! must never be why a plan cannot be passed on.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// Writes one path.
pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    Borrowed(path).serialize(to)
}

/// Reads one path.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
    Owned::deserialize(from).map(|path| path.0)
}

/// A list of paths.
pub(crate) mod list {
    use super::{Borrowed, Owned};
    use serde::{Deserialize, Deserializer, Serializer};
    use std::path::PathBuf;

    /// Writes them.
    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|path| Borrowed(path)))
    }

    /// Reads them.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<PathBuf>, D::Error> {
        Ok(Vec::<Owned>::deserialize(from)?.into_iter().map(|path| path.0).collect())
    }
}

struct Borrowed<'a>(&'a Path);

struct Owned(PathBuf);

impl Serialize for Borrowed<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => to.serialize_str(text),
            None => to.collect_seq(self.0.as_os_str().as_bytes()),
        }
    }
}

impl<'de> Deserialize<'de> for Owned {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Owned, D::Error> {
        from.deserialize_any(PathVisitor)
    }
}

struct PathVisitor;

impl<'de> Visitor<'de> for PathVisitor {
    type Value = Owned;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a path as text or as a list of bytes")
    }

    fn visit_str<E>(self, text: &str) -> Result<Owned, E> {
        Ok(Owned(OsStr::new(text).into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut bytes: A) -> Result<Owned, A::Error> {
        let mut found = Vec::new();
        while let Some(byte) = bytes.next_element::<u8>()? {
            found.push(byte);
        }
        Ok(Owned(OsString::from_vec(found).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Mount, Plan};

    #[test]
    fn every_path_is_read_as_it_was_written() {
        let odd = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        let mut plan = Plan::bare(Backend::Bwrap(odd(b"/b\xff")), "/plain".into(), odd(b"/\x80 \\ \" \n"));
        plan.mounts.push(Mount::Hide(odd(b"/a/\xff\xfe")));
        plan.mounts.push(Mount::Replace { from: odd(b"/\xc3"), at: "/\u{e9}".into() });
        let text = serde_json::to_string(&plan).unwrap();
        assert!(text.contains("\"workspace\":\"/plain\""), "{text}");
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    }
}
