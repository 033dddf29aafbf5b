# Every function of `ralph shell-lib` as a script of the seeds would call it. Stops at the first wrong answer.
set -eu
. ./ralph.sh

same() { [ "$2" = "$3" ] || { printf '%s: expected [%s], got [%s]\n' "$1" "$2" "$3" >&2; exit 1; }; }
fails() { if "$@"; then printf '%s should have failed\n' "$*" >&2; exit 1; fi; }

block() {
    printf '%s\n---RALPH_STATUS---\nSTATUS: %s\nTASKS_COMPLETED_THIS_LOOP: 2\nFILES_MODIFIED: 3\nTESTS_STATUS: PASSING\n' "$1" "$2"
    printf 'WORK_TYPE: REFACTORING\nEXIT_SIGNAL: %s\nRECOMMENDATION: %s\n---END_RALPH_STATUS---\n' "$3" "$4"
}

# --- Response analyzer
fails ra_should_exit 2>no-response
same 'asked too early' 'ralph.sh: no response was given yet; call ra_parse_text first, or analyze_response and update_exit_signals' "$(cat no-response)"
ra_init
done_response=$(block 'All tasks complete. All tests pass.' COMPLETE true 'It says "done"')
same format text "$(ra_detect_format "$done_response")"
same 'format of JSON' json "$(ra_detect_format '{"result": "x"}')"
ra_parse_text "$done_response"
same decision project_complete "$(ra_should_exit)"
same 'one field' COMPLETE "$(ra_extract_status STATUS)"
same 'a number' 2 "$(ra_extract_status TASKS_COMPLETED_THIS_LOOP)"
same 'by its name in JSON' true "$(ra_extract_status exit_signal)"
same 'all fields' 'RECOMMENDATION: It says "done"' "$(ra_extract_status | tail -n 1)"
same 'work type' REFACTORING "$(ra_get_work_type)"
fails ra_detect_stuck_loop

ra_parse_text "$(block 'All tasks complete. All tests pass.' IN_PROGRESS false 'Go on')"
same 'a signal that denies' continue "$(ra_should_exit)"

ra_parse_json '{"result": "All tests pass. All tasks complete.", "exit_signal": true, "status": "COMPLETE", "work_type": "TESTING", "metadata": {"files_changed": 1}}'
same 'status in JSON' COMPLETE "$(ra_extract_status STATUS)"

ra_parse_text 'I looked around.' 2>warning
same 'no block' 'ralph.sh: the response has no RALPH_STATUS block; its text is judged instead' "$(cat warning)"
same 'conservative' continue "$(ra_should_exit)"

ra_init
for n in 1 2 3; do
    fails ra_detect_stuck_loop 2>/dev/null
    ra_parse_text "error: cannot find value x in module $n" 2>/dev/null
done
ra_detect_stuck_loop
detect_stuck_loop

ra_init
printf '%s\n' "$done_response" >'a response.txt'
analyze_response 'a response.txt' 1
fails ra_should_exit 2>/dev/null
update_exit_signals
same 'after a file' project_complete "$(ra_should_exit)"
same summary 'exit_decision          project_complete' "$(log_analysis_summary | head -n 1)"
grep -q '"exit_decision": "project_complete"' .ralph/loop/analysis.json

# --- Circuit breaker
cb_init
init_circuit_breaker
same 'at first' CLOSED "$(cb_get_state)"
ra_parse_text "$(block 'Stuck.' BLOCKED false 'needs a key')"
same 'a blocked agent' blocked "$(ra_should_exit)"
cb_get_stats | grep -q 'needs a key'
same 'counts as nothing' CLOSED "$(cb_get_state)"

cb_check_progression
cb_record_failure 'error: one'
fails cb_check_progression
cb_record_failure 'error: two'
same 'two failures' CLOSED "$(cb_evaluate)"
cb_record_failure 'error: three'
same 'three failures' HALF_OPEN "$(cb_get_state)"
fails should_halt_execution
cb_record_success
cb_check_progression
same 'success closes it' CLOSED "$(cb_get_state)"

for n in 1 2 3 4; do record_loop_result "$n" 0 false; done
same 'no progress' OPEN "$(cb_get_state)"
should_halt_execution
show_circuit_status | grep -q '^OPEN (.*), recorded by a script: '
cb_record_success
same 'stays open' OPEN "$(cb_get_state)"
cb_reset
same 'reset' CLOSED "$(cb_get_state)"
cb_record_failure x
fails cb_check_progression
reset_circuit_breaker
cb_check_progression

ra_init
for n in 1 2 3 4 5; do record_loop_result "$n" 3 true; done
same 'the same error' OPEN "$(cb_get_state)"
cb_reset

CB_NO_PROGRESS_THRESHOLD=1 CB_HALF_OPEN_RETRIES=1 CB_SAME_ERROR_THRESHOLD=9 CB_OUTPUT_DECLINE_THRESHOLD=70
record_loop_result 1 0 no
same 'own threshold' HALF_OPEN "$(_ralph circuit record --blocked asks --half-open-after 1 --open-after 1 --get state)"
record_loop_result 2 0 no
same 'own retries' OPEN "$(cb_get_state)"
cb_reset
for n in 1 2 3; do record_loop_result "$n" 1 false 1000; done
record_loop_result 4 1 false 299
same 'shrinking output' OPEN "$(cb_get_state)"
cb_reset
printf 'every function was called\n'
