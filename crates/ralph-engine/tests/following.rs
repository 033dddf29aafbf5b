//! Transcripts followed from outside, while they are written and afterwards, and when their bytes came.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        LazyLock,
        atomic::{AtomicBool, Ordering},
    },
};

use ralph_engine::transcript::{CAP, Followed, Follower, TimeIndex, Transcript, left_out_line, recover};

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("001.a1.out.jsonl");
    (dir, path)
}

fn index_of(path: &Path) -> PathBuf {
    path.with_file_name("001.a1.times")
}

/// A stream in which every byte tells its position. Made once, so that a writer of it is as fast as it can be.
static STREAM: LazyLock<Vec<u8>> =
    LazyLock::new(|| (0..).flat_map(|n| format!("{n:015}\n").into_bytes()).take(LONGEST).collect());
const LONGEST: usize = 12 << 20;

fn stream(from: u64, len: usize) -> &'static [u8] {
    let from = usize::try_from(from).unwrap();
    &STREAM[from..from + len]
}

/// What a follower passed on: the position it is at, the bytes it got and those it missed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Got {
    at: u64,
    bytes: u64,
    missed: u64,
}

impl Got {
    /// Reads on, and compares every byte with the stream.
    fn read(&mut self, follower: &mut Follower) -> bool {
        let read = follower.read::<io::Error>(u64::MAX, |followed| {
            match followed {
                Followed::Bytes { position, bytes, .. } => {
                    assert_eq!(position, self.at, "nothing twice, nothing left out in silence");
                    assert!(bytes == stream(position, bytes.len()), "wrong bytes at {position}");
                    self.at += bytes.len() as u64;
                    self.bytes += bytes.len() as u64;
                }
                Followed::Missed(count) => {
                    assert!(count > 0);
                    self.at += count;
                    self.missed += count;
                }
            }
            Ok(())
        });
        read.unwrap()
    }
}

fn write(transcript: &mut Transcript, from: u64, upto: u64, chunk: usize) {
    let mut at = from;
    while at < upto {
        let bytes = stream(at, chunk.min((upto - at).try_into().unwrap()));
        transcript.write(bytes);
        transcript.flush();
        at += bytes.len() as u64;
    }
}

#[test]
fn a_follower_that_keeps_up_gets_every_byte_through_file_ring_and_end() {
    let (_dir, path) = scratch();
    let (mut follower, mut got) = (Follower::at(&path), Got::default());
    assert!(!got.read(&mut follower), "there is no file yet");
    let mut transcript = Transcript::create_with_times(&path, 1 << 20).unwrap();
    assert!(got.read(&mut follower));
    let step = 70_001;
    for n in 0..40 {
        write(&mut transcript, n * step, (n + 1) * step, 9_000);
        assert!(got.read(&mut follower));
        assert_eq!(got, Got { at: (n + 1) * step, bytes: (n + 1) * step, missed: 0 });
    }
    write(&mut transcript, 40 * step, 41 * step, 9_000);
    let kept = transcript.finish();
    got.read(&mut follower);
    assert_eq!(got, Got { at: kept.bytes_total, bytes: 41 * step, missed: 0 });
    got.read(&mut follower);
    assert_eq!(got.at, 41 * step, "the joined file is not read again");
}

#[test]
fn one_that_comes_late_is_told_what_it_missed() {
    let cap = 1 << 20;
    let total = 5 * cap + 12_345;
    let (kept, missed) = (cap, total - cap);
    for recovered in [None, Some(false), Some(true)] {
        let (_dir, path) = scratch();
        let mut transcript = Transcript::create_with_times(&path, cap).unwrap();
        write(&mut transcript, 0, total, 30_000);
        match recovered {
            None => assert_eq!(transcript.finish().cut, missed),
            Some(recovered) => {
                std::mem::forget(transcript);
                if recovered {
                    assert_eq!(recover(&path).unwrap().cut, missed);
                }
            }
        }
        let mut got = Got::default();
        got.read(&mut Follower::at(&path));
        assert_eq!(got, Got { at: total, bytes: kept, missed }, "recovered: {recovered:?}");
    }
}

