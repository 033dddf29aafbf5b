//! The bytes of a file of moments: a head with the name of the base, then records, each with its length and a checksum.

use ralph_tree::Difference;

const MAGIC: &[u8; 8] = b"RALPHMOM";
const VERSION: u32 = 1;
const CHECK: usize = 16;
/// Length of the head.
pub(crate) const HEAD: usize = 8 + 4 + 16 + CHECK;

/// One moment.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) name: String,
    /// From the moment before, or from the base.
    pub(crate) difference: Difference,
}

/// The head of a file.
pub(crate) fn head(base: u128) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    out.extend_from_slice(&VERSION.to_le_bytes());
    out.extend_from_slice(&base.to_le_bytes());
    out.extend_from_slice(&check(&out));
    out
}

impl Record {
    /// Length of the record in the file.
    pub(crate) fn length(&self) -> usize {
        self.to_bytes().len()
    }

    /// The record as it is written.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let body = self.difference.to_bytes();
        let mut out = Vec::with_capacity(body.len() + self.name.len() + 16 + CHECK);
        out.extend_from_slice(&(body.len() as u64).to_le_bytes());
        out.extend_from_slice(&(self.name.len() as u64).to_le_bytes());
        out.extend_from_slice(self.name.as_bytes());
        out.extend_from_slice(&body);
        out.extend_from_slice(&check(&out));
        out
    }
}

/// The base and all records up to the first that is not whole.
pub(crate) fn parse(bytes: &[u8]) -> Option<(u128, Vec<Record>)> {
    let (start, mut rest) = bytes.split_at_checked(HEAD)?;
    let (body, sum) = start.split_last_chunk::<CHECK>()?;
    let base = body.strip_prefix(MAGIC)?.strip_prefix(&VERSION.to_le_bytes())?;
    let base = u128::from_le_bytes(*base.first_chunk::<16>().filter(|_| check(body) == *sum)?);
    let mut records = Vec::new();
    while let Some((record, more)) = record(rest) {
        records.push(record);
        rest = more;
    }
    Some((base, records))
}

fn record(bytes: &[u8]) -> Option<(Record, &[u8])> {
    let (body, rest) = bytes.split_first_chunk::<8>()?;
    let (name, _) = rest.split_first_chunk::<8>()?;
    let length = |bytes: &[u8; 8]| usize::try_from(u64::from_le_bytes(*bytes)).ok();
    let (body, name) = (length(body)?, length(name)?);
    let whole = 16_usize.checked_add(name)?.checked_add(body)?;
    let (record, rest) = bytes.split_at_checked(whole.checked_add(CHECK)?)?;
    let (record, sum) = record.split_last_chunk::<CHECK>()?;
    if check(record) != *sum {
        return None;
    }
    let (name, body) = record.get(16..)?.split_at_checked(name)?;
    let name = String::from_utf8(name.to_vec()).ok()?;
    Some((Record { name, difference: Difference::from_bytes(body)? }, rest))
}

fn check(bytes: &[u8]) -> [u8; CHECK] {
    let mut out = [0; CHECK];
    blake3::Hasher::new().update(bytes).finalize_xof().fill(&mut out);
    out
}
