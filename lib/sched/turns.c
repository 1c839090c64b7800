/* turns.c - a set of devices that compute at once. */
#include "sched/turns.h"

#include <stdbool.h>

#include "base/mem.h"

static uint32_t count_turns(const uint8_t *turns, uint32_t k, uint32_t d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; turns && i < k; i++)
		n += turns[(size_t)d * k + i] != 0;
	return n;
}

uint32_t sched_apart(const uint8_t *turns, uint32_t k, uint32_t *dev)
{
	bool *in = MEM_NEWN(bool, (size_t)k + 1);
	uint32_t n = 0;

	for (uint32_t with = 0; with < k; with++)
		for (uint32_t d = 0; d < k; d++) {
			bool apart = count_turns(turns, k, d) == with;

			for (uint32_t i = 0; i < k && apart; i++)
				apart = !in[i] || !turns || !turns[(size_t)d * k + i];
			in[d] |= apart;
		}
	for (uint32_t d = 0; d < k; d++)
		if (in[d])
			dev[n++] = d;
	mem_free(in);
	return n;
}
