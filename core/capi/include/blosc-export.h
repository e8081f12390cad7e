/* How functions of libblosc.so.1 are declared. SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef BLOSC_EXPORT_H
#define BLOSC_EXPORT_H

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
