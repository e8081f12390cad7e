/* Numbers of registered codecs.
 *
 * Written from the facts of the interface of C-Blosc2 3.3: names, layouts and values. */
#ifndef BLOSC_BLOSC2_CODECS_REGISTRY_H
#define BLOSC_BLOSC2_CODECS_REGISTRY_H

#ifdef __cplusplus
extern "C" {
#endif

enum {
  BLOSC_CODEC_NDLZ = 32,
  BLOSC_CODEC_ZFP_FIXED_ACCURACY = 33,
  BLOSC_CODEC_ZFP_FIXED_PRECISION = 34,
  BLOSC_CODEC_ZFP_FIXED_RATE = 35,
  BLOSC_CODEC_OPENHTJ2K = 36,
  BLOSC_CODEC_GROK = 37,
  BLOSC_CODEC_OPENZL = 38,
  BLOSC_CODEC_J2K = 39,
  BLOSC_CODEC_HTJ2K = 40,
};

/* Names of the functions of a plug-in that is a library of its own. */
typedef struct {
  char *encoder;
  char *decoder;
} codec_info;

#ifdef __cplusplus
}
#endif

#endif
