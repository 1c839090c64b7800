/* affine.c - see affine.h. */
#include "kernel/dense/affine.h"
#include "kernel/vec.h"
#include "kernel/dense/dots.h"
#include "kernel/gemm/vnni_gemm.h"
#include "kernel/gemm/product.h"

enum { GRAIN = 1 << 16, TOGETHER = 8 };

/* A task has some rows: weights are read once for several steps. */
struct affine {
	const struct affine_weights *w;
	const float *x, *b;
	int64_t rows, n, steps;
	float *y;
	struct product product; /* of rounded or packed weights, or of many steps */
	float *panels;          /* panel_floats for each thread; with pairs, x as blocks of these */
	int64_t panel_floats;
	int n_tasks;
};

/* Of rows j and on, `left` at most, for steps t and on; first: it is the rows' first use. */
static void some_dots(const struct affine *a, int64_t j, int64_t left, int64_t t, bool first)
{
	int rows = left < DOTS_ROWS ? (int)left : DOTS_ROWS;
	int steps = a->steps - t < DOTS_STEPS ? (int)(a->steps - t) : DOTS_STEPS;
	float *y = a->y + t * a->rows + j;
	cpu_dots(a->w->f32 + j * a->n, rows, first, a->x + t * a->n, steps, a->n, y, a->rows);
	for (int i = 0; i < steps && a->b; i++)
		for (int k = 0; k < rows; k++)
			y[i * a->rows + k] += a->b[j + k];
}

static void affine_task(void *arg, int task, int thread)
{
	const struct affine *a = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range(a->rows, a->n_tasks, task, &lo, &hi);
	for (int64_t t0 = 0; t0 < a->steps; t0 += TOGETHER)
		for (int64_t j = lo; j < hi; j += DOTS_ROWS)
			for (int64_t t = t0; t < a->steps && t < t0 + TOGETHER; t += DOTS_STEPS)
				some_dots(a, j, hi - j, t, t == t0);
}

/* Panels of rows that are not packed: each when its turn comes, as a packed matrix would be memory for two. */
static void pack_and_multiply(const struct affine *a, int64_t lo, int64_t hi, float *panel)
{
	for (int64_t j = lo; j < hi; j++) {
		struct product p = a->product;
		p.n = a->rows - j * GEMM_N < GEMM_N ? a->rows - j * GEMM_N : GEMM_N;
		p.b = panel;
		p.c += j * GEMM_N;
		product_pack_b(panel, a->w->f32 + j * GEMM_N * a->n, a->n, p.n, 1, a->n);
		product_panels(&p, 0, 1, NULL);
	}
}

/* Some panels of rows. */
static void panels_task(void *arg, int task, int thread)
{
	const struct affine *a = arg;
	float *panel = a->panels + thread * a->panel_floats;
	int64_t lo, hi;
	cpu_range(product_n_panels(a->rows), a->n_tasks, task, &lo, &hi);
	if (a->w->rounded || a->w->packed)
		product_panels(&a->product, lo, hi, panel);
	else
		pack_and_multiply(a, lo, hi, panel);
	lo *= GEMM_N;
	hi = hi * GEMM_N < a->rows ? hi * GEMM_N : a->rows;
	for (int64_t t = 0; t < a->steps && a->b; t++)
		vec_axpy(1, a->b + lo, a->y + t * a->rows + lo, hi - lo);
}

/* Some blocks of steps, rounded as they are packed. */
static void pairs_task(void *arg, int task, int thread)
{
	const struct affine *a = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range((a->steps + PAIRS_M - 1) / PAIRS_M, a->n_tasks, task, &lo, &hi);
	lo *= PAIRS_M;
	hi = hi * PAIRS_M < a->steps ? hi * PAIRS_M : a->steps;
	uint16_t *x = (uint16_t *)(void *)a->panels + pairs_a_elements(lo, a->n);
	float *y = a->y + lo * a->rows;
	pairs_pack_a(x, a->x + lo * a->n, hi - lo, a->n, 1);
	pairs_multiply(x, a->w->pairs, hi - lo, a->rows, a->n, y, a->rows);
	for (int64_t t = lo; t < hi && a->b; t++)
		vec_axpy(1, a->b, a->y + t * a->rows, a->rows);
}

