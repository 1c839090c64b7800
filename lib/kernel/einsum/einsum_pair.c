/* einsum_pair.c - two operands of Einsum become one: by element-wise products, sums of rows, or
 * a stack of matrix products (einsum_product.c). */
#include "kernel/vec.h"
#include "kernel/einsum/einsum_pair.h"

#include <string.h>

enum {
	GRAIN = 1 << 15, /* elements of a task that reads what it multiplies once */
	PIECE = 1 << 15, /* of a long sum */
	STRIP = 1024,    /* sums that stay in the cache */
	NARROW = 4,      /* columns that are not worth walking along */
	SHORT = 64       /* a dot product takes as long as its end */
};

static void find_roles(struct einsum_pair *p)
{
	label_set in_b = einsum_labels(p->b), kept = einsum_labels(p->c),
		  in_a = einsum_labels(p->a);
	for (int i = 0; i < ROLES; i++)
		p->size[i] = 1;
	for (int i = 0; i < p->a->n + p->b->n; i++) {
		int label = i < p->a->n ? p->a->label[i] : p->b->label[i - p->a->n];
		bool both = in_a >> label & in_b >> label & 1, left = i < p->a->n;
		if (both && !left)
			continue;
		enum einsum_role role = both   ? (kept >> label & 1 ? ROLE_BATCH : ROLE_K)
					: left ? ROLE_M
					       : ROLE_N;
		p->label[role][p->n[role]++] = label;
		p->size[role] *= p->r->s.size[label];
	}
}

/* ---- a matrix and a vector ---- */

struct rows_run {
	const float *x, *v; /* (batch, rows, k) or (batch, k, rows), and (batch, k) */
	float *y;           /* (batch, rows) */
	int64_t rows, k, strips;
	int64_t n; /* what is shared out */
	int n_tasks;
};

static float long_dot(const float *x, const float *y, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i += PIECE)
		sum += (double)vec_dot(x + i, y + i, n - i < PIECE ? n - i : PIECE);
	return (float)sum;
}

static void dots_task(void *arg, int task, int thread)
{
	const struct rows_run *r = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range(r->n, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++)
		r->y[i] = long_dot(r->x + i * r->k, r->v + i / r->rows * r->k, r->k);
}

/* STRIP sums at once. */
static void strips_task(void *arg, int task, int thread)
{
	const struct rows_run *r = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range(r->n, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		int64_t batch = i / r->strips, from = i % r->strips * STRIP;
		int64_t n = r->rows - from < STRIP ? r->rows - from : STRIP;
		const float *x = r->x + batch * r->k * r->rows + from, *v = r->v + batch * r->k;
		float *y = r->y + batch * r->rows + from;
		memset(y, 0, (size_t)n * sizeof *y);
		for (int64_t j = 0; j < r->k; j++)
			vec_axpy(v[j], x + j * r->rows, y, n);
	}
}

/* One of M and N has one element. */
static int as_rows(const struct einsum_pair *p)
{
	bool turned = p->size[ROLE_M] == 1;
	enum einsum_role rows = turned ? ROLE_N : ROLE_M, one = turned ? ROLE_M : ROLE_N;
	struct einsum_matrix y = einsum_matrix_of(p, p->c, rows, one);
	struct einsum_matrix x = einsum_operand(p, turned ? p->b : p->a, rows, ROLE_K);
	struct einsum_matrix v = einsum_operand(p, turned ? p->a : p->b, one, ROLE_K);
	struct rows_run r = {.x = (const float *)(const void *)x.data,
			     .v = (const float *)(const void *)v.data,
			     .y = (float *)(void *)y.data,
			     .rows = p->size[rows],
			     .k = p->size[ROLE_K]};
	bool dots = x.role[2] == ROLE_K;
	r.strips = (r.rows + STRIP - 1) / STRIP;
	r.n = p->size[ROLE_BATCH] * (dots ? r.rows : r.strips);
	r.n_tasks = cpu_tasks(p->size[ROLE_BATCH] * r.rows * r.k, GRAIN);
	if (r.n_tasks > r.n)
		r.n_tasks = (int)r.n;
	cpu_parallel(p->r->k->ctx, r.n_tasks, dots ? dots_task : strips_task, &r);
	einsum_deliver(p, &y);
	return 0;
}

/* ---- element-wise ---- */

