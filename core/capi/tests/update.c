/* The example of an update on a board whose power fails: 200 images with pieces and resets at random. */
#include "blosc_core.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t update(void);

#define SIZE 100000
static uint8_t data[SIZE], image[SIZE + 64], flash[SIZE], saved[24];
static size_t image_len;
static int have, blocks;
static long budget;
static jmp_buf reset;

size_t board_receive(size_t at, uint8_t *piece, size_t room) {
  size_t n = 1 + (size_t)rand() % room;
  if (n > image_len - at) n = image_len - at;
  budget -= (long)n;
  if (budget < 0) longjmp(reset, 1);
  memcpy(piece, image + at, n);
  return n;
}
void board_write_flash(uint64_t at, const void *bytes, size_t len) {
  memcpy(flash + at, bytes, len);
  blocks++;
}
int board_read_state(uint8_t state[24]) {
  memcpy(state, saved, 24);
  return have;
}
void board_write_state(const uint8_t state[24]) {
  memcpy(saved, state, 24);
  have = 1;
}

int main(void) {
  static volatile int run, resets, all;
  for (run = 0; run < 200; run++) {
    blosc_core_params params;
    srand((unsigned)run);
    for (size_t k = 0; k < SIZE; k++) data[k] = (uint8_t)(rand() % 8 ? k / 50 : (size_t)rand());
    blosc_core_params_init(&params, 4);
    params.codec = BLOSC_CORE_LZ4;
    params.blocksize = 4096;
    int64_t n = blosc_core_compress(&params, data, SIZE, image, sizeof image, NULL);
    if (n <= 0) return printf("FAILED: image %d: %lld\n", run, (long long)n);
    image_len = (size_t)n;
    have = blocks = resets = 0;
    if (setjmp(reset)) resets++;
    budget = resets < 6 ? rand() % (long)image_len : 1L << 30;
    int64_t code = update();
    if (code != 0 || memcmp(flash, data, SIZE) != 0) {
      return printf("FAILED: run %d, after %d resets: %lld\n", run, resets, (long long)code);
    }
    /* A block that was stored is not decoded again. */
    if (blocks > SIZE / 4096 + 1) return printf("FAILED: run %d: %d blocks\n", run, blocks);
    memset(flash, 0, SIZE);
    all += resets;
  }
  printf("update: 200 images right, %d resets\n", all);
  return all < 200;
}
