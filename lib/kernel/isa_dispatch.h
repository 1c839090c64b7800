/* isa_dispatch.h - compile the file LEVEL_FILE once for every level of vector
 * instructions, and choose one at run time.
 *
 * LEVEL_FILE defines functions named LEVEL(f); here they become f_v4 (AVX-512), f_v3
 * (AVX2 with FMA) and f_v1 (whatever the compiler targets).  LEVEL_CALL(f, args) runs the best
 * one.  Inside, FMA(a, b, c) is a * b + c, fused where that is one instruction, and LEVEL_WIDTH
 * floats make a VEC (simd_vector.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#ifndef LEVEL_FILE
#error "define LEVEL_FILE first"
#endif

#include "kernel/isa_level.h"
#include "op/value.h"

#ifdef CPU_HAS_LEVELS
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512")
#define LEVEL(name) name##_v4
#define LEVEL_WIDTH 16
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#include "kernel/simd_vector.h"
#include LEVEL_FILE
#undef LEVEL
#undef LEVEL_WIDTH
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v3")
#define LEVEL(name) name##_v3
#define LEVEL_WIDTH 8
#include "kernel/simd_vector.h"
#include LEVEL_FILE
#undef LEVEL
#undef LEVEL_WIDTH
#undef FMA
#pragma GCC pop_options
#endif

#define LEVEL(name) name##_v1
#define LEVEL_WIDTH 4
#define FMA(a, b, c) ((a) * (b) + (c))
#include "kernel/simd_vector.h"
#include LEVEL_FILE
#undef LEVEL
#undef LEVEL_WIDTH
#undef FMA
