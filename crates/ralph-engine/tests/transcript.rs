//! Transcripts: what is kept, what is cut, and what a crash leaves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{
    fs,
    io::Read,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Instant,
};

use proptest::prelude::*;
use ralph_engine::{
    redact::Redactor,
    transcript::{CAP, FLUSH, Kept, Transcript, read_back, recover},
};

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("001.a1.out.jsonl");
    (dir, path)
}

fn tail_of(path: &Path) -> PathBuf {
    path.with_extension("jsonl.tail")
}

fn text_of(path: &Path) -> Vec<u8> {
    let mut text = Vec::new();
    read_back(path).unwrap().read_to_end(&mut text).unwrap();
    text
}

/// Bytes of which no two stretches are alike.
fn numbered(len: usize) -> Vec<u8> {
    (0_u64..).flat_map(|n| format!("{n}\n").into_bytes()).take(len).collect()
}

/// What must be kept of a stream under a cap.
fn expected(stream: &[u8], cap: usize) -> Vec<u8> {
    if stream.len() <= cap {
        return stream.to_vec();
    }
    let (head, tail) = (cap / 2, stream.len() - (cap - cap / 2));
    let gap = format!("\n\u{2026}[ralph: {} bytes left out here]\u{2026}\n", tail - head);
    [&stream[..head], gap.as_bytes(), &stream[tail..]].concat()
}

fn assert_kept(kept: &Kept, path: &Path, stream: &[u8], cap: usize) {
    let want = expected(stream, cap);
    let file = fs::read(path).unwrap();
    assert!(file == want, "{} bytes in the file, {} expected", file.len(), want.len());
    assert_eq!(kept.bytes_total, stream.len() as u64);
    assert_eq!(kept.bytes_kept, want.len() as u64);
    assert_eq!(kept.cut, stream.len().saturating_sub(cap) as u64);
    assert_eq!(kept.blake3, blake3::hash(&want).to_hex().to_string());
    assert!(kept.trouble.is_none(), "{:?}", kept.trouble);
    assert!(!tail_of(path).exists());
}

#[test]
fn a_short_transcript_is_kept_whole_and_private() {
    let (_dir, path) = scratch();
    let mut transcript = Transcript::create(&path, CAP).unwrap();
    transcript.write(b"one\n");
    transcript.write(b"two\n");
    assert_kept(&transcript.finish(), &path, b"one\ntwo\n", 64 << 20);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(Transcript::create(&path, CAP).is_err(), "an earlier transcript is never written over");
}

#[test]
fn an_empty_transcript_is_an_empty_file() {
    let (_dir, path) = scratch();
    assert_kept(&Transcript::create(&path, CAP).unwrap().finish(), &path, b"", 64 << 20);
}

#[test]
fn head_and_tail_are_kept_around_the_cap() {
    let cap = 1 << 20;
    for len in [cap / 2 - 1, cap / 2, cap / 2 + 1, cap - 1, cap, cap + 1, cap * 2, cap * 5 + 12_345] {
        for write in [700, 65_536, 1 << 20] {
            let (_dir, path) = scratch();
            let stream = numbered(len);
            let mut transcript = Transcript::create(&path, cap as u64).unwrap();
            stream.chunks(write).for_each(|chunk| transcript.write(chunk));
            assert_kept(&transcript.finish(), &path, &stream, cap);
        }
    }
}

