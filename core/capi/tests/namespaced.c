/* The namespaced API from C: round trips, items, scratch of the caller and of an allocator, damage, bad arguments. */
#include "blosc_core.h"

#include <stddef.h>
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

/* Pushed in pieces of `piece` bytes, stopped after `stop` blocks and resumed by another decoder; and decoded over itself. */
static void pushes(int64_t n, size_t piece, int stop) {
  static union {
    long double wide;
    uint8_t bytes[1024];
  } place, second;
  static uint8_t first_memory[1 << 18], second_memory[1 << 18], over[sizeof data + 4096];
  uint8_t state[24];
  void *decoder = &place;
  blosc_core_block block;
  int blocks = 0;
  int64_t need = blosc_core_push_memory(chunk, 32), taken = 0;
  CHECK(blosc_core_push_size() <= sizeof place && need > 0 && need <= (int64_t)sizeof first_memory);
  CHECK(blosc_core_push_begin(&place, sizeof place, first_memory, need, NULL, BLOSC_CORE_SCALAR) == 0);
  memset(out, 0xC3, sizeof out);
  for (int64_t at = 0; taken >= 0 && blosc_core_push_done(decoder) == 0;) {
    size_t len = piece < (size_t)(n - at) ? piece : (size_t)(n - at);
    taken = blosc_core_push(decoder, chunk + at, len, &block);
    CHECK(taken >= 0 && taken <= (int64_t)len);
    at += taken;
    if (taken < 0 || !block.bytes) continue;
    CHECK(block.offset + block.len <= sizeof data);
    memcpy(out + block.offset, block.bytes, block.len);
    if (++blocks == stop && blosc_core_push_state(decoder, state) == 24) {
      CHECK(blosc_core_push_begin(&second, sizeof second, second_memory, need, NULL, 0) == 0);
      decoder = &second;
      /* The prefix again, no byte more. */
      uint8_t early[24];
      for (at = 0; blosc_core_push_state(&second, early) == 0;) {
        taken = blosc_core_push(&second, chunk + at, blosc_core_push_needs(&second), &block);
        CHECK(taken > 0);
        if (taken <= 0) return;
        at += taken;
      }
      at = blosc_core_push_resume(&second, state);
      CHECK(at == blosc_core_push_position(&second) && at > 0);
      state[7] ^= 1;
      CHECK(blosc_core_push_resume(&second, state) < 0);
      if (at < 0) return;
    }
  }
  CHECK(blosc_core_push_done(decoder) == 1 && memcmp(out, data, sizeof data) == 0 && out[sizeof data] == 0xC3);
  CHECK(blosc_core_push_end(&place) == 0 && blosc_core_push_end(&place) == BLOSC_CORE_E_PARAM);
  if (decoder == &second) CHECK(blosc_core_push_end(&second) == 0);
  int64_t margin = blosc_core_in_place_margin(chunk, n, NULL);
  CHECK(margin >= 0 && margin <= 4096);
  if (margin < 0 || margin > 4096) return;
  size_t room = sizeof data + margin, start = room - n;
  memset(over, 0, sizeof over);
  memcpy(over + start, chunk, n);
  CHECK(blosc_core_decompress_in_place(over, room, start, NULL, work, sizeof work, 0) == (int64_t)sizeof data);
  CHECK(memcmp(over, data, sizeof data) == 0);
  if (margin > 0) CHECK(blosc_core_decompress_in_place(chunk, n, 0, NULL, work, sizeof work, 0) < 0);
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

  /* In pieces, and in place. Pieces of the header are too short for a decoder that is misplaced or damaged. */
  for (int codec = 0; codec <= 5; codec++) {
    if (codec == BLOSC_CORE_SNAPPY) continue;
    params.codec = codec;
    params.filters[5] = BLOSC_CORE_SHUFFLE;
    params.blocksize = 16384;
    n = blosc_core_compress(&params, data, sizeof data, chunk, sizeof chunk, NULL);
    for (size_t piece = 1; piece <= sizeof chunk; piece *= 64) pushes(n, piece, piece == 64 ? 2 : 0);
  }
  CHECK(blosc_core_push_begin(work + 1, 4096, out, 100, NULL, 0) == BLOSC_CORE_E_PARAM);
  CHECK(blosc_core_push_begin(NULL, 4096, out, 100, NULL, 0) == BLOSC_CORE_E_NULL);
  CHECK(blosc_core_push_needs(NULL) == BLOSC_CORE_E_NULL);

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
