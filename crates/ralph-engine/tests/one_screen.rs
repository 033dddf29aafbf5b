//! The loop fits on one screen, and stays so.
#![allow(missing_docs)]

const LOOP: &str = include_str!("../src/drive.rs");

#[test]
fn the_loop_fits_on_one_screen() {
    let lines = LOOP.lines().count();
    assert!(lines <= 60, "drive.rs has {lines} lines; the loop must stay readable at one glance");
    let widest = LOOP.lines().map(|l| l.chars().count()).max().unwrap_or(0);
    assert!(widest <= 120, "drive.rs has a line of {widest} characters");
}

#[test]
fn the_loop_names_every_answer_of_the_rules() {
    for answer in ["Next::Do", "Next::Interrupt", "Next::Wait", "Next::Exit"] {
        assert!(LOOP.contains(answer), "{answer} is not answered in drive.rs itself");
    }
}
