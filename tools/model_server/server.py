"""HTTP: which scenario and which API a request means, and how an answer goes out. The APIs' own words are in
`anthropic.py`, `responses.py`, `chat.py` and `gemini.py`; what is played is in `scenarios.py`."""

import gzip
import json
import os
import re
import socket
import struct
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import anthropic
import chat
import client_tools
import gemini
import responses
from scenarios import AGAIN, DELEGATED, NOTICES, REVIEW, SCENARIOS

APIS = [
    (re.compile(r"/messages$"), anthropic),
    (re.compile(r"/responses$"), responses),
    (re.compile(r"/chat/completions$"), chat),
    (re.compile(r":(stream)?generateContent$", re.I), gemini),
]
COUNTS = re.compile(r"(/count_tokens|:countTokens)$")
MODELS = ["claude-sonnet-4-5", "gpt-5", "gpt-4o", "gemini-2.5-pro", "fake-model"]
# Steps that fail whoever asks; a title or a summary fails with them, as it would at a real provider.
FAILURES = ("error", "raw", "hang", "reset", "garbage")


class Cut(Exception):
    """The answer ends here, in the middle."""


class Answer:
    """What the model says or does in one turn."""

    def __init__(self, step, call, tools):
        self.call = call
        self.tools = tools
        self.text = step.get("text", "") if step["do"] == "say" else ""
        self.stop = step.get("stop", "end")
        self.pause = step.get("seconds", 0) / 40
        if step["do"] in ("sh", "write", "read", "edit") and call is None:
            self.text = "no shell tool is offered: " + ", ".join(tools)

    def pieces(self, size=40):
        """The text as it streams."""
        for at in range(0, len(self.text), size):
            yield self.text[at:at + size]
            time.sleep(self.pause)
            if self.stop == "cut":
                raise Cut


class Stage:
    """Where the scenarios are played, and who takes notes."""

    def __init__(self, workspace, door, plain, log, requests):
        self.workspace, self.door, self.plain = workspace, door, plain
        self.log, self.requests = log, requests
        self.lock = threading.Lock()
        self.ends = {}  # when a scenario's limit ends

    def closed(self):
        return self.door is not None and os.path.exists(self.door)

    def limited(self, scenario, seconds):
        """Whether the limit of a scenario holds; it begins with the first request that asks."""
        with self.lock:
            # Limits end at whole seconds: that is how a client is told.
            end = self.ends.setdefault(scenario, int(time.time()) + seconds)
        return time.time() < end

    def note(self, path, entry):
        if path:
            with self.lock, open(path, "a") as file:
                file.write(json.dumps(entry) + "\n")

    def step(self, scenario, api, body, tools):
        """The step that this request asks for."""
        script = SCENARIOS[scenario]
        if "closed" in script and self.closed():
            return script["closed"]
        steps = script["steps"]
        if "reviewed" in script and REVIEW in api.said(body):
            steps = script["reviewed"]
        elif "delegated" in script and DELEGATED in api.said(body):
            steps = script["delegated"]
        elif "noticed" in script and any(notice in api.said(body) for notice in NOTICES):
            steps = script["noticed"]
        elif "again" in script and AGAIN in api.said(body):
            steps = script["again"]
            if "limited" in script and self.limited(scenario, script["limited"]["seconds"]):
                return script["limited"]["answer"]
        is_side = not tools and not self.plain  # titles, topics, summaries, probes of a quota
        if is_side and steps[0]["do"] not in FAILURES and "stop" not in steps[0]:
            return {"do": "say", "text": client_tools.title(api.form(body))}
        return steps[0] if is_side else steps[min(api.turn(body), len(steps) - 1)]


class ModelServer(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address, stage):
        self.stage = stage
        super().__init__(address, Request)

    def handle_error(self, request, client_address):
        """A client that hangs up is no error of ours; its kill is what many tests are about."""


class Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "model_server/1"

    def log_message(self, *args):
        pass

    def scenario(self):
        parts = [part for part in self.path.split("?")[0].split("/") if part]
        name = parts.pop(0) if parts and parts[0] in SCENARIOS else "ok"
        return name, "/" + "/".join(parts)

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self):
        _, path = self.scenario()
        if not path.endswith("/models"):
            return self.json({"ok": True}) if path in ("/", "/health") else self.missing(path)
        if "v1beta" in path:
            return self.json({"models": [{"name": "models/" + name} for name in MODELS]})
        entry = {"object": "model", "type": "model", "created": 1, "created_at": "2025-01-01T00:00:00Z", "owned_by": "test"}
        data = [dict(entry, id=name, display_name=name) for name in MODELS]
        ends = {"has_more": False, "first_id": MODELS[0], "last_id": MODELS[-1]}
        self.json({"object": "list", "data": data, "models": [], **ends})

    def do_POST(self):
        name, path = self.scenario()
        body = self.body()
        if COUNTS.search(path):
            return self.json({"totalTokens": 1234, "input_tokens": 1234})
        api = next((api for pattern, api in APIS if pattern.search(path)), None)
        if api is None:
            return self.missing(path)
        stage = self.server.stage
        tools = api.tools(body)
        step = stage.step(name, api, body, tools)
        stage.note(stage.log, {"t": round(time.time(), 3), "scenario": name, "path": path, "turn": api.turn(body),
                               "tools": len(tools), "do": step["do"]})
        stage.note(stage.requests, {"path": self.path, "headers": dict(self.headers), "body": body})
        self.extra = SCENARIOS[name].get("headers", {})
        try:
            self.play(api, step, tools, body)
        except Cut:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def play(self, api, step, tools, body):
        do = step["do"]
        if do == "error":
            return self.json(api.failure(step), step["status"], step["headers"])
        if do == "raw":
            return self.json(step["body"], step["status"])
        if do == "hang":
            return time.sleep(step["seconds"])
        if do == "garbage":
            return self.whole(b"<html><body>502 Bad Gateway</body></html>", "text/html")
        if do == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return self.connection.close()
        call = None if do == "say" else client_tools.call(step, tools, self.server.stage.workspace)
        wants_stream = bool(body.get("stream")) or "streamGenerateContent" in self.path
        api.answer(self, body, Answer(step, call, tools), wants_stream)

    def body(self):
        if (self.headers.get("transfer-encoding") or "").lower() == "chunked":
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            data = gzip.decompress(data)
        try:
            return json.loads(data or b"{}")
        except ValueError:
            return {}

    def missing(self, path):
        self.json({"type": "error", "error": {"type": "not_found_error", "message": "no " + path}}, 404)

    def json(self, value, status=200, headers=None):
        self.whole(json.dumps(value).encode(), "application/json", status, headers)

    def whole(self, data, kind, status=200, headers=None):
        self.head(status, kind, headers)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def stream(self):
        """From here on `event` sends."""
        self.head(200, "text/event-stream; charset=utf-8")
        self.send_header("cache-control", "no-cache")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, value, name=None):
        text = value if isinstance(value, str) else json.dumps(value)
        self.wfile.write(((f"event: {name}\n" if name else "") + f"data: {text}\n\n").encode())
        self.wfile.flush()

    def head(self, status, kind, headers=None):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("request-id", fresh("req"))
        for name, value in {**getattr(self, "extra", {}), **(headers or {})}.items():
            self.send_header(name, str(int(time.time()) + int(value[2:])) if value.startswith("@+") else value)


def fresh(kind):
    """An id that nobody had."""
    return f"{kind}_test{uuid.uuid4().hex[:16]}"
