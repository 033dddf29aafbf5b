//! The names in one directory, read and put in order.
//!
//! The kernel tells each name's kind for nothing on nearly every file system, so that `walk` can decide
//! without a stat what it will not keep.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;

use crate::content::kind_of;
use crate::index::Kind;

/// One name in a [`Listing`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    start: usize,
    /// With the NUL at its end.
    len: usize,
    /// Unless the file system does not say.
    pub kind: Option<Kind>,
}

/// All names in one directory but `.` and `..`, in byte order.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    names: Vec<u8>,
    items: Vec<Item>,
}

impl Listing {
    /// Reads the directory; `buffer` is scratch space that callers reuse.
    pub fn read(dir: BorrowedFd<'_>, buffer: &mut Vec<u8>) -> Result<Listing, Errno> {
        let mut listing = Listing::default();
        ralph_os::each_name(dir, buffer, |name, kind| listing.add(name, kind_of(kind)))?;
        let names = &listing.names;
        let name = |item: &Item| names.get(item.start..item.start + item.len).unwrap_or_default();
        listing.items.sort_unstable_by(|a, b| name(a).cmp(name(b)));
        Ok(listing)
    }

    fn add(&mut self, name: &CStr, kind: Option<Kind>) {
        let bytes = name.to_bytes_with_nul();
        if matches!(bytes, b".\0" | b"..\0") {
            return;
        }
        self.items.push(Item { start: self.names.len(), len: bytes.len(), kind });
        self.names.extend_from_slice(bytes);
    }

    /// The item at this place.
    pub fn item(&self, at: usize) -> Option<Item> {
        self.items.get(at).copied()
    }

    /// An item's name.
    pub fn name(&self, item: Item) -> &CStr {
        let bytes = self.names.get(item.start..item.start + item.len).unwrap_or_default();
        CStr::from_bytes_with_nul(bytes).unwrap_or_default()
    }

    /// The item of this name.
    pub fn find(&self, name: &CStr) -> Option<Item> {
        let at = self.items.binary_search_by(|item| self.name(*item).cmp(name)).ok()?;
        self.item(at)
    }
}
