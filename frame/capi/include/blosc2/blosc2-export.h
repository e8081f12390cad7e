/* How functions of the shared library are declared.
 *
 * Written from the facts of the interface of C-Blosc2 3.3: names, layouts and values. */
#ifndef BLOSC_BLOSC2_BLOSC2_EXPORT_H
#define BLOSC_BLOSC2_BLOSC2_EXPORT_H

#if defined(_WIN32) && defined(BLOSC_SHARED_LIBRARY)
#define BLOSC_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define BLOSC_EXPORT __attribute__((visibility("default")))
#else
#define BLOSC_EXPORT
#endif

#if defined(__GNUC__) && !defined(_WIN32)
#define BLOSC_NO_EXPORT __attribute__((visibility("hidden")))
#else
#define BLOSC_NO_EXPORT
#endif

#endif
