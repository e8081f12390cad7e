/* The namespaced API from C: round trips, items, scratch of the caller and of an allocator, damage, bad arguments. */
#include "blosc_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS 20000
static int failures;
#define CHECK(what)                                                   \
  do {                                                                \
    if (!(what)) {                                                    \
      failures++;                                                     \
      printf("FAILED line %d: %s\n", __LINE__, #what);                \
    }                                                                 \
  } while (0)

/* An allocator that counts, and can refuse. */
struct heap {
  int allocated, freed, refuse;
};
static void *heap_alloc(void *user, size_t len) {
  struct heap *heap = user;
  if (heap->refuse) return NULL;
  heap->allocated++;
  return malloc(len);
}
static void heap_free(void *user, void *ptr, size_t len) {
  (void)len;
  ((struct heap *)user)->freed++;
  free(ptr);
}

static uint32_t data[ITEMS];
static uint8_t chunk[sizeof data + 64], out[sizeof data + 16], work[1 << 20], damaged[sizeof data + 64];

static void round_trip(uint8_t codec, uint8_t filter, const blosc_core_env *env, int64_t expected) {
  blosc_core_params params;
  blosc_core_info info;
  blosc_core_params_init(&params, 4);
  params.codec = codec;
  params.filters[5] = filter;
  params.blocksize = 16384;
  int64_t n = blosc_core_compress(&params, data, sizeof data, chunk, sizeof chunk, env);
  if (expected < 0) {
    CHECK(n == expected);
    return;
  }
  CHECK(n > 0 && n < (int64_t)sizeof data);
  if (n <= 0) return;
  CHECK(n <= blosc_core_compress_bound(sizeof data));
  CHECK(blosc_core_validate(chunk, n, NULL, &info) == (int64_t)sizeof data);
  CHECK(info.cbytes == (uint64_t)n && info.codec == codec && info.filters[5] == filter && info.typesize == 4);
  CHECK(blosc_core_header(chunk, 32, NULL) == n);
  memset(out, 0xC3, sizeof out);
  CHECK(blosc_core_decompress(chunk, n, NULL, out, sizeof data, env) == (int64_t)sizeof data);
  CHECK(memcmp(out, data, sizeof data) == 0 && out[sizeof data] == 0xC3);
  CHECK(blosc_core_getitem(chunk, n, NULL, 777, 5000, out, 20000, env) == 20000);
  CHECK(memcmp(out, data + 777, 20000) == 0);
  CHECK(blosc_core_getitem(chunk, n, NULL, ITEMS - 1, 2, out, 8, env) == BLOSC_CORE_E_RANGE);
  CHECK(blosc_core_getitem(chunk, n, NULL, (size_t)-1, 2, out, 8, env) < 0);
  CHECK(blosc_core_decompress(chunk, n, NULL, out, sizeof data - 1, env) == BLOSC_CORE_E_OUTPUT);

  /* Damage: an error or other data, never a byte outside. */
  uint32_t random = 1;
  for (int round = 0; round < 300; round++) {
    random = random * 1664525 + 1013904223;
    memcpy(damaged, chunk, n);
    damaged[(random >> 8) % (round % 2 ? n : 64)] = (uint8_t)random;
    size_t len = round % 3 ? (size_t)n : (random >> 5) % n;
    int64_t got = blosc_core_decompress(damaged, len, NULL, out, sizeof data, env);
    CHECK(got <= (int64_t)sizeof data && out[sizeof data] == 0xC3);
  }
}

int main(void) {
  uint32_t random = 7;
  for (int k = 0; k < ITEMS; k++) {
    random = random * 1664525 + 1013904223;
    data[k] = 1000 * (k / 16) + (random >> 30);
  }
  CHECK(blosc_core_abi() == BLOSC_CORE_ABI);
  CHECK(blosc_core_version()[0] != 0);
  CHECK(strcmp(blosc_core_strerror(BLOSC_CORE_E_OUTPUT), "the destination is too small") == 0);
  CHECK(strcmp(blosc_core_strerror(5), "success") == 0 && strcmp(blosc_core_strerror(-99), "unknown error") == 0);

  struct heap heap = {0, 0, 0};
  blosc_core_env own = {work, sizeof work, NULL, NULL, NULL, 0};
  blosc_core_env callbacks = {NULL, 0, heap_alloc, heap_free, &heap, BLOSC_CORE_SCALAR};
  blosc_core_env hosts = {NULL, 0, heap_alloc, heap_free, &heap, BLOSC_CORE_HOST_CODECS};
  for (int filter = 0; filter <= 2; filter++) {
    for (int codec = 0; codec <= 5; codec++) {
      int needs_host = codec == BLOSC_CORE_ZLIB || codec == BLOSC_CORE_ZSTD;
      int64_t refused = codec == BLOSC_CORE_SNAPPY ? BLOSC_CORE_E_PARAM : 0;
      round_trip(codec, filter, NULL, refused);
      round_trip(codec, filter, &hosts, refused);
      round_trip(codec, filter, &own, needs_host ? BLOSC_CORE_E_CODEC : refused);
      round_trip(codec, filter, &callbacks, needs_host ? BLOSC_CORE_E_CODEC : refused);
    }
  }
  CHECK(heap.allocated > 0 && heap.allocated == heap.freed);

  /* zstd by the host's library, decoded without any allocator. */
  blosc_core_params params;
  blosc_core_params_init(&params, 4);
  params.codec = BLOSC_CORE_ZSTD;
  int64_t n = blosc_core_compress(&params, data, sizeof data, chunk, sizeof chunk, NULL);
  CHECK(n > 0 && blosc_core_decompress_work(chunk, n, NULL) <= (int64_t)sizeof work);
  CHECK(blosc_core_decompress(chunk, n, NULL, out, sizeof out, &own) == (int64_t)sizeof data);
  CHECK(memcmp(out, data, sizeof data) == 0);

  /* Scratch that is short, or refused. */
  blosc_core_env none = {NULL, 0, NULL, NULL, NULL, 0};
  CHECK(blosc_core_decompress(chunk, n, NULL, out, sizeof out, &none) == BLOSC_CORE_E_WORK);
  heap.refuse = 1;
  CHECK(blosc_core_decompress(chunk, n, NULL, out, sizeof out, &callbacks) == BLOSC_CORE_E_MEMORY);

  /* Bad arguments. */
  blosc_core_limits tight = {100, 10, 1};
  CHECK(blosc_core_decompress(NULL, 10, NULL, out, sizeof out, NULL) == BLOSC_CORE_E_NULL);
  CHECK(blosc_core_decompress(chunk, n, NULL, NULL, 10, NULL) < 0);
  CHECK(blosc_core_decompress(NULL, 0, NULL, NULL, 0, NULL) == BLOSC_CORE_E_TRUNCATED);
  CHECK(blosc_core_decompress(chunk, (size_t)-1, NULL, out, sizeof out, NULL) < 0);
  CHECK(blosc_core_decompress(chunk, n, NULL, chunk, sizeof chunk, NULL) == BLOSC_CORE_E_OVERLAP);
  CHECK(blosc_core_decompress(chunk, n, &tight, out, sizeof out, NULL) == BLOSC_CORE_E_LIMIT);
  CHECK(blosc_core_decompress(chunk, n - 1, NULL, out, sizeof out, NULL) == BLOSC_CORE_E_TRUNCATED);
  own.work = out;
  own.work_len = sizeof out;
  CHECK(blosc_core_decompress(chunk, n, NULL, out, sizeof out, &own) == BLOSC_CORE_E_OVERLAP ||
        blosc_core_decompress_work(chunk, n, NULL) > (int64_t)sizeof out);
  CHECK(blosc_core_compress(NULL, data, 4, out, sizeof out, NULL) == BLOSC_CORE_E_NULL);
  params.level = 10;
  CHECK(blosc_core_compress(&params, data, 4, out, sizeof out, NULL) == BLOSC_CORE_E_PARAM);
  params.level = 5;
  CHECK(blosc_core_compress(&params, data, sizeof data, out, 40, NULL) == BLOSC_CORE_E_OUTPUT);
  CHECK(blosc_core_compress_bound((size_t)-1) == BLOSC_CORE_E_PARAM);
  blosc_core_params_init(NULL, 4);

  printf("namespaced API: %s\n", failures ? "FAILED" : "passed");
  return failures != 0;
}
