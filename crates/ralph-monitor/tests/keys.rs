//! What each key does, as a table over the model.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod fake;

use fake::{Fake, NOW, all, model};
use ralph_monitor::job::Job;
use ralph_monitor::key::Key;
use ralph_monitor::model::{Effect, Lower, Model, Typing};
use ralph_monitor::page::{PageKind, PageWanted};
use ralph_rules::prompt::HINT_BYTES;
use ralph_rules::record::Request;
use ralph_view::requests::Sent;

const WIDE: (u16, u16) = (120, 40);
const NARROW: (u16, u16) = (80, 24);

fn key(c: char) -> Key {
    match c {
        '\r' => Key::Enter,
        '\t' => Key::Tab,
        '\u{1b}' => Key::Escape,
        '\u{7f}' => Key::Backspace,
        '↓' => Key::Down,
        '↑' => Key::Up,
        '←' => Key::Left,
        '→' => Key::Right,
        c => Key::Char(c),
    }
}

/// Types, and gives the effects.
fn typed(model: &mut Model, keys: &str) -> Vec<Effect> {
    keys.chars().filter_map(|c| model.press(key(c))).collect()
}

/// Selects a run, and brings what the application would.
fn select(model: &mut Model, at: usize) -> String {
    let fakes = all();
    let fake = fakes.get(at).unwrap();
    let id = fake.card().run.row.id;
    model.selected = Some(id.clone());
    model.set_detail(Some(fake.detail()));
    id
}

fn task(model: &Model) -> String {
    model.selected_card().map(|card| card.run.row.task.clone()).unwrap_or_default()
}

#[test]
fn requests_are_sent_for_the_selected_run() {
    let stop = |after| Request::Stop { after, signal: 2 };
    let hint = |text: &str| Request::Hint { text: text.into() };
    // Which run, what is typed, what is asked of it.
    let table = [
        (0, "p", Some(Request::Pause)),
        (0, "c", Some(Request::Continue)),
        (4, "p", Some(Request::Continue)),
        (3, "c", Some(Request::Continue)),
        (0, "sy", Some(stop(true))),
        (0, "Sy", Some(stop(false))),
        (0, "s", None),
        (0, "sn", None),
        (0, "s\r", None),
        (0, "s\u{1b}", None),
        (0, "hTry it\r", Some(hint("Try it"))),
        (0, "hTrx\u{7f}y\r", Some(hint("Try"))),
        (0, "h  \r", None),
        (0, "hTry\u{1b}", None),
        (0, "hqsjk\r", Some(hint("qsjk"))),
        (6, "hUse port 80\r", Some(hint("Use port 80"))),
        (6, "p", None),
        (6, "sy", None),
        (8, "h", None),
        (8, "c", None),
    ];
    for size in [WIDE, NARROW, (22, 3)] {
        for (at, keys, wanted) in &table {
            let mut model = model(size);
            let run = select(&mut model, *at);
            let asked = typed(&mut model, keys);
            let wanted: Vec<Effect> = wanted
                .iter()
                .map(|request| Effect::Do(Job::Ask { run: run.clone(), request: request.clone() }))
                .collect();
            assert_eq!(asked, wanted, "{at} {keys:?} at {size:?}");
        }
    }
}

#[test]
fn a_run_that_cannot_hear_is_said_so() {
    let mut model = model(WIDE);
    select(&mut model, 7);
    typed(&mut model, "p");
    let text = model.answer.as_ref().unwrap().text.clone();
    assert!(text.starts_with("Run ") && text.contains("is not active; `ralph resume "), "{text}");
    select(&mut model, 8);
    typed(&mut model, "s");
    assert!(model.answer.as_ref().unwrap().text.ends_with("has ended."));
    assert!(model.question.is_none());
}