#[test]
fn without_an_index_a_cut_file_is_passed_on_as_it_is() {
    let (_dir, path) = scratch();
    let mut transcript = Transcript::create(&path, 1 << 16).unwrap();
    write(&mut transcript, 0, 1 << 18, 1_000);
    transcript.finish();
    let (mut all, mut known) = (Vec::new(), None);
    let read = Follower::at(&path).read::<io::Error>(u64::MAX, |followed| {
        let Followed::Bytes { bytes, times, position } = followed else { panic!("nothing is missed") };
        all.extend_from_slice(bytes);
        known = known.or(times.at(position));
        Ok(())
    });
    assert!(read.unwrap());
    assert!(all == fs::read(&path).unwrap() && known.is_none());
    let line = left_out_line(3 << 16);
    assert!(all.windows(line.len()).any(|part| part == line));
}

#[test]
fn a_look_at_a_long_transcript_may_be_cut_short_and_goes_on() {
    let (_dir, path) = scratch();
    let mut transcript = Transcript::create(&path, 1 << 20).unwrap();
    write(&mut transcript, 0, 1 << 20, 50_000);
    let (mut follower, mut looks, mut at) = (Follower::at(&path), 0, 0);
    while at < 1 << 20 {
        let before = at;
        let read = follower.read::<io::Error>(100_000, |followed| {
            if let Followed::Bytes { bytes, .. } = followed {
                at += bytes.len();
            }
            Ok(())
        });
        assert!(read.unwrap() && (100_000..=200_000).contains(&(at - before)) || at == 1 << 20, "{at}");
        looks += 1;
    }
    assert!(looks > 5);
}

/// A writer at full speed in a thread of its own, with rings from tiny to large: whatever is passed on is right.
#[test]
fn what_a_ring_passes_on_while_it_is_written_over_is_never_torn() {
    let (mut missed, mut whole) = (0, 0);
    for (cap, chunk) in [(64, 100), (4_000, 700), (200_000, 65_536), (3 << 20, 200_000), (16 << 20, 262_144)]
    {
        let (_dir, path) = scratch();
        // Small chunks cost a write each: fewer bytes of them do.
        let total = if chunk < 10_000 { 1 << 20 } else { LONGEST as u64 };
        let (done, mut got) = (AtomicBool::new(false), Got::default());
        std::thread::scope(|scope| {
            let mut transcript = Transcript::create_with_times(&path, cap).unwrap();
            let done = &done;
            scope.spawn(move || {
                write(&mut transcript, 0, total, chunk);
                transcript.finish();
                done.store(true, Ordering::Release);
            });
            let mut follower = Follower::at(&path);
            loop {
                let last = done.load(Ordering::Acquire);
                got.read(&mut follower);
                if last {
                    break;
                }
            }
        });
        assert_eq!((got.at, got.bytes + got.missed), (total, total), "cap {cap}");
        missed += got.missed;
        whole += u32::from(got.missed == 0);
    }
    assert!(missed > 0 && whole > 0, "{missed} bytes missed, {whole} streams whole");
}

/// An index of these marks with the header of the file's own.
fn set_marks(path: &Path, marks: &[(u64, i64)]) {
    let mut index = fs::read(index_of(path)).unwrap();
    index.truncate(32);
    for (position, at) in marks {
        index.extend_from_slice(&position.to_le_bytes());
        index.extend_from_slice(&at.to_le_bytes());
    }
    fs::write(index_of(path), index).unwrap();
}

fn times_of(path: &Path, offsets: &[u64]) -> Vec<Option<i64>> {
    let mut times = TimeIndex::of(path);
    times.refresh();
    let len = fs::metadata(path).unwrap().len();
    offsets.iter().map(|offset| times.at_offset(*offset, len)).collect()
}

