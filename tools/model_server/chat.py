"""OpenAI Chat Completions, as most providers offer it."""

import json
import time
import uuid

import usage
from openai_errors import failure  # noqa: F401  (part of what every API offers)

STOPS = {"end": "stop", "length": "length", "refusal": "content_filter", "cut": "stop"}


def tools(body):
    functions = [tool.get("function") or tool for tool in body.get("tools") or []]
    return {function.get("name"): function.get("parameters") or {} for function in functions}


def turn(body):
    """Tool results since the last message of the user. Goose puts words of its own in the user's mouth in between."""
    count = 0
    for message in reversed(body.get("messages") or []):
        is_user = message.get("role") == "user"
        if is_user and not (count and str(message.get("content")).startswith("<info-msg>")):
            break
        count += message.get("role") == "tool"
    return count


def said(body):
    messages = [m for m in body.get("messages") or [] if m.get("role") == "user"]
    return "\n".join(json.dumps(m.get("content"), ensure_ascii=False) for m in messages)


def form(body):
    """The schema that the answer must fit, if any."""
    return ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")


def answer(out, body, answer, stream):
    used = {"prompt_tokens": usage.INPUT, "completion_tokens": usage.OUTPUT, "total_tokens": usage.TOTAL,
            "prompt_tokens_details": {"cached_tokens": usage.CACHE_READ}}
    reason = "tool_calls" if answer.call else STOPS[answer.stop]
    head = {"id": "chatcmpl-test" + uuid.uuid4().hex[:12], "created": int(time.time()), "model": body.get("model", "test")}
    if not stream:
        message = {"role": "assistant", "content": answer.text or None, **calls(answer)}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return out.json(dict(head, object="chat.completion", choices=[choice], usage=used))
    out.stream()

    def chunk(delta, finish=None):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        out.event(dict(head, object="chat.completion.chunk", choices=[choice]))

    chunk({"role": "assistant", "content": ""})
    if answer.call:
        chunk(calls(answer))
    for piece in answer.pieces():
        chunk({"content": piece})
    chunk({}, reason)
    out.event(dict(head, object="chat.completion.chunk", choices=[], usage=used))
    out.event("[DONE]")


def calls(answer):
    if not answer.call:
        return {}
    name, args = answer.call
    function = {"name": name, "arguments": json.dumps(args)}
    call = {"index": 0, "id": "call_test" + uuid.uuid4().hex[:12], "type": "function", "function": function}
    return {"tool_calls": [call]}
