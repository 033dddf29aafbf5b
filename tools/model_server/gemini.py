"""Google Gemini."""

import re
import uuid

import usage

STOPS = {"end": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY", "cut": "STOP"}
STATUS = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
          429: "RESOURCE_EXHAUSTED", 500: "INTERNAL"}
USED = {"promptTokenCount": usage.INPUT, "candidatesTokenCount": usage.OUTPUT, "totalTokenCount": usage.TOTAL,
        "cachedContentTokenCount": usage.CACHE_READ}


def tools(body):
    declared = [d for tool in body.get("tools") or [] for d in tool.get("functionDeclarations") or []]
    return {d.get("name"): d.get("parametersJsonSchema") or d.get("parameters") or {} for d in declared}


def turn(body):
    """Tool results since the last plain message of the user."""
    count = 0
    for content in reversed(body.get("contents") or []):
        if content.get("role") == "model":
            continue
        results = sum("functionResponse" in part for part in content.get("parts") or [])
        if results == 0:
            break
        count += results
    return count


def said(body):
    contents = [c for c in body.get("contents") or [] if c.get("role") != "model"]
    return "\n".join(part.get("text") or "" for c in contents for part in c.get("parts") or [])


def form(body):
    """The schema that the answer must fit, if any."""
    wanted = body.get("generationConfig") or {}
    return wanted.get("responseJsonSchema") or wanted.get("responseSchema")


def failure(step):
    status = STATUS.get(step["status"], "UNAVAILABLE")
    return {"error": {"code": step["status"], "message": step["message"], "status": status}}


def answer(out, _body, answer, stream):
    stop = STOPS[answer.stop]
    model = re.search("/models/([^/:]+):", out.path)[1]

    def response(part, stop):
        candidate = {"content": {"role": "model", "parts": [part]}, "index": 0}
        ending = {"finishReason": stop} if stop else {}
        used = {"usageMetadata": USED} if stop else {}
        return {"candidates": [{**candidate, **ending}], "modelVersion": model, "responseId": uuid.uuid4().hex[:12], **used}

    if answer.call or not stream or not answer.text:
        name, args = answer.call or (None, None)
        part = {"functionCall": {"name": name, "args": args}} if answer.call else {"text": answer.text}
        if not stream:
            return out.json(response(part, stop))
        out.stream()
        return out.event(response(part, stop))
    out.stream()
    sent = 0
    for piece in answer.pieces():
        sent += len(piece)
        out.event(response({"text": piece}, stop if sent == len(answer.text) else None))

