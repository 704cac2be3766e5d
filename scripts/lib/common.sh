# Functions of all scripts. Sourced, not run.

set -euo pipefail
unset CDPATH

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
environments=$root/.venv
# Let Python store compiled code: compiling Home Assistant at each start would last longer than most commands.
unset PYTHONDONTWRITEBYTECODE

# Prints the current step to stderr, because stdout may be read by programs.
say() {
  printf '==> %s\n' "$*" >&2
}

# Prints an error and, in further lines, what to do; then exits.
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

# Prepares an environment, sets $python to its Python, and changes to the repository's folder.
enter() {
  "$root/scripts/setup" "$1"
  python=$environments/$1/bin/python
  cd -- "$root"
}

# Print the help here, before the script installs anything.
case ${1:-} in
  -h | --help)
    usage
    exit
    ;;
esac
