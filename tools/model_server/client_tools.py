"""A step of a scenario as a call of the client's own tools, whatever they are named: `shell`, `write`, `read`, `edit`.
A client without such a tool gets the same done by its shell."""

import json
import os
import re
import shlex

SHELLS = ("Bash", "bash", "exec_command", "shell", "shell_command", "run_shell_command", "developer__shell", "local_shell",
          "Shell", "execute_command", "run_terminal_cmd", "run_command", "terminal", "run_terminal_command", "execute_bash")
WRITES = ("Write", "write", "write_file", "developer__write", "create", "WriteFile")
READS = ("Read", "read", "read_file", "ReadFile", "view")
AGENTS = ("Agent", "Task")
EDITS = ("Edit", "edit", "replace", "StrReplaceFile", "search_replace", "edit_file")

PATHS = ("file_path", "filePath", "path", "file", "target_file", "absolute_path")
TEXTS = ("content", "contents", "file_text", "text")
BEFORES = ("old_string", "oldString", "old_str", "before", "old", "oldText")
AFTERS = ("new_string", "newString", "new_str", "after", "new", "newText")
COMMANDS = ("command", "cmd", "script", "code", "input")
PATCHES = ("patchText", "patch", "input")


def call(step, tools, workspace):
    """Name and arguments of the tool that does the step, or None where the client offers no shell."""
    if step["do"] == "sh":
        return shell(tools, step["command"], step.get("behind"))
    if step["do"] == "delegate":
        return delegate(tools, step["prompt"])
    path = os.path.normpath(os.path.join(workspace, step["path"]))
    if step["do"] == "write":
        return write(tools, path, step["text"])
    if step["do"] == "read":
        return read(tools, path)
    return edit(tools, path, step["before"], step["after"])


def delegate(tools, prompt):
    name = first(AGENTS, tools)
    return name and (name, filled(tools[name], {"prompt": prompt, "run_in_background": True}))


def shell(tools, command, behind=False):
    name = first(SHELLS, tools) or next((n for n in tools if re.search("shell|bash|exec|command|terminal", n, re.I)), None)
    if name is None:
        return None
    schema = tools[name]
    if schema.get("kind") == "local_shell":
        return name, {"command": ["bash", "-lc", command]}
    key = first(COMMANDS, properties(schema)) or "command"
    is_list = str(properties(schema).get(key, {}).get("type")).lower() == "array"
    background = {"run_in_background": True} if behind else {}
    return name, filled(schema, {key: ["bash", "-lc", command] if is_list else command, **background})


def write(tools, path, text):
    name = first(WRITES, tools)
    if name is None:
        patch = ["*** Add File: " + path] + ["+" + line for line in text.splitlines()]
        return patched(tools, patch) or shell(tools, f"cat > {shlex.quote(path)} <<'EOF'\n{text}EOF")
    keys = properties(tools[name])
    return name, filled(tools[name], {first(PATHS, keys) or "file_path": path, first(TEXTS, keys) or "content": text})


def read(tools, path):
    name = first(READS, tools)
    if name is None:
        return shell(tools, f"cat {shlex.quote(path)}")
    return name, filled(tools[name], {first(PATHS, properties(tools[name])) or "file_path": path})


def edit(tools, path, before, after):
    name = first(EDITS, tools)
    keys = properties(tools[name]) if name else {}
    if name is None or first(BEFORES, keys) is None:
        lines = ["-" + line for line in before.splitlines()] + ["+" + line for line in after.splitlines()]
        patch = ["*** Update File: " + path, "@@", *lines]
        return patched(tools, patch) or shell(tools, f"sed -i {shlex.quote(f's/{before}/{after}/')} {shlex.quote(path)}")
    args = {first(PATHS, keys) or "path": path, first(BEFORES, keys): before, first(AFTERS, keys): after}
    return name, filled(tools[name], args)


def patched(tools, lines):
    """Some clients edit by patches only: as a tool, or, in Codex, as a command that its shell understands by itself."""
    text = "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
    if key := first(PATCHES, properties(tools.get("apply_patch", {}))):
        return "apply_patch", {key: text}
    return shell(tools, f"apply_patch <<'EOF'\n{text}\nEOF") if "exec_command" in tools else None


def title(form):
    """The answer to a side request: a title, or what its form asks for."""
    return json.dumps(filled(form, {})) if form else "Scripted session"


def filled(schema, args):
    """The arguments with everything else that the tool insists on, plausibly."""
    for key in schema.get("required") or []:
        kind = properties(schema).get(key, {})
        word = (kind.get("enum") or ["scripted step"])[0]
        plausible = {"string": word, "boolean": False, "integer": 60, "number": 60, "array": []}
        args.setdefault(key, plausible.get(str(kind.get("type")).lower(), "x"))
    return args


def properties(schema):
    return schema.get("properties") or {}


def first(names, among):
    return next((name for name in names if name in among), None)
