/* Numbers of registered filters.
 *
 * Written from the facts of the interface of C-Blosc2 3.3: names, layouts and values. */
#ifndef BLOSC_BLOSC2_FILTERS_REGISTRY_H
#define BLOSC_BLOSC2_FILTERS_REGISTRY_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
  BLOSC_FILTER_NDCELL = 32,
  BLOSC_FILTER_NDMEAN = 33,
  BLOSC_FILTER_BYTEDELTA_BUGGY = 34,
  BLOSC_FILTER_BYTEDELTA = 35,
  BLOSC_FILTER_INT_TRUNC = 36,
};

/* Names of the functions of a plug-in that is a library of its own. */
typedef struct {
  char *forward;
  char *backward;
} filter_info;

#ifdef __cplusplus
}
#endif

#endif
