/* blosc-core: chunks of Blosc1 and Blosc2, read and written. SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Every function that can fail returns int64_t: a size or count, or one of the negative codes below. Null pointers,
 * lengths and overlapping buffers are checked; input may be hostile. No globals, no threads, no environment
 * variables. Memory is yours: destinations always, scratch by `blosc_core_env`. Thread-safe on distinct buffers.
 *
 *     blosc_core_params p;
 *     blosc_core_params_init(&p, sizeof(float));
 *     int64_t n = blosc_core_compress(&p, data, len, chunk, blosc_core_compress_bound(len), NULL);
 *     int64_t m = blosc_core_decompress(chunk, n, NULL, out, len, NULL);
 */
#ifndef BLOSC_CORE_H
#define BLOSC_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface; blosc_core_abi() tells the library's. */
#define BLOSC_CORE_ABI 1

enum {
  BLOSC_CORE_E_NULL = -1,        /* a pointer is null where bytes are needed */
  BLOSC_CORE_E_TRUNCATED = -2,   /* the chunk ends too early */
  BLOSC_CORE_E_INVALID = -3,     /* a field of the chunk holds a value that is not allowed */
  BLOSC_CORE_E_CORRUPT = -4,     /* a compressed stream is corrupt */
  BLOSC_CORE_E_UNSUPPORTED = -5, /* chunks of this kind are not supported (big-endian writer) */
  BLOSC_CORE_E_CODEC = -6,       /* the codec is not in this build, or may not be used: see HOST_CODECS */
  BLOSC_CORE_E_FILTER = -7,      /* a filter is unknown or cannot run with its parameters */
  BLOSC_CORE_E_LIMIT = -8,       /* a limit would be exceeded */
  BLOSC_CORE_E_OUTPUT = -9,      /* the destination is too small */
  BLOSC_CORE_E_WORK = -10,       /* the scratch memory is too small and there is no allocator */
  BLOSC_CORE_E_RANGE = -11,      /* items outside the chunk */
  BLOSC_CORE_E_PARAM = -12,      /* a parameter is not allowed */
  BLOSC_CORE_E_MEMORY = -13,     /* the allocator returned null */
  BLOSC_CORE_E_OVERLAP = -14,    /* buffers overlap */
  BLOSC_CORE_E_INTERNAL = -15    /* a bug */
};

enum { BLOSC_CORE_BLOSCLZ = 0, BLOSC_CORE_LZ4 = 1, BLOSC_CORE_LZ4HC = 2, BLOSC_CORE_SNAPPY = 3, BLOSC_CORE_ZLIB = 4,
       BLOSC_CORE_ZSTD = 5 };
enum { BLOSC_CORE_NOFILTER = 0, BLOSC_CORE_SHUFFLE = 1, BLOSC_CORE_BITSHUFFLE = 2, BLOSC_CORE_DELTA = 3,
       BLOSC_CORE_TRUNC_PREC = 4 };

/* What a header says. */
typedef struct blosc_core_info {
  uint64_t nbytes;          /* decoded size in bytes */
  uint64_t cbytes;          /* size of the chunk in bytes */
  uint32_t blocksize;       /* in bytes; of variable-length blocks their number */
  uint32_t nblocks;
  uint8_t typesize;         /* 1 to 255 */
  uint8_t version;          /* format version */
  uint8_t codec;
  uint8_t flags;            /* byte 2 of the chunk; bit 1: the data is stored */
  uint8_t filters[6];       /* in the order they were applied */
  uint8_t filters_meta[6];
  uint8_t special;          /* 0 ordinary, 1 zeros, 2 NaN, 3 one value, 4 never written */
  uint8_t variable;         /* 1: blocks have lengths of their own */
  uint8_t reserved[6];
} blosc_core_info;

/* What a chunk may cost. NULL: 1 GiB, no limit of expansion, 2^24 blocks. */
typedef struct blosc_core_limits {
  uint64_t output;          /* most decoded bytes */
  uint64_t expansion;       /* most decoded bytes per byte of chunk */
  uint32_t blocks;          /* most blocks */
} blosc_core_limits;

#define BLOSC_CORE_SCALAR 1u      /* never touch a vector register: operating system kernels, interrupt handlers */
#define BLOSC_CORE_HOST_CODECS 2u /* zstd and zlib may use the process's heap: needed to compress with them, and
                                     they decode faster */

/* Where scratch memory comes from. `work` is used where it is large enough, else `alloc` is called once, and `free`
 * with the same length before the function returns. Any alignment will do. Bytes at `work` must have been written
 * once, with anything. NULL instead of a blosc_core_env: the process's heap, and both zstd and zlib; in a library
 * built without `std` there is no heap and functions that need scratch return BLOSC_CORE_E_WORK. */
typedef struct blosc_core_env {
  void *work;
  size_t work_len;
  void *(*alloc)(void *user, size_t len);
  void (*free)(void *user, void *ptr, size_t len);
  void *user;
  uint32_t flags;
} blosc_core_env;

/* How to write a chunk; blosc_core_params_init sets the defaults. */
typedef struct blosc_core_params {
  uint32_t typesize;        /* item size in bytes */
  uint32_t blocksize;       /* 0: automatic */
  uint8_t codec;
  uint8_t codec_meta;
  uint8_t level;            /* 0 (store) to 9 (smallest) */
  uint8_t split;            /* 1 always, 2 never, 3 where it pays, 4 as every writer */
  uint8_t filters[6];       /* in the order they are applied */
  uint8_t filters_meta[6];
  uint8_t blosc1;           /* 1: what Blosc1 reads */
  uint8_t reserved[7];
} blosc_core_params;

