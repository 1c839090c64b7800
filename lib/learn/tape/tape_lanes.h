/* tape_lanes.h - vectors of 16 floats that the compiler maps to what the processor has; for tape_kernel.c
 * and tape_kernel_seq.c alone. */
#ifndef HSDAG_LEARN_TAPE_TAPE_LANES_H
#define HSDAG_LEARN_TAPE_TAPE_LANES_H

#include <stdint.h>

enum { L = 16 };
typedef float vec __attribute__((vector_size(4 * L), aligned(4), may_alias));

/* Sum of the lanes, by halves. */
typedef int32_t ivec __attribute__((vector_size(4 * L)));
typedef float half __attribute__((vector_size(2 * L)));
typedef float quarter __attribute__((vector_size(L)));
#define LANE_SUM(v) \
	__extension__({ \
		half h_ = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) + \
			  __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15); \
		quarter q_ = __builtin_shufflevector(h_, h_, 0, 1, 2, 3) + \
			     __builtin_shufflevector(h_, h_, 4, 5, 6, 7); \
		(q_[0] + q_[2]) + (q_[1] + q_[3]); \
	})
/* Two vectors, each added to itself `by` lanes on: of every 2 * by lanes, the first come from a, the last from b. */
#define JOIN(a, b, by) JOIN_##by(a, b)
#define JOIN_8(a, b) \
	(__builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) + \
	 __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, \
				 31))
#define JOIN_4(a, b) \
	(__builtin_shufflevector(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27) + \
	 __builtin_shufflevector(a, b, 4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, \
				 31))
#define JOIN_2(a, b) \
	(__builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) + \
	 __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, \
				 31))
#define JOIN_1(a, b) \
	(__builtin_shufflevector(a, b, 0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, \
				 30) + \
	 __builtin_shufflevector(a, b, 1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31))
#define AT(p) (*(vec *)(p))
#define IN(p) (*(const vec *)(p))

#endif
