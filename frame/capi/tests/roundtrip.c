/* What a program of C does with the library: chunks, a super-chunk in a file with metalayers, and an array. */
#include "b2nd.h"

#include <stdio.h>

#define ITEMS 10000

static int failures = 0;
static void expect(int holds, const char *what) {
  if (!holds) {
    printf("FAILED %s\n", what);
    failures++;
  }
}

static void chunks(const int32_t *data) {
  static uint8_t chunk[ITEMS * 4 + BLOSC2_MAX_OVERHEAD];
  static int32_t back[ITEMS];
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_context *cctx = blosc2_create_cctx(cparams);
  blosc2_context *dctx = blosc2_create_dctx(BLOSC2_DPARAMS_DEFAULTS);
  int size = blosc2_compress_ctx(cctx, data, ITEMS * 4, chunk, sizeof(chunk));
  expect(size > 0 && size < ITEMS * 2, "compress");
  expect(blosc2_decompress_ctx(dctx, chunk, size, back, sizeof(back)) == ITEMS * 4, "decompress");
  expect(memcmp(back, data, sizeof(back)) == 0, "the same data");
  expect(blosc2_getitem_ctx(dctx, chunk, size, 70, 3, back, 12) == 12 && back[2] == data[72], "items");
  int32_t nbytes, cbytes, blocksize;
  expect(blosc2_cbuffer_sizes(chunk, &nbytes, &cbytes, &blocksize) == 0, "sizes");
  expect(nbytes == ITEMS * 4 && cbytes == size && blocksize > 0, "the sizes of the chunk");
  expect(blosc2_decompress_ctx(dctx, chunk, size - 1, back, sizeof(back)) < 0, "a chunk cut short");
  expect(blosc2_decompress_ctx(dctx, NULL, size, back, sizeof(back)) == BLOSC2_ERROR_NULL_POINTER, "no chunk");
  blosc2_free_ctx(cctx);
  blosc2_free_ctx(dctx);
}

static void super_chunk(const int32_t *data, bool contiguous, char *path) {
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.contiguous = contiguous;
  storage.urlpath = path;
  storage.cparams = &cparams;
  blosc2_remove_urlpath(path);
  blosc2_schunk *schunk = blosc2_schunk_new(&storage);
  expect(schunk != NULL, "a new super-chunk");
  uint8_t layer[] = "fixed";
  expect(blosc2_meta_add(schunk, "layer", layer, sizeof(layer)) == 0, "a metalayer");
  for (int k = 0; k < 10; k++) {
    expect(blosc2_schunk_append_buffer(schunk, data + k * 1000, 4000) == k + 1, "append");
  }
  expect(blosc2_vlmeta_add(schunk, "vl", layer, sizeof(layer), NULL) == 0, "a variable-length metalayer");
  expect(schunk->vlmetalayers[0]->content_len > 0, "its chunk");
  blosc2_schunk_free(schunk);

  schunk = blosc2_schunk_open(path);
  expect(schunk != NULL && schunk->nchunks == 10 && schunk->nbytes == ITEMS * 4, "open");
  uint8_t *content;
  int32_t len;
  expect(blosc2_meta_get(schunk, "layer", &content, &len) == 0 && len == sizeof(layer), "its metalayer");
  free(content);
  expect(blosc2_vlmeta_get(schunk, "vl", &content, &len) == 0 && memcmp(content, layer, sizeof(layer)) == 0, "the other");
  free(content);
  int32_t some[100];
  expect(blosc2_schunk_get_slice_buffer(schunk, 950, 1050, some) == 0 && memcmp(some, data + 950, 400) == 0, "a slice");
  char prefixed[100];
  snprintf(prefixed, sizeof(prefixed), "file:///%s", path);
  blosc2_schunk *other = blosc2_schunk_open(prefixed);
  expect(other != NULL && strcmp(other->storage->urlpath, prefixed) == 0, "the prefix of the path is kept");
  uint8_t *lazy;
  bool needs_free;
  int size = blosc2_schunk_get_lazychunk(other, 3, &lazy, &needs_free);
  expect(size > 0 && blosc2_decompress_ctx(other->dctx, lazy, size, some, 400) < 0, "no room");
  int32_t whole[1000];
  expect(blosc2_decompress_ctx(other->dctx, lazy, size, whole, 4000) == 4000, "a lazy chunk behind a prefix");
  if (needs_free) {
    free(lazy);
  }
  blosc2_schunk_free(other);
  expect(blosc2_schunk_delete_chunk(schunk, 4) == 9, "delete");
  expect(blosc2_schunk_decompress_chunk(schunk, 9, some, 4000) == BLOSC2_ERROR_INVALID_PARAM, "no such chunk");
  blosc2_schunk_free(schunk);
  expect(blosc2_remove_urlpath(path) == 0, "remove");
}

static void array(const int32_t *data) {
  int64_t shape[] = {100, 100}, start[] = {3, 97}, stop[] = {5, 100}, part[] = {2, 3}, wider[] = {120, 100};
  int32_t chunks[] = {30, 20}, blocks[] = {7, 9}, some[6];
  blosc2_cparams cparams = BLOSC2_CPARAMS_DEFAULTS;
  cparams.typesize = 4;
  blosc2_storage storage = BLOSC2_STORAGE_DEFAULTS;
  storage.cparams = &cparams;
  b2nd_context_t *ctx = b2nd_create_ctx(&storage, 2, shape, chunks, blocks, "<i4", 0, NULL, 0);
  b2nd_array_t *array;
  expect(b2nd_from_cbuffer(ctx, &array, data, ITEMS * 4) == 0, "an array");
  expect(array->ndim == 2 && array->shape[1] == 100 && array->sc->nchunks == 20, "its fields");
  expect(array->sc->data[19] != NULL, "its chunks");
  expect(b2nd_get_slice_cbuffer(array, start, stop, some, part, sizeof(some)) == 0, "a slice of an array");
  expect(some[0] == data[397] && some[5] == data[499], "its items");
  expect(b2nd_print_meta(array) == 0, "its metalayer in words");
  expect(b2nd_resize(array, wider, NULL) == 0 && array->shape[0] == 120, "resize");
  b2nd_free(array);
  b2nd_free_ctx(ctx);
}

int main(void) {
  static int32_t data[ITEMS];
  for (int i = 0; i < ITEMS; i++) {
    data[i] = i * 3;
  }
  blosc2_init();
  chunks(data);
  super_chunk(data, true, "roundtrip.b2frame");
  super_chunk(data, false, "roundtrip.dir");
  array(data);
  blosc2_destroy();
  printf("%d failures\n", failures);
  return failures != 0;
}
