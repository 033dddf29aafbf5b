//! Whatever the chunks, the lines are the same.

use proptest::prelude::*;
use ralph_supervisor::LineSplitter;

type Lines = Vec<(Vec<u8>, bool)>;

/// The plain definition: split at line feeds, take off one carriage return, cut at the cap.
fn by_definition(text: &[u8], cap: usize) -> Lines {
    let mut parts: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    if parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    let strip = |part: &'_ [u8]| part.strip_suffix(b"\r").unwrap_or(part).to_vec();
    parts
        .into_iter()
        .map(strip)
        .map(|line| (line[..line.len().min(cap)].to_vec(), line.len() > cap))
        .collect()
}

fn by_chunks(text: &[u8], cap: usize, sizes: &[usize]) -> Lines {
    let (mut splitter, mut lines, mut rest) = (LineSplitter::new(cap), Vec::new(), text);
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (chunk, after) = rest.split_at((*size).min(rest.len()));
        splitter.feed(chunk, |line| lines.push((line.bytes.to_vec(), line.cut)));
        rest = after;
    }
    splitter.finish(|line| lines.push((line.bytes.to_vec(), line.cut)));
    lines
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_chunking_gives_the_same_lines(
        text in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(0), Just(b'a'), any::<u8>()], 0..200),
        cap in 0_usize..12,
        sizes in proptest::collection::vec(1_usize..9, 1..20),
    ) {
        let expected = by_definition(&text, cap);
        prop_assert_eq!(&by_chunks(&text, cap, &sizes), &expected);
        prop_assert_eq!(&by_chunks(&text, cap, &[text.len().max(1)]), &expected);
    }
}
