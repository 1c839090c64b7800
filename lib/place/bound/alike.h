/* alike.h - items that differ in nothing that a bound looks at, counted once: a network of a million operations has a few
 * hundred different ones. */
#ifndef HSDAG_PLACE_BOUND_ALIKE_H
#define HSDAG_PLACE_BOUND_ALIKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct alike {
	uint32_t n;
	uint32_t *first; /* (n) one of each kind, ascending */
	double *count;   /* (n) how many there are */
	uint32_t *kind;  /* (items) which one an item is; of those left out anything */
};

/* Of n items those with in[i] (NULL: all).  Two are alike if their rows of a, and of b (NULL: not looked at), are equal as bytes. */
void alike_init(struct alike *x, uint32_t n, const bool *in, const void *a, size_t a_bytes,
		const void *b, size_t b_bytes);
/* About `most` of them, evenly through all, that stand for the others: their counts add up to as many.  Without `kind`. */
void alike_sample(const struct alike *x, uint32_t most, struct alike *out);
void alike_release(struct alike *x);

#endif
