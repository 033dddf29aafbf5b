#!/bin/sh
# Installs ralph from a release: downloads the archive for this machine, verifies its checksum, and puts the program into a
# directory of yours. Needs curl or wget, tar, and sha256sum or shasum. Settings, all from the environment:
#
#   RALPH_REPO         owner/name on GitHub (a released copy of this script knows its own)
#   RALPH_VERSION      the release to install, such as 0.2.0 (default: the latest)
#   RALPH_INSTALL_DIR  where to put the program (default: ~/.local/bin)
#   RALPH_RELEASES     address of the releases (default: https://github.com/$RALPH_REPO/releases); file:// works with curl
set -eu

# The release workflow writes the repository's name here.
repository=''

say() { printf '%s\n' "$*"; }
fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

target() {
    case "$(uname -s)/$(uname -m)" in
        Linux/x86_64 | Linux/amd64) echo x86_64-unknown-linux-musl ;;
        Linux/aarch64 | Linux/arm64) echo aarch64-unknown-linux-musl ;;
        Darwin/x86_64) echo x86_64-apple-darwin ;;
        Darwin/arm64) echo aarch64-apple-darwin ;;
        *) fail "there is no release for $(uname -s) on $(uname -m); build it with: cargo install --locked --path crates/ralph" ;;
    esac
}

# download ADDRESS FILE
download() {
    if have curl; then
        curl --fail --silent --show-error --location --retry 3 --output "$2" "$1"
    elif have wget; then
        wget --quiet --output-document="$2" "$1"
    else
        fail 'curl or wget is needed to download'
    fi || fail "cannot download $1"
}

# checksum FILE
checksum() {
    if have sha256sum; then
        sha256sum "$1"
    elif have shasum; then
        shasum -a 256 "$1"
    else
        fail 'sha256sum or shasum is needed to verify the download'
    fi | cut -d ' ' -f 1
}

main() {
    repository=${RALPH_REPO:-$repository}
    releases=${RALPH_RELEASES:-}
    if [ -z "$releases" ]; then
        [ -n "$repository" ] || fail 'set RALPH_REPO to the owner/name of the repository to install from'
        releases=https://github.com/$repository/releases
    fi
    version=${RALPH_VERSION:-latest}
    case $version in
        latest) from=$releases/latest/download ;;
        *) from=$releases/download/v${version#v} ;;
    esac
    dir=${RALPH_INSTALL_DIR:-${HOME:?HOME or RALPH_INSTALL_DIR must be set}/.local/bin}
    target=$(target)
    archive=ralph-$target.tar.gz

    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM

    say "Downloading $from/$archive"
    download "$from/$archive" "$work/$archive"
    download "$from/$archive.sha256" "$work/$archive.sha256"

    expected=$(cut -d ' ' -f 1 "$work/$archive.sha256")
    actual=$(checksum "$work/$archive")
    if [ -z "$expected" ] || [ "$expected" != "$actual" ]; then
        fail "checksum mismatch for $archive: expected ${expected:-nothing}, got $actual; nothing was installed"
    fi
    say "Checksum verified: $actual"

    tar -xzf "$work/$archive" -C "$work"
    new=$work/ralph-$target/ralph
    [ -f "$new" ] || fail "$archive does not contain ralph-$target/ralph"
    mkdir -p "$dir"
    # Renamed into place, so that a ralph that is running or an interrupted copy does no harm.
    cp "$new" "$dir/.ralph.$$"
    chmod 755 "$dir/.ralph.$$"
    mv -f "$dir/.ralph.$$" "$dir/ralph"
    say "Installed $("$dir/ralph" --version) as $dir/ralph"
    case ":${PATH:-}:" in
        *":$dir:"*) ;;
        *) say "$dir is not in your PATH; add it with: export PATH=\"$dir:\$PATH\"" ;;
    esac
}

# At the end, so that a script that was cut off while downloading does nothing.
main
