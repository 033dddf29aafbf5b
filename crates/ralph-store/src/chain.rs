//! The checksum chain: every record carries a hash over itself and its predecessor's hash.
//! SQLite has no page checksums, so this is what notices a flipped bit, a lost row or an edited body.
//! It guards against accidents, not against somebody who rewrites the whole stream.

use std::fmt;

/// One link: the first 16 bytes of a BLAKE3 hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chain(pub [u8; 16]);

/// The part of a record that a link covers, besides what lies before it.
pub(crate) struct Link<'a> {
    pub seq: u64,
    pub at: i64,
    pub ran: i64,
    pub v: u32,
    pub kind: &'a str,
    pub body: &'a str,
}

impl Chain {
    /// The value before the first record: differs per stream, so a record cannot move to another one.
    pub(crate) fn start(stream: &str) -> Chain {
        let mut hash = blake3::Hasher::new();
        hash.update(b"ralph chain 1:").update(stream.as_bytes());
        Chain::cut(&hash)
    }

    /// The value after one more record.
    pub(crate) fn link(self, link: &Link<'_>) -> Chain {
        let kind_len = u64::try_from(link.kind.len()).unwrap_or(u64::MAX);
        let mut fixed = [0u8; 52];
        let parts = [
            &self.0[..],
            &link.seq.to_le_bytes(),
            &link.at.to_le_bytes(),
            &link.ran.to_le_bytes(),
            &link.v.to_le_bytes(),
            &kind_len.to_le_bytes(),
        ];
        for (slot, byte) in fixed.iter_mut().zip(parts.into_iter().flatten()) {
            *slot = *byte;
        }
        let mut hash = blake3::Hasher::new();
        hash.update(&fixed).update(link.kind.as_bytes()).update(link.body.as_bytes());
        Chain::cut(&hash)
    }

    fn cut(hash: &blake3::Hasher) -> Chain {
        let mut out = [0u8; 16];
        hash.finalize_xof().fill(&mut out);
        Chain(out)
    }
}

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Chain({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(seq: u64, kind: &str, body: &str) -> Chain {
        Chain::start("run/a").link(&Link { seq, at: 1, ran: 2, v: 3, kind, body })
    }

    #[test]
    fn every_part_of_a_record_changes_the_link() {
        let base = link(1, "seen", "{}");
        assert_ne!(base, link(2, "seen", "{}"));
        assert_ne!(base, link(1, "see", "n{}"), "kind and body do not run into each other");
        assert_ne!(base, link(1, "seen", "{ }"));
        let record = Link { seq: 1, at: 1, ran: 2, v: 3, kind: "seen", body: "{}" };
        assert_ne!(base, Chain::start("run/b").link(&record));
        assert_ne!(base, Chain::start("run/a").link(&Link { at: 0, ..record }));
        assert_eq!(base.to_string().len(), 32);
    }

    #[test]
    fn the_link_is_fixed_for_ever() {
        assert_eq!(link(1, "seen", "{}").to_string(), "476d0b161db2287a109892e5f222150b");
    }
}
