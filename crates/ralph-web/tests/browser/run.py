#!/usr/bin/env python3
"""Tests of the page in Debian's Chromium, by its driver.

    RALPH_BIN=target/release/ralph RALPH_AXE=…/axe-core/axe.min.js python3 crates/ralph-web/tests/browser/run.py

Every case starts its own server over its own state directory with scripted runs. Prints a line a case, as libtest does. Needs chromium and chromium-driver (apt), axe-core (npm), and nothing else.

    --only WORD        the cases with this word in their name
    --url URL          look at a server that runs already: its address with the token, as `ralph serve` prints it
    --pictures FOLDER  write the pictures of docs/ there instead
"""

import argparse
import os
import sys
import time
import traceback

sys.dont_write_bytecode = True  # the tests leave nothing behind in the repository

import cases
import pictures
import states
from page import Page
from webdriver import Driver, DriverError


class Tests:
    def __init__(self, options):
        self.binary = options.bin
        self.only = options.only
        self.driver = Driver()
        self.axe = open(options.axe, encoding="utf-8").read() if options.axe else None
        self.passed = self.failed = 0
        self.notes = []

    def note(self, text):
        self.notes.append(text)

    def case(self, name, body):
        if self.only and self.only not in name:
            return
        begun = time.monotonic()
        try:
            body()
            self.passed += 1
            self.line("ok", name, begun)
        except Exception as error:  # a case may fail in any way; the others still run
            self.failed += 1
            self.line("FAILED", name, begun)
            print(f"    {type(error).__name__}: {error}", flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc()
        for text in self.notes:
            print(f"    {text}")
        self.notes = []

    @staticmethod
    def line(how, name, begun):
        # As libtest prints it, so that `cargo xtask` counts it.
        print(f"test {name} ... {how}", flush=True)
        print(f"    {time.monotonic() - begun:.1f} s")

    def behaviours(self):
        for case in cases.ALL:
            self.case(case.__doc__, lambda: case(self))

    def access(self):
        """A case a theme; every state is looked at, and all that is found is told."""
        for theme in ("light", "dark"):
            self.case(f"axe-core finds nothing in any state, {theme}", lambda: self.no_finding(theme == "dark"))

    def no_finding(self, dark):
        looked, wrong = [], []
        for state, found in states.no_finding(self, dark):
            looked.append(state)
            wrong += [f"{state}: {one}" for one in found]
        self.note(f"{len(looked)} states: {', '.join(looked)}")
        assert not wrong, "\n    ".join(["axe-core finds:", *wrong])

    def visit(self, url):
        """A server that runs already: the page comes up, logs no error, and axe-core finds nothing."""
        with Page(self.driver) as page:
            page.open(url)
            page.until("the page has its data", "return document.querySelector('h1')?.textContent")
            page.clean()
            found = states.findings(self, page) if self.axe else []
            assert not found, "\n".join(found)


def main():
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("--bin", default=os.environ.get("RALPH_BIN"))
    read.add_argument("--axe", default=os.environ.get("RALPH_AXE"))
    read.add_argument("--only")
    read.add_argument("--url")
    read.add_argument("--pictures", metavar="FOLDER")
    options = read.parse_args()
    if not (options.bin or options.url):
        read.error("name the binary: --bin target/release/ralph, or RALPH_BIN")
    if not (options.axe or options.pictures or options.url):
        read.error("name axe-core's script: --axe …/axe-core/axe.min.js, or RALPH_AXE")
    try:
        tests = Tests(options)
    except DriverError as error:
        sys.exit(f"{error}")
    try:
        if options.pictures:
            pictures.write(tests, options.pictures)
            return 0
        if options.url:
            tests.case("the page of a running server", lambda: tests.visit(options.url))
        else:
            tests.behaviours()
            tests.access()
    finally:
        tests.driver.close()
    verdict = "FAILED" if tests.failed else "ok"
    print(f"test result: {verdict}. {tests.passed} passed; {tests.failed} failed")
    return 1 if tests.failed or not tests.passed else 0


if __name__ == "__main__":
    sys.exit(main())
