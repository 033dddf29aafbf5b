"""What a replay of commits found: rows, receipts and tables. Used by replay_commits.py."""

import json
import statistics
import sys
import threading
from collections import Counter
from pathlib import Path

COLUMNS = ("name", "language", "commit", "parent", "files", "exit", "grade", "verifications", "extra", "checks",
           "workspace_ms", "room_ms", "wall_ms", "start", "oracle_files", "signs", "reason")
# What a receipt calls a verification of the files as they are, and one of the files before the work. All others are
# extra ones, made to find out whether the first can be trusted.
AS_IS, BASELINE = {"as_is"}, {"baseline"}
# Grades that end a run; everything else needs an explanation.
ACCEPTED = {"proven", "tested", "unbroken"}


def text_of(value):
    """A value of a receipt as one line without tabs."""
    if isinstance(value, list):
        return "; ".join(filter(None, map(text_of, value)))
    if isinstance(value, dict):
        return ", ".join(f"{key} {text_of(part)}" for key, part in value.items() if part)
    return "" if value is None else " ".join(str(value).split())


class Results:
    """The result file and its receipts."""

    def __init__(self, path):
        self.path, self.receipts, self.lock = Path(path), Path(f"{path}.receipts"), threading.Lock()
        self.rows = []
        if self.path.exists():
            *lines, rest = self.path.read_text().split("\n")
            self.rows = [dict(zip(COLUMNS, line.split("\t"))) for line in lines[1:]]
            if rest:  # a line that an interrupted replay did not finish
                self.write(self.rows, "w")

    def forget(self, wanted):
        """Removes the rows of these commits."""
        kept = [row for row in self.rows if (row["name"], row["commit"]) not in wanted]
        if len(kept) < len(self.rows):
            self.rows = kept
            self.write(self.rows, "w")

    def add(self, row, receipt):
        with self.lock:
            self.receipts.mkdir(exist_ok=True)
            (self.receipts / f"{row['name']}-{row['commit']}.json").write_text(json.dumps(receipt, indent=2) + "\n")
            self.write([row], "a")
            self.rows.append(row)

    def write(self, rows, mode):
        with self.path.open(mode) as file:
            if file.tell() == 0:
                file.write("\t".join(COLUMNS) + "\n")
            file.writelines("\t".join(str(row[column]) for column in COLUMNS) + "\n" for row in rows)


def as_receipt(out):
    """The receipt that was printed; empty if there is none."""
    try:
        receipt = json.loads(out)
    except ValueError:
        return {}
    return receipt if isinstance(receipt, dict) else {}


def verifications(receipt):
    """Every verification behind a receipt: what it ran on, how often, whether it passed, how long it took."""
    for run in receipt.get("commands", []):
        if run["check"] != "baseline":
            yield run["check"], 1, run["passed"], run["ms"]
    for room in receipt.get("rooms", []):
        sets = "+".join(name for name, taken in room["sets"].items() if taken) or "baseline"
        yield sets, room["tries"], room["passed"], room["ms"]


def facts(receipt, err):
    """What a row says about a receipt."""
    runs = list(verifications(receipt))
    own = sum(ms for check, _, _, ms in runs if check in AS_IS)
    grade = receipt.get("proof") or receipt.get("verdict") or "error"
    # The files before the work have to be verified once; all other rooms are there to find out what the green needs.
    extra = sum(tries for check, tries, _, _ in runs if check not in AS_IS) - any(run[0] in BASELINE for run in runs)
    return {
        "grade": grade,
        "verifications": sum(tries for _, tries, _, _ in runs),
        "extra": extra,
        "checks": ",".join(f"{check}:{tries}:{'green' if passed else 'red'}:{ms}" for check, tries, passed, ms in runs),
        "workspace_ms": own,
        "room_ms": sum(run[3] for run in runs) - own,
        "oracle_files": len(receipt.get("changes", {}).get("oracle", [])),
        "signs": text_of(receipt.get("signs")),
        "reason": text_of(receipt.get("reasons") if receipt else err.strip()[-300:]),
    }


def table(rows, key):
    """Counts of grades, one line for each value of a column."""
    grades = sorted({row["grade"] for row in rows})
    lines = [[key, "commits", *grades]]
    for value in [*sorted({row[key] for row in rows}), "all"]:
        counts = Counter(row["grade"] for row in rows if value in (row[key], "all"))
        lines.append([value, str(sum(counts.values())), *(str(counts[grade]) for grade in grades)])
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    print()


def summarize(rows):
    """Prints the tables, the figures, and every commit that was not accepted."""
    if not rows:
        print("no results")
        return
    table(rows, "language")
    table(rows, "name")
    graded = [row for row in rows if int(row["verifications"])]
    few = sum(int(row["extra"]) <= 1 for row in graded)
    print(f"at most one extra verification: {few} of {len(graded)} ({100 * few / max(len(graded), 1):.1f} %)")
    ratios = []
    for row in graded:
        rooms = int(row["extra"]) + 1
        if row["start"] == "warm" and rooms > 0 and int(row["workspace_ms"]) > 0:
            ratios.append(int(row["room_ms"]) / rooms / int(row["workspace_ms"]))
    if ratios:
        p90 = sorted(ratios)[int(len(ratios) * 0.9)]
        print(f"warm room / workspace, per verification: median {statistics.median(ratios):.2f}, p90 {p90:.2f}")
    print(f"with signs: {sum(bool(row['signs']) for row in rows)}\n")
    for row in sorted(rows, key=lambda row: (row["grade"], row["name"])):
        if row["grade"] not in ACCEPTED:
            print(f"{row['grade']}  {row['name']} {row['commit'][:12]}  exit {row['exit']}  {row['reason'][:160]}")


def explain(results, prefix):
    """Prints the stored receipts of the commits that begin with this."""
    found = sorted(results.receipts.glob(f"*-{prefix}*.json")) if results.receipts.is_dir() else []
    for path in found:
        print(path.read_text(), end="")
    if not found:
        print(f"error: no receipt of a commit {prefix} in {results.receipts}; replay it first", file=sys.stderr)
    return 0 if found else 1
