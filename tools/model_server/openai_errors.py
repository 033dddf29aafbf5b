"""How OpenAI words a failure, in both of its APIs."""

import time

CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


def failure(step):
    kind, message = step["kind"], step["message"]
    if kind == "usage_limit_reached":
        ahead = step.get("resets", 3600)
        return {"error": {"type": kind, "message": message, "plan_type": "plus", "resets_at": int(time.time()) + ahead,
                          "resets_in_seconds": ahead}}
    code = kind if kind == "insufficient_quota" else CODES.get(step["status"])
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
