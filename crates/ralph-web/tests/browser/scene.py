"""A state directory of its own with scripted runs in it, and the server over it. Runs are real: the binary is told that its
agent is `claude`, and that is a script which performs what each test says (`ralph agent-sim`). A run that waits for a test
waits for a file, never for a time."""

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import urllib.request

WAIT_S = 60
# Tests that pass one by one, as a well-known runner prints them: a test passes once its file is there.
CHECK = """#!/bin/sh
failed=0
for n in $(seq 1 $1); do [ -e src/part$n.rs ] || failed=$((failed + 1)); done
if [ $failed = 0 ]; then echo "test result: ok. $1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s"; exit 0; fi
for n in $(seq 1 $1); do [ -e src/part$n.rs ] || echo "test part$n ... FAILED"; done
echo "test result: FAILED. $(($1 - failed)) passed; $failed failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s"
exit 101
"""


class Scene:
    def __init__(self, binary):
        self.binary = os.path.abspath(binary)
        self.root = tempfile.mkdtemp(prefix="ralph-scene-")
        self.servers = []
        self.programs = os.path.join(self.root, "bin")
        os.mkdir(self.programs)
        self.program("claude", f'exec "{self.binary}" agent-sim "$@"')
        self.env = {
            "PATH": f"{self.programs}:{os.environ['PATH']}", "HOME": os.path.join(self.root, "home"), "LANG": "C.UTF-8", "TZ": "UTC",
            "XDG_STATE_HOME": os.path.join(self.root, "state"), "XDG_CONFIG_HOME": os.path.join(self.root, "config"), "NO_COLOR": "1",
            "RALPH_SANDBOX": "off",  # the scripted agents wait for files of the test outside of the workspace
        }
        os.mkdir(self.env["HOME"])
        self.token_file = os.path.join(self.root, "token")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for run in self.list():
            if run["exit_code"] is None:
                self.open_gates(run["workspace"])
                self.ralph("stop", run["id"], fails=True)
        for server in self.servers:
            server.stop()
        for run in self.list():
            if run["exit_code"] is None:
                self.ended(run["id"])
        shutil.rmtree(self.root, ignore_errors=True)

    def program(self, name, body):
        """A program of this name for the runs to find."""
        path = os.path.join(self.programs, name)
        with open(path, "w") as file:
            file.write(f"#!/bin/sh\n{body}\n")
        os.chmod(path, 0o755)

    def ralph(self, *args, fails=False, env=None):
        done = subprocess.run([self.binary, *args], env={**self.env, **(env or {})}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        if done.returncode and not fails:
            raise AssertionError(f"ralph {' '.join(args)} ended with {done.returncode}:\n{done.stderr}")
        return done.stdout

    def list(self):
        try:
            found = json.loads(self.ralph("list", "--all", "--json"))
        except (AssertionError, ValueError):
            return []
        return found if isinstance(found, list) else found.get("runs", [])

    def workspace(self, name, tests=3):
        path = os.path.join(self.root, "work", name)
        if not os.path.isdir(path):
            os.makedirs(os.path.join(path, "src"))
            with open(os.path.join(path, "check.sh"), "w") as file:
                file.write(CHECK.replace("$1", str(tests)))
            os.chmod(os.path.join(path, "check.sh"), 0o755)
            os.mkdir(self.gates(path))
        return path

    @staticmethod
    def gates(workspace):
        return f"{workspace}.gates"

    def open_gate(self, name, gate):
        with open(os.path.join(self.gates(self.workspace(name)), gate), "w"):
            pass

    def open_gates(self, workspace):
        for n in range(1, 60):
            with open(os.path.join(self.gates(workspace), str(n)), "w"):
                pass

    def gate(self, name, gate):
        """An action that waits for a file."""
        return f"run until [ -e {self.gates(self.workspace(name))}/{gate} ]; do sleep 0.05; done"

    def start(self, name, task, script, *more, tests=3, wait=True, iterations=10, verify="./check.sh"):
        """A run of a script in a workspace of this name; its id. `wait`: until it has ended."""
        path = self.workspace(name, tests)
        file = f"{path}.sim"
        with open(file, "w") as out:
            out.write(script)
        args = ["-C", path, "run", task, "--agent", "claude", "--max-iterations", str(iterations), "--max-cost", "5", "--verify", verify, "--fresh", "--detach", *more]
        run = self.ralph(*args, "--", "--script", file).strip()
        if wait:
            self.ended(run)
        return run

    def copies_of(self, run, count):
        """As many older runs that ended as this one did, each in a workspace of its own: their rows, which is all that lists read."""
        database = sqlite3.connect(os.path.join(self.env["XDG_STATE_HOME"], "ralph", "ralph.db"), timeout=WAIT_S)
        with database:
            for table, key in (("run", "id"), ("iteration", "run")):
                columns = [column[1] for column in database.execute(f"pragma table_info({table})")]
                for n in range(count):
                    copy = f"00000000-0000-7000-8000-{n:012}"
                    changed = {key: "?1", "workspace": "workspace || ?1"}
                    values = ", ".join(changed.get(column, column) for column in columns)
                    database.execute(f"insert into {table}({', '.join(columns)}) select {values} from {table} where {key} = ?2", (copy, run))
        database.close()

    def ended(self, run):
        return self.until(f"run {run} ends", lambda: self.status(run).get("result"))

    def status(self, run):
        return json.loads(self.ralph("status", run, "--json"))

    def journal(self, run):
        return self.ralph("logs", run, "--json")

    @staticmethod
    def until(what, look):
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            value = look()
            if value:
                return value
            time.sleep(0.1)
        raise AssertionError(f"waited {WAIT_S} s until {what}")

    def serve(self, *more, port=0):
        server = Server(self, port, more)
        self.servers.append(server)
        return server


class Server:
    """`ralph serve` over a scene."""

    def __init__(self, scene, port, more):
        args = [scene.binary, "serve", "--listen", f"127.0.0.1:{port}", "--token-file", scene.token_file, *more]
        self.process = subprocess.Popen(args, env=scene.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.url = None
        seen = []
        for line in self.process.stdout:
            seen.append(line)
            found = re.search(r"http://\S+#token=\S+", line)
            if found:
                self.url = found[0]
                break
        if not self.url:
            raise AssertionError(f"`ralph serve` printed no address:\n{''.join(seen)}")
        self.origin, self.token = self.url.split("/#token=")
        self.port = int(self.origin.rsplit(":", 1)[1])

    def get(self, path):
        request = urllib.request.Request(f"{self.origin}/api/v1/{path}", headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def pause(self):
        """Cut off without a word: it neither answers nor closes."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
