# Sourced by every file of .ci that is a step: `. "$(dirname "$0")/lib.sh"`, checks, `finish`.
#
#   check NAME COMMAND...   runs a command; shows its closing lines, or all of its end if it fails
#   skip NAME REASON        something that should be here is missing; in CI (CI=true) that is a failure
#   absent NAME REASON      something that this machine need not have; never a failure
#   finish                  exit status of the step, with a summary where it was started alone
#
# BLOSC_LONG=1 runs the full counts; otherwise tests take a tenth of those of `cargo test` under fixed seeds. What libblosc2 and
# Blosc1 read of ours, crash points, and interoperation with frames and arrays always run in full.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-never} CARGO_INCREMENTAL=0
# Less to compile, link and store: a failing test names its line without debug information.
export CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_TEST_DEBUG=0
# A crate that is optimised in one piece takes a fifth less of the CPUs' time than in 16, and the other lane has the other core.
export CARGO_PROFILE_DEV_CODEGEN_UNITS=1 CARGO_PROFILE_TEST_CODEGEN_UNITS=1
[ "${BLOSC_LONG:-}" = 1 ] || export BLOSC_TENTH=1
[ -d ../shared/vectors ] && export BLOSC_VECTORS="$root/../shared/vectors"
tools=${BLOSC_CI_TOOLS:-$root/target/ci}
mkdir -p "$tools"

# Cargo builds a library once for each set of features that the packages of one command ask for. So most checks name all
# packages, whatever they run, and share one set of builds.
all=(--workspace --locked --features blosc-frame/ndarray,blosc-replay/tools)
released=(-p blosc-bench -p blosc-peers -p blosc-capi)

# The steps of one run share this folder: `failed` and `skipped` have one line for each. A step that is started alone makes its own.
alone=
if [ -z "${BLOSC_CI_STATE:-}" ]; then
  alone=1
  BLOSC_CI_STARTED=$(date +%s)
  BLOSC_CI_STATE=$tools/run.$$
  export BLOSC_CI_STARTED BLOSC_CI_STATE
  rm -rf "$BLOSC_CI_STATE"
  mkdir "$BLOSC_CI_STATE"
  : >"$BLOSC_CI_STATE/failed" >"$BLOSC_CI_STATE/skipped"
fi
state=$BLOSC_CI_STATE
# A machine in CI may be so slow that its time runs out. What is not done by then is skipped, and the summary says so.
budget=${BLOSC_CI_SECONDS:-$([ "${CI:-}" = true ] && echo 4700 || echo 100000)}
elapsed() { echo $(($(date +%s) - BLOSC_CI_STARTED)); }

