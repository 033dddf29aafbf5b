//! Every screen and page at four sizes as a snapshot, and at every small size without a fall.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod fake;

use fake::{NOW, all, ended, model, rich};
use ralph_monitor::draw::draw;
use ralph_monitor::key::Key;
use ralph_monitor::model::Model;
use ralph_monitor::page::PageLine;
use ralph_monitor::page_lines;
use ralph_monitor::row::{Look, columns};
use ralph_rules::record::CheckOutcome;
use ralph_view::iteration_parts::{CommandResult, Verification};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

const SIZES: [(u16, u16); 4] = [(120, 40), (100, 30), (80, 24), (22, 3)];

/// A screen as text, in a frame that shows where its columns end.
fn shown(model: &Model, (width, height): (u16, u16), colours: bool) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    draw(model, &mut buffer, colours);
    let mut text = String::new();
    for y in 0..height {
        text.push('│');
        let mut skip = 0_usize;
        for x in 0..width {
            if let Some(rest) = skip.checked_sub(1) {
                skip = rest;
                continue;
            }
            let symbol = buffer.cell((x, y)).unwrap().symbol();
            skip = columns(symbol).saturating_sub(1);
            text.push_str(symbol);
        }
        text.push_str("│\n");
    }
    text
}

fn compare(name: &str, make: impl Fn((u16, u16)) -> Model) {
    let text: String = SIZES
        .iter()
        .map(|size| format!("{}x{}\n{}\n", size.0, size.1, shown(&make(*size), *size, false)))
        .collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

fn keys(model: &mut Model, keys: &str) {
    for key in keys.chars() {
        let _ = model.press(match key {
            '\r' => Key::Enter,
            '\t' => Key::Tab,
            '\u{1b}' => Key::Escape,
            c => Key::Char(c),
        });
    }
}

fn pressed(typed: &'static str) -> impl Fn((u16, u16)) -> Model {
    move |size| {
        let mut model = model(size);
        keys(&mut model, typed);
        model
    }
}

#[test]
fn all_runs() {
    compare("all_runs", model);
}

#[test]
fn one_run() {
    compare("one_run", pressed("\r"));
}

#[test]
fn one_run_with_a_ladder_and_a_past() {
    compare("one_run_rich", |size| {
        let mut model = model(size);
        model.set_detail(Some(rich()));
        keys(&mut model, "\r");
        model
    });
}

#[test]
fn iterations() {
    compare("iterations", pressed("\r\tj"));
}

#[test]
fn ended_with_each_grade_and_stopped_and_crashed() {
    let fakes = all();
    let grades = ["proven", "tested", "unbroken", "revised", "unclear", "unverified"];
    let others = [(5, "tampered"), (6, "blocked"), (7, "crashed"), (14, "stopped")];
    for (at, name) in (8..).zip(grades).chain(others) {
        compare(&format!("ended_{name}"), |size| ended(fakes.get(at).unwrap(), size));
    }
}

#[test]
fn nothing_yet_and_trouble() {
    compare("empty", |size| {
        let mut model = Model::new(None, size, NOW);
        model.set_overview(fake::overview(&[]));
        model
    });
    compare("reading", |size| Model::new(None, size, NOW));
    compare("trouble", |size| {
        let mut model = model(size);
        model.set_now(NOW + 83_000);
        model.set_trouble(Some("the database is locked".into()));
        model
    });
}

#[test]
fn what_is_typed_and_asked() {
    compare("hint", pressed("hTry the other 日本 file "));
    compare("search", pressed("/mail"));
    compare("search_without_result", pressed("/nowhere"));
    compare("question", pressed("s"));
    compare("answer", |size| {
        let mut model = model(size);
        model.say("Run 7ebeed4a will pause before its next call.", false);
        model
    });
}

fn page(letter: char, lines: impl Fn() -> Vec<PageLine>) -> impl Fn((u16, u16)) -> Model {
    move |size| {
        let mut model = model(size);
        keys(&mut model, &letter.to_string());
        let wanted = model.page.as_ref().unwrap().wanted.clone();
        model.set_page(&wanted, lines());
        model
    }
}

#[test]
fn pages() {
    compare("page_help", pressed("?"));
    compare("page_transcript", pressed("o"));
    let diff = "src/lexer.rs\n--- a/src/lexer.rs\n+++ b/src/lexer.rs\n@@ -1,3 +1,3 @@\n fn lex() {\n-    todo!()\n+\tquote()\n }";
    compare("page_diff", page('d', || page_lines::diff(diff.lines().map(Into::into).collect())));
    compare(
        "page_prompt",
        page('i', || page_lines::text("Make the parser accept nested quotes\n\nIt loses quotes.")),
    );
    compare("page_explanation", page('e', || page_lines::text("COMPLETED\n\n06:41:05    verified: exit 0")));
    let result = CommandResult {
        command: "cargo test".into(),
        how: CheckOutcome::Failed,
        exit: Some(101),
        ms: 12_345,
        failing: Some((2, 14)),
        failed: vec!["quotes::nested".into(), "quotes::escape_at_end".into()],
        tail: "test result: FAILED. 12 passed; 2 failed".into(),
    };
    let one =
        Verification { check: "the files as they are".into(), passed: false, at: NOW, results: vec![result] };
    compare("page_verification", page('v', || page_lines::verifications(std::slice::from_ref(&one), "UTC")));
}

#[test]
fn a_long_run_shows_its_latest_bars() {
    let spent = (0..400).map(|n| (n % 37 + 1, 1, n % 5 != 0, Some(400 - u32::try_from(n).unwrap())));
    let fake = fake::Fake {
        spent: spent.collect(),
        max_iterations: 1000,
        failing_before: Some(401),
        ..fake::working()
    };
    compare("long_run", |size| {
        let mut model = Model::new(Some(fake.card().run.row.id), size, NOW);
        model.set_overview(fake::overview(std::slice::from_ref(&fake)));
        model.set_detail(Some(fake.detail()));
        model
    });
}

/// Every model that a screen is made of.
fn every(size: (u16, u16)) -> Vec<Model> {
    let fakes = all();
    let mut models: Vec<Model> = ["", "\r", "\r\tjj", "o", "?", "d", "hTry 日本", "/mail", "s", "/x\r", "G"]
        .iter()
        .map(|typed| pressed(typed)(size))
        .collect();
    models.extend(fakes.iter().map(|fake| ended(fake, size)));
    models.push(Model::new(None, size, NOW));
    let mut trouble = model(size);
    trouble.set_trouble(Some("the database is locked".into()));
    models.push(trouble);
    models
}

#[test]
fn no_size_is_too_small_or_too_large() {
    let small = (1..=30).flat_map(|width| (1..=12).map(move |height| (width, height)));
    let mut models = every((120, 40));
    for size in small.chain([(1, 1), (3, 2), (36, 8), (37, 9), (99, 8), (100, 8), (400, 100), (80, 400)]) {
        for model in &mut models {
            model.resize(size);
            let text = shown(model, size, true);
            for line in text.lines() {
                assert_eq!(columns(line), usize::from(size.0) + 2, "{size:?}:\n{text}");
            }
            assert!(text.chars().any(|c| !"│\n ".contains(c)), "{size:?} says nothing:\n{text}");
        }
    }
}

#[test]
fn a_screen_that_shrinks_and_grows_is_as_before() {
    let mut model = model((120, 40));
    let before = shown(&model, (120, 40), false);
    for size in [(80, 24), (22, 3), (1, 1), (120, 40)] {
        model.resize(size);
        let _ = shown(&model, size, false);
    }
    assert_eq!(shown(&model, (120, 40), false), before);
}

#[test]
fn a_clock_that_is_set_back_shows_no_negative_age() {
    let mut model = model((120, 40));
    model.set_now(NOW - 3 * 3_600_000);
    model.set_trouble(Some("the database is locked".into()));
    let text = shown(&model, (120, 40), false);
    assert!(!text.contains("-1") && !text.contains("0.-"), "{text}");
    assert!(text.contains("as of 0.0s ago"), "{text}");
}

#[test]
fn nothing_needs_a_colour() {
    let plain = shown(&model((120, 40)), (120, 40), false);
    assert_eq!(plain, shown(&model((120, 40)), (120, 40), true));
    let mut buffer = Buffer::empty(Rect::new(0, 0, 120, 40));
    draw(&model((120, 40)), &mut buffer, false);
    let untouched = ratatui_core::buffer::Cell::default();
    assert!(
        buffer.content().iter().all(|cell| (cell.fg, cell.modifier) == (untouched.fg, untouched.modifier))
    );
    let _ = Look::Plain;
}

#[test]
fn a_run_that_cannot_be_read_says_why_in_its_own_pane() {
    let size = (100, 30);
    let mut model = model(size);
    let run = model.selected.clone().unwrap();
    model.unreadable = Some((run, "record 7 is of a newer ralph".into()));
    let why = "▲ This run cannot be read: record 7 is of a newer ralph";
    let text = shown(&model, size, false);
    assert!(text.contains(why) && text.contains("NOW"), "above what was read before: {text}");
    model.set_detail(None);
    let text = shown(&model, size, false);
    assert!(text.contains(why) && !text.contains("reading…"), "{text}");
    keys(&mut model, "j");
    let text = shown(&model, size, false);
    assert!(!text.contains(why) && text.contains("reading…"), "another run: {text}");
}

#[test]
fn a_database_that_could_not_be_read() {
    compare("unreadable_database", |size| {
        let mut model = Model::new(None, size, NOW);
        let why = "/home/ada/.local/state/ralph/ralph.db is damaged: the file is not a database. Restore the newest \
                   copy with `ralph doctor --restore`";
        model.set_trouble(Some(why.into()));
        model
    });
}

#[test]
fn the_last_row_has_the_keys_of_the_chosen_pane() {
    let last = |typed: &'static str| {
        let size = (120, 40);
        let screen = shown(&pressed(typed)(size), size, false);
        screen.lines().last().unwrap().to_owned()
    };
    for (typed, wanted, other) in [
        ("", "j/k run ", "j/k iteration"),
        ("\t", "j/k iteration  Enter output  Tab runs ", "Tab iterations"),
        ("\t\t", "Tab iterations ", "j/k iteration"),
        ("\r", "Esc runs  Tab iterations ", "j/k iteration"),
        ("\r\t", "j/k iteration  Enter output  Tab activity ", "Tab iterations"),
    ] {
        let row = last(typed);
        assert!(row.contains(wanted) && !row.contains(other), "{typed:?}: {row}");
    }
}
