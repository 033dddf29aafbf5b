# Functions for loops written in shell: the response analyzer and the circuit breaker of ralph, under the names that
# older loop scripts use. Printed by `ralph shell-lib`; load it with `. ./ralph.sh`. It needs ralph and a POSIX shell, works
# under `set -eu`, and needs no jq.
#
#   ralph_program          the ralph to call (default: ralph)
#   RA_DIR                 where the latest responses are kept (default: .ralph/loop)
#   CB_NO_PROGRESS_THRESHOLD, CB_SAME_ERROR_THRESHOLD, CB_OUTPUT_DECLINE_THRESHOLD, CB_HALF_OPEN_RETRIES
#                          thresholds of the breaker (default: [breaker] in ralph.toml)
#
# The breaker is that of the workspace: `ralph circuit status` shows it, and `ralph run` does not start while it is open.
# A function that answers a question does so with its exit status; a function that returns a value prints it and exits
# with 0. What ralph itself cannot do (no such program, a broken configuration) is exit status 1 or higher with its message.

_ralph() { "${ralph_program:-ralph}" "$@"; }

# --- Response analyzer -----------------------------------------------------------------------------------------------

_ra_dir() { printf '%s\n' "${RA_DIR:-.ralph/loop}"; }

_ra_make_dir() {
    mkdir -p "$(_ra_dir)" && printf '*\n' >"$(_ra_dir)/.gitignore"
}

# ralph analyze on the latest response, with the ones before it as history: _ra_get KEY
_ra_get() {
    if ! [ -f "$(_ra_dir)/current" ]; then
        printf 'ralph.sh: no response was given yet; call ra_parse_text first, or analyze_response and update_exit_signals\n' >&2
        return 1
    fi
    (
        _ra_key=$1
        set --
        for _ra_n in 4 3 2 1; do
            if [ -f "$(_ra_dir)/before.$_ra_n" ]; then set -- "$@" "$(_ra_dir)/before.$_ra_n"; fi
        done
        if [ $# -gt 0 ]; then set -- --history "$@"; fi
        _ralph analyze "$(_ra_dir)/current" --get "$_ra_key" "$@"
    )
}

# Forgets earlier responses.
ra_init() {
    _ra_make_dir || return 1
    rm -f "$(_ra_dir)/current" "$(_ra_dir)/new" "$(_ra_dir)/before.1" "$(_ra_dir)/before.2" \
        "$(_ra_dir)/before.3" "$(_ra_dir)/before.4" "$(_ra_dir)/analysis.json"
}

# Makes the file named the latest response; the four before it stay known. Analyzing it again changes nothing.
_ra_take() {
    for _ra_n in 3 2 1; do
        if [ -f "$(_ra_dir)/before.$_ra_n" ]; then
            mv -f "$(_ra_dir)/before.$_ra_n" "$(_ra_dir)/before.$((_ra_n + 1))" || return 1
        fi
    done
    if [ -f "$(_ra_dir)/current" ]; then mv -f "$(_ra_dir)/current" "$(_ra_dir)/before.1" || return 1; fi
    mv -f "$1" "$(_ra_dir)/current"
}

_ra_parse() {
    _ra_make_dir || return 1
    printf '%s\n' "$1" >"$(_ra_dir)/new" || return 1
    _ra_take "$(_ra_dir)/new" || return 1
    _ra_look
}

# Says that the status block is missing, and tells the breaker about a blocked agent.
_ra_look() {
    _ra_found=$(_ra_get ralph_status.found) || return 1
    if [ "$_ra_found" != true ]; then
        printf 'ralph.sh: the response has no RALPH_STATUS block; its text is judged instead\n' >&2
    fi
    _ra_decision=$(_ra_get exit_decision) || return 1
    if [ "$_ra_decision" = blocked ]; then
        _ra_why=$(_ra_get ralph_status.recommendation) || return 1
        _ralph circuit record --blocked "${_ra_why:-the agent reports that it is blocked}" --json >/dev/null || return 1
    fi
}

# ra_parse_json TEXT, ra_parse_text TEXT: read one response. Either reads both formats.
ra_parse_json() { _ra_parse "$1"; }
ra_parse_text() { _ra_parse "$1"; }

# ra_detect_format TEXT: prints json or text.
ra_detect_format() {
    _ra_format=$(printf '%s\n' "$1" | _ralph analyze --get format) || return 1
    case $_ra_format in
    text) printf 'text\n' ;;
    *) printf 'json\n' ;;
    esac
}

_ra_field() {
    case $1 in
    STATUS) printf 'status\n' ;;
    TASKS_COMPLETED_THIS_LOOP) printf 'tasks_completed\n' ;;
    FILES_MODIFIED) printf 'files_modified\n' ;;
    TESTS_STATUS) printf 'tests_status\n' ;;
    WORK_TYPE) printf 'work_type\n' ;;
    EXIT_SIGNAL) printf 'exit_signal\n' ;;
    RECOMMENDATION) printf 'recommendation\n' ;;
    *) printf '%s\n' "$1" ;;
    esac
}

