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
#define AT(p) (*(vec *)(p))
#define IN(p) (*(const vec *)(p))

#endif
