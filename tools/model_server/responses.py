"""OpenAI Responses."""

import json
import time
import uuid

import usage
from openai_errors import failure  # noqa: F401  (part of what every API offers)

OUTPUTS = ("function_call_output", "local_shell_call_output", "custom_tool_call_output")


def tools(body):
    found = {}
    collect(body.get("tools"), "", found)
    return found


def collect(listed, namespace, found):
    for tool in listed or []:
        if tool.get("type") == "namespace":
            collect(tool.get("tools"), tool.get("name", ""), found)
        else:
            name = tool.get("name") or tool.get("type")
            found[name] = dict(tool.get("parameters") or {}, kind=tool.get("type"), namespace=namespace)


def turn(body):
    """Tool results since the last message of the user."""
    count = 0
    for item in reversed(items(body)):
        if item.get("type") in OUTPUTS:
            count += 1
        elif item.get("type") in (None, "message") and item.get("role") == "user":
            break
    return count


def said(body):
    messages = [item for item in items(body) if item.get("role") == "user"]
    return "\n".join(json.dumps(m.get("content"), ensure_ascii=False) for m in messages)


def items(body):
    given = body.get("input")
    return given if isinstance(given, list) else [{"role": "user", "content": given}]


def form(body):
    """The schema that the answer must fit, if any."""
    return ((body.get("text") or {}).get("format") or {}).get("schema")


def answer(out, body, answer, stream):
    used = {"input_tokens": usage.INPUT, "input_tokens_details": {"cached_tokens": usage.CACHE_READ},
            "output_tokens": usage.OUTPUT, "output_tokens_details": {"reasoning_tokens": usage.REASONING},
            "total_tokens": usage.TOTAL}
    is_cut_short = answer.stop == "length"
    whole = {"id": "resp_test" + uuid.uuid4().hex[:16], "object": "response", "created_at": int(time.time()),
             "model": body.get("model", "test"), "status": "incomplete" if is_cut_short else "completed",
             "output": [item(answer)], "usage": used, "error": None, "parallel_tool_calls": False, "tools": [],
             "incomplete_details": {"reason": "max_output_tokens"} if is_cut_short else None, "tool_choice": "auto"}
    if not stream:
        return out.json(whole)
    out.stream()
    number = iter(range(1_000_000))

    def event(kind, **fields):
        out.event(dict(type=kind, sequence_number=next(number), **fields), kind)

    opening = dict(whole, status="in_progress", output=[], usage=None)
    event("response.created", response=opening)
    event("response.in_progress", response=opening)
    stream_item(event, whole["output"][0], answer)
    event("response.incomplete" if is_cut_short else "response.completed", response=whole)


def item(answer):
    if not answer.call:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        return {"type": "message", "id": "msg_test" + uuid.uuid4().hex[:10], "role": "assistant", "status": "completed",
                "content": [part]}
    name, args = answer.call
    call = "call_test" + uuid.uuid4().hex[:12]
    schema = answer.tools[name]
    if schema.get("kind") == "local_shell":
        action = {"type": "exec", "command": args["command"]}
        return {"type": "local_shell_call", "id": "lsh_" + call, "call_id": call, "status": "completed", "action": action}
    made = {"type": "function_call", "id": "fc_" + call, "call_id": call, "name": name, "arguments": json.dumps(args),
            "status": "completed"}
    return dict(made, namespace=schema["namespace"]) if schema.get("namespace") else made


def stream_item(event, item, answer):
    at = {"item_id": item["id"], "output_index": 0}
    if item["type"] == "message":
        part = item["content"][0]
        event("response.output_item.added", output_index=0, item=dict(item, content=[], status="in_progress"))
        event("response.content_part.added", **at, content_index=0, part=dict(part, text=""))
        for piece in answer.pieces():
            event("response.output_text.delta", **at, content_index=0, delta=piece)
        event("response.output_text.done", **at, content_index=0, text=answer.text)
        event("response.content_part.done", **at, content_index=0, part=part)
    else:
        event("response.output_item.added", output_index=0, item=dict(item, status="in_progress"))
        if "arguments" in item:
            event("response.function_call_arguments.delta", **at, delta=item["arguments"])
            event("response.function_call_arguments.done", **at, arguments=item["arguments"])
    event("response.output_item.done", output_index=0, item=item)