# ra_extract_status [FIELD]: prints one field of the status block, or all of them as FIELD: value.
ra_extract_status() {
    if [ $# -gt 0 ]; then
        _ra_get "ralph_status.$(_ra_field "$1")"
        return
    fi
    for _ra_name in STATUS TASKS_COMPLETED_THIS_LOOP FILES_MODIFIED TESTS_STATUS WORK_TYPE EXIT_SIGNAL RECOMMENDATION; do
        _ra_value=$(_ra_get "ralph_status.$(_ra_field "$_ra_name")") || return 1
        printf '%s: %s\n' "$_ra_name" "$_ra_value"
    done
}

# Prints project_complete, completion_signals, blocked or continue.
ra_should_exit() { _ra_get exit_decision; }

# Exit status 0 if the latest responses repeat the same error.
ra_detect_stuck_loop() {
    _ra_stuck=$(_ra_get stuck_loop_detected) || return 2
    [ "$_ra_stuck" = true ]
}

# Prints IMPLEMENTATION, TESTING, DOCUMENTATION, REFACTORING or nothing.
ra_get_work_type() { _ra_get work_type; }

# analyze_response FILE: reads one response from a file and keeps its analysis in analysis.json. The response becomes part
# of the history with update_exit_signals.
analyze_response() {
    _ra_make_dir || return 1
    cp "$1" "$(_ra_dir)/new" || return 1
    _ralph analyze "$(_ra_dir)/new" >"$(_ra_dir)/analysis.json"
}

# Makes the response that analyze_response read the latest one.
update_exit_signals() {
    if [ -f "$(_ra_dir)/new" ]; then
        _ra_take "$(_ra_dir)/new" || return 1
        _ra_look
    fi
}

# detect_stuck_loop: as ra_detect_stuck_loop.
detect_stuck_loop() { ra_detect_stuck_loop; }

# Prints what the latest response says, in a few lines.
log_analysis_summary() {
    for _ra_key in exit_decision confidence completion_indicators work_type stuck_loop_detected; do
        _ra_value=$(_ra_get "$_ra_key") || return 1
        printf '%-22s %s\n' "$_ra_key" "${_ra_value:--}"
    done
}

# --- Circuit breaker -------------------------------------------------------------------------------------------------

# ralph circuit record with the thresholds of the script.
_cb_record() {
    if [ -n "${CB_NO_PROGRESS_THRESHOLD:-}" ]; then set -- "$@" --half-open-after "$CB_NO_PROGRESS_THRESHOLD"; fi
    if [ -n "${CB_HALF_OPEN_RETRIES:-}" ]; then set -- "$@" --open-after "$CB_HALF_OPEN_RETRIES"; fi
    if [ -n "${CB_SAME_ERROR_THRESHOLD:-}" ]; then set -- "$@" --same-error "$CB_SAME_ERROR_THRESHOLD"; fi
    if [ -n "${CB_OUTPUT_DECLINE_THRESHOLD:-}" ]; then
        set -- "$@" --decline-below "$((100 - CB_OUTPUT_DECLINE_THRESHOLD))"
    fi
    _ralph circuit record "$@" --json >/dev/null
}

# Checks that ralph can be called; an open breaker stays open.
cb_init() { cb_get_state >/dev/null; }

# Prints CLOSED, HALF_OPEN or OPEN.
cb_get_state() { _ralph circuit status --get state; }

# A loop that made progress.
cb_record_success() { _cb_record --files 1; }

# cb_record_failure [MESSAGE]: a loop without progress that ended with an error.
cb_record_failure() { _cb_record --files 0 --error "${1:-}"; }

# Exit status 0 if the latest recorded loop made progress.
cb_check_progression() {
    _cb_idle=$(_ralph circuit status --get loops.withoutProgress) || return 2
    [ "${_cb_idle:-0}" -eq 0 ]
}

# Prints the state after what was recorded.
cb_evaluate() { cb_get_state; }

# Closes the breaker and forgets what was recorded.
cb_reset() { _ralph circuit reset --json >/dev/null; }

# Prints state, counts and history as JSON.
cb_get_stats() { _ralph circuit status --json; }

init_circuit_breaker() { cb_init; }

# record_loop_result ITERATION FILES_MODIFIED HAS_ERRORS [OUTPUT_LENGTH]: how one loop went.
record_loop_result() {
    _cb_length=${4:-}
    case ${3:-false} in
    true | yes | 1)
        _cb_error=$(_ra_last_error) || return 1
        set -- --files "${2:-0}" --error "$_cb_error"
        ;;
    *) set -- --files "${2:-0}" ;;
    esac
    if [ -n "$_cb_length" ]; then set -- "$@" --output-bytes "$_cb_length"; fi
    _cb_record "$@"
}

# The error of the latest response, if one was analyzed.
_ra_last_error() {
    if [ -f "$(_ra_dir)/current" ]; then _ra_get errors.0.text; fi
}

# Exit status 0 if the breaker is open: stop the loop.
should_halt_execution() {
    _cb_state=$(cb_get_state) || return 2
    [ "$_cb_state" = OPEN ]
}

reset_circuit_breaker() { cb_reset; }
show_circuit_status() { _ralph circuit status; }
