#!/bin/bash -eu
# Builds every target into $OUT, each with its seeds, its dictionary and its options:
#
#   $OUT/NAME   $OUT/NAME_seed_corpus.zip   $OUT/NAME.dict   $OUT/NAME.options
#
# NAME... as arguments builds only these. c_differential is left out: it compares with a library that is not here.
cd "$SRC/blosc-rust/fuzz"
. ./common.sh
only=" $* "
while read -r name dictionary; do
  case "$only" in "  " | *" $name "*) ;; *) continue ;; esac
  [ "$name" != c_differential ] || continue
  cargo +nightly fuzz build "$name" </dev/null
  cp "$(binary "$name")" "$OUT/"
  cp "dictionaries/$dictionary.dict" "$OUT/$name.dict"
  # Options of all targets, then those of this one. The limit on time is in the target (CPU time, src/resources.rs).
  cat oss-fuzz/targets.options >"$OUT/$name.options"
  if [ -f "oss-fuzz/$name.options" ]; then cat "oss-fuzz/$name.options" >>"$OUT/$name.options"; fi
  cp "seeds/$name.zip" "$OUT/${name}_seed_corpus.zip"
  if [ -d "regressions/$name" ]; then zip -q -j -r "$OUT/${name}_seed_corpus.zip" "regressions/$name"; fi
done < <(targets)
