/* einsum_product.c - two operands of Einsum become one as a stack of matrix products: which labels are the
 * batch's, and constants that are packed once. */
#include "kernel/einsum/einsum_pair.h"
#include "kernel/gemm/amx_product.h"

/* The dims of a batch, one for labels beside each other with the same owners; -1: more than a tensor has. */
static int batch_dims(const struct einsum_pair *p, const struct einsum_part *part, int64_t *dim)
{
	label_set own = einsum_labels(part);
	int n = 0, before = 0;
	for (int i = 0; i < p->n[ROLE_BATCH]; i++) {
		int label = p->label[ROLE_BATCH][i], now = einsum_owners(p, label);
		int64_t size = own >> label & 1 ? p->r->s.size[label] : 1;
		if (now == before) {
			dim[n - 1] *= size;
			continue;
		}
		if (n == TENSOR_DIMS - 2)
			return -1;
		dim[n++] = size;
		before = now;
	}
	return n;
}

static struct tensor tensor_of(const struct einsum_pair *p, const struct einsum_matrix *m)
{
	struct tensor t = {.elem = EL_F32, .data = m->data};
	t.rank = (uint32_t)batch_dims(p, m->part, t.dim);
	t.dim[t.rank++] = p->size[m->role[1]];
	t.dim[t.rank++] = p->size[m->role[2]];
	return t;
}

/* The first n labels of C become those of the batch. */
static void make_batch(struct einsum_pair *p, int n)
{
	label_set front = 0;
	p->n[ROLE_BATCH] = n;
	p->size[ROLE_BATCH] = 1;
	for (int i = 0; i < n; i++) {
		p->label[ROLE_BATCH][i] = p->c->label[i];
		p->size[ROLE_BATCH] *= p->r->s.size[p->c->label[i]];
		front |= (label_set)1 << p->c->label[i];
	}
	for (enum einsum_role role = ROLE_M; role <= ROLE_N; role++) {
		int kept = 0;
		p->size[role] = 1;
		for (int i = 0; i < p->n[role]; i++) {
			int label = p->label[role][i];
			if (front >> label & 1)
				continue;
			p->label[role][kept++] = label;
			p->size[role] *= p->r->s.size[label];
		}
		p->n[role] = kept;
	}
}

static bool holds_batch(const struct einsum_pair *p, int n)
{
	int found = 0;
	for (int i = 0; i < n; i++)
		found += einsum_owners(p, p->c->label[i]) == 3;
	return found == p->n[ROLE_BATCH];
}

static bool is_copied(const struct einsum_pair *p, const struct einsum_part *part,
		      enum einsum_role rows, enum einsum_role cols)
{
	return !einsum_pair_lies(p, part, rows, cols) && !einsum_pair_lies(p, part, cols, rows);
}

/* How long copying and packing take, as elements. */
static int64_t cost_of(const struct einsum_pair *p)
{
	enum { COPY = 4 }; /* takes that much longer than packing */
	int64_t batch = p->size[ROLE_BATCH], n = 0;
	n += batch * p->size[ROLE_K] * (p->size[ROLE_M] + p->size[ROLE_N]);
	if (is_copied(p, p->a, ROLE_M, ROLE_K))
		n += COPY * einsum_count(p->r, einsum_labels(p->a));
	if (is_copied(p, p->b, ROLE_N, ROLE_K))
		n += COPY * einsum_count(p->r, einsum_labels(p->b));
	if (is_copied(p, p->c, ROLE_M, ROLE_N))
		n += COPY * einsum_count(p->r, einsum_labels(p->c));
	return n;
}

/* Labels that lead C may count as the batch's, even if A or B has them not, where less is copied then:
 * "td,edf->etf" is a product for each e. */
