#!/usr/bin/env python3
"""Replays commits of public libraries with `ralph verify` and tallies the grades.

    tools/replay_commits.py --ralph BIN --clones DIR --commands FILE --results FILE [options]
    tools/replay_commits.py --results FILE --summary
    tools/replay_commits.py --results FILE --explain HASH

Every commit of the list (`replay_commits.tsv`: name, repository, language, commit) is treated as work done by an agent:
its parent is the baseline, and ralph grades the difference. Clones, commands and results stay outside this repository.

    DIR/NAME    a git clone with the commit and its parent. Dependency folders at its top (`node_modules`, `.venv`,
                `vendor`) are taken along; nothing in the clone is changed.
    --commands  one line a library: NAME, a tab, and the command that verifies it. Libraries without a line are skipped.
    --results   tab-separated, one line a commit, written as they come: an interrupted replay continues where it
                stopped. Receipts are next to it, in FILE.receipts/.

Each library gets one work tree, in which its commits are checked out in turn. What git does not ignore is removed
before each; build output that it ignores is kept, as in the work tree of a person, so the first commit of a library is
verified cold and the others warm. A library is replayed by one job at a time. ralph's state and settings are the
replay's own. Commands run with the caller's environment, so activate what they need (a virtual environment, PATH).
"""

import argparse
import csv
import ctypes
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True

from replay_results import Results, as_receipt, explain, facts, summarize  # noqa: E402  (or caches land here)

DEPENDENCIES = ("node_modules", ".venv", "vendor")
PR_SET_CHILD_SUBREAPER = 36


def git(tree, *args):
    """Output of a git command; raises if it fails."""
    command = ["git", "-C", str(tree), *args]
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "errors": "replace"}
    return subprocess.run(command, check=True, **options).stdout


class Processes:
    """The programs under way. None outlives the replay, not even one that left its parent's process group."""

    def __init__(self):
        self.lock, self.running, self.stopped = threading.Lock(), set(), False
        if sys.platform == "linux":  # orphans become our children instead of init's
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def run(self, command, env, limit):
        """Exit code, stdout and stderr; the code is None if it was stopped."""
        with self.lock:
            if self.stopped:
                return None, "", ""
            child = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True, errors="replace", start_new_session=True)
            self.running.add(child)
        try:
            out, err = child.communicate(timeout=limit)
            return child.returncode, out, err
        except subprocess.TimeoutExpired:
            child.terminate()  # ralph stops its commands and removes temporary files
            try:
                child.communicate(timeout=15)
            except subprocess.TimeoutExpired:
                pass
            return None, "", f"stopped after {limit} s"
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.communicate()
            with self.lock:
                self.running.discard(child)

    def stop(self):
        """Ends what is under way and lets nothing else begin."""
        with self.lock:
            self.stopped = True
            for child in self.running:
                child.terminate()

    def sweep(self):
        """Kills what was left behind and returns how many that were. Call it when no program is under way."""
        killed, threads = 0, Path("/proc/self/task")
        while orphans := " ".join(file.read_text() for file in threads.glob("*/children")).split():
            for pid in map(int, orphans):  # their children become ours in turn
                os.kill(pid, signal.SIGKILL)
                _, status = os.waitpid(pid, 0)
                killed += os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        return killed


class Replay:
    """Replays commits in work trees below one directory."""

    def __init__(self, args, work, processes, results):
        self.args, self.work, self.processes, self.results = args, work, processes, results
        self.env = {**os.environ, "XDG_STATE_HOME": str(work / "state"), "XDG_CONFIG_HOME": str(work / "config")}

    def library(self, name, commits, command):
        """Replays the commits of one library, oldest first."""
        tree, clone = self.work / "trees" / name, self.args.clones / name
        git(self.work, "clone", "--quiet", "--no-checkout", str(clone.resolve()), str(tree))
        with (tree / ".git/info/exclude").open("a") as file:
            file.writelines(f"/{folder}\n" for folder in DEPENDENCIES)
        for folder in DEPENDENCIES:
            if (clone / folder).is_dir() and not git(clone, "ls-files", folder):
                shutil.copytree(clone / folder, tree / folder, symlinks=True)
        for number, line in enumerate(commits):
            if self.processes.stopped:
                break
            row, receipt = self.commit(tree, line, command)
            if self.processes.stopped:
                break
            row["start"] = "warm" if number else "cold"
            self.results.add(row, receipt)
            print(f"{name} {row['commit'][:12]} {row['grade']} ({row['wall_ms']} ms) {row['reason'][:90]}", flush=True)

    def commit(self, tree, line, command):
        """Row and receipt of one commit."""
        commit = line["commit"]
        parent = git(tree, "rev-parse", f"{commit}^").strip()
        git(tree, "checkout", "--quiet", "--force", "--detach", commit)
        git(tree, "clean", "-ffdq", *(f"--exclude=/{folder}" for folder in DEPENDENCIES))
        verify = [str(self.args.ralph), "verify", "-C", str(tree), "--base", parent, "--verify", command, "--json"]
        verify += ["--branch", commit] if self.args.branch else []
        began = time.monotonic()
        code, out, err = self.processes.run(verify, self.env, self.args.limit)
        wall = round((time.monotonic() - began) * 1000)
        receipt = as_receipt(out)
        changed = git(tree, "diff", "--name-only", "-z", parent, commit).count("\0")
        row = {"name": line["name"], "language": line["language"], "commit": commit, "parent": parent, "files": changed,
               "exit": code, "wall_ms": wall, **facts(receipt, err)}
        return row, {"command": verify, "exit": code, "stderr": err, "stdout": receipt or out}


