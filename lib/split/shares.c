/* shares.c - how large the parts of unlike devices are: so that all of a chain end together. */
#include "split/shares.h"

#include <string.h>

#include "place/bound/bound_divisible.h"

enum { UNITS = 32, MAX_ROWS = 255 };

uint32_t split_units(uint32_t ways)
{
	return ways * 4 > UNITS ? ways * 4 : UNITS;
}

/* In whole units, each at least one: to who lacks most beside its share. */
static void round_shares(uint32_t ways, const double *share, uint32_t *out)
{
	double sum = 0;
	for (uint32_t p = 0; p < ways; p++) {
		out[p] = 1;
		sum += share[p];
	}
	if (sum == 0)
		sum = 1;
	for (uint32_t left = split_units(ways) - ways; left > 0; left--) {
		uint32_t least = 0;
		double most = -1e300;
		for (uint32_t p = 0; p < ways; p++) {
			double want = share[p] / sum * split_units(ways) - out[p];
			if (want > most) {
				most = want;
				least = p;
			}
		}
		out[least]++;
	}
}

uint8_t split_row(struct split_rows *rows, const uint32_t *share)
{
	for (uint32_t r = 0; r < rows->n; r++) {
		bool same = true;
		for (uint32_t p = 0; p < rows->ways; p++)
			same &= rows->share[(size_t)r * rows->ways + p] == share[p];
		if (same)
			return (uint8_t)r;
	}
	if (rows->n == MAX_ROWS)
		return 0; /* split_rows_keep makes room */
	for (uint32_t p = 0; p < rows->ways; p++)
		rows->share[(size_t)rows->n * rows->ways + p] = share[p];
	return (uint8_t)rows->n++;
}

uint8_t split_row_for(struct split_rows *rows, const double *s, const double *fixed_s)
{
	double share[SPLIT_MAX_WAYS], y = divisible_s(s, fixed_s, rows->ways);
	uint32_t whole[SPLIT_MAX_WAYS];
	for (uint32_t p = 0; p < rows->ways; p++)
		share[p] = y > fixed_s[p] && s[p] > fixed_s[p]
				   ? (y - fixed_s[p]) / (s[p] - fixed_s[p])
				   : 0;
	round_shares(rows->ways, share, whole);
	return split_row(rows, whole);
}

void split_rows_keep(struct split_rows *rows, uint8_t *share_of, uint32_t n)
{
	uint32_t kept = 1;
	uint8_t to[MAX_ROWS + 1] = {0};
	bool used[MAX_ROWS + 1] = {false};
	for (uint32_t v = 0; v < n; v++)
		used[share_of[v]] = true;
	for (uint32_t r = 1; r < rows->n; r++) {
		if (!used[r])
			continue;
		to[r] = (uint8_t)kept;
		memmove(rows->share + (size_t)kept++ * rows->ways,
			rows->share + (size_t)r * rows->ways, rows->ways * sizeof *rows->share);
	}
	rows->n = kept;
	for (uint32_t v = 0; v < n; v++)
		share_of[v] = to[share_of[v]];
}

struct split_rows split_rows_new(uint32_t ways, struct arena *a)
{
	return (struct split_rows){.ways = ways,
				   .share = ARENA_NEWN(a, uint32_t, (size_t)MAX_ROWS * ways)};
}
