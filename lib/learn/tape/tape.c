/* tape.c - the list of operations, its memory, and the walk back.  The
 * operations themselves are in the other tape_*.c. */
#include "learn/tape/tape_op.h"
#include "learn/tape/tape_kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Buffers of one size that wait for reuse; the link to the next lies in the buffer itself. */
struct free_list {
	size_t n;
	float *first;
};

/* Memory that results of any size are cut from. */
struct spare {
	float *at;
	size_t n;
};

/* A weight matrix, or its transpose, as a right-hand side. */
struct weight {
	const float *w;
	bool transposed, rounded;
	struct packed p;
};

struct weights {
	struct weight *at;
	size_t n, cap;
};

struct tape {
	struct pool *pool;
	struct arena *arena; /* of the step */
	bool train, rounded;
	const struct rng_addr *rng;
	struct rng_addr rng_copy;
	uint32_t next_mask;
	uint32_t first_row;  /* of the part that is being made */
	struct tape_op **op; /* in order of recording */
	size_t n_ops, cap_ops;
	struct free_list *free;
	size_t n_free, cap_free;
	struct spare *spare;
	size_t n_spare, cap_spare;
	struct weights of_step, fixed;
	struct arena *fixed_arena; /* of `fixed`; NULL: nothing is */
	struct tape *inner;        /* of tape_again; NULL until it is needed */
};

struct tape *tape_new(struct pool *pool)
{
	struct tape *t = MEM_NEW(struct tape);
	t->pool = pool;
	t->arena = arena_new();
	return t;
}

void tape_free(struct tape *t)
{
	if (!t)
		return;
	mem_free(t->op);
	mem_free(t->free);
	mem_free(t->spare);
	mem_free(t->of_step.at);
	mem_free(t->fixed.at);
	arena_free(t->fixed_arena);
	arena_free(t->arena);
	tape_free(t->inner);
	mem_free(t);
}

size_t tape_bytes(const struct tape *t)
{
	return arena_bytes(t->arena) + (t->fixed_arena ? arena_bytes(t->fixed_arena) : 0) +
	       (t->inner ? tape_bytes(t->inner) : 0);
}

struct pool *tape_pool(const struct tape *t)
{
	return t->pool;
}

void tape_share(struct tape *t, struct pool *pool)
{
	t->pool = pool;
	if (t->inner)
		tape_share(t->inner, pool);
}

struct tape *tape_inner(struct tape *t)
{
	if (!t->inner)
		t->inner = tape_new(t->pool);
	return t->inner;
}

void tape_begin(struct tape *t, bool train, const struct rng_addr *rng)
{
	arena_reset(t->arena);
	t->train = train;
	t->rounded = false;
	t->rng = NULL;
	if (rng) {
		t->rng_copy = *rng;
		t->rng = &t->rng_copy;
	}
	t->next_mask = t->first_row = 0;
	t->n_ops = t->n_free = t->n_spare = t->of_step.n = 0;
}

void tape_round(struct tape *t, bool yes)
{
	t->rounded = yes;
}

bool tape_rounds(const struct tape *t)
{
	return t->rounded;
}

void tape_fix(struct tape *t)
{
	if (t->fixed_arena)
		arena_reset(t->fixed_arena);
	else
		t->fixed_arena = arena_new();
	t->fixed.n = 0;
}

void tape_mask_from(struct tape *t, uint32_t number)
{
	t->next_mask = number;
}

struct arena *tape_arena(struct tape *t)
{
	return t->arena;
}

/* ---- memory ---- */

static float *pop_free(struct free_list *l)
{
	float *p = l->first;
	memcpy(&l->first, (void *)p, sizeof p);
	return p;
}

enum { SPARE_UNIT = 16 }; /* floats; pieces stay aligned */

static float *cut_spare(struct spare *s, size_t n)
{
	float *p = s->at;
	size_t cut = (n / SPARE_UNIT + 1) * SPARE_UNIT;
	cut = cut < s->n ? cut : s->n;
	s->at += cut;
	s->n -= cut;
	return p;
}

float *tape_buf(struct tape *t, size_t n)
{
	for (size_t i = 0; i < t->n_free; i++)
		if (t->free[i].n == n && t->free[i].first)
			return pop_free(&t->free[i]);
	for (size_t i = 0; i < t->n_spare; i++)
		if (t->spare[i].n >= n && t->spare[i].n >= SPARE_UNIT)
			return cut_spare(&t->spare[i], n);
	size_t bytes = n * sizeof(float);
	return arena_raw(t->arena, bytes < sizeof(float *) ? sizeof(float *) : bytes, 1);
}

