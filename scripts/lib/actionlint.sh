# actionlint, which checks the workflows: finds it on the machine or gets it. Sourced, not run.

# Sets $actionlint to the command, or to nothing if the download from github.com fails.
find_actionlint() {
  local own=$environments/actionlint/bin/actionlint
  if is_actionlint actionlint; then
    actionlint=actionlint
  elif is_actionlint "$own" || get_actionlint; then
    actionlint=$own
  else
    actionlint=
  fi
}

is_actionlint() {
  "$1" -version &>/dev/null
}

get_actionlint() {
  local folder=$environments/actionlint
  say "Getting actionlint"
  find_uv
  mkdir -p "$environments/log"
  rm -rf "$folder"
  "$uv" pip install --quiet --python "$python" --require-hashes --requirement "$root/requirements/actionlint.txt" \
    --target "$folder" &>"$environments/log/actionlint.log"
}
