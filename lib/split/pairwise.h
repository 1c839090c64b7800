/* pairwise.h - choices with costs of single ones and of pairs: the least sum.
 *
 * Variables are eliminated one after another (Bertele and Brioschi, Nonserial Dynamic Programming, 1972), the one with
 * the fewest neighbours first: exact, and quick on chains and series-parallel graphs.  Where a table would grow beyond
 * PAIRWISE_TABLE entries, the choice of one variable is fixed as if its neighbours were free. */
#ifndef HSDAG_SPLIT_PAIRWISE_H
#define HSDAG_SPLIT_PAIRWISE_H

#include <stdint.h>

enum { PAIRWISE_CHOICES = 8, PAIRWISE_TABLE = 1 << 16 };

struct pairwise;
/* n variables with choices[i] in 1 .. PAIRWISE_CHOICES each; all costs 0. */
struct pairwise *pairwise_new(uint32_t n, const uint8_t *choices);
void pairwise_free(struct pairwise *p);
void pairwise_add_one(struct pairwise *p, uint32_t i, uint8_t a, double cost);
/* i and j differ. */
void pairwise_add_pair(struct pairwise *p, uint32_t i, uint8_t a, uint32_t j, uint8_t b,
		       double cost);
/* choice[n], and its cost.  Once. */
double pairwise_solve(struct pairwise *p, uint8_t *choice);

#endif
