/* Fuzzes a libblosc2 with the mutator, without any of its headers or sources: Linux, a C compiler, no libFuzzer.
 *
 *   cargo rustc -p blosc-mutator --features entry --lib --crate-type staticlib --release
 *   cc -O1 -o example fuzz/mutator/example.c target/release/libblosc_mutator.a -ldl -lm -lpthread
 *   ./example LIBBLOSC2.so SECONDS FOLDER CHUNK...
 *
 * Every chunk given is a seed. A child process decodes mutants; where it dies or hangs, the input is kept in FOLDER under the
 * signal's number, and another child goes on. Mutants that leave bytes of the destination unwritten, or are written beyond it,
 * are counted and the first ones kept. With clang, `-fsanitize=fuzzer -DLIBFUZZER` makes a target for libFuzzer of it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1 << 16, ROOM = 1 << 20, GUARD = 64, BATCH = 20000, PATIENCE = 5 };
enum { RUNS, DECODED, REFUSED, UNWRITTEN, BEYOND, OUTCOMES };

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
static int (*decompress)(const void *, int32_t, void *, int32_t);
static uint8_t *out;

/* Decodes over zeros and over ones: what differs was not written. */
static int decode(const uint8_t *data, size_t size) {
  int32_t room = 0, n[2];
  if (size < 16) return REFUSED;
  memcpy(&room, data + 4, 4);
  if (room < 0 || room > ROOM) return REFUSED;
  static uint8_t first[ROOM];
  for (int turn = 0; turn < 2; turn++) {
    uint8_t fill = turn ? 0xFF : 0;
    memset(out, fill, GUARD + room + GUARD);
    n[turn] = decompress(data, (int32_t)size, out + GUARD, room);
    for (int k = 0; k < GUARD; k++)
      if (out[k] != fill || out[GUARD + room + k] != fill) return BEYOND;
    if (!turn && n[0] > 0) memcpy(first, out + GUARD, n[0]);
  }
  if (n[0] < 0) return n[1] < 0 ? REFUSED : UNWRITTEN;
  return n[0] == n[1] && !memcmp(first, out + GUARD, n[0]) ? DECODED : UNWRITTEN;
}

static void load(const char *library) {
  void *handle = dlopen(library, RTLD_NOW);
  if (handle) decompress = (int (*)(const void *, int32_t, void *, int32_t))dlsym(handle, "blosc2_decompress");
  if (!decompress) { fprintf(stderr, "%s\n", dlerror()); exit(2); }
  void (*init)(void) = (void (*)(void))dlsym(handle, "blosc2_init");
  if (init) init();
  out = malloc(GUARD + ROOM + GUARD);
}

#ifdef LIBFUZZER
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!decompress) load(getenv("BLOSC_LIBBLOSC2"));
  if (decode(data, size) >= UNWRITTEN) abort();
  return 0;
}
#else
/* What both processes see: counts, and the input that is being decoded. */
struct shared { unsigned long counts[OUTCOMES]; size_t size; uint8_t input[MOST]; };

static void keep(const struct shared *s, const char *folder, const char *why, unsigned long number) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s-%lu", folder, why, number);
  FILE *file = fopen(path, "wb");
  if (file) { fwrite(s->input, 1, s->size, file); fclose(file); }
}

static void batch(struct shared *s, char **seeds, int count, const char *folder, unsigned seed) {
  for (unsigned k = 0; k < BATCH; k++, seed++) {
    FILE *file = fopen(seeds[seed % count], "rb");
    if (!file) exit(2);
    s->size = fread(s->input, 1, MOST, file);
    fclose(file);
    s->size = LLVMFuzzerCustomMutator(s->input, s->size, MOST, seed);
    alarm(PATIENCE);
    int outcome = decode(s->input, s->size);
    alarm(0);
    s->counts[RUNS]++;
    unsigned long number = s->counts[outcome]++;
    if (outcome >= UNWRITTEN && number < 20) keep(s, folder, outcome == BEYOND ? "beyond" : "unwritten", number);
  }
  exit(0);
}

int main(int argc, char **argv) {
  if (argc < 5) { fprintf(stderr, "usage: %s LIBBLOSC2 SECONDS FOLDER CHUNK...\n", argv[0]); return 2; }
  struct shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  unsigned long signals[65] = {0};
  time_t end = time(NULL) + atoi(argv[2]);
  for (unsigned seed = 1; time(NULL) < end;) {
    unsigned long before = s->counts[RUNS];
    int status;
    pid_t child = fork();
    if (child == 0) {
      load(argv[1]);
      /* The parent ends at the time that was asked for. */
      batch(s, argv + 4, argc - 4, argv[3], seed);
    }
    waitpid(child, &status, 0);
    seed += (unsigned)(s->counts[RUNS] - before) + 1;
    if (WIFEXITED(status) && WEXITSTATUS(status)) return 2;
    if (WIFSIGNALED(status)) {
      char why[32];
      snprintf(why, sizeof why, "signal-%d", WTERMSIG(status));
      if (signals[WTERMSIG(status)]++ < 20) keep(s, argv[3], why, signals[WTERMSIG(status)]);
    }
  }
  printf("%lu mutants: %lu decoded, %lu refused, %lu left bytes unwritten, %lu were written beyond their room\n", s->counts[RUNS],
         s->counts[DECODED], s->counts[REFUSED], s->counts[UNWRITTEN], s->counts[BEYOND]);
  for (int k = 1; k < 65; k++)
    if (signals[k]) printf("%lu ended by signal %d (%s)\n", signals[k], k, k == SIGALRM ? "hung" : strsignal(k));
  return 0;
}
#endif