void tape_buf_release(struct tape *t, float *p, size_t n)
{
	size_t i = 0;
	while (i < t->n_free && t->free[i].n != n)
		i++;
	if (i == t->n_free) {
		t->free = mem_grow(t->free, &t->cap_free, t->n_free + 1, sizeof *t->free);
		t->free[t->n_free++] = (struct free_list){n, NULL};
	}
	memcpy((void *)p, &t->free[i].first, sizeof p);
	t->free[i].first = p;
}

void tape_cut_free(struct tape *t)
{
	if (t->train)
		return;
	for (size_t i = 0; i < t->n_free; i++)
		while (t->free[i].first) {
			t->spare =
				mem_grow(t->spare, &t->cap_spare, t->n_spare + 1, sizeof *t->spare);
			t->spare[t->n_spare++] =
				(struct spare){pop_free(&t->free[i]), t->free[i].n};
		}
	t->n_free = 0;
}

static struct mat *mat_new(struct tape *t, const float *v, uint32_t rows, uint32_t cols)
{
	struct mat *m = ARENA_NEWN(t->arena, struct mat, 1);
	*m = (struct mat){.rows = rows, .cols = cols, .v = v};
	return m;
}

static size_t mat_n(const struct mat *m)
{
	return (size_t)m->rows * m->cols;
}

struct mat *tape_input(struct tape *t, const float *v, uint32_t rows, uint32_t cols)
{
	return mat_new(t, v, rows, cols);
}

struct mat *tape_param(struct tape *t, const float *v, float *g, uint32_t rows, uint32_t cols)
{
	struct mat *m = mat_new(t, v, rows, cols);
	m->g = g;
	m->wants = m->given_g = g != NULL;
	return m;
}

void tape_forget(struct tape *t, struct mat *x)
{
	tape_buf_release(t, x->own, mat_n(x));
	x->v = x->own = NULL;
}

void tape_done(struct tape *t, struct mat *x)
{
	if (!t->train && x->own)
		tape_forget(t, x);
}

struct mat *tape_op_new(struct tape *t, uint32_t rows, uint32_t cols, float **v,
			struct tape_op **rec, void (*back)(struct tape *, struct tape_op *),
			struct mat *const x[TAPE_MAX_IN])
{
	*v = tape_buf(t, (size_t)rows * cols);
	struct mat *y = tape_op_known(t, rows, cols, *v, rec, back, x);
	y->own = *v;
	return y;
}

struct mat *tape_op_known(struct tape *t, uint32_t rows, uint32_t cols, const float *v,
			  struct tape_op **rec, void (*back)(struct tape *, struct tape_op *),
			  struct mat *const x[TAPE_MAX_IN])
{
	struct mat *y = mat_new(t, v, rows, cols);
	struct tape_op *o = ARENA_NEWN(t->arena, struct tape_op, 1);
	*o = (struct tape_op){.back = back, .y = y, .scale = 1};
	for (int i = 0; i < TAPE_MAX_IN; i++) {
		o->x[i] = x[i];
		y->wants = y->wants || (x[i] && x[i]->wants);
	}
	y->wants = y->wants && t->train;
	if (y->wants) {
		t->op = mem_grow(t->op, &t->cap_ops, t->n_ops + 1, sizeof(struct tape_op *));
		t->op[t->n_ops++] = o;
	}
	*rec = o;
	return y;
}

float *tape_grad_of(struct tape *t, struct mat *x, bool *first)
{
	*first = false;
	if (!x || !x->wants)
		return NULL;
	if (!x->g) {
		x->g = tape_buf(t, mat_n(x));
		*first = true;
	}
	return x->g;
}

float *tape_grad_add(struct tape *t, struct mat *x)
{
	bool first;
	float *g = tape_grad_of(t, x, &first);
	if (first)
		memset(g, 0, mat_n(x) * sizeof *g);
	return g;
}

void tape_grad_pass(struct tape *t, struct mat *x, const float *g)
{
	bool first;
	float *gx = tape_grad_of(t, x, &first);
	if (first)
		memcpy(gx, g, mat_n(x) * sizeof *g);
	else if (gx)
		kern_add(gx, g, mat_n(x));
}

void tape_grad_give(struct tape *t, struct mat *x, float *g)
{
	if (x && x->wants && !x->g) {
		x->g = g;
		return;
	}
	tape_grad_pass(t, x, g);
	tape_buf_release(t, g, mat_n(x));
}

