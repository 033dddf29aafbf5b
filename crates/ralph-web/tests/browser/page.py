"""What the tests do with the page, in the words of the page."""

from webdriver import Browser

CARDS = "return [...document.querySelectorAll('.card')].map(c => [c.closest('section').querySelector('h2').firstChild.textContent, c.querySelector('.t .q').textContent])"


class Page(Browser):
    """A browser that shows a server's page."""

    def __init__(self, driver, **shape):
        super().__init__(driver, **shape)
        # Errors of the network are what some tests are about; nothing else may be logged.
        self.expects_network_errors = False

    def visit(self, server, place=""):
        self.open(server.url)
        self.until("the page has its data", "return document.querySelector('h1')?.textContent")
        if place:
            self.go(place)
        return self

    def go(self, place):
        self.run("location.hash = arguments[0]", f"#/{place}")

    def cards(self):
        """Group and task of every card, in order."""
        return [tuple(card) for card in self.run(CARDS)]

    def wait_card(self, group, task):
        self.until(f"“{task}” is in “{group}”", f"return (() => {{ {CARDS} }})().some(([g, t]) => g === arguments[0] && t === arguments[1])", group, task)

    def wait_text(self, css, text):
        self.until(f"{css} shows “{text}”", "return [...document.querySelectorAll(arguments[0])].some(e => e.getClientRects().length && e.textContent.includes(arguments[1]))", css, text)

    def wait_gone(self, css):
        self.until(f"{css} is gone", "const e = document.querySelector(arguments[0]); return !e || !e.getClientRects().length", css)

    def button(self, words):
        """Presses the button with these words."""
        pressed = self.until(f"there is a button “{words}”", """
            const b = [...document.querySelectorAll('button')].filter(b => b.getClientRects().length && !b.disabled && b.textContent === arguments[0]).at(-1);
            b?.click(); return Boolean(b)""", words)
        assert pressed

    def buttons(self):
        return self.run("return [...document.querySelectorAll('.ctl button, .say button')].filter(b => b.getClientRects().length).map(b => b.textContent)")

    def active(self):
        """What has the focus, in a word."""
        return self.run("const e = document.activeElement; return e.dataset.id || e.id || e.dataset.n || e.dataset.tab || e.textContent")

    def clean(self):
        """No error in the console: of scripts, of the policy, of anything."""
        errors = [entry for entry in self.console() if not (self.expects_network_errors and entry["source"] == "network")]
        assert not errors, "the console has errors:\n" + "\n".join(entry["message"][:500] for entry in errors)
        assert self.run("return typeof window.pwned") == "undefined"