say() { printf '%s\n' "$*"; }
fail() { # NAME [REASON]
  say "FAILED  $1${2:+: $2}"
  echo "$1${2:+: $2}" >>"$state/failed"
}
absent() { # NAME REASON
  say "skipped $1: $2"
  echo "$1: $2" >>"$state/skipped"
}
skip() { # NAME REASON
  if [ "${CI:-}" = true ]; then fail "$1" "$2"; else absent "$1" "$2"; fi
}
check() { # NAME COMMAND...
  local name=$1 start=$SECONDS log=$state/$BASHPID.log shown left limit=${CHECK_TIMEOUT:-1500} status=0 cpu=0
  local TIMEFORMAT='%0U+%0S'
  shift
  left=$((budget - $(elapsed)))
  [ "$left" -ge "$limit" ] || limit=$left
  if [ "$left" -le 0 ]; then status=124; else cpu=$({ time timeout "$limit" "$@" >"$log" 2>&1; } 2>&1) || status=$?; fi
  if [ "$status" = 124 ] && [ "$limit" = "$left" ]; then
    shown=$(absent "$name" "the time for the whole run, $budget s, was over after $((SECONDS - start)) s of it")
  elif [ "$status" = 0 ]; then
    awk -v name="$name" 'sub(/^skipped /, "") { print name ": " $0 }' "$log" >>"$state/skipped"
    shown=$(say "ok      $name ($((SECONDS - start)) s, of CPU $((cpu)) s)"
      grep -E '^test result:|passed, [0-9]+ failed|^skipped|^figure|^ok  ' "$log" | sort | uniq -c | sed 's/^/        /' | head -90)
  else
    shown=$(fail "$name" "status $status after $((SECONDS - start)) s: $*"
      { grep -nE '^error|panicked at|FAILED' "$log" | head -20; tail -40 "$log"; } | sed 's/^/        | /')
  fi
  say "$shown" # at once, whatever the other lane says
}
# Runs a command while the other lane stands still: a program on the other half of a core takes half of its caches.
undisturbed() { # COMMAND...
  local others
  others=$(ps -e -o pid=,ppid= | awk -v me=$BASHPID -v lanes="$(cat "$state/lanes" 2>/dev/null)" '
    { parent[$1] = $2 }
    END {
      split(lanes, list); for (i in list) lane[list[i]] = 1
      for (p = me; p > 1 && !(p in lane); p = parent[p]); mine = p
      for (pid in parent) {
        for (p = pid; p > 1 && !(p in lane); p = parent[p]);
        if (p > 1 && p != mine) print pid
      }
    }')
  (
    [ -z "$others" ] || trap 'kill -CONT $others 2>/dev/null' EXIT # also when the time of the check is over
    [ -z "$others" ] || kill -STOP $others 2>/dev/null
    "$@"
  )
}
finish() {
  [ -n "$alone" ] || exit 0 # what failed is written down; any other status is a step that did not come to its end
  summary
}
summary() {
  local status=0
  say ""
  sed 's/^/skipped /' "$state/skipped"
  if [ -s "$state/failed" ]; then
    sed 's/^/FAILED  /' "$state/failed"
    status=1
  else
    say "everything passed in $(elapsed) s; $(wc -l <"$state/skipped") skipped"
  fi
  rm -rf "$state"
  exit $status
}
# Takes away what was built and no later step needs, in CI only: the disk may be small.
done_with() { [ "${CI:-}" != true ] || rm -rf "$@"; }

# ---- what steps need -----------------------------------------------------------------------------

apt_ready=
packages() { # COMMAND PACKAGE...: makes sure COMMAND is there, by installing the packages
  command -v "$1" >/dev/null && return 0
  command -v apt-get >/dev/null && [ "$(id -u)" = 0 ] || return 1
  if [ -z "$apt_ready" ]; then
    apt-get update -qq >"$tools/apt" 2>&1 || { say "apt-get update:"; tail -3 "$tools/apt"; }
    apt_ready=1
  fi
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${@:2}" >"$tools/apt" 2>&1 ||
    { say "apt-get install ${*:2}:"; tail -3 "$tools/apt"; }
  command -v "$1" >/dev/null
}
# Where two lanes run, one of them installs packages (`.ci/install`) and the other waits for it, but not for ever.
installed() {
  local second
  for ((second = 0; second < 1500; second++)); do
    if [ -n "$alone" ] || [ -e "$state/ready" ]; then return; fi
    sleep 1
  done
}

# Rust's own library for another CPU or system, from rustup. Where it has none, it is built from source, which takes longer.
rust_for() { # TRIPLE
  [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ] || rustup target add "$1" >"$tools/rustup" 2>&1
}
# A compiler with the library sources beside it, for -Zbuild-std: rustup's with rust-src, or else Debian's.
find_cross() {
  local from
  for from in cat "grep -v [.]cargo/"; do
    XCARGO=$(type -ap cargo | $from | head -1)
    XRUSTC=$(type -ap rustc | $from | head -1)
    [ -n "$XCARGO" ] && [ -n "$XRUSTC" ] && [ -d "$("$XRUSTC" --print sysroot)/lib/rustlib/src/rust/library" ] && return 0
  done
  return 1
}
cross_compiler() {
  rustup component add rust-src >"$tools/rustup" 2>&1
  find_cross || { packages no-such-command rustc-web cargo-web rust-web-src; find_cross; }
}
find_bochs() { # and what the disk of its PC is made of
  type bochs genisoimage cpio busybox >/dev/null 2>&1 && [ -e /usr/lib/ISOLINUX/isolinux.bin ] &&
    [ -e /usr/lib/syslinux/modules/bios/ldlinux.c32 ] && [ -e /usr/share/bochs/BIOS-bochs-latest ] &&
    [ -e /usr/share/bochs/VGABIOS-lgpl-latest ]
}
bochs_pc() {
  find_bochs || {
    packages no-such-command bochs bochs-term bochsbios vgabios isolinux syslinux-common genisoimage cpio busybox-static
    find_bochs
  }
}

oracles() { # a Python with the reference implementations; sets BLOSC_PYTHON, BLOSC_LIBBLOSC2 and BLOSC_LIBBLOSC
  [ -n "${BLOSC_PYTHON:-}" ] && [ -n "${BLOSC_LIBBLOSC2:-}" ] && [ -n "${BLOSC_LIBBLOSC:-}" ] && return 0
  local py=$tools/venv/bin/python
  [ -x "$py" ] || python3 -m venv "$tools/venv" >/dev/null 2>&1 || return 1
  "$py" -c 'import blosc2, blosc, numpy' 2>/dev/null ||
    "$py" -m pip install -q blosc2==4.14.1 blosc==1.11.4 bloscpack==0.16.0 numpy >"$tools/pip" 2>&1 ||
    { tail -3 "$tools/pip"; return 1; }
  # Arrow files of ours are read by it. Where it cannot be had, `tables.py` says that it skips them.
  "$py" -c 'import pyarrow' 2>/dev/null || "$py" -m pip install -q pyarrow==26.0.1 >"$tools/pip" 2>&1 || tail -3 "$tools/pip"
  BLOSC_LIBBLOSC2=$("$py" -c 'import blosc2, glob, os
print(glob.glob(os.path.join(os.path.dirname(blosc2.__file__), "lib*", "libblosc2.so*"))[0])' 2>/dev/null) || return 1
  BLOSC_LIBBLOSC=$("$py" -c 'import glob, os, sys
print(glob.glob(os.path.join(sys.prefix, "lib*", "libblosc.so*"))[0])' 2>/dev/null) || return 1
  export BLOSC_PYTHON=$py BLOSC_LIBBLOSC2 BLOSC_LIBBLOSC
}
