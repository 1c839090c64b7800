/* shares.h - how large the parts of unlike devices are. */
#ifndef HSDAG_SPLIT_SHARES_H
#define HSDAG_SPLIT_SHARES_H

#include "split/split_graph.h"

/* Rows of shares, as plans have them, each once. */
struct split_rows {
	uint32_t ways, n;
	uint32_t *share; /* (n, ways), from the arena */
};
struct split_rows split_rows_new(uint32_t ways, struct arena *a);
/* Its number; 0 when there are too many. */
uint8_t split_row(struct split_rows *rows, const uint32_t *share);
/* Keeps the first row and those of share_of (n), which has their new numbers then. */
void split_rows_keep(struct split_rows *rows, uint8_t *share_of, uint32_t n);
/* The row by which all devices end together, where a share x of all takes device p fixed_s[p] + x * (s[p] - fixed_s[p]) seconds
 * (bound_divisible.h), in units of which there are split_units; each has one at least. */
uint8_t split_row_for(struct split_rows *rows, const double *s, const double *fixed_s);
uint32_t split_units(uint32_t ways);

#endif