#[test]
fn what_became_of_a_request_is_said_once_it_is_known() {
    let table = [
        (Request::Pause, Ok(Sent::Recorded), "will pause before its next call"),
        (Request::Continue, Ok(Sent::Recorded), "continues"),
        (Request::Stop { after: true, signal: 2 }, Ok(Sent::Recorded), "will stop after this iteration"),
        (Request::Hint { text: "x".into() }, Ok(Sent::Recorded), "will include the hint"),
        (Request::Hint { text: "x".into() }, Ok(Sent::Kept), "`ralph resume 7ebeed4a` will include the hint"),
        (Request::Pause, Ok(Sent::Waiting), "has not answered yet"),
        (Request::Pause, Ok(Sent::NotActive), "is not active"),
        (Request::Pause, Err("disk full".to_owned()), "could not be sent: disk full"),
    ];
    for (request, sent, words) in table {
        let mut model = model(WIDE);
        model.answered("0199-7ebeed4a", &request, &sent);
        let text = model.answer.as_ref().unwrap().text.clone();
        assert!(text.contains(words), "{text}");
        model.set_now(NOW + 5_000);
        assert!(model.answer.is_some());
        model.set_now(NOW + 6_000);
        assert!(model.answer.is_none(), "an answer goes after a while");
    }
}

#[test]
fn keys_move_through_runs_in_the_order_of_the_groups() {
    let mut model = model(NARROW);
    assert_eq!(task(&model), "Make the parser accept nested quotes", "the newest that works comes first");
    let table = [
        ("g", "Rotate the signing key"),
        ("j", "Send mail through the new gateway"),
        ("↓", "Crashed while it worked"),
        ("↑", "Send mail through the new gateway"),
        ("k", "Rotate the signing key"),
        ("k", "Rotate the signing key"),
        ("G", "Stopped by a person"),
        ("j", "Stopped by a person"),
        ("n", "Rotate the signing key"),
        ("n", "Send mail through the new gateway"),
        ("nn", "Rotate the signing key"),
    ];
    for (keys, wanted) in table {
        assert_eq!(typed(&mut model, keys), []);
        assert_eq!(task(&model), wanted, "{keys}");
    }
    assert!(typed(&mut model, "G b").is_empty());
}

#[test]
fn the_selected_run_is_always_seen() {
    for size in [WIDE, NARROW, (40, 9)] {
        let mut model = model(size);
        for keys in ["g", "j", "j", "j", "j", "j", "G", "k", "k", "k", "k", "k", "k", "g"] {
            typed(&mut model, keys);
            let cards = model.listed();
            let rows = ralph_monitor::model::list_rows(&cards);
            let at = cards.iter().position(|card| Some(&card.run.row.id) == model.selected.as_ref()).unwrap();
            let row = rows.iter().position(|row| *row == ralph_monitor::model::ListRow::Task(at)).unwrap();
            let seen = model.list_top..model.list_top + model.list_height();
            assert!(
                seen.contains(&row) && seen.contains(&(row + 1)),
                "{keys} at {size:?}: {row} in {seen:?}"
            );
        }
    }
}

#[test]
fn escape_closes_what_was_opened_last_and_leaves_at_the_end() {
    let mut model = model(NARROW);
    assert_eq!(typed(&mut model, "/parser\r"), []);
    assert_eq!(model.filter, "parser");
    assert_eq!(typed(&mut model, "\r"), []);
    assert!(model.open);
    typed(&mut model, "\t");
    assert_eq!(model.lower, Lower::Iterations(0));
    typed(&mut model, "?");
    assert!(model.page.is_some());
    typed(&mut model, "\u{1b}");
    assert!(model.page.is_none());
    typed(&mut model, "\u{1b}");
    assert_eq!(model.lower, Lower::Activity);
    typed(&mut model, "\u{1b}");
    assert!(!model.open);
    assert_eq!(typed(&mut model, "\u{1b}"), []);
    assert_eq!(model.filter, "");
    assert_eq!(typed(&mut model, "\u{1b}"), [Effect::Leave]);
    assert_eq!(typed(&mut model, "q"), [Effect::Leave]);
}

