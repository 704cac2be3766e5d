# Chromium for the browser tests. Sourced, not run.

find_chromium() {
  if command -v chromium || command -v chromium-browser || command -v google-chrome; then
    return
  fi >/dev/null
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "Installing Chromium"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends chromium; } >&2 \
      || fail "Chromium could not be installed" "The lines above say why."
    return
  fi
  fail "the browser tests need Chromium, which is not on this machine" \
    "Install it (Debian: sudo apt install chromium; Fedora: sudo dnf install chromium), then run this again."
}