/* part's elements as a tensor with a dim for each of those labels. */
static struct tensor spread(const struct einsum_pair *p, const struct einsum_part *part,
			    const int *label, int n)
{
	struct tensor t = {.elem = p->r->elem, .rank = (uint32_t)n, .data = part->data};
	label_set own = einsum_labels(part);
	int mine[COPY_DIMS], n_mine = 0;
	for (int i = 0; i < n; i++) {
		bool has = own >> label[i] & 1;
		t.dim[i] = has ? p->r->s.size[label[i]] : 1;
		if (has)
			mine[n_mine++] = label[i];
	}
	if (!einsum_lies(p->r, part, mine, n_mine)) {
		t.data = einsum_take(p->r, einsum_count(p->r, own));
		einsum_copy(p->r, part, mine, n_mine, t.data);
	}
	return t;
}

/* a b with those labels, to data. */
static int as_elements(const struct einsum_pair *p, const int *label, int n, char *data,
		       struct err *e)
{
	struct tensor in[2] = {spread(p, p->a, label, n), spread(p, p->b, label, n)};
	struct tensor out = {.elem = p->r->elem, .rank = (uint32_t)n, .data = data};
	for (int i = 0; i < n; i++)
		out.dim[i] = p->r->s.size[label[i]];
	struct op op = *p->r->k->op;
	op.kind = OP_MULTIPLY;
	op.n_in = 2;
	op.a.broadcast.bcast = BCAST_NUMPY;
	return run_binary(
		&(struct kernel_call){.op = &op, .in = in, .out = &out, .ctx = p->r->k->ctx}, e);
}

/* Element-wise, then summed. */
static int as_elements_summed(const struct einsum_pair *p, struct err *e)
{
	struct einsum_part all =
		einsum_at(p->r, p->a->label, p->a->n,
			  einsum_take(p->r, einsum_count(p->r, einsum_labels(p->a))));
	if (as_elements(p, all.label, all.n, all.data, e))
		return -1;
	label_set kept = einsum_labels(p->c);
	int label[COPY_DIMS], n = 0;
	for (int i = 0; i < all.n; i++)
		if (kept >> all.label[i] & 1)
			label[n++] = all.label[i];
	bool there = einsum_lies(p->r, p->c, label, n);
	char *to = there ? p->c->data : einsum_take(p->r, einsum_count(p->r, kept));
	if (einsum_sum(p->r, &all, kept, to, e))
		return -1;
	if (!there)
		einsum_put(p->r, label, n, to, p->c);
	return 0;
}

/* ---- integers, and numbers of 64 bits ---- */

struct wide_run {
	const struct einsum_pair *p;
	const char *a, *b; /* (batch, m, k), and (batch, k, n) or (batch, n, k) */
	char *c;           /* (batch, m, n) */
	bool narrow;       /* B is (batch, n, k) */
	int n_tasks;
};

/* One row of C; products and sums of integers wrap. */
#define ROW(T) \
	do { \
		const T *x = (const T *)(const void *)r->a + i * k; \
		const T *w = (const T *)(const void *)r->b + i / m * k * n; \
		T *y = (T *)(void *)r->c + i * n; \
		for (int64_t j = 0; j < n; j++) { \
			T sum = 0; \
			for (int64_t l = 0; r->narrow && l < k; l++) \
				sum += x[l] * w[j * k + l]; \
			y[j] = sum; \
		} \
		for (int64_t l = 0; !r->narrow && l < k; l++) \
			for (int64_t j = 0; j < n; j++) \
				y[j] += x[l] * w[l * n + j]; \
	} while (0)

static void wide_task(void *arg, int task, int thread)
{
	const struct wide_run *r = arg;
	const int64_t *size = r->p->size, m = size[ROLE_M], n = size[ROLE_N], k = size[ROLE_K];
	int64_t lo, hi;
	(void)thread;
	cpu_range(size[ROLE_BATCH] * m, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++)
		switch (r->p->r->elem) {
		case EL_F64: ROW(double); break;
		case EL_I32: ROW(uint32_t); break;
		/* clang-format off */
		case EL_I64: case EL_U64: ROW(uint64_t); break;
		/* clang-format on */
		default: MISSED(r->p->r->elem);
		}
}

