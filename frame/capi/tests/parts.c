#define _POSIX_C_SOURCE 200112L /* setenv */
/* What few programs of C ask for: clocks, files and maps of the library's own, a prefilter, sizes at their bounds, damage. */
#include "b2nd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;
static void expect(int holds, const char *what) {
  if (!holds) {
    printf("FAILED %s\n", what);
    failures++;
  }
}

static void clocks(void) {
  blosc_timestamp_t start = {.tv_sec = 1, .tv_nsec = 999999000}, end = {.tv_sec = 4, .tv_nsec = 1000};
  double nanoseconds = blosc_elapsed_nsecs(start, end), seconds = blosc_elapsed_secs(start, end);
  expect(nanoseconds == 2000002000.0, "nanoseconds between two times");
  expect(seconds > 2.000001 && seconds < 2.000003, "seconds between two times");
}

/* Items are written and read at their place; what is no length takes nothing. */
static void files(void) {
  void *file = blosc2_stdio_open("parts.bin", "wb+", NULL);
  expect(file != NULL && blosc2_stdio_write("abcdef", 2, 3, 0, file) == 3, "three items of two bytes");
  expect(blosc2_stdio_write("XY", 1, 2, 4, file) == 2 && blosc2_stdio_size(file) == 6, "two bytes over the last");
  char back[8] = "-------";
  void *place = back;
  expect(blosc2_stdio_read(&place, 1, 4, 2, file) == 4 && memcmp(back, "cdXY---", 7) == 0, "four bytes from the second on");
  expect(blosc2_stdio_truncate(file, 3) == 0 && blosc2_stdio_size(file) == 3, "a shorter file");
  expect(blosc2_stdio_close(file) == 0, "the file is closed");
}

static void maps(void) {
  blosc2_stdio_mmap map = blosc2_get_blosc2_stdio_mmap_defaults();
  expect(strcmp(map.mode, "r") == 0 && map.initial_mapping_size == (size_t)1 << 30 && !map.needs_free, "a new map");
  expect(map.addr == NULL && map.fd == -1 && map.access_flags == -1 && map.map_flags == -1, "of nothing yet");
  expect(blosc2_stdio_mmap_destroy(&map) == -1, "which is not the library's to free");
  /* Changes of a map with mode "c" are seen by the handle, and by nobody else. */
  int32_t items[100] = {1, 2, 3};
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = true;
  storage.urlpath = "parts.b2frame";
  storage.cparams = &cparams;
  blosc2_remove_urlpath(storage.urlpath);
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  expect(blosc2_schunk_append_buffer(schunk, items, 400) == 1, "a chunk in a file");
  blosc2_schunk_free(schunk);
  map.mode = "c";
  blosc2_io io = {1, "filesystem_mmap", &map};
  schunk = blosc2_schunk_open_udio(storage.urlpath, &io);
  expect(schunk != NULL && blosc2_schunk_append_buffer(schunk, items, 400) == 2, "a change in memory");
  blosc2_schunk *other = blosc2_schunk_open(storage.urlpath);
  expect(schunk->nchunks == 2 && other->nchunks == 1, "which is not in the file");
  blosc2_schunk_free(schunk);
  blosc2_schunk_free(other);
}

/* Adds one to each item, by way of the scratch memory, which has room for several blocks. */
static int add_one(blosc2_prefilter_params *params) {
  memset(params->ttmp, 0x55, params->ttmp_nbytes);
  if (params->ttmp_nbytes < 2 * (size_t)params->output_size) {
    return -1;
  }
  memcpy(params->ttmp + params->output_size, params->input, params->output_size);
  for (int k = 0; k < params->output_size / 4; k++) {
    ((int32_t *)params->output)[k] = ((int32_t *)(params->ttmp + params->output_size))[k] + *(int *)params->user_data;
  }
  return 0;
}

