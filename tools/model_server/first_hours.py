"""The models of docs/first-hours: what each page's agent does, right or wrong, with its own tools."""

from steps import block, edit, limit, read, say, sh, write


def done(text):
    return say(text + "\n\n" + block("COMPLETE", "PASSING", "true", "All tasks complete, tests passing"))


def more(text, following):
    return say(text + "\n\n" + block("IN_PROGRESS", "FAILING", "false", "Next: " + following))


def blocked(text, need):
    return say(text + "\n\n" + block("BLOCKED", "NOT_RUN", "false", "Blocked: " + need))


# The first call believes it is done too early, the second reads what the test said.
RED_PYTHON = {
    "steps": [read("slug.py"), edit("slug.py", 'title.lower().replace(" ", "-")',
                                    '"".join(c for c in title.lower() if c.isalnum() or c == " ").replace(" ", "-")'),
              done("Punctuation is dropped now, so all tests pass.")],
    "again": [read("slug.py"), edit("slug.py", '.replace(" ", "-")', ".split()"),
              edit("slug.py", "return ", "return \"-\".join("), edit("slug.py", ".split()", ".split())"),
              sh("python3 -m unittest discover 2>&1 | tail -1"),
              done("Runs of blanks become one dash; the tests pass.")],
}

# The first call writes the feature and no test; the second is asked for one.
GREEN_NODE = {
    "steps": [read("cart.js"),
              edit("cart.js", "exports.total = (items) => items.reduce((sum, item) => sum + item.price * item.count, 0);",
                   """const CODES = { SAVE10: 10 };

exports.total = (items, code) => {
  const sum = items.reduce((sum, item) => sum + item.price * item.count, 0);
  return Math.round(sum * (100 - (CODES[code] ?? 0)) / 100);
};"""),
              done("`total` takes a discount code now. The existing tests pass.")],
    "again": [write("discount.test.js", """const test = require("node:test");
const assert = require("node:assert");
const { total } = require("./cart");

const cart = [{ price: 995, count: 2 }];

test("SAVE10 takes a tenth off, rounded to a cent", () => {
  assert.strictEqual(total(cart, "SAVE10"), 1791);
});

test("an unknown code changes nothing", () => {
  assert.strictEqual(total(cart, "SAVE99"), 1990);
});
"""),
              sh("npm test 2>&1 | grep -E '^# (pass|fail)'"),
              done("discount.test.js fails without the discount and passes with it.")],
}

ROMAN = """/// `n` in Roman numerals; none outside of 1 to 3999.
pub fn to_roman(n: u16) -> Option<String> {
    const DIGITS: [(u16, &str); 13] = [
        (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
        (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
    ];
    if !(1..=3999).contains(&n) {
        return None;
    }
    let mut left = n;
    let mut text = String::new();
    for (value, digit) in DIGITS {
        while left >= value {
            text.push_str(digit);
            left -= value;
        }
    }
    Some(text)
}
"""
ROMAN_TESTS = """use roman::to_roman;

#[test]
fn digits_before_larger_ones_are_subtracted() {
    assert_eq!(to_roman(1994).as_deref(), Some("mcmxciv"));
}

#[test]
fn both_ends_of_the_range() {
    assert_eq!(to_roman(3999).as_deref(), Some("mmmcmxcix"));
    assert_eq!([to_roman(0), to_roman(4000)], [None, None]);
}
"""

# The first call makes the crate and has a question; the second has the answer in its prompt.
GREENFIELD_RUST = {
    "steps": [write("Cargo.toml", '[package]\nname = "roman"\nversion = "0.1.0"\nedition = "2021"\n'),
              edit(".gitignore", ".ralph/", "/target\n.ralph/"),
              blocked("The crate is set up.", "say whether the numerals are in upper or lower case")],
    "again": [write("src/lib.rs", ROMAN), write("tests/roman.rs", ROMAN_TESTS),
              sh("cargo test 2>&1 | grep 'test result'"),
              done("to_roman is complete and tested.")],
}

# The first call does half of the work; the subscription's limit is used up before the second can begin.
LIMITED = {
    "steps": [read("temperature.py"),
              edit("temperature.py", "(celsius):\n    raise NotImplementedError", "(celsius):\n    return celsius * 9 / 5 + 32"),
              more("Celsius to Fahrenheit works.", "Fahrenheit to Celsius")],
    "again": [read("temperature.py"),
              edit("temperature.py", "    raise NotImplementedError", "    return (fahrenheit - 32) * 5 / 9"),
              sh("python3 -m unittest discover 2>&1 | tail -1"),
              done("Both directions work.")],
    "limited": {"seconds": 8, "answer": limit("five_hour", "5h", 8)},
}

# The first call edits a migration that is already in use; the second, after a person's answer, does without.
PROTECTED_PATH = {
    "steps": [read("orders.py"), read("migrations/0001_orders.sql"),
              edit("migrations/0001_orders.sql", "item TEXT NOT NULL", "item TEXT NOT NULL, note TEXT"),
              edit("orders.py", "def add(db, item):", "def add(db, item, note=None):"),
              edit("orders.py", '"INSERT INTO orders (item) VALUES (?)", (item,)',
                   '"INSERT INTO orders (item, note) VALUES (?, ?)", (item, note)'),
              done("Orders have a note now; the tests pass.")],
    "again": [sh("python3 -m unittest discover 2>&1 | tail -1"),
              done("With migrations/0002_note.sql in place the tests pass.")],
}

FIRST_HOURS = {"red-python": RED_PYTHON, "green-node": GREEN_NODE, "greenfield-rust": GREENFIELD_RUST,
               "limited": LIMITED, "protected-path": PROTECTED_PATH}
