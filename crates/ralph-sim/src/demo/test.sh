#!/bin/sh
# Checks slug.sh. Prints one line per case; exits 1 if any case fails.
cd "$(dirname "$0")" || exit 1
failed=0

check() {
    got=$(sh slug.sh "$1")
    if [ "$got" = "$2" ]; then
        printf 'ok      "%s" -> %s\n' "$1" "$got"
    else
        printf 'FAILED  "%s": expected "%s", got "%s"\n' "$1" "$2" "$got"
        failed=$((failed + 1))
    fi
}

check "already-fine" "already-fine"
check "hello world" "hello-world"
check "Hello World" "hello-world"
check "Salt & Pepper, please" "salt-pepper-please"
check "  Much   Ado  " "much-ado"
check "What now?" "what-now"

if [ "$failed" -gt 0 ]; then
    echo "$failed of 6 cases failed"
    exit 1
fi
echo "6 of 6 cases passed"
