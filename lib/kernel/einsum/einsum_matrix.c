/* einsum_matrix.c - an operand of Einsum as a stack of matrices: as it lies, or copied. */
#include "kernel/einsum/einsum_pair.h"

int einsum_order(const struct einsum_pair *p, const struct einsum_part *part,
		 const enum einsum_role *role, int *label)
{
	label_set own = einsum_labels(part);
	int n = 0;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < p->n[role[i]]; j++)
			if (own >> p->label[role[i]][j] & 1)
				label[n++] = p->label[role[i]][j];
	return n;
}

bool einsum_pair_lies(const struct einsum_pair *p, const struct einsum_part *part,
		      enum einsum_role rows, enum einsum_role cols)
{
	int label[COPY_DIMS], n;
	n = einsum_order(p, part, (enum einsum_role[3]){ROLE_BATCH, rows, cols}, label);
	return einsum_lies(p->r, part, label, n);
}

int einsum_owners(const struct einsum_pair *p, int label)
{
	return (int)(einsum_labels(p->a) >> label & 1) +
	       2 * (int)(einsum_labels(p->b) >> label & 1);
}

/* Is the part's innermost label one of the rows'? */
static bool rows_inside(const struct einsum_pair *p, const struct einsum_part *part,
			enum einsum_role rows)
{
	int inner = 0;
	for (int i = 1; i < part->n; i++)
		inner = part->stride[i] < part->stride[inner] ? i : inner;
	for (int i = 0; i < p->n[rows]; i++)
		if (part->n && p->label[rows][i] == part->label[inner])
			return true;
	return false;
}

struct einsum_matrix einsum_matrix_of(const struct einsum_pair *p, const struct einsum_part *part,
				      enum einsum_role rows, enum einsum_role cols)
{
	bool there = einsum_pair_lies(p, part, rows, cols),
	     there_turned = !there && einsum_pair_lies(p, part, cols, rows);
	bool copied = !there && !there_turned;
	bool turned = there_turned || (copied && rows_inside(p, part, rows));
	struct einsum_matrix m = {.role = {ROLE_BATCH, turned ? cols : rows, turned ? rows : cols},
				  .part = part,
				  .data = part->data,
				  .copied = copied};
	m.n = einsum_order(p, part, m.role, m.label);
	if (copied)
		m.data = einsum_take(p->r, einsum_count(p->r, einsum_labels(part)));
	return m;
}

struct einsum_matrix einsum_operand(const struct einsum_pair *p, const struct einsum_part *part,
				    enum einsum_role rows, enum einsum_role cols)
{
	struct einsum_matrix m = einsum_matrix_of(p, part, rows, cols);
	if (m.copied)
		einsum_copy(p->r, part, m.label, m.n, m.data);
	return m;
}

void einsum_deliver(const struct einsum_pair *p, const struct einsum_matrix *c)
{
	if (c->copied)
		einsum_put(p->r, c->label, c->n, c->data, c->part);
}
