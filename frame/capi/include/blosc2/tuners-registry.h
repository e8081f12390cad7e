/* Numbers of registered tuners.
 *
 * Written from the facts of the interface of C-Blosc2 3.3: names, layouts and values. */
#ifndef BLOSC_BLOSC2_TUNERS_REGISTRY_H
#define BLOSC_BLOSC2_TUNERS_REGISTRY_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
  BLOSC_BTUNE = 32,
};

/* Names of the functions of a plug-in that is a library of its own. */
typedef struct {
  char *init;
  char *next_blocksize;
  char *next_cparams;
  char *update;
  char *free;
} tuner_info;

#ifdef __cplusplus
}
#endif

#endif
