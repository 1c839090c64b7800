/* radix.h - values sorted by their bits: a key of each ascends as the values do, and a radix sort
 * keeps what has equal keys in its order.  Not here: comparisons of values whose types differ. */
#ifndef HSDAG_KERNEL_OPS_RADIX_H
#define HSDAG_KERNEL_OPS_RADIX_H

#include <stdint.h>

struct keyed32 {
	uint32_t key, index;
};

struct keyed64 {
	uint64_t key;
	int64_t index;
};

/* Keys of real numbers; -0 has that of 0. */
static inline uint64_t key_of_double(double v)
{
	union {
		double d;
		uint64_t u;
	} x = {v + 0.0};
	return x.u >> 63 ? ~x.u : x.u | UINT64_C(1) << 63;
}

/* By key, equal ones as they stand; a, b (n): what is to be sorted, and room.  Returns the one of
 * them that is sorted; the other has nothing of use. */
const struct keyed32 *radix_sort32(struct keyed32 *a, struct keyed32 *b, int64_t n);
const struct keyed64 *radix_sort64(struct keyed64 *a, struct keyed64 *b, int64_t n);

#endif
