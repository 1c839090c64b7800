/* turns.c - a set of devices that compute at once. */
#include "sched/turns.h"

#include <math.h>

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
	uint32_t *turns_of = MEM_NEWN(uint32_t, (size_t)k + 1), n = 0;

	for (uint32_t d = 0; d < k; d++)
		turns_of[d] = count_turns(turns, k, d);
	for (uint32_t with = 0; with < k; with++)
		for (uint32_t d = 0; d < k; d++) {
			bool apart = turns_of[d] == with;

			for (uint32_t i = 0; i < k && apart; i++)
				apart = !in[i] || !turns || !turns[(size_t)d * k + i];
			in[d] |= apart;
		}
	for (uint32_t d = 0; d < k; d++)
		if (in[d])
			dev[n++] = d;
	mem_free(in);
	mem_free(turns_of);
	return n;
}

/* Does device d take turns with at least one that takes fewer than it does?  Others may be of the same cores, as those of another
 * precision. */
static bool has_parts(const uint8_t *turns, uint32_t k, uint32_t d)
{
	uint32_t n = count_turns(turns, k, d);

	for (uint32_t i = 0; turns && i < k; i++)
		if (turns[(size_t)d * k + i] && count_turns(turns, k, i) < n)
			return true;
	return false;
}

void sched_parts(const uint8_t *turns, uint32_t k, bool *has)
{
	for (uint32_t d = 0; d < k; d++)
		for (uint32_t i = 0; i < k; i++)
			has[(size_t)d * k + i] = turns && turns[(size_t)d * k + i] &&
						 has_parts(turns, k, d) && !has_parts(turns, k, i);
}

/* The largest sum over devices of `may`, which take turns with all that are in already. */
static double largest(const uint32_t *with, const double *load, uint32_t may)
{
	double most = 0;

	for (; may; may &= may - 1) {
		uint32_t d = (uint32_t)__builtin_ctz(may);

		/* Sums are of ascending devices. */
		most = fmax(most, load[d] + largest(with, load, may & (may - 1) & with[d]));
	}
	return most;
}

double sched_turn_load(const uint8_t *turns, uint32_t k, const double *load)
{
	uint32_t with[TURNS_MOST] = {0};
	double most = 0;

	for (uint32_t i = 0; i < k * k; i++) {
		if (!turns[i])
			continue;
		most = fmax(most, load[i / k] + load[i % k]);
		if (k <= TURNS_MOST)
			with[i / k] |= UINT32_C(1) << i % k;
	}
	return k <= TURNS_MOST ? largest(with, load, (UINT32_C(1) << k) - 1) : most;
}
