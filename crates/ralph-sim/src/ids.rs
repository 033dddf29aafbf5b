//! Ids and noise. Everything random in the simulator comes from here, so that `--seed` makes a call repeatable.

/// A small generator (splitmix64): good enough for ids and filler, the same on every machine.
#[derive(Clone, Debug)]
pub struct Ids(u64);

impl Ids {
    /// The same seed gives the same ids.
    pub fn seeded(seed: u64) -> Ids {
        Ids(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An id such as `msg_sim0123456789abcdef`.
    pub fn named(&mut self, prefix: &str) -> String {
        format!("{prefix}_sim{:016x}", self.bits())
    }

    /// A version 4 UUID.
    pub fn uuid(&mut self) -> String {
        let (a, b) = (self.bits(), self.bits());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            (b >> 48) & 0x3fff | 0x8000,
            b & 0xffff_ffff_ffff
        )
    }

    /// `length` bytes of printable filler without anything JSON must escape.
    pub fn filler(&mut self, length: usize) -> String {
        const WORDS: [&str; 8] =
            ["ok ", "test ", "line ", "build ", "0x1f ", "warning ", "src/lib.rs ", "... "];
        let mut text = String::with_capacity(length + 16);
        while text.len() < length {
            let pick = usize::try_from(self.bits() % 8).unwrap_or(0);
            text.push_str(WORDS.get(pick).unwrap_or(&"ok "));
        }
        text.truncate(length);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_a_uuid_looks_like_one() {
        let (mut one, mut two) = (Ids::seeded(7), Ids::seeded(7));
        assert_eq!(one.uuid(), two.uuid());
        assert_ne!(one.uuid(), Ids::seeded(8).uuid());
        let id = one.uuid();
        assert_eq!(id.len(), 36);
        assert_eq!(&id[14..15], "4");
        assert!("89ab".contains(&id[19..20]));
        assert_eq!(one.filler(1000).len(), 1000);
    }
}
