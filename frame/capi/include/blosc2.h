/* libblosc2: compression of binary data in chunks, super-chunks and frames.
 *
 * Written from the facts of the interface of C-Blosc2 3.3: names, layouts and values. */
#ifndef BLOSC_BLOSC2_H
#define BLOSC_BLOSC2_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "blosc2/blosc2-common.h"
#include "blosc2/blosc2-constants.h"
#include "blosc2/blosc2-stdio.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BLOSC2_VERSION_MAJOR 3
#define BLOSC2_VERSION_MINOR 3
#define BLOSC2_VERSION_RELEASE 5
#define BLOSC2_VERSION_STRING "3.3.5"
#define BLOSC2_VERSION_DATE "$Date:: 2026-09-24 #$"

#define BLOSC_BLOSCLZ_COMPNAME "blosclz"
#define BLOSC_LZ4_COMPNAME "lz4"
#define BLOSC_LZ4HC_COMPNAME "lz4hc"
#define BLOSC_ZLIB_COMPNAME "zlib"
#define BLOSC_ZSTD_COMPNAME "zstd"

#define BLOSC_BLOSCLZ_LIBNAME "BloscLZ"
#define BLOSC_LZ4_LIBNAME "LZ4"
#define BLOSC_ZLIB_LIBNAME "Zlib"
#define BLOSC_ZSTD_LIBNAME "Zstd"

#define BLOSC2_MAX_METALAYERS 16
#define BLOSC2_METALAYER_NAME_MAXLEN 31
#define BLOSC2_MAX_VLMETALAYERS (8 * 1024)
#define BLOSC2_VLMETALAYERS_NAME_MAXLEN BLOSC2_METALAYER_NAME_MAXLEN

#ifdef __GNUC__
#define BLOSC_ATTRIBUTE_UNUSED __attribute__((unused))
#else
#define BLOSC_ATTRIBUTE_UNUSED
#endif

