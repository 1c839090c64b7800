/* simd.h - one portable source, several instruction sets: a function marked
 * VECTOR_CLONES is compiled for AVX-512, AVX2 and the baseline, and the loader
 * picks one.  Nothing on other machines, or under sanitizers, whose start-up code cannot
 * run inside the picking. */
#ifndef HSDAG_BASE_SIMD_H
#define HSDAG_BASE_SIMD_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
	!defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define VECTOR_CLONES
#endif

#endif