struct packed tape_packed(struct tape *t, const struct mat *w, bool transposed, bool rounded)
{
	bool stays = !w->own; /* memory of a result is used again */
	bool fixed = t->fixed_arena && w->given_g;
	struct weights *known = fixed ? &t->fixed : &t->of_step;
	for (size_t i = 0; stays && i < known->n; i++)
		if (known->at[i].w == w->v && known->at[i].transposed == transposed &&
		    known->at[i].rounded == rounded)
			return known->at[i].p;
	size_t k = transposed ? w->cols : w->rows, n = transposed ? w->rows : w->cols;
	float *to = arena_raw(fixed ? t->fixed_arena : t->arena, packed_floats(k, n), sizeof *to);
	struct packed p =
		product_pack(to, w->v, k, n, transposed ? 1 : n, transposed ? k : 1, rounded);
	if (!stays)
		return p;
	known->at = mem_grow(known->at, &known->cap, known->n + 1, sizeof *known->at);
	known->at[known->n++] = (struct weight){w->v, transposed, rounded, p};
	return p;
}

/* ---- rows in parts ---- */

struct mat *tape_by_parts(struct tape *t, uint32_t rows, uint32_t cols, tape_part *part,
			  const void *arg)
{
	if (t->train || rows <= TAPE_PART_ROWS)
		return part(t, arg, 0, rows);
	float *v;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, rows, cols, &v, &o, NULL, TAPE_IN(NULL));
	uint32_t mask = t->next_mask;
	for (uint32_t first = 0; first < rows; first += TAPE_PART_ROWS) {
		uint32_t n = rows - first < TAPE_PART_ROWS ? rows - first : TAPE_PART_ROWS;
		t->next_mask = mask;
		t->first_row = first;
		struct mat *x = part(t, arg, first, n);
		memcpy(v + (size_t)first * cols, x->v, mat_n(x) * sizeof *v);
		tape_forget(t, x);
	}
	t->first_row = 0;
	return y;
}

/* ---- relu and dropout behind another operation ---- */

void tape_after_set(struct tape *t, struct tape_op *o, struct after f)
{
	assert(f.relu || f.drop == 0);
	o->relu = f.relu;
	if (!(f.drop > 0))
		return;
	uint32_t number = t->next_mask++;
	if (!t->rng)
		return;
	double bits = floor(f.drop * 256 + 0.5);
	o->threshold = (uint8_t)(bits > 255 ? 255 : bits);
	o->scale = 256.0f / (256.0f - (float)o->threshold);
	o->mask = *t->rng;
	o->mask.stream = RNG_DROPOUT + (number & 0xffffff);
	o->first_row = t->first_row;
}

/* Element e of the result has byte e of the mask's numbers, 16 to a block of the
 * generator, however the rows are shared out; row and first_row are multiples of
 * TAPE_BLOCK_ROWS. */
void tape_drop_rows(const struct tape_op *o, float *y, uint32_t row, uint32_t n)
{
	enum { CHUNK = 1024 };
	union {
		uint16_t number[CHUNK / 2];
		uint8_t byte[CHUNK];
	} bits;
	size_t left = (size_t)n * o->y->cols;
	uint32_t block = (uint32_t)(((size_t)o->first_row + row) * o->y->cols / 16);
	if (o->threshold == 0)
		return;
	for (; left > 0; block += CHUNK / 16) {
		size_t c = left < CHUNK ? left : CHUNK;
		rng_bits16(&o->mask, block, bits.number, (c + 1) / 2);
		kern_drop(y, bits.byte, o->threshold, o->scale, c);
		y += c;
		left -= c;
	}
}

void tape_after_back(struct tape_op *o, float *sum)
{
	const struct mat *y = o->y;
	if (o->relu)
		kern_relu_back(y->g, y->v, o->scale, sum, y->rows, y->cols);
	else if (sum)
		kern_colsum(sum, y->g, y->rows, y->cols);
}

/* ---- back ---- */

static void walk_back(struct tape *t)
{
	while (t->n_ops > 0) {
		struct tape_op *o = t->op[--t->n_ops];
		if (!o->y->g)
			continue; /* nothing depends on it */
		o->back(t, o);
		tape_buf_release(t, o->y->g, mat_n(o->y));
		o->y->g = NULL;
		if (o->y->own)
			tape_forget(t, o->y);
		if (o->saved[0])
			tape_buf_release(t, o->saved[0], o->n_saved);
	}
}

void tape_back(struct tape *t, uint32_t n, struct mat *const *y, const double *coef)
{
	for (uint32_t i = 0; i < n; i++) {
		float *g = tape_grad_add(t, y[i]);
		if (g)
			g[0] += (float)coef[i];
	}
	walk_back(t);
}

void tape_back_from(struct tape *t, struct mat *y, const float *g)
{
	tape_grad_pass(t, y, g);
	walk_back(t);
}
