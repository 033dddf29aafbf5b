//! One suite, every store: what the trait promises, asked of memory and of SQLite alike.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../common/mod.rs"]
mod common;
mod journal;
mod ledger;
mod outbox;
mod rows;
mod windows;

use ralph_store::{Batch, CommitError, Refusal, Store, Totals};

macro_rules! conformance {
    ($($part:ident::$name:ident)*) => {
        mod memory { $(#[test] fn $name() { super::$part::$name(&super::common::InMemory::new()); })* }
        mod sqlite { $(#[test] fn $name() { super::$part::$name(&super::common::OnDisk::new()); })* }
    };
}

conformance! {
    journal::records_are_appended_and_read_back
    journal::a_stale_head_is_a_conflict_and_nothing_is_written
    journal::the_chain_depends_on_every_record
    journal::following_all_streams_leaves_no_gap
    journal::following_live_writers_leaves_no_gap
    ledger::a_reservation_is_held_until_settled
    ledger::all_limits_grant_or_none_is_touched
    ledger::the_same_reservation_again_is_the_same_grant
    ledger::raising_a_reservation_checks_only_the_difference
    ledger::a_settlement_is_never_refused_and_counts_once
    ledger::a_settlement_frees_room_for_the_reservation_beside_it
    ledger::absurd_amounts_do_not_overflow
    ledger::racing_writers_never_get_more_than_the_cap
    windows::windows_slide
    windows::windows_share_a_meter_with_other_spans_and_are_corrected_by_settling
    windows::windows_survive_a_clock_that_jumps
    rows::the_inbox_is_answered_with_the_record_that_answers_it
    rows::the_newest_run_is_the_one_that_was_started_last
    rows::the_read_model_is_written_with_the_records
    rows::runs_are_found_by_what_is_asked_for
    rows::iterations_are_found_by_age_and_by_error
    rows::accounts_are_found_by_what_runs_have_in_common
    rows::memos_are_kept_and_forgotten
    rows::changes_are_noticed
    outbox::a_note_is_written_with_its_record_and_once
    outbox::a_lease_is_held_by_one_and_ends
    outbox::a_failure_is_tried_again_when_it_is_due
    outbox::what_was_handed_over_is_not_leased_again_and_can_still_fail
    outbox::a_digest_is_leased_as_a_whole
    outbox::what_is_kept_for_quiet_hours_can_be_asked_for
    outbox::quiet_hours_that_end_at_another_time_keep_notes_until_then
    outbox::only_rows_that_were_closed_long_ago_are_deleted
    outbox::a_clock_that_is_set_back_holds_nothing_up
    outbox::racing_deliverers_never_get_the_same_note
}

fn refusal(store: &dyn Store, batch: &Batch) -> Refusal {
    match store.commit(batch).unwrap_err() {
        CommitError::Refused(refusal) => *refusal,
        other => panic!("expected a refusal, got {other}"),
    }
}

fn totals(settled: i64, held: i64) -> Totals {
    Totals { settled, held }
}