static struct einsum_pair best_batch(const struct einsum_pair *p)
{
	enum { FEW = 16 }; /* rows or columns that make a product slow */
	struct einsum_pair best = *p;
	int64_t least = cost_of(p), dim[TENSOR_DIMS];
	for (int n = 1; n < p->c->n; n++) {
		struct einsum_pair other = *p;
		if (!holds_batch(p, n))
			continue;
		make_batch(&other, n);
		if ((other.size[ROLE_M] < FEW && other.size[ROLE_M] < p->size[ROLE_M]) ||
		    (other.size[ROLE_N] < FEW && other.size[ROLE_N] < p->size[ROLE_N]) ||
		    batch_dims(&other, p->c, dim) < 0)
			continue;
		int64_t cost = cost_of(&other);
		if (cost >= least)
			continue;
		least = cost;
		best = other;
	}
	return best;
}

/* A constant on the right is packed once: the largest one, where there are several. */
static int keep_pack(struct einsum_run *r, const struct op *op, const struct tensor *in,
		     struct err *e)
{
	struct cpu_prep *prep = NULL;
	if (prepare_matmul(op, in, NULL, r->k->ctx, &prep, e))
		return -1;
	if (!prep)
		return 0;
	if (r->prep && r->prep->pack->bytes >= prep->pack->bytes) {
		cpu_prep_free(prep);
		return 0;
	}
	cpu_prep_free(r->prep);
	r->prep = prep;
	r->prep->owns = 0;
	r->prep->run = NULL; /* it ran the product, not all of Einsum */
	return 0;
}

static bool is_packed(const struct cpu_prep *prep, const struct op *op,
		      const struct einsum_matrix *b, const struct einsum_pair *p)
{
	if (!prep || !prep->pack || b->copied || prep->pack->key != b->data)
		return false;
	bool turned = op->a.matmul.transpose_b;
	const uint64_t *layout = prep->pack->layout;
	return layout[1] == turned && layout[3] == (uint64_t)p->size[b->role[1 + turned]] &&
	       layout[4] == (uint64_t)p->size[b->role[2 - turned]];
}

/* The product by what is packed, or, where that is for tiles and the left operand is not, as if nothing were. */
static kernel_fn *with_pack(struct kernel_call *k, const struct cpu_prep *prep)
{
	struct operand a = operand_of(&k->in[0], k->op->a.matmul.transpose_a, true),
		       b = operand_of(&k->in[1], k->op->a.matmul.transpose_b, false);
	bool made = tiled_made(prep->pack), tiled = made && tiled_fits(k->ctx, &a, &b);
	k->prep = made == tiled ? prep : NULL;
	return tiled ? tiled_run : run_matmul;
}

int einsum_product(const struct einsum_pair *given, struct err *e)
{
	struct einsum_pair chosen = best_batch(given);
	const struct einsum_pair *p = &chosen;
	struct einsum_matrix c = einsum_matrix_of(p, p->c, ROLE_M, ROLE_N);
	bool swapped = c.role[1] == ROLE_N; /* B^T A^T = (A B)^T */
	struct einsum_matrix m[2] = {einsum_operand(p, swapped ? p->b : p->a, c.role[1], ROLE_K),
				     einsum_operand(p, swapped ? p->a : p->b, c.role[2], ROLE_K)};
	struct tensor in[2] = {tensor_of(p, &m[0]), tensor_of(p, &m[1])}, out = tensor_of(p, &c);
	struct op op = *p->r->k->op;
	op.kind = OP_MATMUL;
	op.n_in = 2;
	op.a.matmul.transpose_a = m[0].role[1] == ROLE_K;
	op.a.matmul.transpose_b = m[1].role[2] == ROLE_K;
	if (p->r->dry)
		return m[1].copied || !in[1].data ? 0 : keep_pack(p->r, &op, in, e);
	struct cpu_prep prep = {.owns = 1u << 1};
	kernel_fn *run = run_matmul;
	struct kernel_call call = {.op = &op, .in = in, .out = &out, .ctx = p->r->k->ctx};
	if (is_packed(p->r->k->prep, &op, &m[1], p)) {
		prep.pack = p->r->k->prep->pack;
		run = with_pack(&call, &prep);
	}
	if (run(&call, e))
		return -1;
	einsum_deliver(p, &c);
	return 0;
}
