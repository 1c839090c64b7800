/* tape_scores.h - the inner loops of content attention: scores v . tanh(query + key), and their gradients.  For
 * tape_attention.c and tests.
 *
 * tanh(q + key) = 1 - 2 w with w = 1 / (1 + exp(2q) exp(2 key)): exponentials are made once for each q and
 * each key.  Beyond 1e9 the product of exponentials changes no bit of 1 - 2 w; it stays there, so that no
 * product of four sums overflows.  Instructions are chosen by the processor, with products that are fused with
 * sums: bits differ between processors, not with the number of rows. */
#ifndef HSDAG_LEARN_TAPE_TAPE_SCORES_H
#define HSDAG_LEARN_TAPE_TAPE_SCORES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether no eq (n) times no ekey, the largest of which is most_ekey, comes near the bound. */
bool scores_bounded(const float *eq, size_t n, float most_ekey);

/* The largest of x (n), n > 0, that is no NaN behind the first. */
float scores_largest(const float *x, size_t n);

/* score (rows,m) = v . tanh(q + key) for the queries and keys of eq (rows,n) = exp(2 q) and ekeys (m,n) =
 * exp(2 keys).  bounded: what scores_bounded says of eq. */
struct scores {
	float *score;
	const float *eq, *ekeys, *v;
	size_t rows, m, n;
	bool bounded;
};
void kern_scores(const struct scores *s);

enum { SCORES_LANES = 16 }; /* most columns that are taken together */

/* Its derivative for `rows` queries in columns first <= j < end, where d (rows,m) is the gradient of the scores:
 *
 *   uq_qj = sum over i of d_qi w_qij (1 - w_qij),   ukeys_ij += sum over q of d_qi w_qij (1 - w_qij),
 *   wd_j += sum over q and i of d_qi w_qij
 *
 * The gradients are 4 v_j uq_qj of q, 4 v_j ukeys_ij of the keys, and sum of d - 2 wd_j of v. */
struct scores_back {
	const float *eq, *ekeys, *d;
	float *uq, *ukeys, *wd; /* (rows,n), (m,n), (n) */
	size_t rows, m, n;
	size_t first, end; /* the columns that are wanted: multiples of SCORES_LANES, or end is n */
	bool bounded;
	float *scratch; /* (2, m, SCORES_LANES) */
};
void kern_scores_back(const struct scores_back *r);

#endif
