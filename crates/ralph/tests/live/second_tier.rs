//! The CLIs that the long test run drives, and what is special to the slow ones of the first tier.

use crate::cases;
use crate::clis::{COPILOT, GEMINI, GROK, KIMI, OPENCODE, PI, QWEN};
use crate::{every_case, tests, tier_is_complete};
use ralph_agents::Tier;

tier_is_complete!(Tier::Second, COPILOT, GROK, KIMI, PI, QWEN);

mod opencode {
    use super::*;
    tests! {
        leaves_no_process_behind => cases::leaves_no_process_behind(&OPENCODE);
        commits_its_work => cases::commits_its_work(&OPENCODE);
        is_refused_files_elsewhere => cases::is_refused_files_elsewhere(&OPENCODE, "write");
        is_ended_when_the_money_is_spent => cases::is_ended_when_the_money_is_spent(&OPENCODE);
        is_cut_off => cases::fails_with(&OPENCODE, "maxtok", "truncated");
        declines => cases::fails_with(&OPENCODE, "refusal", "refusal");
        has_too_long_a_context => cases::fails_with(&OPENCODE, "ectx", "context_too_long");
    }
}

mod gemini {
    use super::*;
    tests! {
        leaves_no_process_behind => cases::leaves_no_process_behind(&GEMINI);
        commits_its_work => cases::commits_its_work(&GEMINI);
        is_refused_files_elsewhere => cases::is_refused_files_elsewhere(&GEMINI, "write_file");
        does_not_say_that_it_is_cut_off => cases::says_nothing_of(&GEMINI, "maxtok");
        does_not_say_that_the_model_declined => cases::says_nothing_of(&GEMINI, "refusal");
        has_too_long_a_context => cases::fails_with(&GEMINI, "ectx", "context_too_long");
        is_answered_with_garbage => cases::fails_with(&GEMINI, "garbage", "outage");
    }
}

mod qwen {
    use super::*;
    every_case!(QWEN);
    tests! {
        reaches_its_own_limit_of_turns => cases::reaches_its_own_limit(&QWEN, "--max-session-turns");
    }
}

mod copilot {
    use super::*;
    every_case!(COPILOT);
}

mod kimi {
    use super::*;
    every_case!(KIMI);
}

mod grok {
    use super::*;
    every_case!(GROK);
    tests! {
        reaches_its_own_limit_of_turns => cases::reaches_its_own_limit(&GROK, "--max-turns");
    }
}

mod pi {
    use super::*;
    every_case!(PI);
}