static void prefilter(void) {
  static int32_t items[5000], back[5000];
  static uint8_t chunk[sizeof(items) + BLOSC2_MAX_OVERHEAD];
  int one = 1;
  for (int k = 0; k < 5000; k++) {
    items[k] = k / 7;
  }
  blosc2_prefilter_params params = {0};
  params.user_data = &one;
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.blocksize = 4096;
  cparams.prefilter = add_one;
  cparams.preparams = &params;
  blosc2_context *cctx = blosc2_create_cctx(cparams), *dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  int size = blosc2_compress_ctx(cctx, items, sizeof(items), chunk, sizeof(chunk));
  expect(size > 0 && blosc2_decompress_ctx(dctx, chunk, size, back, sizeof(back)) == sizeof(back), "a prefilter");
  int wrong = 0;
  for (int k = 0; k < 5000; k++) {
    wrong += back[k] != items[k] + 1;
  }
  expect(wrong == 0, "sees every block once");
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);
}

/* The sum of the chunks is kept as chunks change. */
static void sizes(void) {
  static int32_t items[1000];
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.cparams = &cparams;
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  for (int n = 0; n < 9; n++) {
    for (int k = 0; k < 1000; k++) {
      items[k] = (n + 1) * 7919 * k % (1 << (2 * n + 2));
    }
    if (n < 3) {
      expect(blosc2_schunk_append_buffer(schunk, items, 4000) == n + 1, "a chunk");
    } else {
      uint8_t chunk[4000 + BLOSC2_MAX_OVERHEAD];
      blosc2_context *cctx = blosc2_create_cctx(cparams);
      expect(blosc2_compress_ctx(cctx, items, 4000, chunk, sizeof(chunk)) > 0, "another chunk");
      blosc2_free_ctx(cctx);
      expect(blosc2_schunk_update_chunk(schunk, n % 3, chunk, true) == 3, "in the place of one");
    }
    int64_t sum = 0;
    for (int k = 0; k < schunk->nchunks; k++) {
      uint8_t *chunk;
      bool needs_free;
      sum += blosc2_schunk_get_chunk(schunk, k, &chunk, &needs_free);
      if (needs_free) {
        free(chunk);
      }
    }
    expect(schunk->cbytes == sum, "cbytes is the sum of the chunks");
  }
  blosc2_schunk_free(schunk);
}

/* Chunks with their padding have at most BLOSC2_MAX_BUFFERSIZE bytes, and arrays as many items as an int64_t tells. */
static void bounds(void) {
  struct {
    int64_t shape[2];
    int32_t chunks[2], blocks[2], typesize;
    int code;
  } cases[] = {
    {{1 << 20, 1 << 20}, {30000, 70000}, {29000, 128}, 1, BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED},
    {{1 << 20, 1 << 20}, {1000, 70000}, {100, 128}, 40, BLOSC2_ERROR_MAX_BUFSIZE_EXCEEDED},
    {{INT64_MAX, 1}, {1000000, 1}, {1000, 1}, 1, BLOSC2_ERROR_INVALID_PARAM},
    {{1LL << 40, 1LL << 40}, {1 << 15, 1 << 15}, {128, 128}, 1, BLOSC2_ERROR_INVALID_PARAM},
  };
  for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
    blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
    cparams.typesize = cases[k].typesize;
    blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
    storage.cparams = &cparams;
    b2nd_context_t *ctx = b2nd_create_ctx(&storage, 2, cases[k].shape, cases[k].chunks, cases[k].blocks, NULL, 0, NULL, 0);
    b2nd_array_t *array = NULL;
    expect(b2nd_zeros(ctx, &array) == cases[k].code, "an array beyond the bounds");
    b2nd_free_ctx(ctx);
  }
}

/* Compression passes over what is no number of threads, decompression refuses it: as C-Blosc2 does. */
static void environment(void) {
  int32_t items[100] = {0}, chunk[200];
  for (int k = 0; k < 100; k++) {
    items[k] = k;
  }
  const char *none[] = {"0", "-3", "abc", ""};
  for (int k = 0; k < 4; k++) {
    setenv("BLOSC_NTHREADS", none[k], 1);
    expect(blosc1_compress(5, 1, 4, 400, items, chunk, sizeof(chunk)) == 152, "compression without threads");
    expect(blosc1_decompress(chunk, items, 400) == BLOSC2_ERROR_INVALID_PARAM, "decompression without threads");
  }
  setenv("BLOSC_NTHREADS", "2", 1);
  expect(blosc1_compress(5, 1, 4, 400, items, chunk, sizeof(chunk)) == 152 && blosc2_get_nthreads() == 2, "two threads");
  expect(blosc1_decompress(chunk, items, 400) == 400 && items[99] == 99, "which decompress");
  unsetenv("BLOSC_NTHREADS");
}

