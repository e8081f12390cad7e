/* An update that arrives in pieces: a chunk is decoded into flash block by block as its bytes come, and goes on after a reset.
 * The functions of the board are at the end; here they do nothing, so that the example links anywhere. */
#include "blosc_core.h"

#include <string.h>

/* For images of up to 200 blocks of 4 KiB (`blosc compress fw.bin -o fw.blosc --format chunk --codec lz4 --blocksize 4096`):
 * a block, its compressed bytes, the codec's scratch and 4 bytes for each block. `blosc_core_push_memory` tells what a header asks for. */
#define BLOCK 4096
static union {
  uint64_t aligned;
  void *pointer;
  long double wide;
  uint8_t bytes[512];
} room_for_it;
static uint8_t memory[3 * BLOCK + 512 + 4 * 200];

/* The board: bytes of the image from `at` on, flash, and a place for 24 bytes that survives a reset. */
size_t board_receive(size_t at, uint8_t *piece, size_t room);
void board_write_flash(uint64_t at, const void *bytes, size_t len);
int board_read_state(uint8_t state[24]);
void board_write_state(const uint8_t state[24]);

int64_t update(void);

/* Returns 0, or a negative code of blosc_core.h. */
int64_t update(void) {
  static uint8_t piece[64];
  uint8_t state[24], last[24];
  void *decoder = &room_for_it;
  blosc_core_block block;
  size_t at = 0;
  int resume = board_read_state(last);
  int64_t code = sizeof room_for_it < blosc_core_push_size()
                     ? BLOSC_CORE_E_WORK
                     : blosc_core_push_begin(decoder, sizeof room_for_it, memory, sizeof memory, NULL, 0);
  if (code < 0) return code;
  while (blosc_core_push_done(decoder) == 0) {
    size_t needs = (size_t)blosc_core_push_needs(decoder), len = 0, used = 0;
    if (needs > 0) {
      /* Before it goes on, a decoder is to see the chunk's prefix and no byte more. */
      len = board_receive(at, piece, resume && needs < sizeof piece ? needs : sizeof piece);
      if (len == 0) return BLOSC_CORE_E_TRUNCATED;
    }
    do {
      int64_t taken = blosc_core_push(decoder, piece + used, len - used, &block);
      if (taken < 0) return taken;
      used += (size_t)taken;
      at += (size_t)taken;
      if (block.bytes) {
        board_write_flash(block.offset, block.bytes, block.len);
        if (blosc_core_push_state(decoder, state) > 0) board_write_state(state);
      }
    } while (block.bytes);
    if (resume && blosc_core_push_state(decoder, state) > 0) {
      int64_t from = blosc_core_push_resume(decoder, last);
      if (from < 0) return from; /* another image: begin anew without the state */
      at = (size_t)from;
      resume = 0;
    }
  }
  return blosc_core_push_end(decoder);
}

#if defined(__GNUC__)
#define WEAK __attribute__((weak))
#else
#define WEAK
#endif
WEAK size_t board_receive(size_t at, uint8_t *piece, size_t room) {
  (void)at, (void)piece, (void)room;
  return 0;
}
WEAK void board_write_flash(uint64_t at, const void *bytes, size_t len) { (void)at, (void)bytes, (void)len; }
WEAK int board_read_state(uint8_t state[24]) {
  (void)state;
  return 0;
}
WEAK void board_write_state(const uint8_t state[24]) { (void)state; }
WEAK int main(void) { return update() < 0; }