/* Has the part this order, or gets a copy that has? */
static char *ordered(const struct einsum_pair *p, const struct einsum_part *part,
		     enum einsum_role rows, enum einsum_role cols)
{
	int label[COPY_DIMS], n;
	n = einsum_order(p, part, (enum einsum_role[3]){ROLE_BATCH, rows, cols}, label);
	if (einsum_lies(p->r, part, label, n))
		return part->data;
	char *data = einsum_take(p->r, einsum_count(p->r, einsum_labels(part)));
	einsum_copy(p->r, part, label, n, data);
	return data;
}

static int as_wide(const struct einsum_pair *p)
{
	bool narrow = p->size[ROLE_N] < NARROW;
	struct wide_run r = {
		.p = p,
		.narrow = narrow,
		.a = ordered(p, p->a, ROLE_M, ROLE_K),
		.b = ordered(p, p->b, narrow ? ROLE_N : ROLE_K, narrow ? ROLE_K : ROLE_N)};
	int label[COPY_DIMS], n;
	int64_t rows = p->size[ROLE_BATCH] * p->size[ROLE_M];
	n = einsum_order(p, p->c, (enum einsum_role[3]){ROLE_BATCH, ROLE_M, ROLE_N}, label);
	bool there = einsum_lies(p->r, p->c, label, n);
	r.c = there ? p->c->data : einsum_take(p->r, rows * p->size[ROLE_N]);
	r.n_tasks = cpu_tasks(rows * p->size[ROLE_N] * p->size[ROLE_K], GRAIN);
	if (r.n_tasks > rows)
		r.n_tasks = (int)rows;
	cpu_parallel(p->r->k->ctx, r.n_tasks, wide_task, &r);
	if (!there)
		einsum_put(p->r, label, n, r.c, p->c);
	return 0;
}

/* ---- the choice ---- */

/* Is one operand a vector, in each matrix of the stack, and may the other be read as it lies? */
static bool suits_rows(const struct einsum_pair *p)
{
	if (p->size[ROLE_M] != 1 && p->size[ROLE_N] != 1)
		return false;
	bool turned = p->size[ROLE_M] == 1;
	enum einsum_role rows = turned ? ROLE_N : ROLE_M;
	const struct einsum_part *x = turned ? p->b : p->a;
	return (p->size[ROLE_K] >= SHORT && einsum_pair_lies(p, x, rows, ROLE_K)) ||
	       (p->size[rows] >= SHORT && einsum_pair_lies(p, x, ROLE_K, rows));
}

/* Is it an outer product, with rows that are too short to be walked along one by one? */
static bool has_short_rows(const struct einsum_pair *p)
{
	enum { MANY = 16 };
	int64_t row = 1;
	int last = p->c->n ? einsum_owners(p, p->c->label[p->c->n - 1]) : 3;
	for (int i = p->c->n; i-- > 0 && einsum_owners(p, p->c->label[i]) == last;)
		row *= p->r->s.size[p->c->label[i]];
	return last != 3 && row < SHORT && p->size[ROLE_M] * p->size[ROLE_N] >= MANY * row;
}

int einsum_multiply(struct einsum_run *r, const struct einsum_part *a, const struct einsum_part *b,
		    const struct einsum_part *c, struct err *e)
{
	struct einsum_pair p = {.r = r, .a = a, .b = b, .c = c};
	find_roles(&p);
	if (r->dry && (r->elem != EL_F32 || p.n[ROLE_K] == 0 || suits_rows(&p)))
		return 0;
	if (p.n[ROLE_K] == 0 && c->n <= TENSOR_DIMS && (r->elem != EL_F32 || !has_short_rows(&p)))
		return as_elements(&p, c->label, c->n, c->data, e);
	if (p.size[ROLE_M] == 1 && p.size[ROLE_N] == 1 && a->n <= TENSOR_DIMS &&
	    !(r->elem == EL_F32 && suits_rows(&p)))
		return r->dry ? 0 : as_elements_summed(&p, e);
	if (r->elem != EL_F32)
		return as_wide(&p);
	return suits_rows(&p) ? as_rows(&p) : einsum_product(&p, e);
}

int64_t einsum_multiply_room(const struct einsum_run *r, label_set a, label_set b, label_set c)
{
	enum { ALIGNED = 64 * 5 }; /* ends of what is taken */
	return einsum_count(r, a) * 2 + einsum_count(r, b) + einsum_count(r, c) * 2 + ALIGNED;
}
