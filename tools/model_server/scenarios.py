"""What the model does, as data. A scenario is a list of steps; the one that is played follows from the request itself
(how many tool results came since the last message of the user), so neither retries nor side requests put a script out
of step. More things a scenario may say:

  again    other steps for a call of `ralph` that is not its first: its prompt says so (see AGAIN)
  reviewed  the steps of a reviewer: its prompt says so (see REVIEW)
  delegated  the steps of a subagent: its prompt says so (see DELEGATED)
  noticed  other steps once the client told its model that work in the background has ended, or that a goal of its own
           is not reached (see NOTICES)
  closed   the answer as long as the test keeps the door closed (`--door FILE`), whatever the client tries
  limited  the answer to any call but the first, for `seconds` from when it is first asked for
  headers  added to every answer; a value "@+N" is the time N seconds ahead
"""

from first_hours import FIRST_HOURS
from steps import behind, block, cut_off, delegate, edit, error, limit, raw, read, say, sh, slowly, write

# Stands in every prompt of ralph's but the first.
AGAIN = "[Ralph Loop Context - Iteration"
# Stands in the prompt of a reviewer.
REVIEW = "---RALPH_REVIEW---"
# Stands in the prompt of a subagent.
DELEGATED = "[a part of the work]"
NOTICES = ("<task-notification>", "Stop hook feedback")


DONE = say("The greeting is written. All tests pass and all stories are complete.\n\n"
           + block("COMPLETE", "PASSING", "true", "All tasks complete"))
MORE = say("The greeting is written; the parser is next.\n\n"
           + block("IN_PROGRESS", "FAILING", "false", "Next: write the parser"))
STUCK = say("I cannot go on.\n\n" + block("BLOCKED", "NOT_RUN", "false", "Database credentials are needed"))
PROMISE = say("It is done. <promise>GREETED</promise>")
SHIP = say(f"The greeting is right.\n\n{REVIEW}\nVERDICT: SHIP\nFINDINGS:\n---END_RALPH_REVIEW---")
GREET = write("greeting.txt", "hello\n")


def standing(status, used):
    """What Anthropic tells a subscriber beside an answer."""
    unified = {"status": status, "reset": "@+3600", "representative-claim": "five_hour", "5h-status": status,
               "5h-reset": "@+3600", "5h-utilization": used}
    return {f"anthropic-ratelimit-unified-{name}": value for name, value in unified.items()}


def quota(kind, message, delay):
    """Gemini's answer when a quota is used up."""
    google = "type.googleapis.com/google.rpc."
    violation = {"quotaMetric": "generativelanguage.googleapis.com/generate_content_requests", "quotaId": kind,
                 "quotaValue": "50"}
    details = [{"@type": google + "QuotaFailure", "violations": [violation]},
               {"@type": google + "RetryInfo", "retryDelay": delay}]
    return raw(429, {"error": {"code": 429, "message": message, "status": "RESOURCE_EXHAUSTED", "details": details}})


TOO_MANY = "This request would exceed your organization's rate limit of 50 requests per minute (scripted)"
# Clients that cannot be kept from trying again by themselves do so at once, where they heed this header.
SOON = {"retry_after_ms": "100"}
OVERLOADED = error(529, "overloaded_error", "Overloaded", **SOON)
BROKEN = error(500, "api_error", "Internal server error (scripted)", **SOON)
NO_CREDIT = ("Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or "
             "purchase credits.")
SLEEP = "python3 -c 'import time; time.sleep(300)'"