#[test]
fn pages_are_opened_for_the_run_and_the_iteration_that_is_selected() {
    let table = [
        ("o", PageKind::Transcript, Some(5)),
        ("\tjo", PageKind::Transcript, Some(4)),
        ("\tjj\r", PageKind::Transcript, Some(3)),
        // The fifth is under way.
        ("v", PageKind::Verification, Some(4)),
        ("v→", PageKind::Verification, Some(5)),
        ("v←", PageKind::Verification, Some(3)),
        ("\tv", PageKind::Verification, Some(4)),
        ("\tjjv", PageKind::Verification, Some(3)),
        ("\tGv", PageKind::Verification, Some(1)),
        ("\tGv→", PageKind::Verification, Some(2)),
        ("i", PageKind::Prompt, Some(5)),
        ("i←←", PageKind::Prompt, Some(3)),
        ("d", PageKind::Diff, None),
        ("e", PageKind::Explanation, None),
    ];
    for (keys, kind, iteration) in table {
        let mut model = model(WIDE);
        let run = select(&mut model, 0);
        let effects = typed(&mut model, keys);
        let wanted = PageWanted { kind, run, iteration };
        assert_eq!(effects.last(), Some(&Effect::Do(Job::Read(wanted.clone()))), "{keys}");
        assert_eq!(model.page.as_ref().unwrap().wanted, wanted, "{keys}");
    }
    let mut model = model(WIDE);
    select(&mut model, 0);
    typed(&mut model, "v");
    assert_eq!(model.answer.as_ref().unwrap().text, "This is iteration 4; iteration 5 was not verified.");
    // Where none was, the page says so.
    model.detail.as_mut().unwrap().iterations.iter_mut().for_each(|iteration| iteration.verified = None);
    assert_eq!(typed(&mut model, "vv").len(), 1);
    assert_eq!((model.page.as_ref().unwrap().wanted.iteration, &model.answer), (Some(5), &None));
    let mut model = self::model(WIDE);
    assert_eq!(typed(&mut model, "?"), [], "the keys need no reading");
    assert_eq!(typed(&mut model, "?"), []);
    assert!(model.page.is_none(), "the key that opened a page closes it");
    typed(&mut model, "o");
    assert_eq!(typed(&mut model, "←←←←←←").len(), 4, "there is no iteration before the first");
    assert_eq!(typed(&mut model, "qd").len(), 1);
}

#[test]
fn a_page_of_a_run_that_has_done_nothing_is_refused_in_words() {
    let mut model = model(WIDE);
    select(&mut model, 14);
    assert_eq!(typed(&mut model, "o"), []);
    assert_eq!(model.answer.as_ref().unwrap().text, "There is no iteration yet.");
}

#[test]
fn search_filters_the_list_and_finds_on_pages() {
    let mut model = model(NARROW);
    typed(&mut model, "/MAIL");
    assert_eq!(model.listed().len(), 1);
    assert_eq!(task(&model), "Send mail through the new gateway");
    assert_eq!(model.typing, Some(Typing::Search("MAIL".into())));
    typed(&mut model, "\u{7f}\u{7f}\u{7f}\u{7f}vault");
    assert_eq!(task(&model), "Rotate the signing key", "by workspace");
    typed(&mut model, "\u{1b}");
    assert_eq!((model.filter.as_str(), model.typing.as_ref()), ("", None));
    typed(&mut model, "?/leave\r");
    assert!(model.page.as_ref().unwrap().place().contains("found"));
    typed(&mut model, "nN");
    assert!(model.page.is_some());
    assert_eq!(model.filter, "", "a search on a page does not filter the list");
}

#[test]
fn only_what_needs_somebody_is_put_away_and_comes_back() {
    let mut model = model(WIDE);
    select(&mut model, 0);
    assert_eq!(typed(&mut model, "a"), []);
    assert!(model.answer.as_ref().unwrap().bad);
    let run = select(&mut model, 6);
    assert_eq!(typed(&mut model, "a"), [Effect::Do(Job::PutAway { run: run.clone(), away: true })]);
    let mut overview = fake::overview(&all());
    for card in &mut overview.cards {
        card.put_away |= card.run.row.id == run;
    }
    model.set_overview(overview);
    assert_eq!(typed(&mut model, "a"), [Effect::Do(Job::PutAway { run, away: false })]);
}

#[test]
fn the_selection_stays_on_its_run_when_the_list_changes() {
    let mut model = model(WIDE);
    let run = select(&mut model, 3);
    let mut fakes = all();
    fakes.insert(0, fake::Fake { id: "fff", task: "A newer one", ..fake::Fake::default() });
    model.set_overview(fake::overview(&fakes));
    assert_eq!(model.selected.as_ref(), Some(&run));
    assert!(model.detail.is_some());
    fakes.remove(4);
    model.set_overview(fake::overview(&fakes));
    assert_ne!(model.selected.as_ref(), Some(&run), "a run that is gone is not selected");
}

