"""What a model can do in one turn: the words that scenarios are written in."""


def sh(command):
    return {"do": "sh", "command": command}


def behind(command):
    """A command that the client runs in the background, and goes on."""
    return {"do": "sh", "command": command, "behind": True}


def delegate(prompt):
    """A subagent, in the background."""
    return {"do": "delegate", "prompt": prompt}


def write(path, text):
    return {"do": "write", "path": path, "text": text}


def read(path):
    return {"do": "read", "path": path}


def edit(path, before, after):
    return {"do": "edit", "path": path, "before": before, "after": after}


def say(text):
    return {"do": "say", "text": text}


def cut_off(stop, text):
    return {"do": "say", "text": text, "stop": stop}


def slowly(seconds, text):
    return {"do": "say", "text": text, "seconds": seconds}


def error(status, kind, message, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"do": "error", "status": status, "kind": kind, "message": message, "headers": headers}


def raw(status, body):
    return {"do": "raw", "status": status, "body": body}


def block(status, tests, leave, advice):
    return (
        f"---RALPH_STATUS---\nSTATUS: {status}\nTASKS_COMPLETED_THIS_LOOP: 1\nFILES_MODIFIED: 1\nTESTS_STATUS: {tests}\n"
        f"WORK_TYPE: IMPLEMENTATION\nEXIT_SIGNAL: {leave}\nRECOMMENDATION: {advice}\n---END_RALPH_STATUS---"
    )


def limit(window, header, ahead):
    """Anthropic's answer to a subscriber whose window is used up."""
    reset = f"@+{ahead}"
    return error(
        429, "rate_limit_error", "This request would exceed your account's rate limit. Please try again later.",
        anthropic_ratelimit_unified_status="rejected", anthropic_ratelimit_unified_reset=reset,
        anthropic_ratelimit_unified_representative_claim=window, retry_after=str(ahead),
        **{f"anthropic_ratelimit_unified_{header}_status": "rejected",
           f"anthropic_ratelimit_unified_{header}_reset": reset,
           f"anthropic_ratelimit_unified_{header}_utilization": "1.0"},
    )
