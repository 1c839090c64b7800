/* alike.c - a hash table of rows. */
#include "place/bound/alike.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

void alike_init(struct alike *x, uint32_t n, const bool *in, const void *a, size_t a_bytes,
		const void *b, size_t b_bytes)
{
	const char *pa = a, *pb = b;
	size_t room = 16, cap_first = 0, cap_count = 0;

	*x = (struct alike){.kind = MEM_NEWN(uint32_t, (size_t)n + 1)};
	while (room < 2 * (size_t)n)
		room *= 2;
	uint32_t *slot = MEM_NEWN(uint32_t, room); /* a kind, + 1; 0: free */

	for (uint32_t i = 0; i < n; i++) {
		const void *ra = pa + i * a_bytes, *rb = pb ? pb + i * b_bytes : NULL;

		if (in && !in[i])
			continue;
		uint64_t h = hash_bytes(ra, a_bytes) ^ (rb ? 31 * hash_bytes(rb, b_bytes) : 0);
		size_t at = h & (room - 1);

		for (; slot[at]; at = (at + 1) & (room - 1)) {
			uint32_t other = x->first[slot[at] - 1];

			if (memcmp(pa + other * a_bytes, ra, a_bytes) == 0 &&
			    (!rb || memcmp(pb + other * b_bytes, rb, b_bytes) == 0))
				break;
		}
		if (!slot[at]) {
			x->first = mem_grow(x->first, &cap_first, x->n + 1U, sizeof *x->first);
			x->count = mem_grow(x->count, &cap_count, x->n + 1U, sizeof *x->count);
			x->first[x->n] = i;
			x->count[x->n++] = 0;
			slot[at] = x->n;
		}
		x->kind[i] = slot[at] - 1;
		x->count[x->kind[i]]++;
	}
	mem_free(slot);
}

void alike_sample(const struct alike *x, uint32_t most, struct alike *out)
{
	uint32_t n = x->n < most ? x->n : most;
	double all = 0, kept = 0;

	*out = (struct alike){.n = n,
			      .first = MEM_NEWN(uint32_t, (size_t)n + 1),
			      .count = MEM_NEWN(double, (size_t)n + 1)};
	for (uint32_t i = 0; i < x->n; i++)
		all += x->count[i];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = (uint32_t)((uint64_t)i * x->n / n);

		out->first[i] = x->first[at];
		kept += out->count[i] = x->count[at];
	}
	for (uint32_t i = 0; i < n; i++)
		out->count[i] *= all / kept;
}

void alike_release(struct alike *x)
{
	mem_free(x->first);
	mem_free(x->count);
	mem_free(x->kind);
}
