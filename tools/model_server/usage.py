"""The tokens of one model turn: always the same, so that a test knows what a run must have used."""

INPUT = 1000
OUTPUT = 50
CACHE_READ = 200
CACHE_WRITE = 100
REASONING = 10
TOTAL = INPUT + OUTPUT
