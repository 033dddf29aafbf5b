#!/bin/sh
# slug.sh TITLE - prints the title as it would stand in a web address.

slug() {
    printf '%s\n' "$1" |
        sed 's/ /-/g'
}

slug "$1"
