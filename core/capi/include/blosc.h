/* The interface of Blosc1 (1.21), as implemented by blosc-core. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * For programs written for Blosc1: compile them unchanged against this header, or link objects compiled against the
 * C library's own. Differences: nothing is printed, an unknown name given to blosc_set_compressor changes nothing, more
 * than 256 threads count as 256, Blosc2 chunks are decoded too.
 */
#ifndef BLOSC_H
#define BLOSC_H

#include <limits.h>
#include <stdlib.h>

#include "blosc-export.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BLOSC_VERSION_MAJOR 1
#define BLOSC_VERSION_MINOR 21
#define BLOSC_VERSION_RELEASE 7
#define BLOSC_VERSION_STRING "1.21.7"
#define BLOSC_VERSION_REVISION "blosc-core"
#define BLOSC_VERSION_DATE "2026-11-26"
#define BLOSC_VERSION_FORMAT 2

#define BLOSC_MIN_HEADER_LENGTH 16
#define BLOSC_MAX_OVERHEAD BLOSC_MIN_HEADER_LENGTH
#define BLOSC_MAX_BUFFERSIZE (INT_MAX - BLOSC_MAX_OVERHEAD)
#define BLOSC_MAX_TYPESIZE 255
#define BLOSC_MAX_BLOCKSIZE ((INT_MAX - BLOSC_MAX_TYPESIZE * sizeof(int)) / 3)
#define BLOSC_MAX_THREADS 256

#define BLOSC_NOSHUFFLE 0
#define BLOSC_SHUFFLE 1
#define BLOSC_BITSHUFFLE 2

/* Bits of the flags that blosc_cbuffer_metainfo tells. */
#define BLOSC_DOSHUFFLE 0x1
#define BLOSC_MEMCPYED 0x2
#define BLOSC_DOBITSHUFFLE 0x4

#define BLOSC_BLOSCLZ 0
#define BLOSC_LZ4 1
#define BLOSC_LZ4HC 2
#define BLOSC_SNAPPY 3
#define BLOSC_ZLIB 4
#define BLOSC_ZSTD 5

#define BLOSC_BLOSCLZ_COMPNAME "blosclz"
#define BLOSC_LZ4_COMPNAME "lz4"
#define BLOSC_LZ4HC_COMPNAME "lz4hc"
#define BLOSC_SNAPPY_COMPNAME "snappy"
#define BLOSC_ZLIB_COMPNAME "zlib"
#define BLOSC_ZSTD_COMPNAME "zstd"

#define BLOSC_BLOSCLZ_LIB 0
#define BLOSC_LZ4_LIB 1
#define BLOSC_SNAPPY_LIB 2
#define BLOSC_ZLIB_LIB 3
#define BLOSC_ZSTD_LIB 4

#define BLOSC_BLOSCLZ_LIBNAME "BloscLZ"
#define BLOSC_LZ4_LIBNAME "LZ4"
#define BLOSC_SNAPPY_LIBNAME "Snappy"
#define BLOSC_ZLIB_LIBNAME "Zlib"
#define BLOSC_ZSTD_LIBNAME "Zstd"

/* Formats of the codecs' streams: those of the libraries. */
#define BLOSC_BLOSCLZ_FORMAT BLOSC_BLOSCLZ_LIB
#define BLOSC_LZ4_FORMAT BLOSC_LZ4_LIB
#define BLOSC_LZ4HC_FORMAT BLOSC_LZ4_LIB
#define BLOSC_SNAPPY_FORMAT BLOSC_SNAPPY_LIB
#define BLOSC_ZLIB_FORMAT BLOSC_ZLIB_LIB
#define BLOSC_ZSTD_FORMAT BLOSC_ZSTD_LIB

#define BLOSC_BLOSCLZ_VERSION_FORMAT 1
#define BLOSC_LZ4_VERSION_FORMAT 1
#define BLOSC_LZ4HC_VERSION_FORMAT 1
#define BLOSC_SNAPPY_VERSION_FORMAT 1
#define BLOSC_ZLIB_VERSION_FORMAT 1
#define BLOSC_ZSTD_VERSION_FORMAT 1

