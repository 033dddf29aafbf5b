use super::*;
use proptest::prelude::*;

/// Runs a search where these hunks are held, and says what it found and in how many runs.
fn searched(mut search: Search, held: &[bool]) -> (Vec<Held>, usize) {
    let mut runs = 0;
    while let Some(group) = search.next_group() {
        assert!(!group.is_empty());
        assert_eq!(search.next_group(), Some(group.clone()), "the same until it is answered");
        search.answer(group.iter().any(|hunk| held[*hunk]));
        runs += 1;
        assert!(runs <= 3 * held.len(), "no end");
    }
    (search.held().to_vec(), runs)
}

#[test]
fn a_group_stands_for_its_hunks() {
    let groups = [vec![0, 1], vec![2], vec![3, 4]];
    let held = [true, false, true, false, false];
    let (found, runs) = searched(Search::new(5, |_| true, &groups), &held);
    assert_eq!(found, [Held::HeldTogether, Held::HeldTogether, Held::Held, Held::NotHeld, Held::NotHeld]);
    assert_eq!(runs, 3);
}

#[test]
fn hunks_of_a_held_group_are_tried_alone_if_asked_for() {
    let groups = [vec![0, 1, 2]];
    let rows = [
        ([false, false, true], [Held::NotHeld, Held::NotHeld, Held::Held], 3),
        ([true, false, true], [Held::Held, Held::NotHeld, Held::Held], 4),
        ([false, false, false], [Held::NotHeld; 3], 1),
    ];
    for (held, expected, runs) in rows {
        assert_eq!(searched(Search::new(3, |_| true, &groups).in_detail(), &held), (expected.to_vec(), runs));
    }
}

#[test]
fn trivial_hunks_are_not_tried() {
    let (found, runs) = searched(Search::new(3, |hunk| hunk != 1, &[vec![0, 1]]), &[true, true, false]);
    assert_eq!((found, runs), (vec![Held::Held, Held::NotTried, Held::NotHeld], 2));
    assert_eq!(Search::new(0, |_| true, &[]).next_group(), None);
    assert_eq!(Search::new(2, |_| false, &[]).next_group(), None);
}

#[test]
fn a_search_out_of_time_says_what_it_knows() {
    let mut search = Search::new(3, |_| true, &[]);
    assert_eq!(search.next_group(), Some(vec![0]));
    search.answer(true);
    assert_eq!(search.next_group(), Some(vec![1]));
    assert_eq!(search.held(), [Held::Held, Held::NotTried, Held::NotTried]);
}

#[test]
fn what_no_test_notices_takes_few_runs() {
    let (found, runs) = searched(Search::new(100, |_| true, &[]), &[false; 100]);
    assert!(found.iter().all(|held| *held == Held::NotHeld));
    assert!(runs <= 10, "{runs}");
}

/// Numbers that only look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// A change of some files: their functions have one to five hunks, and what is held is mostly a matter of the file and
/// then of the function. About 79 of 100 hunks are held.
fn change(numbers: &mut Numbers) -> (Vec<Vec<usize>>, Vec<bool>) {
    let (mut groups, mut held) = (Vec::new(), Vec::new());
    for _ in 0..1 + numbers.below(8) {
        let tested = numbers.chance(85);
        for _ in 0..1 + numbers.below(6) {
            let noticed = numbers.chance(if tested { 95 } else { 8 });
            let size = [1, 1, 2, 3, 5][usize::try_from(numbers.below(5)).unwrap()];
            groups.push((held.len()..held.len() + size).collect());
            held.extend((0..size).map(|_| numbers.chance(if noticed { 97 } else { 3 })));
        }
    }
    (groups, held)
}

#[test]
fn groups_take_half_as_many_runs_as_there_are_hunks() {
    let mut numbers = Numbers(12);
    let (mut hunks, mut truly, mut coarse, mut fine, mut single) = (0, 0, 0, 0, 0);
    for _ in 0..400 {
        let (groups, held) = change(&mut numbers);
        hunks += held.len();
        truly += held.iter().filter(|held| **held).count();
        coarse += searched(Search::new(held.len(), |_| true, &groups), &held).1;
        fine += searched(Search::new(held.len(), |_| true, &groups).in_detail(), &held).1;
        single += searched(Search::new(held.len(), |_| true, &[]), &held).1;
    }
    let percent = |part: usize| 100 * part / hunks;
    println!(
        "held {} %, groups {} %, in detail {} %, without groups {} %",
        percent(truly),
        percent(coarse),
        percent(fine),
        percent(single)
    );
    assert!((76..=82).contains(&percent(truly)), "{}", percent(truly));
    assert!(percent(coarse) <= 50, "{}", percent(coarse));
    // To know a held hunk by itself takes a run for it: detail cannot be cheap.
    assert!(percent(fine) <= 130, "{}", percent(fine));
    assert!(percent(single) <= 105, "{}", percent(single));
}

proptest! {
    #[test]
    fn nothing_is_said_without_evidence(held in proptest::collection::vec(any::<bool>(), 0..40), cuts in proptest::collection::vec(1_usize..6, 0..40), detail: bool) {
        let (mut groups, mut from) = (Vec::new(), 0);
        for size in cuts {
            groups.push((from..(from + size).min(held.len())).collect::<Vec<_>>());
            from = (from + size).min(held.len());
        }
        let search = Search::new(held.len(), |_| true, &groups);
        let (found, _) = searched(if detail { search.in_detail() } else { search }, &held);
        for (hunk, found) in found.iter().enumerate() {
            match found {
                Held::Held => prop_assert!(held[hunk]),
                Held::NotHeld => prop_assert!(!held[hunk]),
                Held::HeldTogether => {
                    let group = groups.iter().find(|group| group.contains(&hunk)).unwrap();
                    prop_assert!(!detail && group.len() > 1 && group.iter().any(|hunk| held[*hunk]));
                }
                Held::NotTried => prop_assert!(false, "every hunk is tried"),
            }
        }
    }
}
