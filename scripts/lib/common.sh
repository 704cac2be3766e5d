# What the scripts share. Sourced, not run.

set -euo pipefail
unset CDPATH

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
environments=$root/.venv
# Home Assistant is compiled once: to do so at each start takes longer than most of what is started.
unset PYTHONDONTWRITEBYTECODE

# Says what is being done, apart from what a command prints for others to read.
say() {
  printf '==> %s\n' "$*" >&2
}

# Stops with what failed and, in further lines, what the person can do.
fail() {
  printf '\nFailed: %s\n' "$1" >&2
  shift
  [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
  exit 1
}

# Prints the comment at the top of a script.
usage() {
  sed -n '2,/^$/s/^# \{0,1\}//p' "$0"
}

# Makes an environment ready and continues in the repository, whatever folder the person is in.
# Sets python.
enter() {
  "$root/scripts/setup" "$1"
  python=$environments/$1/bin/python
  cd -- "$root"
}

# Whatever the command, to ask how it works installs nothing.
case ${1:-} in
  -h | --help)
    usage
    exit
    ;;
esac
