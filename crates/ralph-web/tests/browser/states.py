"""Every state of the page, in both themes, against axe-core: WCAG 2.2 AA and best practice, no finding."""

import scripts
from cases import TASK
from page import Page
from scene import Scene

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def findings(tests, page):
    page.run(tests.axe + "; window.axe = axe")
    found = page.run_async("axe.run(document, { runOnly: arguments[0], resultTypes: ['violations'] }).then((r) => done(r.violations), (e) => done([{ id: String(e), nodes: [] }]))", RULES)
    return [f"{one['id']}: {one.get('help')}: {[node['html'][:160] for node in one['nodes'][:3]]}" for one in found]


def runs_of_every_group(scene):
    """Runs in every group, by what each shows."""
    runs = {
        "completed": scene.start("importer", "Import the old CSV exports", scripts.fixes(3)),
        "needs you": scene.start("mailer", "Send mail through the new gateway", scripts.BLOCKED),
        "protected": scene.start("vault", "Rotate the signing key", scripts.PROTECTED, tests=2),
        "working": scene.start("parser", TASK, scripts.steps(scene, "parser", 3), wait=False),
    }
    for gate in ("1", "2"):
        scene.open_gate("parser", gate)
    scene.until("the run is in its third iteration", lambda: len(scene.status(runs["working"])["iterations"]) == 3)
    # The last: no run calls an agent whose usage limit is reached.
    runs["waiting"] = scene.start("sched", "Schedule jobs across midnight", scripts.LIMITED, wait=False)
    scene.until("the limit is reached", lambda: scene.status(runs["waiting"])["run"]["status"] == "WAITING")
    return runs


def no_finding(tests, dark):
    with Scene(tests.binary) as nothing, Page(tests.driver, dark=dark) as page:
        page.visit(nothing.serve()).wait_text("h1", "Nothing has run yet.")
        yield "empty", findings(tests, page)
        page.clean()
    with Scene(tests.binary) as scene:
        runs = runs_of_every_group(scene)
        server = scene.serve("--allow-control")
        yield from desk(tests, scene, server, runs, dark)
        yield from phone(tests, server, runs, dark)


def desk(tests, scene, server, runs, dark):
    with Page(tests.driver, dark=dark) as page:
        page.visit(server).wait_text(".log", "I look at part 3")
        yield "list and run", findings(tests, page)
        for name, words in (("needs you", "Blocked"), ("protected", "Prohibited path"), ("completed", "Proven")):
            page.go(f"runs/{runs[name]}")
            page.wait_text(".say h3", words)
            yield name, findings(tests, page)
        page.go("history")
        page.wait_text("main h2", "History")
        yield "history", findings(tests, page)
        for tab in ("changes", "verification", "activity", "prompt"):
            page.go(f"runs/{runs['completed']}/iterations/2/{tab}")
            page.until(f"{tab} is loaded", "return document.querySelector('[role=tabpanel] pre, [role=tabpanel] .log')")
            yield f"tab {tab}", findings(tests, page)
        page.press("?")
        page.wait_text("dialog", "Keys")
        yield "keys", findings(tests, page)
        page.press("Escape")
        page.expects_network_errors = True
        server.stop()
        page.wait_text(".gone", "Not connected")
        yield "not connected", findings(tests, page)
        scene.serve("--allow-control", port=server.port)
        page.wait_gone(".gone")
        page.run("sessionStorage.clear()")
        page.ask("POST", "/refresh")
        page.wait_text("h1", "This page needs its token.")
        yield "no token", findings(tests, page)
        page.clean()


def phone(tests, server, runs, dark):
    with Page(tests.driver, width=390, height=844, touch=True, dark=dark) as page:
        page.visit(server).wait_card("Working", TASK)
        yield "phone list", findings(tests, page)
        page.go(f"runs/{runs['working']}")
        page.wait_text(".who h2", TASK)
        page.wait_text(".log", "I look at part 3")
        yield "phone run", findings(tests, page)
        page.clean()