def read_list(path, commands, only):
    """Commits of the list by library, oldest first, for the libraries that have a command."""
    libraries = {}
    with open(path, newline="") as file:
        for line in csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t"):
            if line["name"] in commands and (not only or line["name"] in only):
                libraries.setdefault(line["name"], []).append(line)
    return libraries


def replay(args, results):
    """Replays what has no result yet; returns an exit code."""
    lines = args.commands.read_text().splitlines()
    commands = dict(line.split("\t", 1) for line in lines if "\t" in line and not line.startswith("#"))
    libraries = read_list(args.list, commands, args.only)
    done = set() if args.again else {(row["name"], row["commit"]) for row in results.rows}
    waiting, failures, processes = queue.SimpleQueue(), [], Processes()
    for name, lines in libraries.items():
        lines = [line for line in lines if (name, line["commit"]) not in done][: args.limit_commits]
        results.forget({(name, line["commit"]) for line in lines})
        if lines:
            waiting.put((name, lines))
    work = Path(tempfile.mkdtemp(prefix="replay-", dir=args.work)).resolve()
    one = Replay(args, work, processes, results)

    def job():
        while not processes.stopped and not waiting.empty():
            try:
                name, lines = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                one.library(name, lines, commands[name])
            except (OSError, subprocess.CalledProcessError) as error:
                failures.append(f"{name}: {error} {getattr(error, 'stderr', '') or ''}".strip())

    jobs = [threading.Thread(target=job) for _ in range(args.jobs)]
    signal.signal(signal.SIGTERM, lambda *_: processes.stop())
    signal.signal(signal.SIGINT, lambda *_: processes.stop())
    for thread in jobs:
        thread.start()
    for thread in jobs:
        thread.join()
    left = processes.sweep()
    shutil.rmtree(work, ignore_errors=True)
    summarize(results.rows)
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    if left:
        print(f"error: {left} processes were left behind, and killed", file=sys.stderr)
    return 1 if failures or left or processes.stopped else 0


def main():
    parser = argparse.ArgumentParser(description="Replay commits of public libraries with `ralph verify`.")
    parser.add_argument("--results", required=True, help="file for the results; what it has already is not repeated")
    parser.add_argument("--list", type=Path, default=Path(__file__).with_suffix(".tsv"), help="commits to replay")
    parser.add_argument("--commands", type=Path, help="verify command of each library")
    parser.add_argument("--clones", type=Path, help="directory with a clone of each library")
    parser.add_argument("--ralph", type=Path, help="the ralph binary")
    parser.add_argument("--work", type=Path, help="directory for work trees (default: the system's temporary one)")
    parser.add_argument("--jobs", type=int, default=2, help="libraries replayed at the same time (default: 2)")
    parser.add_argument("--limit", type=int, default=600, metavar="S", help="seconds one `ralph verify` may take")
    parser.add_argument("--limit-commits", type=int, metavar="N", help="replay at most N new commits of each library")
    parser.add_argument("--only", action="append", metavar="NAME", help="replay only this library (repeatable)")
    parser.add_argument("--again", action="store_true", help="replay commits that have a result, too")
    parser.add_argument("--branch", action="store_true", help="give ralph the commit (--branch), not the work tree")
    parser.add_argument("--summary", action="store_true", help="only print the tables of the results")
    parser.add_argument("--explain", metavar="HASH", help="print the receipt of a commit")
    args = parser.parse_args()
    results = Results(args.results)
    if args.explain:
        return explain(results, args.explain)
    if args.summary:
        return summarize(results.rows)
    if missing := [f"--{name}" for name in ("commands", "clones", "ralph") if not getattr(args, name)]:
        parser.error(f"required for a replay: {', '.join(missing)}")
    args.ralph = args.ralph.resolve()
    return replay(args, results)


if __name__ == "__main__":
    sys.exit(main())
