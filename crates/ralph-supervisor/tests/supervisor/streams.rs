//! Every byte, both ways at once, whatever the program reads or does not read.

use ralph_supervisor::{How, Input};

use crate::common::{python, run, run_and, shell};

fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn bytes_come_back_exactly() {
    let sent = noise(3_000_000);
    assert!(sent.contains(&0));
    let mut launch = shell("tee /dev/stderr");
    launch.stdin = Input::Bytes(sent.clone());
    let (exit, kept) = run(launch);
    assert_eq!((exit.code, exit.drained), (Some(0), true));
    assert!(kept.stdout == sent, "{} of {} bytes on stdout", kept.stdout.len(), sent.len());
    assert!(kept.stderr == sent, "{} of {} bytes on stderr", kept.stderr.len(), sent.len());
}

#[test]
fn a_program_that_does_not_read_its_input() {
    let mut launch = shell("echo ok; exit 2");
    launch.stdin = Input::Bytes(vec![b'x'; 400_000]);
    let (exit, kept) = run(launch);
    assert_eq!((exit.code, exit.how, kept.text().as_str()), (Some(2), How::Ended, "ok\n"));
}

#[test]
fn a_program_that_closes_its_input_and_goes_on() {
    let mut launch = shell("exec <&-; sleep 0.1; echo ok");
    launch.stdin = Input::Bytes(vec![b'x'; 400_000]);
    let (exit, kept) = run(launch);
    assert_eq!((exit.code, kept.text().as_str()), (Some(0), "ok\n"));
}

#[test]
fn a_flood_on_both_streams_while_input_waits() {
    let mut launch = python(
        "import sys, threading
def flood(stream, byte):
    for _ in range(160): stream.buffer.write(byte * 65536)
    stream.flush()
other = threading.Thread(target=flood, args=(sys.stderr, b'e'))
other.start()
flood(sys.stdout, b'o')
other.join()",
    );
    launch.stdin = Input::Bytes(vec![b'x'; 400_000]);
    let (exit, kept) = run(launch);
    assert_eq!(exit.code, Some(0));
    assert_eq!((kept.stdout.len(), kept.stderr.len()), (160 * 65536, 160 * 65536));
    assert!(kept.stdout.iter().all(|byte| *byte == b'o') && kept.stderr.iter().all(|byte| *byte == b'e'));
}

#[test]
fn input_ends_where_the_bytes_end() {
    let mut launch = shell("cat; echo end");
    launch.stdin = Input::Bytes(b"prompt\n".to_vec());
    assert_eq!(run(launch).1.text(), "prompt\nend\n");
    assert_eq!(run(shell("cat; echo end")).1.text(), "end\n", "no input at all ends at once");
}

#[test]
fn a_conversation_over_an_open_pipe() {
    let mut launch = shell("echo ready; while read line; do echo got $line; done; echo closed");
    launch.stdin = Input::Pipe;
    let (exit, kept) = run_and(launch, |process| {
        process.send(b"one\ntw".to_vec());
        process.send(b"o\n".to_vec());
        process.close_stdin();
        process.send(b"too late\n".to_vec());
    });
    assert_eq!((exit.code, kept.text().as_str()), (Some(0), "ready\ngot one\ngot two\nclosed\n"));
}

#[test]
fn merged_streams_keep_their_order() {
    let mut launch = shell("for i in 1 2 3; do echo out $i; echo err $i >&2; done");
    launch.merge_stderr = true;
    let (_, kept) = run(launch);
    assert_eq!(kept.text(), "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
    assert!(kept.stderr.is_empty());
}

#[test]
fn the_last_bytes_before_a_kill_are_not_lost() {
    let (exit, kept) = run_and(shell("head -c 300000 /dev/zero; kill -9 $$"), |_| {});
    assert_eq!((exit.signal, kept.stdout.len()), (Some(9), 300_000));
}

#[test]
fn a_program_that_closes_its_output_is_heard_out() {
    let (exit, kept) = run(shell("echo on; exec >&- 2>&-; sleep 0.2; exit 4"));
    assert_eq!((exit.code, exit.drained, kept.text().as_str()), (Some(4), true, "on\n"));
}
