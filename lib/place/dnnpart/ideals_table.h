/* ideals_table.h - the table (ideals_table.c) of the dynamic program over ideals (ideals.c); not for others. */
#ifndef HSDAG_PLACE_DNNPART_IDEALS_TABLE_H
#define HSDAG_PLACE_DNNPART_IDEALS_TABLE_H

#include "place/dnnpart/ideals.h"

enum { IDEALS_TABLE_NONE = UINT32_MAX };

/* Ideals that were reached, in the order in which they were. */
struct ideals_table {
	uint32_t n, words, n_used;
	size_t cap_bits, cap_value, cap_from, cap_how, cap_next;
	uint64_t *bits;          /* (n,words) */
	double *value;           /* (n,n_used) INFINITY: not reached */
	uint32_t *from;          /* (n,n_used) the ideal before the last piece */
	uint8_t *how;            /* (n,n_used) class of the last piece */
	uint32_t *next;          /* (n) of the same size */
	uint32_t *bucket;        /* (items+1) first of a size; IDEALS_TABLE_NONE */
	uint32_t *cell, n_cells; /* hash table; IDEALS_TABLE_NONE: free */
};

void ideals_table_init(struct ideals_table *t, uint32_t n_items, uint32_t n_used);
void ideals_table_release(struct ideals_table *t);

/* The number of the ideal that has these bits (words); a new one has no values yet. */
uint32_t ideals_table_find(struct ideals_table *t, const uint64_t *bits);
/* What one more of them takes. */
uint64_t ideals_table_row_bytes(const struct ideals_table *t);

#endif
