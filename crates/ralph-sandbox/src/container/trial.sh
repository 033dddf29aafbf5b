# Tries what a container must not allow. One line for each thing that was possible, and for what only ralph can judge.
# Arguments: a process id outside, how many protected paths, these, how many directories above them, these, programs.
outside=$1; count=$2; shift 2
[ -w . ] || echo "workspace"
while [ "$count" -gt 0 ]; do
    path=$1
    # Some shells answer "test -w" from the mode alone.
    [ -d "$path" ] && path=$path/.ralph-trial
    if (: >>"$path") 2>/dev/null; then
        echo "write $1"
        [ -d "$1" ] && rm "$path"
    fi
    count=$((count - 1)); shift
done
count=$1; shift
while [ "$count" -gt 0 ]; do
    # It is not empty, so it is not removed; one that cannot be renamed is busy.
    case $(LC_ALL=C rmdir "$1" 2>&1) in *busy*) ;; *) echo "rename $1" ;; esac
    count=$((count - 1)); shift
done
unshare -Urm mount -t tmpfs none /mnt 2>/dev/null && echo "mount"
[ -d "/proc/$outside" ] && echo "process"
while read -r key value; do
    case $key in CapEff:) echo "capabilities $value" ;; esac
done </proc/self/status
while read -r name rest; do
    case $name in *:*) echo "network ${name%%:*}" ;; esac
done </proc/net/dev
for program; do command -v "$program" >/dev/null || echo "missing $program"; done
echo "done"
