/* A program written for Blosc1. What it prints does not depend on who implements the interface, so the same object
 * is linked with this library and, where there is one, with the C library, and both outputs are compared. */
#define _POSIX_C_SOURCE 200112L /* setenv */
#include <blosc.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS 60000
static int failures;
#define CHECK(what)                                                   \
  do {                                                                \
    if (!(what)) {                                                    \
      failures++;                                                     \
      printf("FAILED line %d: %s\n", __LINE__, #what);                \
    }                                                                 \
  } while (0)

static unsigned data[ITEMS];
static unsigned char chunk[sizeof data + BLOSC_MAX_OVERHEAD], other[sizeof chunk], out[sizeof data + 16];

static unsigned hash(const unsigned char *bytes, size_t len) {
  unsigned h = 2166136261u;
  while (len--) h = (h ^ *bytes++) * 16777619u;
  return h;
}

static void round_trip(const char *name, int level, int shuffle, size_t typesize, size_t len, int threads) {
  size_t nbytes, cbytes, blocksize, size;
  int flags, version, compversion;
  int n = blosc_compress_ctx(level, shuffle, typesize, len, data, chunk, len + BLOSC_MAX_OVERHEAD, name, 0, threads);
  CHECK(n > 0 && (size_t)n <= len + BLOSC_MAX_OVERHEAD);
  if (n <= 0) return;
  blosc_cbuffer_sizes(chunk, &nbytes, &cbytes, &blocksize);
  CHECK(nbytes == len && cbytes == (size_t)n && blocksize > 0);
  blosc_cbuffer_metainfo(chunk, &size, &flags);
  CHECK(size == typesize && (flags & BLOSC_MEMCPYED || level > 0));
  blosc_cbuffer_versions(chunk, &version, &compversion);
  CHECK(version == BLOSC_VERSION_FORMAT && compversion == 1);
  CHECK(blosc_cbuffer_validate(chunk, n, &nbytes) == 0 && nbytes == len);
  CHECK(blosc_cbuffer_validate(chunk, n - 1, &nbytes) == -1);
  memset(out, 0xC3, sizeof out);
  CHECK(blosc_decompress_ctx(chunk, out, len, threads) == (int)len);
  CHECK(memcmp(out, data, len) == 0 && out[len] == 0xC3);
  int items = (int)(len / typesize);
  /* No items of an empty chunk are an error in the C library only. */
  CHECK(len == 0 || blosc_getitem(chunk, items / 3, items / 2, out) == (int)(items / 2 * typesize));
  CHECK(memcmp(out, (char *)data + items / 3 * typesize, items / 2 * typesize) == 0);
  CHECK(len == 0 || blosc_decompress_ctx(chunk, out, len - 1, threads) < 0);
  char *library;
  CHECK(blosc_get_complib_info(name, &library, NULL) >= 0);
  CHECK(strcmp(library, blosc_cbuffer_complib(chunk)) == 0);
  /* Of the flags, whether the chunk is stored depends on the encoder; its block size does not. */
  printf("%s level %d shuffle %d typesize %u, %u bytes, %s: %08x %02x %u\n", name, level, shuffle, (unsigned)typesize,
         (unsigned)len, library, hash(out, items / 2 * typesize), chunk[2] & ~BLOSC_MEMCPYED, (unsigned)blocksize);
  free(library);
}

int main(void) {
  unsigned random = 3;
  for (int k = 0; k < ITEMS; k++) {
    random = random * 1664525 + 1013904223;
    data[k] = 300 * k + (random >> 27);
  }
  const char *name, *names[] = {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"};
  size_t n, c, b, sizes[] = {0, 1, 10, 15, 127, 128, 1000, 65536, sizeof data};
  int k;

  blosc_init();
  for (k = 0; k < 6; k++) {
    if (blosc_compname_to_compcode(names[k]) < 0) continue; /* most builds of the C library leave Snappy out */
    for (int shuffle = 0; shuffle <= 2; shuffle++)
      for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++)
        round_trip(names[k], 1 + 4 * (s % 3), shuffle, s % 2 ? 4 : 8, sizes[s], 1 + k % 2);
  }
  round_trip("lz4", 0, 1, 4, 5000, 1);

  /* Results for parameters out of range. */
  printf("%d %d %d %d %d\n", blosc_compress_ctx(10, 1, 4, 1000, data, chunk, 1016, "lz4", 0, 1),
         blosc_compress_ctx(-1, 1, 4, 1000, data, chunk, 1016, "lz4", 0, 1),
         blosc_compress_ctx(5, 3, 4, 1000, data, chunk, 1016, "lz4", 0, 1),
         blosc_compress_ctx(5, 1, 4, 1000, data, chunk, 1016, "none", 0, 1),
         blosc_compress_ctx(5, 1, 4, (size_t)INT_MAX, data, chunk, 1016, "lz4", 0, 1));
  printf("%d %d %d %d\n", blosc_compress_ctx(5, 1, 4, 0, data, chunk, 15, "lz4", 0, 1),
         blosc_compress_ctx(5, 1, 4, 10, data, chunk, 25, "lz4", 0, 1),
         blosc_compress_ctx(5, 1, 4, 10, data, chunk, 26, "lz4", 0, 1),
         blosc_compress_ctx(0, 1, 4, 1000, data, chunk, 1015, "lz4", 0, 1));

  /* The process-wide interface. */
  printf("%s %d %s %d\n", blosc_get_compressor(), blosc_set_compressor("zstd"), blosc_get_compressor(),
         blosc_compname_to_compcode("lz4hc"));
  printf("%d %d %d %d\n", blosc_set_nthreads(2), blosc_get_nthreads(), blosc_get_blocksize(),
         blosc_compcode_to_compname(4, &name));
  printf("%s %d %d\n", name, blosc_compcode_to_compname(9, &name), blosc_compname_to_compcode("none"));
  printf("%s\n", blosc_list_compressors());
  blosc_set_blocksize(8192);
  blosc_set_splitmode(BLOSC_NEVER_SPLIT);
  k = blosc_compress(5, BLOSC_SHUFFLE, 4, sizeof data, data, chunk, sizeof chunk);
  CHECK(k > 0);
  blosc_cbuffer_sizes(chunk, &n, &c, &b);
  printf("%u %u %d %d\n", (unsigned)n, (unsigned)b, chunk[2], c == (size_t)k);
  CHECK(blosc_decompress(chunk, out, sizeof data) == (int)sizeof data && memcmp(out, data, sizeof data) == 0);
  /* A block size above the input, with fewer bytes than an item: not an error. */
  k = blosc_compress(5, BLOSC_SHUFFLE, 4, 3, data, chunk, sizeof chunk);
  printf("%d %d\n", k, blosc_compress(5, BLOSC_SHUFFLE, 4, 4000, data, chunk, sizeof chunk) > 0);
  blosc_cbuffer_sizes(chunk, &n, &c, &b);
  printf("%u %u\n", (unsigned)n, (unsigned)b);
  CHECK(blosc_compress(5, BLOSC_SHUFFLE, 4, sizeof data, data, chunk, sizeof chunk) > 0);
  blosc_set_blocksize(0);

  /* The environment outlives the call where it sets what there is a function for. */
  setenv("BLOSC_COMPRESSOR", "lz4", 1);
  setenv("BLOSC_NTHREADS", "3", 1);
  setenv("BLOSC_BLOCKSIZE", "4096", 1);
  setenv("BLOSC_SPLITMODE", "FORWARD_COMPAT", 1);
  setenv("BLOSC_TYPESIZE", "2", 1);
  setenv("BLOSC_SHUFFLE", "NOSHUFFLE", 1);
  CHECK(blosc_compress(5, BLOSC_SHUFFLE, 4, sizeof data, data, other, sizeof other) > 0);
  printf("%s %d %d %02x %d\n", blosc_get_compressor(), blosc_get_nthreads(), blosc_get_blocksize(), other[2], other[3]);
  setenv("BLOSC_CLEVEL", "0", 1);
  printf("%d\n", blosc_compress(5, BLOSC_SHUFFLE, 4, sizeof data, data, other, sizeof other));
  setenv("BLOSC_SPLITMODE", "SOMETIMES", 1);
  printf("%d\n", blosc_compress(5, BLOSC_SHUFFLE, 4, sizeof data, data, other, sizeof other));
  unsetenv("BLOSC_SPLITMODE");
  unsetenv("BLOSC_CLEVEL");
  unsetenv("BLOSC_COMPRESSOR");
  unsetenv("BLOSC_BLOCKSIZE");
  setenv("BLOSC_NTHREADS", "2", 1);
  CHECK(blosc_decompress(other, out, sizeof data) == (int)sizeof data);
  printf("%d %s\n", blosc_get_nthreads(), blosc_get_compressor());
  unsetenv("BLOSC_NTHREADS");
  unsetenv("BLOSC_TYPESIZE");
  unsetenv("BLOSC_SHUFFLE");
  blosc_set_blocksize(0);

  /* Items outside, and headers that are none. */
  printf("%d %d %d %d\n", blosc_getitem(chunk, -1, 3, out), blosc_getitem(chunk, ITEMS, 1, out),
         blosc_getitem(chunk, ITEMS, 0, out), blosc_getitem(chunk, ITEMS - 1, 1, out));
  memcpy(other, chunk, sizeof other);
  other[0] = 9;
  blosc_cbuffer_sizes(other, &n, &c, &b);
  blosc_cbuffer_metainfo(other, &n, &k);
  printf("%u %u %u %d %d\n", (unsigned)n, (unsigned)c, (unsigned)b, k, blosc_cbuffer_validate(other, 1000, &n));

  char *library, *version;
  k = blosc_get_complib_info("zstd", &library, &version);
  printf("%s %d %d\n", library, k, version[0] != 0);
  free(library);
  free(version);
  CHECK(blosc_get_version_string()[0] == '1' && blosc_free_resources() == 0);
  blosc_destroy();
  printf("Blosc1 API: %s\n", failures ? "FAILED" : "passed");
  return failures != 0;
}
