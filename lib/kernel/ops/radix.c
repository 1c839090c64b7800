/* radix.c - a radix sort of records by the key that is first in them. */
#include "kernel/ops/radix.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { DIGIT = 8, DIGITS = 1 << DIGIT };

INLINE size_t digit_of(const char *record, bool wide, int shift)
{
	uint32_t key;
	uint64_t wide_key;
	if (wide) {
		memcpy(&wide_key, record, sizeof wide_key);
		return wide_key >> shift & (DIGITS - 1);
	}
	memcpy(&key, record, sizeof key);
	return key >> shift & (DIGITS - 1);
}

/* Records of `size` bytes, whose keys have 64 bits (wide) or 32. */
INLINE char *sort_records(char *a, char *b, int64_t n, size_t size, bool wide)
{
	for (int shift = 0; shift < (wide ? 64 : 32) && n > 0; shift += DIGIT) {
		int64_t start[DIGITS + 1] = {0};
		for (int64_t i = 0; i < n; i++)
			start[digit_of(a + (size_t)i * size, wide, shift) + 1]++;
		if (start[digit_of(a, wide, shift) + 1] == n) /* nothing to sort by here */
			continue;
		for (int i = 0; i < DIGITS; i++)
			start[i + 1] += start[i];
		for (int64_t i = 0; i < n; i++) {
			const char *x = a + (size_t)i * size;
			memcpy(b + (size_t)start[digit_of(x, wide, shift)]++ * size, x, size);
		}
		char *t = a;
		a = b;
		b = t;
	}
	return a;
}

const struct keyed32 *radix_sort32(struct keyed32 *a, struct keyed32 *b, int64_t n)
{
	void *sorted = sort_records((char *)a, (char *)b, n, sizeof *a, false);
	return sorted;
}

const struct keyed64 *radix_sort64(struct keyed64 *a, struct keyed64 *b, int64_t n)
{
	void *sorted = sort_records((char *)a, (char *)b, n, sizeof *a, true);
	return sorted;
}
