# Sourced by smoke, campaign and oss-fuzz/build.sh: what the targets are, how they are built and run.

# "NAME DICTIONARY" of each target, a line each, from the registry in src/lib.rs.
targets() { sed -n 's/^    ("\([a-z0-9_]*\)", [a-z_:0-9]*, "\([a-z0-9]*\)"),$/\1 \2/p' src/lib.rs; }

# zstd's C code is instrumented too, by the C compiler. GCC moves its constant local tables (zstd_opt.c:
# getAllMatchesFns) into .data.rel.ro and then poisons their shadow when the block ends, as if they still lay on
# the stack: seen in the object code. Rust's own checks stay complete.
case "${CFLAGS:-}" in
  *use-after-scope*) ;;
  *) export CFLAGS="${CFLAGS:+$CFLAGS }-fno-sanitize-address-use-after-scope" ;;
esac

host() { rustc +nightly -vV | sed -n 's/^host: //p'; }
binary() { echo "target/$(host)/release/$1"; } # NAME: what `cargo +nightly fuzz build NAME` leaves
# Builds and runs all targets as one binary.
build_every() { cargo +nightly fuzz build every; }
run_target() { BLOSC_FUZZ_TARGET=$1 "$(binary every)" "${@:2}"; } # NAME ARGUMENT...

# The process that c_differential compares with; BLOSC_ORACLE may name one that is built. Without libblosc2 that target says so
# and does nothing.
oracle() {
  [ -n "${BLOSC_LIBBLOSC2:-}" ] || return 0
  [ -n "${BLOSC_ORACLE:-}" ] || (cd .. && cargo build -q --release --locked -p blosc-peers --bin blosc-oracle) || return 1
  BLOSC_ORACLE=${BLOSC_ORACLE:-$(cd .. && pwd)/target/release/blosc-oracle}
  export BLOSC_ORACLE BLOSC_C_CRASHES="${BLOSC_C_CRASHES:-$PWD/artifacts/libblosc2}"
}

# What a target starts from, its seeds and its regressions, as files in target/start/NAME.
start() { rm -rf "target/start/$1" && python3 seeds.py unpack target/start "$1"; } # NAME

# fuzz_one NAME DICTIONARY SECONDS [OPTION...]: one run of a target; the log goes to corpus/NAME.log, new inputs
# to corpus/NAME, or to the folder in $corpus.
# The limit on time is the oracle's (CPU time, src/resources.rs); libFuzzer's counts seconds on the wall, during
# which a machine may be stopped, and is only there to end a loop without end.
fuzz_one() {
  local name=$1 dictionary=$2 seconds=$3
  local grown=${corpus:-corpus/$name}
  mkdir -p corpus "$grown" "artifacts/$name"
  start "$name"
  run_target "$name" "$grown" "target/start/$name" "-dict=dictionaries/$dictionary.dict" \
    "-artifact_prefix=artifacts/$name/" "-max_total_time=$seconds" -timeout=200 -rss_limit_mb=3000 \
    -print_final_stats=1 "${@:4}" >"corpus/$name.log" 2>&1
}
