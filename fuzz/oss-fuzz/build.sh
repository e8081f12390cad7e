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
  # The limit on time is in the target (CPU time, src/resources.rs); this one ends a loop without end.
  printf '%s\n' '[libfuzzer]' 'timeout = 60' 'rss_limit_mb = 2560' >"$OUT/$name.options"
  case $name in
    table_open) ;; # a zip file of several arrays
    cli_args | dtype) echo 'max_len = 2048' ;;
    chunk_parse | chunk_decode | chunk_getitem | *_open) echo 'max_len = 65536' ;;
  esac >>"$OUT/$name.options"
  cp "seeds/$name.zip" "$OUT/${name}_seed_corpus.zip"
  if [ -d "regressions/$name" ]; then zip -q -j -r "$OUT/${name}_seed_corpus.zip" "regressions/$name"; fi
done < <(targets)