#[test]
fn a_hint_is_at_most_as_long_as_a_prompt_takes() {
    let mut model = model(WIDE);
    typed(&mut model, "h");
    typed(&mut model, &"日".repeat(HINT_BYTES));
    let Some(Typing::Hint { text, .. }) = &model.typing else { panic!("nothing is typed") };
    assert!(text.len() <= HINT_BYTES && text.len() > HINT_BYTES - 3);
}

#[test]
fn no_key_falls_over_whatever_is_shown() {
    let all_keys: Vec<Key> = (' '..='~')
        .map(Key::Char)
        .chain([
            Key::Enter,
            Key::Escape,
            Key::Tab,
            Key::Backspace,
            Key::Up,
            Key::Down,
            Key::Left,
            Key::Right,
            Key::PageUp,
            Key::PageDown,
            Key::Home,
            Key::End,
            Key::Redraw,
            Key::EraseLine,
            Key::Char('日'),
        ])
        .collect();
    // What opens something, then any key, then any other.
    for size in [WIDE, NARROW, (22, 3), (1, 1)] {
        for opens in ["", "\r", "\t", "o", "?", "h", "/", "s"] {
            let mut model = if size == (1, 1) { Model::new(None, size, NOW) } else { model(size) };
            for first in &all_keys {
                typed(&mut model, opens);
                let _ = model.press(*first);
                let _ = model.press(Key::Char('j'));
                (model.page, model.typing, model.question) = (None, None, None);
            }
        }
    }
}

#[test]
fn what_is_pasted_is_text_where_text_is_typed_and_nothing_elsewhere() {
    let paste = |model: &mut Model, text: &str| -> Vec<Effect> {
        text.chars().filter_map(|c| model.press(Key::Pasted(c))).collect()
    };
    let mut model = model(WIDE);
    let run = select(&mut model, 0);
    assert_eq!(paste(&mut model, "q S y /"), []);
    assert!(model.question.is_none() && model.typing.is_none());
    typed(&mut model, "S");
    assert_eq!(paste(&mut model, "y"), []);
    assert!(model.question.is_some(), "a paste answers nothing");
    typed(&mut model, "\u{1b}h");
    assert_eq!(paste(&mut model, "first line  S y"), []);
    let request = Request::Hint { text: "first line S y".into() };
    assert_eq!(typed(&mut model, "\r"), [Effect::Do(Job::Ask { run, request })]);
    typed(&mut model, "/");
    paste(&mut model, "signing");
    assert_eq!(model.filter, "signing");
}

#[test]
fn a_search_also_lists_runs_that_the_overview_is_too_short_for() {
    let mut model = model(WIDE);
    let old = |id, task| Fake { id, task, workspace: "/home/ada/old", ..Fake::default() }.card();
    typed(&mut model, "/nested");
    assert_eq!(model.listed().len(), 1);
    let known = model.listed().first().map(|card| (*card).clone()).unwrap();
    model.set_found(vec![known, old("0199-old", "Nested lists"), old("0199-other", "Something else")]);
    let tasks = |model: &Model| -> Vec<String> {
        model.listed().iter().map(|card| card.run.row.task.clone()).collect()
    };
    assert_eq!(tasks(&model), ["Make the parser accept nested quotes", "Nested lists"]);
    typed(&mut model, "\rj");
    assert_eq!(task(&model), "Nested lists", "it is selected like the others");
    typed(&mut model, "/\u{1b}");
    assert!(!tasks(&model).contains(&"Nested lists".to_owned()), "only while it is searched for");
    assert_ne!(task(&model), "Nested lists");
}

#[test]
fn escape_in_a_search_gives_the_former_selection_back() {
    for size in [WIDE, NARROW] {
        let mut model = model(size);
        typed(&mut model, "gj");
        let before = task(&model);
        for search in ["/signing", "/nothing has this", "/signing\r/x"] {
            typed(&mut model, search);
            assert_ne!(task(&model), before, "{search}");
            typed(&mut model, "\u{1b}");
            assert_eq!((task(&model), model.filter.as_str()), (before.clone(), ""), "{search}");
        }
        typed(&mut model, "/nothing has this\r\u{1b}");
        assert_eq!(task(&model), before, "nothing was found");
        typed(&mut model, "/signing\r\u{1b}");
        assert_eq!(task(&model), "Rotate the signing key", "one that was chosen stays");
    }
}
