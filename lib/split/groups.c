/* groups.c - which devices are near each other, by their links. */
#include "split/decide.h"

#include <math.h>

/* The slowest of the links within groups, or between them, both ways; no link at all: none is needed. */
static struct split_link slowest(const struct split_costs *c, const double *latency_s,
				 const double *bytes_per_s, const uint8_t *group, bool within)
{
	struct split_link l = {0, 0};
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t j = 0; j < c->n; j++) {
			size_t at = (size_t)i * c->n + j;
			if (i == j || latency_s[at] < 0 || (group[i] == group[j]) != within)
				continue;
			l.latency_s = fmax(l.latency_s, latency_s[at]);
			l.s_per_byte = fmax(l.s_per_byte, 1 / bytes_per_s[at]);
		}
	return l;
}

void split_groups(struct split_costs *c, const double *latency_s, const double *bytes_per_s,
		  uint8_t *group)
{
	double best = 0;
	uint32_t size[SPLIT_MAX_WAYS] = {0}, n = 0;
	for (size_t i = 0; i < (size_t)c->n * c->n; i++)
		if (latency_s[i] >= 0 && i % (c->n + 1) != 0)
			best = fmax(best, bytes_per_s[i]);
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t j = 0;
		while (j < i && !(latency_s[(size_t)i * c->n + j] >= 0 &&
				  bytes_per_s[(size_t)i * c->n + j] >= best / 2))
			j++;
		group[i] = j < i ? group[j] : (uint8_t)n++;
		size[group[i]]++;
	}
	bool even = n <= 32 && n < c->n; /* a group of one has nobody near */
	for (uint32_t i = 1; i < n; i++)
		even &= size[i] == size[0];
	for (uint32_t i = 0; i < c->n && !even; i++)
		group[i] = 0;
	c->groups = even ? n : 1;
	c->near = c->n / c->groups;
	c->in_group = slowest(c, latency_s, bytes_per_s, group, true);
	c->between = slowest(c, latency_s, bytes_per_s, group, false);
}
