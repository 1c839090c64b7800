/* cpu_einsum_pair.c - two operands of Einsum become one: by element-wise products, sums of rows, or
 * a stack of matrix products. */
#include "kernel/cpu_vec.h"
#include "kernel/ops/cpu_einsum.h"

#include <string.h>

enum {
	GRAIN = 1 << 15, /* elements of a task that reads what it multiplies once */
	PIECE = 1 << 15, /* of a long sum */
	STRIP = 1024,    /* sums that stay in the cache */
	NARROW = 4,      /* columns that are not worth walking along */
	SHORT = 64       /* a dot product takes as long as its end */
};

/* What a label is to A (batch, m, k) B (batch, n, k) = C (batch, m, n). */
enum role { ROLE_BATCH, ROLE_M, ROLE_N, ROLE_K, ROLES };

struct pair {
	struct einsum_run *r;
	const struct einsum_part *a, *b, *c;
	/* Labels of the batch may be missing from A or B, which are used again then. */
	int n[ROLES], label[ROLES][COPY_DIMS];
	int64_t size[ROLES];
};

static void find_roles(struct pair *p)
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
		enum role role = both   ? (kept >> label & 1 ? ROLE_BATCH : ROLE_K)
				 : left ? ROLE_M
					: ROLE_N;
		p->label[role][p->n[role]++] = label;
		p->size[role] *= p->r->s.size[label];
	}
}

/* The labels of a part, by three roles in that order. */
static int in_order(const struct pair *p, const struct einsum_part *part, const enum role *role,
		    int *label)
{
	label_set own = einsum_labels(part);
	int n = 0;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < p->n[role[i]]; j++)
			if (own >> p->label[role[i]][j] & 1)
				label[n++] = p->label[role[i]][j];
	return n;
}

/* A matrix of a product, (batch, rows, cols) in memory. */
struct matrix {
	enum role role[3];
	const struct einsum_part *part;
	char *data;
	int label[COPY_DIMS], n;
	bool copied; /* the part has another order */
};

static bool lies(const struct pair *p, const struct einsum_part *part, enum role rows,
		 enum role cols)
{
	int label[COPY_DIMS], n;
	n = in_order(p, part, (enum role[3]){ROLE_BATCH, rows, cols}, label);
	return einsum_lies(p->r, part, label, n);
}

/* Is the part's innermost label one of the rows'? */
static bool rows_inside(const struct pair *p, const struct einsum_part *part, enum role rows)
{
	int inner = 0;
	for (int i = 1; i < part->n; i++)
		inner = part->stride[i] < part->stride[inner] ? i : inner;
	for (int i = 0; i < p->n[rows]; i++)
		if (part->n && p->label[rows][i] == part->label[inner])
			return true;
	return false;
}

/* As it lies, transposed or not; or room for a copy, whose rows lie as the part's do. */
static struct matrix matrix_of(const struct pair *p, const struct einsum_part *part, enum role rows,
			       enum role cols)
{
	bool there = lies(p, part, rows, cols), there_turned = !there && lies(p, part, cols, rows);
	bool copied = !there && !there_turned;
	bool turned = there_turned || (copied && rows_inside(p, part, rows));
	struct matrix m = {.role = {ROLE_BATCH, turned ? cols : rows, turned ? rows : cols},
			   .part = part,
			   .data = part->data,
			   .copied = copied};
	m.n = in_order(p, part, m.role, m.label);
	if (copied)
		m.data = einsum_take(p->r, einsum_count(p->r, einsum_labels(part)));
	return m;
}

/* The same as an operand, with its elements. */
static struct matrix operand(const struct pair *p, const struct einsum_part *part, enum role rows,
			     enum role cols)
{
	struct matrix m = matrix_of(p, part, rows, cols);
	if (m.copied)
		einsum_copy(p->r, part, m.label, m.n, m.data);
	return m;
}

/* What was written goes to where the part is. */
static void deliver(const struct pair *p, const struct matrix *c)
{
	if (c->copied)
		einsum_put(p->r, c->label, c->n, c->data, c->part);
}

/* ---- matrix products ---- */

