/* Decodes one vector with a libblosc2 or libblosc that is loaded at run time, for run.py:
 *
 *   cc -O1 -o reader reader.c -ldl
 *   python3 run.py './reader LIBRARY {format} {file} {offset}'
 *
 * Chunks by blosc2_decompress or blosc_decompress, frames by blosc2_schunk_open_offset. Status 77: it cannot read this format. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int number(const unsigned char *at) { return (int)(at[0] | at[1] << 8 | at[2] << 16 | (unsigned)at[3] << 24); }

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  void *library = dlopen(argv[1], RTLD_NOW);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
  void (*init)(void) = (void (*)(void))dlsym(library, "blosc2_init");
  if (init) init();
  if (!strncmp(argv[2], "chunk", 5)) {
    int (*two)(const void *, int32_t, void *, int32_t) = (int (*)(const void *, int32_t, void *, int32_t))dlsym(library, "blosc2_decompress");
    int (*one)(const void *, void *, size_t) = (int (*)(const void *, void *, size_t))dlsym(library, "blosc_decompress");
    if (!two && (!one || strcmp(argv[2], "chunk1"))) return 77;
    FILE *file = fopen(argv[3], "rb");
    unsigned char *chunk = calloc(1, 1 << 26);
    int size = file ? (int)fread(chunk, 1, 1 << 26, file) : 0;
    int nbytes = size < 16 ? -1 : number(chunk + 4), done = -1;
    if (nbytes < 0 || nbytes > 1 << 28) return 1;
    char *out = calloc(1, (size_t)nbytes + 1);
    int (*check)(const void *, size_t, size_t *) = (int (*)(const void *, size_t, size_t *))dlsym(library, "blosc_cbuffer_validate");
    size_t room = 0;
    if (two) done = two(chunk, size, out, nbytes);
    else if (!check || check(chunk, (size_t)size, &room) == 0) done = one(chunk, out, (size_t)nbytes);
    return done < 0 || fwrite(out, 1, (size_t)done, stdout) != (size_t)done;
  }
  /* In blosc2.h the field `nchunks` of blosc2_schunk follows 34 bytes of others, at a multiple of 8. */
  void *(*open)(const char *, int64_t) = (void *(*)(const char *, int64_t))dlsym(library, "blosc2_schunk_open_offset");
  int (*chunk)(void *, int64_t, void *, int32_t) = (int (*)(void *, int64_t, void *, int32_t))dlsym(library, "blosc2_schunk_decompress_chunk");
  if (!open || !chunk || !strcmp(argv[2], "b2nd") || !strcmp(argv[2], "bloscpack") || !strcmp(argv[2], "bcolz")) return 77;
  char *frame = open(argv[3], atoll(argv[4]));
  if (!frame) return 1;
  int64_t nchunks;
  memcpy(&nchunks, frame + 40, sizeof nchunks);
  void *out = calloc(1, 1 << 28);
  for (int64_t k = 0; k < nchunks; k++) {
    int done = chunk(frame, k, out, 1 << 28);
    if (done < 0 || fwrite(out, 1, (size_t)done, stdout) != (size_t)done) return 1;
  }
  return 0;
}
