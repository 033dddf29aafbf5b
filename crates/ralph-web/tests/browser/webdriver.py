"""A browser by its driver: the few WebDriver commands the tests need, over plain HTTP."""

import base64
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

# A page that is asked for by a test: no first run, nothing in the background, no other host.
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
]
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "Left": "\ue012", "Right": "\ue014", "Shift": "\ue008"}
WAIT_S = 60


class DriverError(Exception):
    """The driver refused a command."""


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Driver:
    """chromedriver, for as long as the tests run."""

    def __init__(self):
        program = shutil.which("chromedriver")
        if not program:
            raise DriverError("chromedriver is not installed (Debian: apt-get install chromium chromium-driver)")
        self.port = free_port()
        self.process = subprocess.Popen([program, f"--port={self.port}", "--silent"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait()

    def wait(self):
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end:
            try:
                if self.ask("GET", "/status")["ready"]:
                    return
            except (OSError, DriverError):
                time.sleep(0.1)
        raise DriverError("chromedriver did not start")

    def ask(self, method, path, body=None):
        data = None if method == "GET" else json.dumps(body or {}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error).get("value", {})
            raise DriverError(f"{value.get('error')}: {value.get('message', '')[:400]}") from None

    def close(self):
        self.process.terminate()
        self.process.wait(10)


class Browser:
    """One browser with a profile of its own."""

    def __init__(self, driver, width=1440, height=900, dark=False, scale=1, touch=False):
        self.driver = driver
        self.profile = tempfile.mkdtemp(prefix="ralph-browser-")
        args = FLAGS + [f"--user-data-dir={self.profile}", f"--window-size={width},{height}", f"--force-device-scale-factor={scale}"]
        options = {"args": args}
        if shutil.which("chromium"):
            options["binary"] = shutil.which("chromium")
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = driver.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=touch)
        if touch:
            self.cdp("Emulation.setTouchEmulationEnabled", enabled=True)
        self.theme(dark)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.driver.ask("DELETE", f"/session/{self.session}")
        except (OSError, DriverError):
            pass
        shutil.rmtree(self.profile, ignore_errors=True)

    def ask(self, method, path, body=None):
        return self.driver.ask(method, f"/session/{self.session}{path}", body)

    def cdp(self, command, **params):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": params})

    def theme(self, dark):
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    def url(self):
        return self.ask("GET", "/url")

    def title(self):
        return self.ask("GET", "/title")

    def run(self, script, *args):
        """The value of a function's body."""
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(args)})

    def run_async(self, script, *args):
        """The value that the body gives to `done`."""
        return self.ask("POST", "/execute/async", {"script": f"const done = arguments[arguments.length - 1]; {script}", "args": list(args)})

    def find(self, css):
        return self.ask("POST", "/element", {"using": "css selector", "value": css})[ELEMENT]

    def click(self, css):
        self.ask("POST", f"/element/{self.find(css)}/click")

    def type(self, css, text):
        self.ask("POST", f"/element/{self.find(css)}/value", {"text": text})

    def press(self, *keys, held=None):
        """Keys, one after the other, to whatever has the focus."""
        actions = [{"type": "keyDown", "value": KEYS[held]}] if held else []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        if held:
            actions.append({"type": "keyUp", "value": KEYS[held]})
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def point(self, css):
        """Moves the pointer over an element."""
        origin = {ELEMENT: self.find(css)}
        move = {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": origin}
        self.ask("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [move]}]})

    def text(self, css):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? ''", css)

    def has(self, css):
        return self.run("const e = document.querySelector(arguments[0]); return Boolean(e && e.getClientRects().length)", css)

    def until(self, what, script, *args, seconds=WAIT_S):
        """Waits until a script gives something true, and returns it."""
        end = time.monotonic() + seconds
        while True:
            value = self.run(script, *args)
            if value:
                return value
            if time.monotonic() > end:
                shown = self.run("return document.body.innerText.slice(0, 1500)")
                raise AssertionError(f"waited {seconds} s until {what}; the page shows:\n{shown}")
            time.sleep(0.05)

    def new_tab(self):
        handle = self.ask("POST", "/window/new", {"type": "tab"})["handle"]
        self.switch(handle)
        return handle

    def tab(self):
        return self.ask("GET", "/window")

    def switch(self, handle):
        self.ask("POST", "/window", {"handle": handle})

    def console(self):
        """What the browser logged since it was asked last: errors of scripts, of the policy, of the network."""
        return [entry for entry in self.ask("POST", "/se/log", {"type": "browser"}) if entry["level"] in ("SEVERE", "WARNING")]

    def picture(self, path):
        data = base64.b64decode(self.ask("GET", "/screenshot"))
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