static int64_t packed_floats(int64_t steps, int64_t n)
{
	return (gemm_a_elements(steps, n) + 15) / 16 * 16;
}

static bool in_panels(const struct affine_weights *w, int64_t steps)
{
	return w->rounded || w->order == ORDER_OF_MANY || steps >= AFFINE_MANY;
}

static int64_t panel_floats(const struct affine_weights *w)
{
	return w->rounded ? PRODUCT_SCRATCH : w->packed ? 0 : w->n * GEMM_N;
}

int64_t cpu_affine_packed_floats(const struct affine_weights *w)
{
	return (gemm_b_elements(w->n, w->rows) + 15) / 16 * 16;
}

void cpu_affine_pack(struct affine_weights *w, float *packed)
{
	product_pack_b(packed, w->f32, w->n, w->rows, 1, w->n);
	w->packed = packed;
}

int64_t cpu_affine_floats(const struct cpu_ctx *ctx, const struct affine_weights *w, int64_t steps)
{
	if (w->pairs)
		return (pairs_a_elements(steps, w->n) / 2 + 15) / 16 * 16;
	return !in_panels(w, steps)
		       ? 0
		       : packed_floats(steps, w->n) + (ctx ? ctx->n_threads : 1) * panel_floats(w);
}

void cpu_affine(struct cpu_ctx *ctx, const struct affine_weights *w, const float *x, const float *b,
		int64_t steps, float *y, float *room)
{
	int64_t rows = w->rows, n = w->n;
	bool panels = in_panels(w, steps);
	int threads = ctx ? ctx->n_threads : 1, wanted = cpu_tasks(rows * n * steps, GRAIN);
	int64_t most = panels ? product_n_panels(rows) : rows;
	struct affine a = {
		.w = w, .x = x, .b = b, .rows = rows, .n = n, .steps = steps, .y = y, .n_tasks = 1};
	if (steps == 0)
		return;
	if (w->pairs) {
		most = (steps + PAIRS_M - 1) / PAIRS_M;
		a.panels = room;
	}
	if (!w->pairs && w->order == ORDER_OF_ONE && steps > 1) {
		for (int64_t t = 0; t < steps; t++)
			cpu_affine(ctx, w, x + t * n, b, 1, y + t * rows, room);
		return;
	}
	/* As many for each thread: three tasks would take two as long as four. */
	if (threads > 1 && wanted > 1)
		a.n_tasks = wanted < 4 * threads ? (wanted + threads - 1) / threads * threads
						 : 4 * threads;
	if (a.n_tasks > most)
		a.n_tasks = (int)most;
	if (panels && !w->pairs) {
		a.product = (struct product){.m = steps,
					     .n = rows,
					     .k = n,
					     .a = x,
					     .b = w->packed,
					     .c = y,
					     .ldc = rows,
					     .q = w->rounded};
		a.panels = room + packed_floats(steps, n);
		a.panel_floats = panel_floats(w);
		a.product.as_many = w->order == ORDER_OF_MANY;
		if (a.product.as_many && steps <= GEMM_M)
			product_pack_few(room, x, steps, n, n);
		else if (steps > 1)
			product_pack_a(room, x, steps, n, n, 1);
		if (a.product.as_many || steps > 1)
			a.product.a = room;
	}
	void (*task)(void *arg, int task, int thread) = w->pairs ? pairs_task
							: panels ? panels_task
								 : affine_task;
	if (a.n_tasks > 1)
		cpu_parallel(ctx, a.n_tasks, task, &a);
	else
		task(&a, 0, 0);
}
