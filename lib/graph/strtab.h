/* strtab.h - a table of distinct strings, numbered in the order in which they
 * were first seen.  Columns of strings go into records as numbers into one. */
#ifndef HSDAG_GRAPH_STRTAB_H
#define HSDAG_GRAPH_STRTAB_H

#include <stddef.h>
#include <stdint.h>

struct strtab {
	const char **s; /* (n) borrowed from whoever added them */
	uint32_t n;
	size_t cap;
	uint32_t *slot; /* open addressing: index + 1, 0 is empty */
	size_t n_slots; /* a power of two */
};

/* All zeros is an empty table. */
void strtab_release(struct strtab *t);
/* Number of s; a new one when s is new.  s must outlive the table. */
uint32_t strtab_add(struct strtab *t, const char *s);
/* Number of s, or UINT32_MAX when it is not in the table. */
uint32_t strtab_find(const struct strtab *t, const char *s);

#endif
