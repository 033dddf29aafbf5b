//! The ids of a trace and its spans, from the run's id and the numbers of its records.

use crate::span::Kind;

/// Makes the ids of one trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ids {
    run: u128,
}

impl Ids {
    /// For the run of this id; none if it is not a UUID.
    pub fn of_run(id: &str) -> Option<Ids> {
        let groups: Vec<&str> = id.split('-').collect();
        let shape = groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]);
        let digits = id.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
        let run = u128::from_str_radix(&groups.concat(), 16).ok().filter(|_| shape && digits)?;
        // No UUID has another variant; with it no span's id can be zero, which would not be valid.
        ((run >> 62) & 0b11 == 0b10).then_some(Ids { run })
    }

    /// The trace's id: the run's, 32 hexadecimal digits.
    pub fn trace(self) -> String {
        format!("{:032x}", self.run)
    }

    /// The id of a span that this record began. The run's random half tells it from the spans of other runs, for
    /// programs that expect ids to be unique everywhere; the kind, from another span that the same record began.
    pub fn span(self, kind: Kind, seq: u64) -> String {
        #[allow(clippy::cast_possible_truncation)] // the lower half is meant
        let random = self.run as u64;
        let number = (u64::from(kind as u8) << 56) | (seq & 0x00ff_ffff_ffff_ffff);
        format!("{:016x}", random ^ number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trace_has_the_runs_id() {
        let ids = Ids::of_run("0198C1d2-aaaa-7bbb-8ccc-1234567890ab").unwrap();
        assert_eq!(ids.trace(), "0198c1d2aaaa7bbb8ccc1234567890ab");
        assert_eq!(ids.span(Kind::Run, 1), "8dcc1234567890aa");
        assert_eq!(ids.span(Kind::Call, 6), "8fcc1234567890ad");
    }

    #[test]
    fn what_is_not_a_uuid_has_no_trace() {
        for id in [
            "",
            "a",
            "0198c1d2aaaa7bbb8ccc1234567890ab",
            "0198c1d2-aaaa-7bbb-8ccc-1234567890a",
            "0198c1d2-aaaa-7bbb-8ccc-1234567890ag",
            "+198c1d2-aaaa-7bbb-8ccc-1234567890ab",
            "00000000-0000-0000-0000-000000000000",
        ] {
            assert_eq!(Ids::of_run(id), None, "{id}");
        }
    }
}