SCENARIOS = {
    **FIRST_HOURS,
    # work, done with the client's own tools
    "ok": {"steps": [GREET, DONE]},
    # The first call of a run writes the wrong thing and claims to be done; the second mends it.
    "work": {
        "steps": [write("greeting.txt", "helo\n"), DONE],
        "again": [read("greeting.txt"), edit("greeting.txt", "helo", "hello"), DONE],
    },
    "reviewed": {"steps": [GREET, DONE], "reviewed": [sh("cat greeting.txt"), SHIP]},
    "shell": {"steps": [sh("printf 'hello\\n' > greeting.txt && cat greeting.txt"), DONE]},
    "commit": {"steps": [sh("printf 'hello\\n' > greeting.txt && git add -A && git -c user.name=a -c user.email=a@localhost "
                            "commit -qm 'Greet' && git log --format=%s | head -1"), DONE]},
    "more": {"steps": [GREET, MORE]},
    "blocked": {"steps": [STUCK]},
    "text": {"steps": [DONE]},
    "nostatus": {"steps": [say("I looked around. Everything seems fine, nothing left to do.")]},
    "outside": {"steps": [write("../outside/evil.txt", "outside\n"), MORE]},
    # A hook for its client and new logins, written to where the client keeps its state.
    "planted": {"steps": [sh("work=$PWD; for dir in \"${CLAUDE_CONFIG_DIR:-$HOME/.claude}\" \"${CODEX_HOME:-$HOME/.codex}\"; do "
                             "cd \"$dir\" && echo '{\"hooks\":{}}' > hooks.json && cp hooks.json settings.json && "
                             "echo '{\"renewed\":true}' | tee .credentials.json > auth.json && "
                             "echo hook and login > \"$work/planted\"; done; true"), GREET, DONE]},
    "fail": {"steps": [sh("echo boom >&2; exit 3"), MORE]},
    "loop": {"steps": [sh("date +%s%N >> loop.txt; tail -1 loop.txt")]},  # the last step repeats: it never ends
    "bigout": {"steps": [sh("seq 1 60000"), DONE]},
    # Sleeps in a tool until it is killed; the call after that finds the mark and goes on.
    "killed": {"steps": [sh(f"if test -e started; then echo again; else touch started && {SLEEP}; fi"), GREET, DONE]},
    "sleep": {"steps": [sh(SLEEP), DONE]},
    "bg": {"steps": [GREET, sh("nohup sleep 301 >/dev/null 2>&1 & touch started"), DONE]},
    "bgsetsid": {"steps": [GREET, sh("setsid sleep 302 >/dev/null 2>&1 < /dev/null & touch started"), DONE]},
    # beside the work: a subagent that takes a second, a shell that outlives the turn
    "subagent": {"steps": [delegate(f"{DELEGATED} Write the greeting."), DONE],
                 "delegated": [sh("sleep 1"), GREET, say("The greeting is written.")], "noticed": [DONE]},
    "bgshell": {"steps": [write("greeting.txt", "helo\n"), behind("sleep 6"), DONE], "noticed": [DONE],
                "again": [read("greeting.txt"), edit("greeting.txt", "helo", "hello"), DONE]},
    "goal": {"steps": [GREET, DONE], "noticed": [DONE]},
    # what passes only as long as a process of the session lives
    "alive": {"steps": [GREET, sh("setsid sleep 304 >/dev/null 2>&1 < /dev/null & touch started"), DONE]},
    # a promise, kept and empty
    "promise": {"steps": [GREET, PROMISE]},
    "promiseonly": {"steps": [PROMISE]},
    # clients without tools: edits in the text, or commands in it
    "aider": {"steps": [say("I will write the greeting.\n\ngreeting.txt\n```\nhello\n```\n\n"
                            + block("COMPLETE", "NOT_RUN", "true", "done"))]},
    "mini": {"steps": [sh("printf 'hello\\n' > greeting.txt"), sh("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")]},
    # the provider says no
    "e400": {"steps": [error(400, "invalid_request_error", "messages: bad request (scripted)")]},
    "ectx": {"steps": [error(400, "invalid_request_error", "prompt is too long: 212345 tokens > 200000 maximum")]},
    "ecredit": {"steps": [error(400, "invalid_request_error", NO_CREDIT)]},
    "e401": {"steps": [error(401, "authentication_error", "invalid x-api-key")]},
    "e403": {"steps": [error(403, "permission_error", "Your account does not have permission (scripted)")]},
    "e404": {"steps": [error(404, "not_found_error", "model: claude-nope")]},
    "e413": {"steps": [error(413, "request_too_large", "Request exceeds the maximum size")]},
    "e429": {"steps": [error(429, "rate_limit_error", TOO_MANY, retry_after="1")]},
    "equota": {"steps": [error(429, "insufficient_quota",
                               "You exceeded your current quota, please check your plan and billing details.")]},
    "eusage": {"steps": [error(429, "usage_limit_reached", "The usage limit has been reached")]},
    "eunified": {"steps": [limit("five_hour", "5h", 3600)]},
    "eweekly": {"steps": [limit("seven_day", "7d", 260000)]},
    "gquota": {"steps": [quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier",
                               "You exceeded your current quota, please check your plan and billing details.", "36s")]},
    "e500": {"steps": [BROKEN]},
    "e503": {"steps": [error(503, "api_error", "Service unavailable (scripted)")]},
    "e529": {"steps": [OVERLOADED]},
    "midfail": {"steps": [GREET, BROKEN]},
    "mid429": {"steps": [GREET, error(429, "rate_limit_error", TOO_MANY, retry_after="1")]},
    # the provider says no until the test opens the door
    "closed429": {"steps": [GREET, DONE],
                  "closed": error(429, "rate_limit_error", TOO_MANY + " Please try again in 3s.", retry_after="3")},
    "closedlimit": {"steps": [GREET, DONE], "closed": limit("five_hour", "5h", 3)},
    "closedusage": {"steps": [GREET, DONE],
                    "closed": {**error(429, "usage_limit_reached", "The usage limit has been reached"), "resets": 3}},
    "closedquota": {"steps": [GREET, DONE], "closed": quota("GenerateRequestsPerMinutePerProjectPerModel",
                                                            "Resource has been exhausted (scripted)", "3s")},
    "closed500": {"steps": [GREET, DONE], "closed": BROKEN},
    "closed529": {"steps": [GREET, DONE], "closed": OVERLOADED},
    # what a subscriber is told on the way
    "warn": {"steps": [GREET, DONE], "headers": {**standing("allowed_warning", "0.92"),
                                                  "anthropic-ratelimit-unified-5h-surpassed-threshold": "0.9"}},
    "allowed": {"steps": [GREET, DONE], "headers": standing("allowed", "0.40")},
    # a model that only writes of limits
    "limittext": {"steps": [say("5-hour limit reached \u2219 resets 3pm\n     /upgrade to increase your usage limit.")]},
    "limitbar": {"steps": [say("Claude AI usage limit reached|1794726000")]},
    # broken answers
    "hang": {"steps": [{"do": "hang", "seconds": 600}]},
    "slow": {"steps": [slowly(30, DONE["text"])]},
    "cut": {"steps": [cut_off("cut", "This stream is cut in the mid")]},
    "reset": {"steps": [{"do": "reset"}]},
    "garbage": {"steps": [{"do": "garbage"}]},
    "maxtok": {"steps": [cut_off("length", "This answer was cut off in the mid")]},
    "refusal": {"steps": [cut_off("refusal", "I can't help with that.")]},
    "empty": {"steps": [say("")]},
}
