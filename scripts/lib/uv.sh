# Finds uv, or installs it with the machine's Python. Sourced, not run.

# Let uv use the machine's certificates, which may include the certificate of a proxy.
for certificates in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
  [ ! -e "$certificates" ] || export UV_SYSTEM_CERTS=${UV_SYSTEM_CERTS:-true}
done

# Sets $uv to a recent uv.
find_uv() {
  local candidate
  for candidate in uv "$environments/uv/bin/uv"; do
    if is_recent_uv "$candidate"; then
      uv=$candidate
      return
    fi
  done
  get_uv
  uv=$environments/uv/bin/uv
}

is_recent_uv() {
  local version
  version=$("$1" --version 2>/dev/null) || return
  [[ $version =~ ^uv\ ([0-9]+)\.([0-9]+) ]] \
    && ((BASH_REMATCH[1] > 0 || BASH_REMATCH[2] >= 9))
}

get_uv() {
  local candidate
  say "Getting uv, which installs everything else"
  for candidate in python3 python3.14 python3.13 python3.12 python3.11 python3.10 python3.9 python; do
    if is_python_with_pip "$candidate"; then
      install_uv "$candidate" -m pip
      return
    fi
  done
  for candidate in python3 python; do
    if "$candidate" -m venv --clear "$environments/pip" &>/dev/null; then
      install_uv "$environments/pip/bin/python" -m pip
      return
    fi
  done
  if unpack_python; then
    install_uv "$unpacked_python" "$(pip_in "$environments/python")"
    return
  fi
  fail "uv is not on this machine, and there is no Python with pip to get it with" \
    "Either install uv (https://docs.astral.sh/uv/) or Python 3.9 or newer with pip" \
    "(Debian, Ubuntu: apt install python3-pip; Fedora: dnf install python3-pip; macOS: brew install uv)," \
    "then run scripts/setup again."
}

is_python_with_pip() {
  "$1" -I -c 'import sys, pip; sys.exit(sys.version_info < (3, 9))' &>/dev/null
}

# install_uv COMMAND...: installs uv with pip, which COMMAND starts.
install_uv() {
  rm -rf "$environments/uv.new"
  pip_install uv "$environments/uv.new" "$@" >&2 \
    || fail "uv could not be downloaded" \
      "The lines above say why. Check the network and the proxy (HTTPS_PROXY)," \
      "or install uv yourself (https://docs.astral.sh/uv/), then run scripts/setup again."
  rm -rf "$environments/uv"
  mv "$environments/uv.new" "$environments/uv"
}

# pip_install TOOL FOLDER COMMAND...: installs a pinned tool with pip, which COMMAND starts.
pip_install() {
  local tool=$1 folder=$2
  shift 2
  PIP_ROOT_USER_ACTION=ignore PIP_USER=0 "$@" install --quiet --disable-pip-version-check --no-input --only-binary :all: \
    --require-hashes --requirement "$root/requirements/$tool.txt" --target "$folder"
}
