"""Anthropic Messages."""

import json
import uuid

import usage

STOPS = {"end": "end_turn", "length": "max_tokens", "refusal": "refusal", "cut": "end_turn"}
STOP_HOOK = "Stop hook additional context"


def tools(body):
    return {tool.get("name"): tool.get("input_schema") or {} for tool in body.get("tools") or []}


def turn(body):
    """Tool results since the last plain message of the user."""
    count = 0
    for message in reversed(body.get("messages") or []):
        if message.get("role") != "user":
            continue
        results = sum(block.get("type") == "tool_result" for block in blocks(message))
        said_by = text(message).lstrip()
        # What a Stop hook adds begins a turn as the user would.
        reminder = said_by.startswith("<system-reminder>") and STOP_HOOK not in said_by[:60]
        if results == 0 and not (reminder and count):
            break
        count += results
    return count


def said(body):
    return "\n".join(text(m) for m in body.get("messages") or [] if m.get("role") == "user")


def blocks(message):
    content = message.get("content")
    return [b for b in content if isinstance(b, dict)] if isinstance(content, list) else [{"text": content or ""}]


def text(message):
    return " ".join(b.get("text") or "" for b in blocks(message))


def form(body):
    """The schema that the answer must fit, if any."""
    return ((body.get("output_config") or {}).get("format") or body.get("output_format") or {}).get("schema")


def failure(step):
    return {"type": "error", "error": {"type": step["kind"], "message": step["message"]}, "request_id": "req_test"}


def answer(out, body, answer, stream):
    reason = "tool_use" if answer.call else STOPS[answer.stop]
    used = {"input_tokens": usage.INPUT, "cache_creation_input_tokens": usage.CACHE_WRITE,
            "cache_read_input_tokens": usage.CACHE_READ, "output_tokens": usage.OUTPUT, "service_tier": "standard"}
    message = {"id": "msg_test" + uuid.uuid4().hex[:16], "type": "message", "role": "assistant",
               "model": body.get("model", "test"), "content": content(answer), "stop_reason": reason,
               "stop_sequence": None, "usage": used}
    if not stream:
        return out.json(message)
    out.stream()
    # The first event's output tokens are a placeholder, as in the real thing.
    opening = dict(message, content=[], stop_reason=None, usage=dict(used, output_tokens=1))
    event(out, "message_start", message=opening)
    for index, block in enumerate(message["content"]):
        stream_block(out, index, block, answer)
        event(out, "content_block_stop", index=index)
    event(out, "message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage=used)
    event(out, "message_stop")


def content(answer):
    if not answer.call:
        return [{"type": "text", "text": answer.text}] if answer.text else []
    name, args = answer.call
    return [{"type": "text", "text": "Working on it."},
            {"type": "tool_use", "id": "toolu_test" + uuid.uuid4().hex[:16], "name": name, "input": args}]


def stream_block(out, index, block, answer):
    if block["type"] == "tool_use":
        event(out, "content_block_start", index=index, content_block=dict(block, input={}))
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        return event(out, "content_block_delta", index=index, delta=delta)
    event(out, "content_block_start", index=index, content_block={"type": "text", "text": ""})
    for piece in answer.pieces() if not answer.call else [block["text"]]:
        event(out, "content_block_delta", index=index, delta={"type": "text_delta", "text": piece})


def event(out, kind, **fields):
    out.event(dict(type=kind, **fields), kind)