#[test]
fn the_disk_holds_little_more_than_the_cap_at_any_time() {
    let (_dir, path) = scratch();
    let cap = 1 << 20;
    let mut transcript = Transcript::create(&path, cap).unwrap();
    for _ in 0..200 {
        transcript.write(&[b'x'; 65_536]);
        let tail = fs::metadata(tail_of(&path)).map_or(0, |m| m.len());
        assert!(fs::metadata(&path).unwrap().len() + tail <= cap + (300 << 10));
    }
    assert_eq!(fs::metadata(tail_of(&path)).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_was_flushed_survives_a_crash() {
    let cap = 1 << 20;
    for len in [10, cap / 2, cap - 7, cap * 3 + 99] {
        let (_dir, path) = scratch();
        let stream = numbered(len);
        let mut transcript = Transcript::create(&path, cap as u64).unwrap();
        stream.chunks(30_000).for_each(|chunk| transcript.write(chunk));
        transcript.flush();
        std::mem::forget(transcript);
        assert!(text_of(&path) == expected(&stream, cap), "read back before recovery, {len}");
        assert_kept(&recover(&path).unwrap(), &path, &stream, cap);
        assert!(text_of(&path) == expected(&stream, cap), "read back after recovery, {len}");
        let again = recover(&path).unwrap();
        assert_eq!(again.blake3, blake3::hash(&expected(&stream, cap)).to_hex().to_string());
    }
}

#[test]
fn a_crash_while_joining_is_recovered_by_joining_again() {
    let (_dir, path) = scratch();
    let cap = 1 << 20;
    let stream = numbered(cap * 2);
    let mut transcript = Transcript::create(&path, cap as u64).unwrap();
    transcript.write(&stream);
    std::mem::forget(transcript);
    // The crash came when half of the tail was in the file already.
    let mut half = fs::read(&path).unwrap();
    half.extend_from_slice(b"half of the tail");
    fs::write(&path, half).unwrap();
    assert!(text_of(&path) == expected(&stream, cap));
    assert_kept(&recover(&path).unwrap(), &path, &stream, cap);
}

/// A kill between a ring's bytes and its header: the newest write may be missing, nothing else is.
#[test]
fn a_crash_within_a_write_of_the_ring_spoils_nothing() {
    let (_dir, path) = scratch();
    let cap = 1 << 20;
    let stream = numbered(cap * 3);
    let (before, newest) = stream.split_at(stream.len() - 200_000);
    let mut transcript = Transcript::create(&path, cap as u64).unwrap();
    transcript.write(before);
    transcript.flush();
    let header = fs::read(tail_of(&path)).unwrap()[..32].to_vec();
    transcript.write(newest);
    std::mem::forget(transcript);
    let mut ring = fs::read(tail_of(&path)).unwrap();
    ring[..32].copy_from_slice(&header);
    fs::write(tail_of(&path), ring).unwrap();
    assert_kept(&recover(&path).unwrap(), &path, before, cap);
}

#[test]
fn a_foreign_or_empty_tail_does_no_harm() {
    let (_dir, path) = scratch();
    fs::write(&path, "head").unwrap();
    fs::write(tail_of(&path), "").unwrap();
    assert_eq!(text_of(&path), b"head");
    assert_eq!(recover(&path).unwrap().bytes_kept, 4);
    for foreign in [[b'?'; 64], [0xff; 64]] {
        let mut ring = foreign;
        if foreign[0] == 0xff {
            ring[..8].copy_from_slice(b"ralphtl1");
        }
        fs::write(tail_of(&path), ring).unwrap();
        assert!(recover(&path).unwrap_err().to_string().contains("move it away"));
    }
    assert_eq!(fs::read(&path).unwrap(), b"head");
}

#[test]
fn the_tail_of_an_earlier_file_is_not_taken_for_ours() {
    let (_dir, path) = scratch();
    let mut transcript = Transcript::create(&path, 100).unwrap();
    transcript.write(&numbered(1000));
    transcript.flush();
    std::mem::forget(transcript);
    fs::remove_file(&path).unwrap();
    let mut transcript = Transcript::create(&path, CAP).unwrap();
    transcript.write(b"anew");
    assert_kept(&transcript.finish(), &path, b"anew", 64 << 20);
    assert_eq!(text_of(&path), b"anew");
}

#[test]
fn bytes_reach_the_file_within_the_flush_time() {
    let (_dir, path) = scratch();
    let mut transcript = Transcript::create(&path, CAP).unwrap();
    transcript.write(b"soon");
    transcript.tick(Instant::now() + FLUSH);
    assert_eq!(fs::read(&path).unwrap(), b"soon");
}

#[test]
fn a_transcript_dropped_by_a_panic_keeps_what_it_had() {
    let (_dir, path) = scratch();
    let mut transcript = Transcript::create(&path, CAP).unwrap();
    transcript.write(b"so far");
    drop(transcript);
    assert_eq!(fs::read(&path).unwrap(), b"so far");
}

#[test]
fn no_secret_reaches_the_file() {
    let (_dir, path) = scratch();
    let redactor = Redactor::new([("GH_TOKEN", "zulu77-november")].into_iter());
    let mut transcript = Transcript::create(&path, CAP).unwrap();
    let mut stream = redactor.stream();
    for chunk in ["a zulu77", "-november b\nc zulu77-nov", "ember"] {
        stream.push_to(chunk.as_bytes(), &mut |clean| transcript.write(clean));
        transcript.flush();
        assert!(!fs::read_to_string(&path).unwrap().contains("zulu77"));
    }
    stream.finish_to(&mut |clean| transcript.write(clean));
    let kept = transcript.finish();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, "a [redacted:GH_TOKEN] b\nc [redacted:GH_TOKEN]");
    assert_eq!(kept.bytes_total, text.len() as u64);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_stream_under_any_cap(
        cap in 0_usize..2_000,
        writes in proptest::collection::vec((0_usize..900, any::<bool>()), 0..12),
        crash in any::<bool>(),
    ) {
        let (_dir, path) = scratch();
        let stream = numbered(writes.iter().map(|(len, _)| len).sum());
        let mut transcript = Transcript::create(&path, cap as u64).unwrap();
        let mut at = 0;
        for (len, flush) in writes {
            transcript.write(&stream[at..at + len]);
            at += len;
            if flush {
                transcript.flush();
            }
        }
        let kept = if crash {
            drop(transcript);
            recover(&path).unwrap()
        } else {
            transcript.finish()
        };
        assert_kept(&kept, &path, &stream, cap);
    }
}