uint32_t blosc_core_abi(void);
const char *blosc_core_version(void);
/* One line of English for a negative result. */
const char *blosc_core_strerror(int64_t code);

/* The header alone (32 bytes are enough); returns the size of the chunk. `info` may be NULL here and below. */
int64_t blosc_core_header(const void *chunk, size_t len, blosc_core_info *info);
/* Header, offsets and the place of every stream; returns the decoded size. Bytes after the chunk are ignored. */
int64_t blosc_core_validate(const void *chunk, size_t len, const blosc_core_limits *limits, blosc_core_info *info);
/* Scratch that decoding this chunk takes, or items of it. */
int64_t blosc_core_decompress_work(const void *chunk, size_t len, const blosc_core_limits *limits);
/* Decodes the chunk; returns the decoded size. */
int64_t blosc_core_decompress(const void *chunk, size_t len, const blosc_core_limits *limits, void *out,
                              size_t out_len, const blosc_core_env *env);
/* Decodes `count` items from item `start` on; returns the bytes written. */
int64_t blosc_core_getitem(const void *chunk, size_t len, const blosc_core_limits *limits, size_t start, size_t count,
                           void *out, size_t out_len, const blosc_core_env *env);

/* A chunk that arrives in pieces of any size, decoded block by block, in memory that is known when its 32 bytes of
 * header are: no allocation but for the context of C zstd in a library built with it.
 *
 *     int64_t need = blosc_core_push_memory(first_32_bytes, 32);       -- or a bound that you know
 *     blosc_core_push_begin(place, sizeof place, memory, need, NULL, 0);
 *     while (blosc_core_push_done(place) == 0) {
 *       len = receive(piece, sizeof piece);                            -- from UART, flash, network
 *       for (size_t at = 0; ; at += (size_t)taken) {                   -- until it gives no block
 *         taken = blosc_core_push(place, piece + at, len - at, &block);
 *         if (taken < 0) return taken;
 *         if (!block.bytes) break;
 *         write_flash(block.offset, block.bytes, block.len);
 *         blosc_core_push_state(place, state);                         -- where a power failure does not reach
 *       }
 *     }
 *     blosc_core_push_end(place);
 *
 * `place` has blosc_core_push_size() bytes, aligned as malloc does. Blocks come out in the order in which they arrive,
 * each checked before any of it is given out. A call after an error gives that error again. */
typedef struct blosc_core_block {
  uint64_t index;           /* of the block; of a chunk without streams, of the piece */
  uint64_t offset;          /* where its bytes lie in the decoded chunk */
  const void *bytes;        /* decoded, valid until the next call; NULL: no block is complete, all bytes were taken */
  size_t len;
} blosc_core_block;

size_t blosc_core_push_size(void);
/* Memory for a chunk with this header. With less, blocks must be in order: see PushDecoder in the documentation. */
int64_t blosc_core_push_memory(const void *header, size_t len);
/* Makes a decoder; `flags` is 0 or BLOSC_CORE_SCALAR. */
int64_t blosc_core_push_begin(void *place, size_t place_len, void *memory, size_t memory_len,
                              const blosc_core_limits *limits, uint32_t flags);
/* Takes bytes up to the end of the next block; returns how many. */
int64_t blosc_core_push(void *place, const void *bytes, size_t len, blosc_core_block *block);
/* Bytes that the next step lacks; 0 if the next call needs none, and at the end of the chunk. */
int64_t blosc_core_push_needs(void *place);
/* 1 at the end of the chunk, else 0. */
int64_t blosc_core_push_done(void *place);
/* Bytes of the chunk that were taken. */
int64_t blosc_core_push_position(void *place);
/* After a block: what a decoder in a later run of the program goes on from; returns 24, or 0 where it is too early. */
int64_t blosc_core_push_state(void *place, uint8_t state[24]);
/* Goes on from there, after the prefix of the chunk was pushed again, blosc_core_push_needs bytes at a time until
 * blosc_core_push_state gives 24; returns the position in the chunk to push from. */
int64_t blosc_core_push_resume(void *place, const uint8_t state[24]);
int64_t blosc_core_push_end(void *place);

/* Decoding a chunk over itself: it lies at the end of a buffer of its decoded size and this many bytes more. */
int64_t blosc_core_in_place_margin(const void *chunk, size_t len, const blosc_core_limits *limits);
/* The chunk is at `at` in the buffer; `work` as blosc_core_push_memory says. Returns the decoded size. */
int64_t blosc_core_decompress_in_place(void *buffer, size_t len, size_t at, const blosc_core_limits *limits, void *work,
                                       size_t work_len, uint32_t flags);

/* BloscLZ, level 5, shuffle, automatic block size. */
void blosc_core_params_init(blosc_core_params *params, uint32_t typesize);
/* Most bytes the chunk of `nbytes` bytes can take. */
int64_t blosc_core_compress_bound(size_t nbytes);
/* Scratch that compressing `nbytes` bytes takes. */
int64_t blosc_core_compress_work(const blosc_core_params *params, size_t nbytes);
/* Compresses; returns the size of the chunk. */
int64_t blosc_core_compress(const blosc_core_params *params, const void *data, size_t len, void *out, size_t out_len,
                            const blosc_core_env *env);

#ifdef __cplusplus
}
#endif
#endif
