//! What a made-up agent says last: real status blocks, promises and prose, so that claims are really read.

use super::character::Temper;
use super::dice::Dice;
use ralph_rules::claim::{Progress, Status, Tests, WorkType, render};
use std::sync::LazyLock;

/// What an agent means to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Done,
    DoneInProse,
    More,
    Testing,
    Blocked,
    Failing,
    Unfinished,
    Template,
    Phrases,
    OnePhrase,
    Promise,
    OtherPromise,
    Question,
    Nothing,
    Short,
    Ship,
    Revise,
}

static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let block = |status, tests, exit_signal, work_type| {
        render(&Status {
            status: Some(status),
            tasks_completed: Some(1),
            files_modified: Some(2),
            tests: Some(tests),
            work_type: Some(work_type),
            exit_signal: Some(exit_signal),
            recommendation: "Next: the parser".into(),
        })
    };
    let more = block(Progress::InProgress, Tests::NotRun, false, WorkType::Implementation);
    let done = block(Progress::Complete, Tests::Passing, true, WorkType::Implementation);
    vec![
        done.clone(),
        format!("All tasks complete.\n\n{done}"),
        more.clone(),
        block(Progress::InProgress, Tests::Passing, false, WorkType::Testing),
        block(Progress::Blocked, Tests::NotRun, false, WorkType::Implementation),
        block(Progress::Complete, Tests::Failing, true, WorkType::Implementation),
        block(Progress::InProgress, Tests::Passing, true, WorkType::Implementation),
        more.replace("STATUS: IN_PROGRESS", "STATUS: IN_PROGRESS | COMPLETE")
            .replace("EXIT_SIGNAL: false\n", ""),
        "All tests pass. The implementation is complete.".into(),
        "All tests pass.".into(),
        "I mended it.\n<promise>COMPLETE</promise>".into(),
        "I mended it.\n<promise>ALL-GREEN</promise>".into(),
        "Should I go on with the parser?".into(),
        "I looked at the files and changed a few lines of the parser to see what happens.".into(),
        "Ok.".into(),
        "---RALPH_REVIEW---\nVERDICT: SHIP\nFINDINGS:\n---END_RALPH_REVIEW---".into(),
        "---RALPH_REVIEW---\nVERDICT: REVISE\nFINDINGS:\n- no test\n---END_RALPH_REVIEW---".into(),
    ]
});

/// The final message.
pub fn text(word: Word) -> &'static str {
    &TEXTS[word as usize]
}

/// What an agent of this temper says this time.
pub fn choose(temper: Temper, calls: u32, dice: &mut Dice) -> Word {
    if temper == Temper::Steady {
        return Word::More;
    }
    if dice.one_in(4) {
        return dice.pick(&[
            Word::Done,
            Word::DoneInProse,
            Word::More,
            Word::Failing,
            Word::Unfinished,
            Word::Template,
            Word::Phrases,
            Word::OnePhrase,
            Word::Promise,
            Word::OtherPromise,
            Word::Question,
            Word::Nothing,
            Word::Short,
        ]);
    }
    match temper {
        Temper::Honest if dice.one_in(12) => Word::Blocked,
        Temper::Honest => dice.pick(&[Word::More, Word::More, Word::More, Word::DoneInProse]),
        Temper::Idle | Temper::Stubborn => dice.pick(&[Word::More, Word::Nothing]),
        Temper::Tester => Word::Testing,
        Temper::Denied | Temper::Fragile | Temper::Steady => Word::More,
        Temper::Shrinking if calls < 3 => Word::More,
        Temper::Shrinking => Word::Short,
        Temper::Liar | Temper::Vandal | Temper::Bender | Temper::Finished => Word::Done,
        Temper::Chatty => dice.pick(&[Word::Phrases, Word::Phrases, Word::Question]),
    }
}
