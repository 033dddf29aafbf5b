"""The pictures of the page in docs/: runs in every group, one of them open, as they look on a working day."""

import os
import shutil
import subprocess
import time

import scripts
from cases import TASK
from page import Page
from scene import Scene

MOST_BYTES = 120_000
SHOTS = [("dashboard-light.png", False, 1440, 900, 1), ("dashboard-dark.png", True, 1440, 900, 1), ("dashboard-phone.png", False, 390, 844, 2)]
# Two tools that work until they are told to stop; every other call is a check of the parts.
WAITS = 'until [ -e "$PWD.gates/1" ]; do sleep 0.1; done'
CARGO = f'case "$*" in "test") exec ./check.sh;; "test quotes"|bench*) {WAITS};; esac'
MDBOOK = f"[ -e src/part2.rs ] && {{ {WAITS}; }}; exec ./check.sh"


def iteration(n, parts, spend, claim, *lines):
    return "\n".join([f"[{n}]", *lines, *(f"write src/part{part}.rs done" for part in parts), "sleep 700ms", f"spend {spend}", f"claim {claim}"])


PARSER = "\n".join([
    iteration(1, range(1, 4), "0.31", "complete"),
    iteration(2, range(4, 6), "0.48", "progress"),
    iteration(3, [], "0.14", "progress"),
    iteration(4, range(6, 13), "0.39", "complete", "write src/lexer.rs 'if c == quote {'"),
    iteration(5, [], "0.11", "complete", 'say The failing case is `"a \\"b\\" c"`: the lexer closes the string at the inner quote. I look at how escapes are read.',
              "spend 0.11", "run grep -n quote src/lexer.rs", "replace src/lexer.rs quote escape", "say Two remain, both with an escape at the end of the input.", "run cargo test quotes"),
]) + "\n"
DOCS = iteration(1, [1], "0.20", "progress") + "\n" + iteration(2, [2], "0.32", "complete") + "\n"
WORKER = "\n".join(iteration(n, [n] if n not in (3, 4) else [], cost, "progress") for n, cost in enumerate(["0.10", "0.12", "0.10", "0.11", "0.62", "0.55"], 1))
WORKER += "\n" + iteration(7, [], "0.27", "progress", "spend 0.44", "run cargo bench --bench start") + "\n"


def working_day(scene):
    scene.program("cargo", CARGO)
    scene.program("mdbook", MDBOOK)
    scene.start("billing", "Round invoices to the cent", scripts.fixes(2, "0.06"), tests=2)
    scene.start("importer", "Import the old CSV exports", scripts.fixes(3, "0.32"))
    scene.start("mailer", "Send mail through the new gateway", scripts.BLOCKED)
    scene.start("vault", "Rotate the signing key", scripts.PROTECTED, tests=2)
    scene.start("worker", "Cut the start-up time of the worker in half", WORKER, tests=15, iterations=15, verify="cargo test", wait=False)
    scene.start("docs", "Write the reference for every command", DOCS, iterations=20, verify="mdbook test", wait=False)
    run = scene.start("parser", TASK, PARSER, tests=14, verify="cargo test", wait=False)
    scene.until("all of them work", lambda: sorted(len(scene.status(one["id"])["iterations"]) for one in scene.list() if one["exit_code"] is None) == [2, 5, 7])
    # The last: no run calls an agent whose usage limit is reached.
    scene.start("sched", "Schedule jobs across midnight", scripts.LIMITED, wait=False)
    return run


def write(tests, folder):
    if not shutil.which("pngquant"):
        raise SystemExit("the pictures are made small by pngquant, which is not installed (Debian: apt-get install pngquant; fonts-inter and fonts-jetbrains-mono for the type)")
    with Scene(tests.binary) as scene:
        run = working_day(scene)
        server = scene.serve("--allow-control")
        for name, dark, width, height, scale in SHOTS:
            with Page(tests.driver, width=width, height=height, dark=dark, scale=scale, touch=scale > 1) as page:
                page.visit(server, f"runs/{run}").wait_text(".log", "Two remain")
                page.wait_text(".log", "cargo test quotes")
                page.wait_card("Waiting", "Schedule jobs across midnight") if scale == 1 else None
                time.sleep(1)  # what is new has faded by then
                path = os.path.join(folder, name)
                page.picture(path)
                subprocess.run(["pngquant", "--force", "--strip", "--ext", ".png", "128", path], check=True)
                size = os.path.getsize(path)
                assert size <= MOST_BYTES, f"{name} has {size} bytes"
                print(f"{path}: {size} bytes")