#[test]
fn offsets_behind_a_cut_are_counted_from_the_end() {
    for crash in [false, true] {
        let (_dir, path) = scratch();
        let cap: u64 = 1 << 20;
        let total = 3 * cap;
        let mut transcript = Transcript::create_with_times(&path, cap).unwrap();
        write(&mut transcript, 0, total, 10_000);
        if crash {
            std::mem::forget(transcript);
            recover(&path).unwrap();
        } else {
            transcript.finish();
        }
        let tail = total - cap / 2;
        set_marks(&path, &[(0, 1_000), (cap / 2 - 1, 2_000), (tail + 100, 3_000), (total - 1, 4_000)]);
        let len = fs::metadata(&path).unwrap().len();
        let offsets = [0, cap / 2 - 2, cap / 2 - 1, len - cap / 2, len - cap / 2 + 100, len - 2, len - 1];
        let known = times_of(&path, &offsets);
        assert_eq!(known, [1_000, 1_000, 2_000, 2_000, 3_000, 3_000, 4_000].map(Some), "crash: {crash}");
    }
}

#[test]
fn a_torn_or_foreign_index_tells_no_wrong_times() {
    let (_dir, path) = scratch();
    let mut transcript = Transcript::create_with_times(&path, CAP).unwrap();
    write(&mut transcript, 0, 1_000, 100);
    std::mem::forget(transcript);
    let all = [0, 500, 999];
    assert!(times_of(&path, &all).iter().all(Option::is_some));
    set_marks(&path, &[(0, 1_000), (500, 2_000), (900, 3_000)]);
    let index = fs::read(index_of(&path)).unwrap();
    for torn in 1..16 {
        fs::write(index_of(&path), &index[..index.len() - torn]).unwrap();
        assert_eq!(times_of(&path, &all), [1_000, 2_000, 2_000].map(Some), "{torn} bytes short");
    }
    // What a power failure leaves: room that was never filled.
    fs::write(index_of(&path), [&index[..48], &[0; 64]].concat()).unwrap();
    assert_eq!(times_of(&path, &all), [1_000; 3].map(Some));
    // A time that goes back is none of ours.
    set_marks(&path, &[(0, 1_000), (500, 900)]);
    assert_eq!(times_of(&path, &all), [1_000; 3].map(Some));
    for foreign in ["", "ralph", "not an index of ralph, but long enough to be read as one, with marks"] {
        fs::write(index_of(&path), foreign).unwrap();
        assert_eq!(times_of(&path, &all), [None; 3], "{foreign}");
    }
    fs::remove_file(index_of(&path)).unwrap();
    assert_eq!(times_of(&path, &all), [None; 3]);
}

#[test]
fn marks_are_read_on_while_they_are_written() {
    let (_dir, path) = scratch();
    let mut times = TimeIndex::of(&path);
    times.refresh();
    assert_eq!(times.at(0), None, "nothing was written yet");
    let mut transcript = Transcript::create_with_times(&path, CAP).unwrap();
    transcript.write(b"one\n");
    transcript.flush();
    times.refresh();
    let first = times.at(0).unwrap();
    set_marks(&path, &[(0, first), (4, first + 500)]);
    times.refresh();
    assert_eq!((times.at(3), times.at(4)), (Some(first), Some(first + 500)));
}

#[test]
fn an_index_goes_with_the_transcript_it_belongs_to() {
    let (_dir, path) = scratch();
    fs::write(index_of(&path), "of an earlier file").unwrap();
    Transcript::create(&path, CAP).unwrap().finish();
    assert!(!index_of(&path).exists(), "a transcript without times has none of another");
    fs::remove_file(&path).unwrap();
    Transcript::create_with_times(&path, CAP).unwrap().finish();
    assert!(index_of(&path).exists());
    let err = path.with_file_name("001.a1.err");
    assert!(Transcript::create_with_times(&err, CAP).is_ok(), "no index is no reason not to keep the output");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 3);
}

/// The error type of a caller need not be an I/O error only.
#[test]
fn a_caller_can_stop_the_reading() {
    #[derive(Debug)]
    enum Stop {
        Enough,
        Io,
    }
    impl From<io::Error> for Stop {
        fn from(_: io::Error) -> Stop {
            Stop::Io
        }
    }
    let (_dir, path) = scratch();
    let mut transcript = Transcript::create(&path, CAP).unwrap();
    write(&mut transcript, 0, 300_000, 100_000);
    let mut follower = Follower::at(&path);
    let mut pieces = 0;
    let stopped = follower.read(u64::MAX, |_| {
        pieces += 1;
        Err(Stop::Enough)
    });
    assert!(matches!(stopped, Err(Stop::Enough)) && pieces == 1, "{stopped:?}");
}
