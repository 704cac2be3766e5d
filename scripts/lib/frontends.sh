# The frontends of older releases, which the browser tests load in the newest Home Assistant. Sourced, not run.

# Unpacks each frontend into .venv/frontend/RELEASE, unless it is already there.
get_frontends() {
  local requirements release folder
  for requirements in "$root"/requirements/frontend-*.txt; do
    release=$(basename -- "$requirements" .txt)
    folder=$environments/frontend/${release#frontend-}
    cmp -s "$requirements" "$folder/stamp" && continue
    say "Getting the frontend of Home Assistant ${release#frontend-}"
    find_uv
    rm -rf "$folder"
    "$uv" pip install --quiet --no-deps --require-hashes --python "$python" --target "$folder" --requirement "$requirements" \
      || fail "the frontend of Home Assistant ${release#frontend-} could not be had" "The lines above say why."
    cp -- "$requirements" "$folder/stamp"
  done
}
