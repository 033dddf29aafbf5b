//! Refs in git's `reftable` format: the object names in the ref blocks of every table. Names that a later table replaces
//! are among them, which only means that more commits are looked at. The log blocks, which are compressed, are not read.
//!
//! A table is a header, blocks of records, and a footer. In a block each record's name shares a prefix with the one before.

/// A ref's name and the object it names; where it names two, a tag and what that points to, both. No object where the
/// ref is deleted.
pub(crate) type Named = (Vec<u8>, Vec<u8>);

/// What a record holds besides its name.
const DELETED: usize = 0;
const ONE: usize = 1;
const TWO: usize = 2;
const SYMBOLIC: usize = 3;
/// A block's kind and length.
const BLOCK_HEADER: usize = 4;

/// Every object that a table names; none if it is not a table or is damaged.
pub(crate) fn refs(table: &[u8]) -> Option<Vec<Named>> {
    let (header, footer, id_len) = match (table.get(..4)?, table.get(4)?) {
        (b"REFT", 1) => (24, 68, 20),
        (b"REFT", 2) => (28, 72, if table.get(24..28)? == b"s256" { 32 } else { 20 }),
        _ => return None,
    };
    let (table, footer) = table.split_at_checked(table.len().checked_sub(footer)?)?;
    if !footer.starts_with(b"REFT") || table.len() < header {
        return None;
    }
    let block_size = number(table.get(5..8)?);
    let (mut found, mut block) = (Vec::new(), 0);
    loop {
        let start = if block == 0 { header } else { block };
        // Anything else than a ref block ends them: an index, objects, logs, the footer.
        if table.get(start) != Some(&b'r') {
            return Some(found);
        }
        let len = number(table.get(start + 1..start + BLOCK_HEADER)?);
        let bytes = table.get(..block + len)?;
        let restarts = usize::from(u16::from_be_bytes(*bytes.last_chunk()?));
        let end = bytes.len().checked_sub(2 + restarts * 3)?;
        records(bytes.get(start + BLOCK_HEADER..end)?, id_len, &mut found)?;
        block += if block_size == 0 { len } else { len.next_multiple_of(block_size) };
    }
}

fn records(mut rest: &[u8], id_len: usize, found: &mut Vec<Named>) -> Option<()> {
    let mut name: Vec<u8> = Vec::new();
    while !rest.is_empty() {
        let prefix = varint(&mut rest)?;
        let suffix = varint(&mut rest)?;
        let (suffix, kind) = (suffix >> 3, suffix & 7);
        name.truncate(prefix);
        name.extend_from_slice(take(&mut rest, suffix)?);
        varint(&mut rest)?;
        match kind {
            DELETED => found.push((name.clone(), Vec::new())),
            ONE | TWO => {
                for _ in 0..kind {
                    found.push((name.clone(), take(&mut rest, id_len)?.to_vec()));
                }
            }
            SYMBOLIC => {
                let len = varint(&mut rest)?;
                take(&mut rest, len)?;
            }
            _ => return None,
        }
    }
    Some(())
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(len)?;
    *rest = tail;
    Some(head)
}

fn varint(rest: &mut &[u8]) -> Option<usize> {
    let (value, used) = crate::flags::varint(rest)?;
    take(rest, used)?;
    Some(value)
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |sum, byte| (sum << 8) | usize::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table as git writes it, with one block of these records.
    fn table(records: &[u8]) -> Vec<u8> {
        let len = 24 + BLOCK_HEADER + records.len() + 5;
        let mut bytes = b"REFT\x01\x00\x00\x00".to_vec();
        bytes.extend([0; 16]);
        bytes.extend([b'r', 0, u8::try_from(len >> 8).unwrap(), u8::try_from(len & 255).unwrap()]);
        bytes.extend(records);
        bytes.extend([0, 0, 28, 0, 1]);
        bytes.extend(b"REFT");
        bytes.extend([0; 64]);
        bytes
    }

    #[test]
    fn records_share_prefixes_and_name_one_object_two_or_none() {
        let mut records = Vec::new();
        records.extend([0, (4 << 3) | 3, b'H', b'E', b'A', b'D', 0, 1, b'x']);
        records.extend([0, (6 << 3) | 1]);
        records.extend(b"refs/a\x00");
        records.extend([0xaa; 20]);
        records.extend([5, (1 << 3) | 2, b'b', 0]);
        records.extend([0xbb; 20]);
        records.extend([0xcc; 20]);
        records.extend([5, 1 << 3, b'c', 0]);
        let found = refs(&table(&records)).unwrap();
        let named = |name: &str, byte| (name.as_bytes().to_vec(), vec![byte; 20]);
        let deleted = (b"refs/c".to_vec(), Vec::new());
        let named = [named("refs/a", 0xaa), named("refs/b", 0xbb), named("refs/b", 0xcc), deleted];
        assert_eq!(found, named);
    }

    #[test]
    fn what_is_no_table_or_is_cut_off_is_not_read_for_an_empty_one() {
        let whole = table(&[]);
        assert_eq!(refs(&whole), Some(Vec::new()));
        for cut in 0..whole.len() {
            assert_eq!(refs(&whole[..cut]), None, "{cut}");
        }
        assert_eq!(refs(&[b"REFT\x09".as_slice(), &[0; 200]].concat()), None);
        assert_eq!(refs(&table(&[200, 200, 200])), None);
    }
}