/* Which of A and B have a label: labels of a batch with the same answer make one dim. */
static int owners(const struct pair *p, int label)
{
	return (int)(einsum_labels(p->a) >> label & 1) +
	       2 * (int)(einsum_labels(p->b) >> label & 1);
}

/* The dims of a batch; -1: more than a tensor has. */
static int batch_dims(const struct pair *p, const struct einsum_part *part, int64_t *dim)
{
	label_set own = einsum_labels(part);
	int n = 0, before = 0;
	for (int i = 0; i < p->n[ROLE_BATCH]; i++) {
		int label = p->label[ROLE_BATCH][i], now = owners(p, label);
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

static struct tensor tensor_of(const struct pair *p, const struct matrix *m)
{
	struct tensor t = {.elem = EL_F32, .data = m->data};
	t.rank = (uint32_t)batch_dims(p, m->part, t.dim);
	t.dim[t.rank++] = p->size[m->role[1]];
	t.dim[t.rank++] = p->size[m->role[2]];
	return t;
}

/* The first n labels of C become those of the batch. */
static void make_batch(struct pair *p, int n)
{
	label_set front = 0;
	p->n[ROLE_BATCH] = n;
	p->size[ROLE_BATCH] = 1;
	for (int i = 0; i < n; i++) {
		p->label[ROLE_BATCH][i] = p->c->label[i];
		p->size[ROLE_BATCH] *= p->r->s.size[p->c->label[i]];
		front |= (label_set)1 << p->c->label[i];
	}
	for (enum role role = ROLE_M; role <= ROLE_N; role++) {
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

static bool holds_batch(const struct pair *p, int n)
{
	int found = 0;
	for (int i = 0; i < n; i++)
		found += owners(p, p->c->label[i]) == 3;
	return found == p->n[ROLE_BATCH];
}

static bool is_copied(const struct pair *p, const struct einsum_part *part, enum role rows,
		      enum role cols)
{
	return !lies(p, part, rows, cols) && !lies(p, part, cols, rows);
}

/* How long copying and packing take, as elements. */
static int64_t cost_of(const struct pair *p)
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
static struct pair best_batch(const struct pair *p)
{
	enum { FEW = 16 }; /* rows or columns that make a product slow */
	struct pair best = *p;
	int64_t least = cost_of(p), dim[TENSOR_DIMS];
	for (int n = 1; n < p->c->n; n++) {
		struct pair other = *p;
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
	return 0;
}

static bool is_packed(const struct cpu_prep *prep, const struct op *op, const struct matrix *b,
		      const struct pair *p)
{
	if (!prep || !prep->pack || b->copied || prep->pack->key != b->data)
		return false;
	bool turned = op->a.matmul.transpose_b;
	const uint64_t *layout = prep->pack->layout;
	return layout[1] == turned && layout[3] == (uint64_t)p->size[b->role[1 + turned]] &&
	       layout[4] == (uint64_t)p->size[b->role[2 - turned]];
}

/* Whatever lies in the order of a product, or of a transposed one, is not copied. */
static int as_product(const struct pair *given, struct err *e)
{
	struct pair chosen = best_batch(given);
	const struct pair *p = &chosen;
	struct matrix c = matrix_of(p, p->c, ROLE_M, ROLE_N);
	bool swapped = c.role[1] == ROLE_N; /* B^T A^T = (A B)^T */
	struct matrix m[2] = {operand(p, swapped ? p->b : p->a, c.role[1], ROLE_K),
			      operand(p, swapped ? p->a : p->b, c.role[2], ROLE_K)};
	struct tensor in[2] = {tensor_of(p, &m[0]), tensor_of(p, &m[1])}, out = tensor_of(p, &c);
	struct op op = *p->r->k->op;
	op.kind = OP_MATMUL;
	op.n_in = 2;
	op.a.matmul.transpose_a = m[0].role[1] == ROLE_K;
	op.a.matmul.transpose_b = m[1].role[2] == ROLE_K;
	if (p->r->dry)
		return m[1].copied || !in[1].data ? 0 : keep_pack(p->r, &op, in, e);
	struct cpu_prep prep = {.owns = 1u << 1};
	struct kernel_call call = {.op = &op, .in = in, .out = &out, .ctx = p->r->k->ctx};
	if (is_packed(p->r->k->prep, &op, &m[1], p)) {
		prep.pack = p->r->k->prep->pack;
		call.prep = &prep;
	}
	if (run_matmul(&call, e))
		return -1;
	deliver(p, &c);
	return 0;
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
static int as_rows(const struct pair *p)
{
	bool turned = p->size[ROLE_M] == 1;
	enum role rows = turned ? ROLE_N : ROLE_M, one = turned ? ROLE_M : ROLE_N;
	struct matrix y = matrix_of(p, p->c, rows, one);
	struct matrix x = operand(p, turned ? p->b : p->a, rows, ROLE_K);
	struct matrix v = operand(p, turned ? p->a : p->b, one, ROLE_K);
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
	deliver(p, &y);
	return 0;
}

/* ---- element-wise ---- */

/* part's elements as a tensor with a dim for each of those labels. */
static struct tensor spread(const struct pair *p, const struct einsum_part *part, const int *label,
			    int n)
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
static int as_elements(const struct pair *p, const int *label, int n, char *data, struct err *e)
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
static int as_elements_summed(const struct pair *p, struct err *e)
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
	const struct pair *p;
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
		default: ROW(uint64_t); break;
		}
}

/* Has the part this order, or gets a copy that has? */
static char *ordered(const struct pair *p, const struct einsum_part *part, enum role rows,
		     enum role cols)
{
	int label[COPY_DIMS], n;
	n = in_order(p, part, (enum role[3]){ROLE_BATCH, rows, cols}, label);
	if (einsum_lies(p->r, part, label, n))
		return part->data;
	char *data = einsum_take(p->r, einsum_count(p->r, einsum_labels(part)));
	einsum_copy(p->r, part, label, n, data);
	return data;
}

static int as_wide(const struct pair *p)
{
	bool narrow = p->size[ROLE_N] < NARROW;
	struct wide_run r = {
		.p = p,
		.narrow = narrow,
		.a = ordered(p, p->a, ROLE_M, ROLE_K),
		.b = ordered(p, p->b, narrow ? ROLE_N : ROLE_K, narrow ? ROLE_K : ROLE_N)};
	int label[COPY_DIMS], n;
	int64_t rows = p->size[ROLE_BATCH] * p->size[ROLE_M];
	n = in_order(p, p->c, (enum role[3]){ROLE_BATCH, ROLE_M, ROLE_N}, label);
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
static bool suits_rows(const struct pair *p)
{
	if (p->size[ROLE_M] != 1 && p->size[ROLE_N] != 1)
		return false;
	bool turned = p->size[ROLE_M] == 1;
	enum role rows = turned ? ROLE_N : ROLE_M;
	const struct einsum_part *x = turned ? p->b : p->a;
	return (p->size[ROLE_K] >= SHORT && lies(p, x, rows, ROLE_K)) ||
	       (p->size[rows] >= SHORT && lies(p, x, ROLE_K, rows));
}

/* Is it an outer product, with rows that are too short to be walked along one by one? */
static bool has_short_rows(const struct pair *p)
{
	enum { MANY = 16 };
	int64_t row = 1;
	int last = p->c->n ? owners(p, p->c->label[p->c->n - 1]) : 3;
	for (int i = p->c->n; i-- > 0 && owners(p, p->c->label[i]) == last;)
		row *= p->r->s.size[p->c->label[i]];
	return last != 3 && row < SHORT && p->size[ROLE_M] * p->size[ROLE_N] >= MANY * row;
}

int einsum_multiply(struct einsum_run *r, const struct einsum_part *a, const struct einsum_part *b,
		    const struct einsum_part *c, struct err *e)
{
	struct pair p = {.r = r, .a = a, .b = b, .c = c};
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
	return suits_rows(&p) ? as_rows(&p) : as_product(&p, e);
}

int64_t einsum_multiply_room(const struct einsum_run *r, label_set a, label_set b, label_set c)
{
	enum { ALIGNED = 64 * 5 }; /* ends of what is taken */
	return einsum_count(r, a) * 2 + einsum_count(r, b) + einsum_count(r, c) * 2 + ALIGNED;
}
