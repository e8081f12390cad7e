/* Small helpers of the other headers.
 *
 * Written from the facts of the interface of C-Blosc2 3.3: names, layouts and values. */
#ifndef BLOSC_BLOSC2_BLOSC2_COMMON_H
#define BLOSC_BLOSC2_BLOSC2_COMMON_H

#include <stdint.h>
#include <string.h>

#include "blosc2-export.h"

#ifdef __GNUC__
#define BLOSC_UNUSED_VAR __attribute__((unused))
#else
#define BLOSC_UNUSED_VAR
#endif

/* Says that a parameter is not used. */
#define BLOSC_UNUSED_PARAM(x) ((void)(x))

#endif
