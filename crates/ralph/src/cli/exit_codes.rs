//! Every exit code and its meaning: for `ralph help exit-codes`, the man pages and docs/reference.

/// Code, short name, meaning.
pub const EXIT_CODES: &[(u8, &str, &str)] = &[
    (0, "completed", "the work is done, with the grade that was shown, or accepted by a person"),
    (
        1,
        "stopped",
        "no progress: STALL, SAME_ERROR_5X, TEST_SATURATION, OUTPUT_DECLINE, CIRCUIT_OPEN, PERMISSION_DENIED",
    ),
    (
        2,
        "blocked",
        "a person is needed: BLOCKED, NEEDS_REVIEW, NEEDS_PERSON, VERIFY_FAILED_AFTER_SESSION; `ralph reject` left later edits",
    ),
    (3, "limit", "a limit was reached: MAX_ITERATIONS, COST_LIMIT, DAILY_BUDGET, TIME_LIMIT"),
    (4, "tampering", "a protected path or the tests were changed: PROHIBITED_PATH, ORACLE_CHANGED"),
    (64, "usage", "invalid arguments, or an invalid RALPH_ variable"),
    (65, "input", "an input file cannot be read or is invalid; the plan of a run by stories: PLAN_UNUSABLE"),
    (69, "unavailable", "the agent or editor is missing, or not logged in: AGENT_UNAVAILABLE"),
    (70, "bug", "a bug in ralph; please report it"),
    (73, "busy", "another run is active in this workspace, or a file cannot be created"),
    (
        74,
        "journal",
        "journal or workspace unusable, or no room on a disk: STORE_UNSAFE, WORKSPACE_LOST, WORKSPACE_UNWRITABLE",
    ),
    (75, "later", "rate limited with --no-wait, or longer than max_wait: RATE_LIMIT"),
    (
        78,
        "config",
        "a configuration file is invalid, or a verify command cannot run or end: VERIFY_CANNOT_RUN, BASELINE_TIMED_OUT",
    ),
    (129, "interrupted", "by SIGHUP; the run can be resumed"),
    (130, "interrupted", "by Ctrl-C or `ralph stop`; the run can be resumed"),
    (143, "interrupted", "by SIGTERM; the run can be resumed"),
];
