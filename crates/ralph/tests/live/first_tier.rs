//! The CLIs that every test run drives. What is special to one stands with it; the two slowest have some of it in the
//! second tier.

use crate::cases;
use crate::clis::{CLAUDE, CODEX, GEMINI, GOOSE, OPENCODE};
use crate::{every_case, tests, tier_is_complete};
use ralph_agents::Tier;

#[path = "first_hours.rs"]
mod first_hours;
#[path = "skills.rs"]
mod skills;

tier_is_complete!(Tier::First, CLAUDE, CODEX, GEMINI, GOOSE, OPENCODE);

mod claude {
    use super::*;
    every_case!(CLAUDE);
    tests! {
        leaves_no_process_behind => cases::leaves_no_process_behind(&CLAUDE);
        commits_its_work => cases::commits_its_work(&CLAUDE);
        is_refused_files_elsewhere => cases::is_refused_files_elsewhere(&CLAUDE, "Write");
        is_ended_when_the_money_is_spent => cases::is_ended_when_the_money_is_spent(&CLAUDE);
        is_cut_off => cases::fails_with(&CLAUDE, "maxtok", "truncated");
        declines => cases::fails_with(&CLAUDE, "refusal", "refusal");
        reaches_its_own_limit_of_turns => cases::reaches_its_own_limit(&CLAUDE, "--max-turns");
        has_too_long_a_context => cases::fails_with(&CLAUDE, "ectx", "context_too_long");
        has_no_credit => cases::fails_with(&CLAUDE, "ecredit", "billing");
        is_answered_with_garbage => cases::fails_with(&CLAUDE, "garbage", "outage");
    }
}

mod codex {
    use super::*;
    every_case!(CODEX);
    tests! {
        leaves_no_process_behind => cases::leaves_no_process_behind(&CODEX);
        may_not_commit => cases::may_not_commit(&CODEX);
        is_cut_off => cases::fails_with(&CODEX, "maxtok", "truncated");
        does_not_say_that_the_model_declined => cases::says_nothing_of(&CODEX, "refusal");
        has_too_long_a_context => cases::fails_with(&CODEX, "ectx", "context_too_long");
        is_answered_with_garbage => cases::fails_with(&CODEX, "garbage", "network");
    }
}

mod goose {
    use super::*;
    every_case!(GOOSE);
    tests! {
        leaves_no_process_behind => cases::leaves_no_process_behind(&GOOSE);
        commits_its_work => cases::commits_its_work(&GOOSE);
        does_not_say_that_it_is_cut_off => cases::says_nothing_of(&GOOSE, "maxtok");
        does_not_say_that_the_model_declined => cases::says_nothing_of(&GOOSE, "refusal");
        reaches_its_own_limit_of_turns => cases::reaches_its_own_limit(&GOOSE, "--max-turns");
        has_too_long_a_context => cases::fails_with(&GOOSE, "ectx", "context_too_long");
        is_answered_with_garbage => cases::fails_with(&GOOSE, "garbage", "outage");
    }
}

mod gemini {
    use super::*;
    every_case!(GEMINI);
}

mod opencode {
    use super::*;
    every_case!(OPENCODE);
}