/* Messages to stderr where the environment variable BLOSC_TRACE is set; for programs of C. */
#define BLOSC_TRACE(cat, msg, ...)                                                          \
  do {                                                                                      \
    if (getenv("BLOSC_TRACE") != NULL)                                                      \
      fprintf(stderr, "[%s] - " msg " (%s:%d)\n", #cat, ##__VA_ARGS__, __FILE__, __LINE__); \
  } while (0)
#define BLOSC_TRACE_ERROR(msg, ...) BLOSC_TRACE(error, msg, ##__VA_ARGS__)
#define BLOSC_TRACE_WARNING(msg, ...) BLOSC_TRACE(warning, msg, ##__VA_ARGS__)
#define BLOSC_TRACE_INFO(msg, ...) BLOSC_TRACE(info, msg, ##__VA_ARGS__)

/* A line to stderr where the environment variable BLOSC_INFO is set; for programs of C. */
#define BLOSC_INFO(msg, ...)                                   \
  do {                                                         \
    if (getenv("BLOSC_INFO") != NULL)                          \
      fprintf(stderr, "[INFO] - " msg "\n", ##__VA_ARGS__);    \
  } while (0)

/* Leaves the function with `rc` where the pointer is null. */
#define BLOSC_ERROR_NULL(pointer, rc)             \
  do {                                            \
    if ((pointer) == NULL) {                      \
      BLOSC_TRACE_ERROR("%s is null", #pointer);  \
      return (rc);                                \
    }                                             \
  } while (0)
/* Leaves the function with the result of `rc` where it is an error. */
#define BLOSC_ERROR(rc)                                     \
  do {                                                      \
    int rc_ = (rc);                                         \
    if (rc_ < BLOSC2_ERROR_SUCCESS) {                       \
      BLOSC_TRACE_ERROR("%s", blosc2_error_string(rc_));    \
      return rc_;                                           \
    }                                                       \
  } while (0)

typedef struct blosc2_context_s blosc2_context;
typedef struct blosc2_frame_s blosc2_frame;
typedef struct timespec blosc_timestamp_t;

/* Compression by instrumented codecs gives one of these for each stream. */
typedef struct {
  float cratio;
  float cspeed;
  float filter_speed;
  uint8_t flags[4];
} blosc2_instr;

/* Back ends for files: what a caller registers, and how a frame asks for one. */
typedef void *(*blosc2_open_cb)(const char *urlpath, const char *mode, void *params);
typedef int (*blosc2_close_cb)(void *stream);
typedef int64_t (*blosc2_size_cb)(void *stream);
typedef int64_t (*blosc2_write_cb)(const void *ptr, int64_t size, int64_t nitems, int64_t position,
    void *stream);
typedef int64_t (*blosc2_read_cb)(void **ptr, int64_t size, int64_t nitems, int64_t position, void *stream);
typedef int (*blosc2_truncate_cb)(void *stream, int64_t size);
typedef int (*blosc2_destroy_cb)(void *params);

typedef struct {
  uint8_t id;
  char *name;
  bool is_allocation_necessary;
  blosc2_open_cb open;
  blosc2_close_cb close;
  blosc2_size_cb size;
  blosc2_write_cb write;
  blosc2_read_cb read;
  blosc2_truncate_cb truncate;
  blosc2_destroy_cb destroy;
} blosc2_io_cb;

typedef struct {
  uint8_t id;
  const char *name;
  void *params;
} blosc2_io;

static const blosc2_io BLOSC2_IO_DEFAULTS = {0, "filesystem", NULL};

/* Callers' functions that see each block before it is compressed and after it is decompressed. */
typedef struct {
  void *user_data;
  const uint8_t *input;
  uint8_t *output;
  int32_t output_size;
  int32_t output_typesize;
  int32_t output_offset;
  int64_t nchunk;
  int32_t nblock;
  int32_t tid;
  uint8_t *ttmp;
  size_t ttmp_nbytes;
  blosc2_context *ctx;
  bool output_is_disposable;
} blosc2_prefilter_params;

typedef struct {
  void *user_data;
  const uint8_t *input;
  uint8_t *output;
  int32_t size;
  int32_t typesize;
  int32_t offset;
  int64_t nchunk;
  int32_t nblock;
  int32_t tid;
  uint8_t *ttmp;
  size_t ttmp_nbytes;
  blosc2_context *ctx;
} blosc2_postfilter_params;

typedef int (*blosc2_prefilter_fn)(blosc2_prefilter_params *params);
typedef int (*blosc2_postfilter_fn)(blosc2_postfilter_params *params);

/* Parameters of compression and of decompression, and where a super-chunk is kept. */
typedef struct {
  uint8_t compcode;
  uint8_t compcode_meta;
  uint8_t clevel;
  int use_dict;
  int32_t typesize;
  int16_t nthreads;
  int32_t blocksize;
  int32_t splitmode;
  void *schunk;
  uint8_t filters[BLOSC2_MAX_FILTERS];
  uint8_t filters_meta[BLOSC2_MAX_FILTERS];
  blosc2_prefilter_fn prefilter;
  blosc2_prefilter_params *preparams;
  void *tuner_params;
  int tuner_id;
  bool instr_codec;
  void *codec_params;
  void *filter_params[BLOSC2_MAX_FILTERS];
} blosc2_cparams;

static const blosc2_cparams BLOSC2_CPARAMS_DEFAULTS = {
  BLOSC_BLOSCLZ, 0, 5, 0, 8, 1, 0, BLOSC_FORWARD_COMPAT_SPLIT, NULL,
  {0, 0, 0, 0, 0, BLOSC_SHUFFLE}, {0, 0, 0, 0, 0, 0}, NULL, NULL, NULL, 0, false, NULL,
  {NULL, NULL, NULL, NULL, NULL, NULL}
};

typedef struct {
  int16_t nthreads;
  void *schunk;
  blosc2_postfilter_fn postfilter;
  blosc2_postfilter_params *postparams;
  int32_t typesize;
} blosc2_dparams;

static const blosc2_dparams BLOSC2_DPARAMS_DEFAULTS = {1, NULL, NULL, NULL, 8};

typedef struct {
  bool contiguous;
  char *urlpath;
  blosc2_cparams *cparams;
  blosc2_dparams *dparams;
  blosc2_io *io;
} blosc2_storage;

static const blosc2_storage BLOSC2_STORAGE_DEFAULTS = {false, NULL, NULL, NULL, NULL};

/* A named piece of data in a frame. */
typedef struct blosc2_metalayer {
  char *name;
  uint8_t *content;
  int32_t content_len;
} blosc2_metalayer;

/* A super-chunk. The library keeps the fields in step; callers read them, and may replace the two contexts. */
typedef struct blosc2_schunk {
  uint8_t version;
  uint8_t compcode;
  uint8_t compcode_meta;
  uint8_t clevel;
  uint8_t splitmode;
  int32_t typesize;
  int32_t blocksize;
  int32_t chunksize;
  uint8_t flags2;
  uint8_t use_dict;
  uint8_t filters[BLOSC2_MAX_FILTERS];
  uint8_t filters_meta[BLOSC2_MAX_FILTERS];
  int64_t nchunks;
  int64_t current_nchunk;
  int64_t nbytes;
  int64_t cbytes;
  uint8_t **data;
  size_t data_len;
  blosc2_storage *storage;
  blosc2_frame *frame;
  blosc2_context *cctx;
  blosc2_context *dctx;
  struct blosc2_metalayer *metalayers[BLOSC2_MAX_METALAYERS];
  uint16_t nmetalayers;
  struct blosc2_metalayer *vlmetalayers[BLOSC2_MAX_VLMETALAYERS];
  int16_t nvlmetalayers;
  void *tuner_params;
  int tuner_id;
  int8_t ndim;
  int64_t *blockshape;
  bool view;
  int64_t change_tick;
} blosc2_schunk;

/* Callers' own codecs, filters and tuners. */
typedef void (*blosc_threads_callback)(void *callback_data, void (*dojob)(void *), int numjobs,
    size_t jobdata_elsize, void *jobdata);
typedef int (*blosc2_codec_encoder_cb)(const uint8_t *input, int32_t input_len, uint8_t *output,
    int32_t output_len, uint8_t meta, blosc2_cparams *cparams, const void *chunk);
typedef int (*blosc2_codec_decoder_cb)(const uint8_t *input, int32_t input_len, uint8_t *output,
    int32_t output_len, uint8_t meta, blosc2_dparams *dparams, const void *chunk);
typedef int (*blosc2_filter_forward_cb)(const uint8_t *, uint8_t *, int32_t, uint8_t, blosc2_cparams *,
    uint8_t);
typedef int (*blosc2_filter_backward_cb)(const uint8_t *, uint8_t *, int32_t, uint8_t, blosc2_dparams *,
    uint8_t);

typedef struct {
  uint8_t compcode;
  char *compname;
  uint8_t complib;
  uint8_t version;
  blosc2_codec_encoder_cb encoder;
  blosc2_codec_decoder_cb decoder;
} blosc2_codec;

typedef struct {
  uint8_t id;
  char *name;
  uint8_t version;
  blosc2_filter_forward_cb forward;
  blosc2_filter_backward_cb backward;
} blosc2_filter;

typedef struct {
  int (*init)(void *config, blosc2_context *cctx, blosc2_context *dctx);
  int (*next_blocksize)(blosc2_context *context);
  int (*next_cparams)(blosc2_context *context);
  int (*update)(blosc2_context *context, double ctime);
  int (*free)(blosc2_context *context);
  int id;
  char *name;
} blosc2_tuner;

/* The library: settings of the process, names, defaults */
BLOSC_EXPORT int blosc2_compcode_to_compname(int compcode, const char **compname);
BLOSC_EXPORT int blosc2_compname_to_compcode(const char *compname);
BLOSC_EXPORT void blosc2_destroy(void);
BLOSC_EXPORT const char *blosc2_error_string(int error_code);
static char *print_error(int rc) BLOSC_ATTRIBUTE_UNUSED;
static char *print_error(int rc) {
  return (char *)blosc2_error_string(rc);
}
BLOSC_EXPORT int blosc2_free_resources(void);
BLOSC_EXPORT blosc2_cparams blosc2_get_blosc2_cparams_defaults(void);
BLOSC_EXPORT blosc2_dparams blosc2_get_blosc2_dparams_defaults(void);
BLOSC_EXPORT blosc2_io blosc2_get_blosc2_io_defaults(void);
BLOSC_EXPORT blosc2_stdio_mmap blosc2_get_blosc2_stdio_mmap_defaults(void);
BLOSC_EXPORT blosc2_storage blosc2_get_blosc2_storage_defaults(void);
BLOSC_EXPORT int blosc2_get_complib_info(const char *compname, char **complib, char **version);
BLOSC_EXPORT int16_t blosc2_get_nthreads(void);
BLOSC_EXPORT const char *blosc2_get_version_string(void);
BLOSC_EXPORT void blosc2_init(void);
BLOSC_EXPORT const char *blosc2_list_compressors(void);
BLOSC_EXPORT void blosc2_set_delta(int dodelta);
BLOSC_EXPORT int16_t blosc2_set_nthreads(int16_t nthreads);
BLOSC_EXPORT void blosc2_set_threads_callback(blosc_threads_callback callback, void *callback_data);

/* Functions with the settings of the process, as in Blosc1 */
BLOSC_EXPORT void blosc1_cbuffer_metainfo(const void *cbuffer, size_t *typesize, int *flags);
BLOSC_EXPORT void blosc1_cbuffer_sizes(const void *cbuffer, size_t *nbytes, size_t *cbytes,
    size_t *blocksize);
BLOSC_EXPORT int blosc1_cbuffer_validate(const void *cbuffer, size_t cbytes, size_t *nbytes);
BLOSC_EXPORT int blosc1_compress(int clevel, int doshuffle, size_t typesize, size_t nbytes, const void *src,
    void *dest, size_t destsize);
BLOSC_EXPORT int blosc1_decompress(const void *src, void *dest, size_t destsize);
BLOSC_EXPORT int blosc1_get_blocksize(void);
BLOSC_EXPORT const char *blosc1_get_compressor(void);
BLOSC_EXPORT int blosc1_getitem(const void *src, int start, int nitems, void *dest);
BLOSC_EXPORT void blosc1_set_blocksize(size_t blocksize);
BLOSC_EXPORT int blosc1_set_compressor(const char *compname);
BLOSC_EXPORT void blosc1_set_splitmode(int splitmode);

/* Chunks */
BLOSC_EXPORT const char *blosc2_cbuffer_complib(const void *cbuffer);
BLOSC_EXPORT int blosc2_cbuffer_sizes(const void *cbuffer, int32_t *nbytes, int32_t *cbytes,
    int32_t *blocksize);
BLOSC_EXPORT void blosc2_cbuffer_versions(const void *cbuffer, int *version, int *versionlz);
BLOSC_EXPORT int blosc2_chunk_nans(blosc2_cparams cparams, int32_t nbytes, void *dest, int32_t destsize);
BLOSC_EXPORT int blosc2_chunk_repeatval(blosc2_cparams cparams, int32_t nbytes, void *dest, int32_t destsize,
    const void *repeatval);
BLOSC_EXPORT int blosc2_chunk_uninit(blosc2_cparams cparams, int32_t nbytes, void *dest, int32_t destsize);
BLOSC_EXPORT int blosc2_chunk_zeros(blosc2_cparams cparams, int32_t nbytes, void *dest, int32_t destsize);
BLOSC_EXPORT int blosc2_compress(int clevel, int doshuffle, int32_t typesize, const void *src,
    int32_t srcsize, void *dest, int32_t destsize);
BLOSC_EXPORT int blosc2_decompress(const void *src, int32_t srcsize, void *dest, int32_t destsize);
BLOSC_EXPORT int blosc2_getitem(const void *src, int32_t srcsize, int start, int nitems, void *dest,
    int32_t destsize);
BLOSC_EXPORT int blosc2_vlchunk_get_nblocks(const void *src, int32_t srcsize, int32_t *nblocks);

/* Contexts */
BLOSC_EXPORT int blosc2_compress_ctx(blosc2_context *context, const void *src, int32_t srcsize, void *dest,
    int32_t destsize);
BLOSC_EXPORT blosc2_context *blosc2_create_cctx(blosc2_cparams cparams);
BLOSC_EXPORT blosc2_context *blosc2_create_dctx(blosc2_dparams dparams);
BLOSC_EXPORT int blosc2_ctx_get_cparams(blosc2_context *ctx, blosc2_cparams *cparams);
BLOSC_EXPORT int blosc2_ctx_get_dparams(blosc2_context *ctx, blosc2_dparams *dparams);
BLOSC_EXPORT int blosc2_decompress_ctx(blosc2_context *context, const void *src, int32_t srcsize, void *dest,
    int32_t destsize);
BLOSC_EXPORT void blosc2_free_ctx(blosc2_context *context);
BLOSC_EXPORT int blosc2_getitem_bytes_ctx(blosc2_context *context, const void *src, int32_t srcsize,
    int32_t start, int32_t nbytes, void *dest, int32_t destsize);
BLOSC_EXPORT int blosc2_getitem_ctx(blosc2_context *context, const void *src, int32_t srcsize, int start,
    int nitems, void *dest, int32_t destsize);
BLOSC_EXPORT int blosc2_set_maskout(blosc2_context *ctx, bool *maskout, int nblocks);
BLOSC_EXPORT int blosc2_vlcompress_ctx(blosc2_context *context, const void *const *srcs,
    const int32_t *srcsizes, int32_t nblocks, void *dest, int32_t destsize);
BLOSC_EXPORT int blosc2_vldecompress_block_ctx(blosc2_context *context, const void *src, int32_t srcsize,
    int32_t nblock, uint8_t **dest, int32_t *destsize);
BLOSC_EXPORT int blosc2_vldecompress_ctx(blosc2_context *context, const void *src, int32_t srcsize,
    void **dests, int32_t *destsizes, int32_t maxblocks);

/* Super-chunks */
BLOSC_EXPORT int64_t *blosc2_frame_get_offsets(blosc2_schunk *schunk);
BLOSC_EXPORT int64_t blosc2_get_slice_nchunks(blosc2_schunk *schunk, int64_t *start, int64_t *stop,
    int64_t **chunks_idx);
BLOSC_EXPORT int64_t blosc2_schunk_append_buffer(blosc2_schunk *schunk, const void *src, int32_t nbytes);
BLOSC_EXPORT int64_t blosc2_schunk_append_chunk(blosc2_schunk *schunk, uint8_t *chunk, bool copy);
BLOSC_EXPORT int64_t blosc2_schunk_append_file(blosc2_schunk *schunk, const char *urlpath);
BLOSC_EXPORT void blosc2_schunk_avoid_cframe_free(blosc2_schunk *schunk, bool avoid_cframe_free);
BLOSC_EXPORT blosc2_schunk *blosc2_schunk_copy(blosc2_schunk *schunk, blosc2_storage *storage);
BLOSC_EXPORT int blosc2_schunk_decompress_chunk(blosc2_schunk *schunk, int64_t nchunk, void *dest,
    int32_t nbytes);
BLOSC_EXPORT int64_t blosc2_schunk_delete_chunk(blosc2_schunk *schunk, int64_t nchunk);
BLOSC_EXPORT int64_t blosc2_schunk_fill_special(blosc2_schunk *schunk, int64_t nitems, int special_value,
    int32_t chunksize);
BLOSC_EXPORT int64_t blosc2_schunk_frame_len(blosc2_schunk *schunk);
BLOSC_EXPORT int blosc2_schunk_free(blosc2_schunk *schunk);
BLOSC_EXPORT blosc2_schunk *blosc2_schunk_from_buffer(uint8_t *cframe, int64_t len, bool copy);
BLOSC_EXPORT int blosc2_schunk_get_chunk(blosc2_schunk *schunk, int64_t nchunk, uint8_t **chunk,
    bool *needs_free);
BLOSC_EXPORT int blosc2_schunk_get_cparams(blosc2_schunk *schunk, blosc2_cparams **cparams);
BLOSC_EXPORT int blosc2_schunk_get_dparams(blosc2_schunk *schunk, blosc2_dparams **dparams);
BLOSC_EXPORT int blosc2_schunk_get_lazychunk(blosc2_schunk *schunk, int64_t nchunk, uint8_t **chunk,
    bool *needs_free);
BLOSC_EXPORT int blosc2_schunk_get_slice_buffer(blosc2_schunk *schunk, int64_t start, int64_t stop,
    void *buffer);
BLOSC_EXPORT int blosc2_schunk_get_sparse_buffer(blosc2_schunk *schunk, int64_t ncoords,
    const int64_t *coords, void *buffer);
BLOSC_EXPORT int blosc2_schunk_get_vlblock(blosc2_schunk *schunk, int64_t nchunk, int32_t nblock,
    uint8_t **dest, int32_t *destsize);
BLOSC_EXPORT int64_t blosc2_schunk_insert_chunk(blosc2_schunk *schunk, int64_t nchunk, uint8_t *chunk,
    bool copy);
BLOSC_EXPORT int blosc2_schunk_lock(blosc2_schunk *schunk);
BLOSC_EXPORT blosc2_schunk *blosc2_schunk_new(blosc2_storage *storage);
BLOSC_EXPORT blosc2_schunk *blosc2_schunk_open(const char *urlpath);
BLOSC_EXPORT blosc2_schunk *blosc2_schunk_open_offset(const char *urlpath, int64_t offset);
BLOSC_EXPORT blosc2_schunk *blosc2_schunk_open_offset_udio(const char *urlpath, int64_t offset,
    const blosc2_io *udio);
BLOSC_EXPORT blosc2_schunk *blosc2_schunk_open_udio(const char *urlpath, const blosc2_io *udio);
BLOSC_EXPORT int blosc2_schunk_refresh(blosc2_schunk *schunk);
BLOSC_EXPORT int blosc2_schunk_reorder_offsets(blosc2_schunk *schunk, int64_t *offsets_order);
BLOSC_EXPORT int blosc2_schunk_set_slice_buffer(blosc2_schunk *schunk, int64_t start, int64_t stop,
    void *buffer);
BLOSC_EXPORT int64_t blosc2_schunk_to_buffer(blosc2_schunk *schunk, uint8_t **cframe, bool *needs_free);
BLOSC_EXPORT int64_t blosc2_schunk_to_file(blosc2_schunk *schunk, const char *urlpath);
BLOSC_EXPORT int blosc2_schunk_unlock(blosc2_schunk *schunk);
BLOSC_EXPORT int64_t blosc2_schunk_update_chunk(blosc2_schunk *schunk, int64_t nchunk, uint8_t *chunk,
    bool copy);

/* Metalayers of the header, and those of variable length */
BLOSC_EXPORT int blosc2_meta_add(blosc2_schunk *schunk, const char *name, uint8_t *content,
    int32_t content_len);
BLOSC_EXPORT int blosc2_meta_update(blosc2_schunk *schunk, const char *name, uint8_t *content,
    int32_t content_len);
BLOSC_EXPORT int blosc2_vlmeta_add(blosc2_schunk *schunk, const char *name, uint8_t *content,
    int32_t content_len, blosc2_cparams *cparams);
BLOSC_EXPORT int blosc2_vlmeta_delete(blosc2_schunk *schunk, const char *name);
BLOSC_EXPORT int blosc2_vlmeta_exists(blosc2_schunk *schunk, const char *name);
BLOSC_EXPORT int blosc2_vlmeta_get(blosc2_schunk *schunk, const char *name, uint8_t **content,
    int32_t *content_len);
BLOSC_EXPORT int blosc2_vlmeta_get_names(blosc2_schunk *schunk, char **names);
BLOSC_EXPORT int blosc2_vlmeta_update(blosc2_schunk *schunk, const char *name, uint8_t *content,
    int32_t content_len, blosc2_cparams *cparams);

/* Registration */
BLOSC_EXPORT blosc2_io_cb *blosc2_get_io_cb(uint8_t id);
BLOSC_EXPORT int blosc2_register_codec(blosc2_codec *codec);
BLOSC_EXPORT int blosc2_register_filter(blosc2_filter *filter);
BLOSC_EXPORT int blosc2_register_io_cb(const blosc2_io_cb *io);
BLOSC_EXPORT int blosc2_register_tuner(blosc2_tuner *tuner);

/* Files and directories */
BLOSC_EXPORT int blosc2_remove_dir(const char *path);
BLOSC_EXPORT int blosc2_remove_urlpath(const char *path);
BLOSC_EXPORT int blosc2_rename_urlpath(char *old_urlpath, char *new_path);

/* Filters */
BLOSC_EXPORT int32_t blosc2_bitshuffle(const int32_t typesize, const int32_t blocksize, const void *src,
    void *dest);
BLOSC_EXPORT int32_t blosc2_bitunshuffle(const int32_t typesize, const int32_t blocksize, const void *src,
    void *dest);
BLOSC_EXPORT int32_t blosc2_shuffle(const int32_t typesize, const int32_t blocksize, const void *src,
    void *dest);
BLOSC_EXPORT int32_t blosc2_unshuffle(const int32_t typesize, const int32_t blocksize, const void *src,
    void *dest);

/* Index arithmetic */
BLOSC_EXPORT void blosc2_multidim_to_unidim(const int64_t *index, int8_t ndim, const int64_t *strides,
    int64_t *i);
BLOSC_EXPORT void blosc2_unidim_to_multidim(uint8_t ndim, int64_t *shape, int64_t i, int64_t *index);

/* Clocks */
BLOSC_EXPORT double blosc_elapsed_nsecs(blosc_timestamp_t start_time, blosc_timestamp_t end_time);
BLOSC_EXPORT double blosc_elapsed_secs(blosc_timestamp_t start_time, blosc_timestamp_t end_time);
BLOSC_EXPORT void blosc_set_timestamp(blosc_timestamp_t *timestamp);

/* The position of a metalayer, or an error. */
static inline int blosc2_meta_exists(blosc2_schunk *schunk, const char *name) {
  if (strlen(name) > BLOSC2_METALAYER_NAME_MAXLEN) {
    return BLOSC2_ERROR_INVALID_PARAM;
  }
  for (int i = 0; i < schunk->nmetalayers; i++) {
    if (strcmp(name, schunk->metalayers[i]->name) == 0) {
      return i;
    }
  }
  return BLOSC2_ERROR_NOT_FOUND;
}

/* A copy of the content of a metalayer, which the caller frees; gives its position. */
static inline int blosc2_meta_get(blosc2_schunk *schunk, const char *name, uint8_t **content,
                                  int32_t *content_len) {
  int found = blosc2_meta_exists(schunk, name);
  if (found < 0) {
    return found;
  }
  const blosc2_metalayer *layer = schunk->metalayers[found];
  *content_len = layer->content_len;
  *content = (uint8_t *)malloc(layer->content_len > 0 ? (size_t)layer->content_len : 1);
  if (*content == NULL) {
    return BLOSC2_ERROR_MEMORY_ALLOC;
  }
  memcpy(*content, layer->content, (size_t)layer->content_len);
  return found;
}

#ifdef __cplusplus
}
#endif
#endif