/* Where `file` is set: writes the frame, changed at a place of its first chunk, and opens that; else opens it in memory. */
static blosc2_schunk *changed(uint8_t *frame, int64_t len, int place, int32_t value, bool file) {
  int header = frame[11] << 24 | frame[12] << 16 | frame[13] << 8 | frame[14];
  memcpy(frame + header + place, &value, 4);
  if (!file) {
    return blosc2_schunk_from_buffer(frame, len, true);
  }
  FILE *out = fopen("changed.b2frame", "wb");
  fwrite(frame, 1, len, out);
  fclose(out);
  return blosc2_schunk_open("changed.b2frame");
}

static void damage(void) {
  static int32_t items[10000];
  for (int k = 0; k < 10000; k++) {
    items[k] = k * k;
  }
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  cparams.blocksize = 8192;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = true;
  storage.cparams = &cparams;
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  expect(blosc2_schunk_append_buffer(schunk, items, sizeof(items)) == 1, "a frame in memory");
  uint8_t *frame, *chunk;
  bool needs_free, free_chunk;
  int64_t len = blosc2_schunk_to_buffer(schunk, &frame, &needs_free);
  int32_t cbytes;
  int header = frame[11] << 24 | frame[12] << 16 | frame[13] << 8 | frame[14];
  memcpy(&cbytes, frame + header + 12, 4);
  /* The chunk ends beyond the frame: it is not opened. */
  for (int file = 0; file < 2; file++) {
    expect(changed(frame, len, 12, 1 << 20, file) == NULL, "a chunk that is cut");
  }
  blosc2_schunk_free(changed(frame, len, 12, cbytes, false));
  /* The first block begins within the table of the blocks' places. */
  blosc2_schunk *within = changed(frame, len, 32, 36, true);
  expect(blosc2_schunk_get_lazychunk(within, 0, &chunk, &free_chunk) < 0, "a block within the table");
  blosc2_schunk_free(within);
  if (needs_free) {
    free(frame);
  }
  blosc2_schunk_free(schunk);
}

/* A handle goes on with the file that has taken the place of its own. */
static void replaced(void) {
  static int32_t items[1000];
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = true;
  storage.cparams = &cparams;
  blosc2_schunk *handles[2];
  for (int n = 0; n < 2; n++) {
    storage.urlpath = n ? "new.b2frame" : "old.b2frame";
    blosc2_remove_urlpath(storage.urlpath);
    handles[n] = blosc2_schunk_new(&storage);
    for (int k = 0; k <= 2 * n; k++) {
      items[0] = n;
      expect(blosc2_schunk_append_buffer(handles[n], items, sizeof(items)) == k + 1, "a chunk in one of two files");
    }
  }
  blosc2_schunk_free(handles[1]);
  expect(rename("new.b2frame", "old.b2frame") == 0, "one file in the place of the other");
  expect(blosc2_schunk_refresh(handles[0]) == 1 && handles[0]->nchunks == 3, "is what the handle sees");
  expect(blosc2_schunk_decompress_chunk(handles[0], 2, items, sizeof(items)) == 4000 && items[0] == 1, "and reads");
  expect(blosc2_schunk_append_buffer(handles[0], items, sizeof(items)) == 4, "and writes");
  blosc2_schunk_free(handles[0]);
  blosc2_schunk *again = blosc2_schunk_open("old.b2frame");
  expect(again != NULL && again->nchunks == 4, "so that all others see it");
  blosc2_schunk_free(again);
}

int main(void) {
  blosc2_init();
  clocks();
  files();
  maps();
  prefilter();
  sizes();
  bounds();
  environment();
  damage();
  replaced();
  blosc2_destroy();
  printf("%d failures\n", failures);
  return failures != 0;
}