#define BLOSC_ALWAYS_SPLIT 1
#define BLOSC_NEVER_SPLIT 2
#define BLOSC_AUTO_SPLIT 3
#define BLOSC_FORWARD_COMPAT_SPLIT 4

/* Do nothing: there is no library state to prepare or release. */
BLOSC_EXPORT void blosc_init(void);
BLOSC_EXPORT void blosc_destroy(void);
BLOSC_EXPORT int blosc_free_resources(void);

/* The size of the chunk; 0 where it does not fit destsize (nbytes + BLOSC_MAX_OVERHEAD is always enough); negative
 * for parameters out of range. */
BLOSC_EXPORT int blosc_compress(int clevel, int doshuffle, size_t typesize, size_t nbytes, const void *src, void *dest,
                   size_t destsize);
BLOSC_EXPORT int blosc_compress_ctx(int clevel, int doshuffle, size_t typesize, size_t nbytes, const void *src, void *dest,
                       size_t destsize, const char *compressor, size_t blocksize, int numinternalthreads);

/* The decoded size; negative for a chunk that cannot be decoded into destsize bytes. The chunk must be readable as
 * far as its header says: ask blosc_cbuffer_validate first. */
BLOSC_EXPORT int blosc_decompress(const void *src, void *dest, size_t destsize);
BLOSC_EXPORT int blosc_decompress_ctx(const void *src, void *dest, size_t destsize, int numinternalthreads);
/* Bytes of the items; negative for a range outside the chunk. */
BLOSC_EXPORT int blosc_getitem(const void *src, int start, int nitems, void *dest);

/* Settings of blosc_compress and blosc_decompress, for the whole process. Both set the number of threads from the
 * environment variable BLOSC_NTHREADS; blosc_compress also takes BLOSC_COMPRESSOR, BLOSC_BLOCKSIZE and BLOSC_SPLITMODE (ALWAYS,
 * NEVER, AUTO, FORWARD_COMPAT) as settings, and BLOSC_CLEVEL, BLOSC_SHUFFLE (NOSHUFFLE, SHUFFLE, BITSHUFFLE) and
 * BLOSC_TYPESIZE for its own parameters. */
BLOSC_EXPORT int blosc_get_nthreads(void);
BLOSC_EXPORT int blosc_set_nthreads(int nthreads);
BLOSC_EXPORT const char *blosc_get_compressor(void);
BLOSC_EXPORT int blosc_set_compressor(const char *compname);
BLOSC_EXPORT int blosc_get_blocksize(void);
BLOSC_EXPORT void blosc_set_blocksize(size_t blocksize);
BLOSC_EXPORT void blosc_set_splitmode(int splitmode);

BLOSC_EXPORT int blosc_compcode_to_compname(int compcode, const char **compname);
BLOSC_EXPORT int blosc_compname_to_compcode(const char *compname);
BLOSC_EXPORT const char *blosc_list_compressors(void);
BLOSC_EXPORT const char *blosc_get_version_string(void);
/* The strings are yours to free. */
BLOSC_EXPORT int blosc_get_complib_info(const char *compname, char **complib, char **version);

/* From the first BLOSC_MIN_HEADER_LENGTH bytes of a chunk; zeros if they are none. */
BLOSC_EXPORT void blosc_cbuffer_sizes(const void *cbuffer, size_t *nbytes, size_t *cbytes, size_t *blocksize);
BLOSC_EXPORT void blosc_cbuffer_metainfo(const void *cbuffer, size_t *typesize, int *flags);
BLOSC_EXPORT void blosc_cbuffer_versions(const void *cbuffer, int *version, int *compversion);
BLOSC_EXPORT const char *blosc_cbuffer_complib(const void *cbuffer);
/* 0 if the cbytes bytes at cbuffer are a chunk that is safe to decode, and its decoded size; else -1. */
BLOSC_EXPORT int blosc_cbuffer_validate(const void *cbuffer, size_t cbytes, size_t *nbytes);

#ifdef __cplusplus
}
#endif
#endif
