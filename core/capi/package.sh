# Sourced by core/capi/build and frame/capi/build: their options, and how an archive that cargo made becomes what an installed
# C library consists of. All names that are not the library's own are hidden: those of Rust's library and of zstd could meet
# those of another archive.
set -euo pipefail
prefix= libdir=lib stage=${DESTDIR:-} split= renamed=
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# option WORD...: takes what both scripts understand, and says by `taken` how many words that was.
option() {
  taken=2
  case $1 in
    -h | --help) sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "$0"; exit 0 ;;
    --split-debug) split=1 taken=1 ;;
    --*=*) option "${1%%=*}" "${1#*=}"; taken=1 ;;
    --prefix | --libdir | --destdir | --prefix-symbols)
      [ $# -gt 1 ] || { echo "$0: $1 wants a value" >&2; exit 2; }
      case $1 in
        --prefix) prefix=$2 ;;
        --libdir) libdir=$2 ;;
        --destdir) stage=$2 ;;
        *) [[ $2 =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || { echo "$0: $1 $2: no beginning of a C name" >&2; exit 2; }; renamed=$2 ;;
      esac ;;
    -*) echo "$0: $1: no such option; see --help" >&2; exit 2 ;;
    *) prefix=$1 taken=1 ;;
  esac
}
# places DEFAULT: the folders. With a stage the prefix is a path on another system, so it is not looked at.
places() {
  [ -n "$prefix" ] || prefix=$1
  if [ -n "$stage" ]; then
    [[ $prefix == /* ]] || { echo "$0: $prefix: under a staging directory the prefix must be absolute" >&2; exit 2; }
    mkdir -p "$stage"
    stage=$(cd "$stage" && pwd)
  fi
  prefix=$(realpath -ms "$prefix")
  [[ $libdir == /* ]] || libdir=$prefix/$libdir
  include=$prefix/include${renamed:+/$renamed}
  objects=$(mktemp -d)
  trap 'rm -rf "$objects"' EXIT
}
# made PACKAGE CARGO-OPTION...: sets `archives` to the folder with what cargo builds.
made() {
  archives=${BLOSC_CAPI_MADE:-}
  [ -z "$archives" ] || return 0
  cd "$root"
  cargo build -q --release --locked -p "$1" ${BLOSC_CAPI_BESIDE:-} "${@:2}"
  archives=$(cd "${CARGO_TARGET_DIR:-target}/release" && pwd)
}
# put FILE PATH [MODE]: written beside and renamed, so that a program that runs on the old file keeps it.
put() {
  install -D -m "${3:-644}" "$1" "$stage$2.new"
  mv "$stage$2.new" "$stage$2"
}
# header FILE NAME: a header that declares functions; renamed ones by macros, so that programs are compiled unchanged.
header() {
  if [ -n "$renamed" ] && [ -e "$objects/names" ]; then
    { echo "/* Built with --prefix-symbols $renamed. */"; sed "s/.*/#define & $renamed&/" "$objects/names"; cat "$1"; } >"$objects/header"
    put "$objects/header" "$include/$2"
  else
    put "$1" "$include/$2"
  fi
}

# object ARCHIVE PATTERN: links the archive into one object, from the functions that match on, and hides every other name.
object() {
  local archive=$archives/$1
  nm --defined-only -g "$archive" 2>/dev/null | awk '{ print $3 }' | grep -E "^$2\$" | sort -u >"$objects/names"
  mapfile -t names <"$objects/names"
  ld -r --gc-sections "${names[@]/#/-u}" -o "$objects/all.o" "$archive"
  # `ld -r --gc-sections` makes weak references strong: Rust's library has some to functions of a newer libc. Its objects
  # also carry LLVM bitcode, which `ar` reads; linked together it is garbage.
  readelf -sW "$archive" 2>/dev/null | awk '$5 == "WEAK" && $7 == "UND" { print $8 }' | sort -u >"$objects/weak"
  sed "s/.*/& $renamed&/" "$objects/names" >"$objects/renames"
  sed "s/^/$renamed/" "$objects/names" >"$objects/exported"
  objcopy --keep-global-symbols="$objects/names" --weaken-symbols="$objects/weak" -R .llvmbc -R .llvmcmd "$objects/all.o"
  [ -z "$renamed" ] || objcopy --redefine-syms="$objects/renames" "$objects/all.o"
}
# install_library NAME FILE SONAME: that object as a static and a shared library, stripped.
install_library() {
  objcopy --strip-debug "$objects/all.o" "$objects/stripped.o"
  rm -f "$objects/archive"
  (cd "$objects" && cp stripped.o "$1.o" && ar rcs archive "$1.o")
  put "$objects/archive" "$libdir/lib$1.a"
  { echo '{ global:'; sed 's/$/;/' "$objects/exported"; echo 'local: *; };'; } >"$objects/map"
  ${CC:-cc} -shared -o "$objects/$2" -Wl,-soname,"$3" -Wl,--version-script="$objects/map" -Wl,-z,relro,-z,now,-z,defs \
    "$objects/all.o" -lpthread -ldl -lm -lgcc_s -lc
  if [ -n "$split" ]; then
    # The folder `.debug` beside a library is where debuggers look for its debug information.
    objcopy --only-keep-debug "$objects/$2" "$objects/$2.debug"
    put "$objects/$2.debug" "$libdir/.debug/$2.debug"
    (cd "$objects" && strip --strip-unneeded "$2" && objcopy --add-gnu-debuglink="$2.debug" "$2")
  else
    strip --strip-unneeded "$objects/$2"
  fi
  put "$objects/$2" "$libdir/$2" 755
  [ "$2" = "$3" ] || ln -sf "$2" "$stage$libdir/$3"
  [ "$3" = "lib$1.so" ] || ln -sf "$3" "$stage$libdir/lib$1.so"
}
# describe NAME VERSION FILE SONAME CMAKE-PACKAGE PLAIN TEXT: NAME.pc, and a CMake package with the targets PACKAGE::PLAIN_shared,
# PACKAGE::PLAIN_static and PACKAGE::PLAIN, which is the shared one. They find their files from where they lie themselves.
describe() {
  local name=$1 version=$2 file=$3 soname=$4 package=$5 plain=$6 text=$7 folder=$libdir/cmake/$5
  cat >"$objects/pc" <<P
prefix=$prefix
libdir=$libdir
includedir=$include

Name: $name
Description: $text
Version: $version
Libs: -L\${libdir} -l$name
Libs.private: -lpthread -ldl -lm
Cflags: -I\${includedir}
P
  sed -i "2,3s:=$prefix/:=\${prefix}/:" "$objects/pc"
  put "$objects/pc" "$libdir/pkgconfig/$name.pc"
  cat >"$objects/cmake" <<P
# find_package($package): $package::${plain}_shared, $package::${plain}_static, $package::$plain
include(CMakeFindDependencyMacro)
find_dependency(Threads)
get_filename_component(_include "\${CMAKE_CURRENT_LIST_DIR}/$(realpath -ms --relative-to="$folder" "$include")" ABSOLUTE)
get_filename_component(_lib "\${CMAKE_CURRENT_LIST_DIR}/$(realpath -ms --relative-to="$folder" "$libdir")" ABSOLUTE)
if(NOT TARGET $package::${plain}_shared)
  add_library($package::${plain}_shared SHARED IMPORTED)
  set_target_properties($package::${plain}_shared PROPERTIES IMPORTED_LOCATION "\${_lib}/$file" IMPORTED_SONAME $soname
    INTERFACE_INCLUDE_DIRECTORIES "\${_include}")
  add_library($package::${plain}_static STATIC IMPORTED)
  set_target_properties($package::${plain}_static PROPERTIES IMPORTED_LOCATION "\${_lib}/lib$name.a"
    INTERFACE_INCLUDE_DIRECTORIES "\${_include}" INTERFACE_LINK_LIBRARIES "Threads::Threads;\${CMAKE_DL_LIBS};m")
  add_library($package::$plain INTERFACE IMPORTED)
  set_target_properties($package::$plain PROPERTIES INTERFACE_LINK_LIBRARIES $package::${plain}_shared)
endif()
unset(_include)
unset(_lib)
P
  put "$objects/cmake" "$folder/${package}Config.cmake"
  cat >"$objects/cmake" <<P
# Versions of one major number are compatible.
set(PACKAGE_VERSION $version)
set(PACKAGE_VERSION_COMPATIBLE FALSE)
if(PACKAGE_FIND_VERSION STREQUAL "" OR (PACKAGE_FIND_VERSION_MAJOR EQUAL ${version%%.*} AND NOT PACKAGE_FIND_VERSION VERSION_GREATER $version))
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
if(PACKAGE_FIND_VERSION VERSION_EQUAL $version)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
P
  put "$objects/cmake" "$folder/${package}ConfigVersion.cmake"
}
