/* einsum_pair.h - inside Einsum: two operands whose labels have roles in a product. */
#ifndef HSDAG_KERNEL_EINSUM_EINSUM_PAIR_H
#define HSDAG_KERNEL_EINSUM_EINSUM_PAIR_H

#include "kernel/einsum/einsum_op.h"

/* What a label is to A (batch, m, k) B (batch, n, k) = C (batch, m, n). */
enum einsum_role { ROLE_BATCH, ROLE_M, ROLE_N, ROLE_K, ROLES };

struct einsum_pair {
	struct einsum_run *r;
	const struct einsum_part *a, *b, *c;
	/* Labels of the batch may be missing from A or B, which are used again then. */
	int n[ROLES], label[ROLES][COPY_DIMS];
	int64_t size[ROLES];
};

/* A matrix of a product, (batch, rows, cols) in memory. */
struct einsum_matrix {
	enum einsum_role role[3];
	const struct einsum_part *part;
	char *data;
	int label[COPY_DIMS], n;
	bool copied; /* the part has another order */
};

/* ---- einsum_matrix.c ---- */

/* The labels of a part, by three roles in that order; how many. */
int einsum_order(const struct einsum_pair *p, const struct einsum_part *part,
		 const enum einsum_role *role, int *label);
/* Which of A and B have a label: 1, 2, or 3 for both. */
int einsum_owners(const struct einsum_pair *p, int label);
/* Do the part's labels lie in the order of (batch, rows, cols)? */
bool einsum_pair_lies(const struct einsum_pair *p, const struct einsum_part *part,
		      enum einsum_role rows, enum einsum_role cols);
/* As it lies, transposed or not; or room for a copy, whose rows lie as the part's do. */
struct einsum_matrix einsum_matrix_of(const struct einsum_pair *p, const struct einsum_part *part,
				      enum einsum_role rows, enum einsum_role cols);
/* The same as an operand, with its elements. */
struct einsum_matrix einsum_operand(const struct einsum_pair *p, const struct einsum_part *part,
				    enum einsum_role rows, enum einsum_role cols);
/* What was written goes to where the part is. */
void einsum_deliver(const struct einsum_pair *p, const struct einsum_matrix *c);

/* ---- einsum_product.c ---- */

/* The pair as a stack of matrix products.  Whatever lies in the order of a product, or of a transposed one, is not
 * copied. */
int einsum_product(const struct einsum_pair *given, struct err *e) MUST_CHECK;

#endif
