/* cpu_widened.c - see cpu_widened.h. */
#include "kernel/gemm/cpu_widened.h"
#include "kernel/cpu_epilogue.h"
#include "kernel/gemm/cpu_pairs.h"

#include <stdatomic.h>
#include <string.h>

enum {
	ROWS = 128, /* of B that are widened to f32 at a time: a multiple of PAIRS_K */
	SOME_ROWS =
		48, /* that are multiplied between two looks ahead: whole tiles of cpu_pairs.c */
	LINE = 64
};

_Static_assert(ROWS % PAIRS_K == 0 && ROWS % QBLOCK == 0 && (int)GEMM_N == (int)PAIRS_N,
	       "panels are alike, and so are their pieces");

bool widened_fits(const struct cpu_ctx *c, int64_t m)
{
	return c->bf16_products && pairs_there() && m > GEMM_M;
}

struct widened {
	const struct kernel_call *k;
	const struct qpanels *q;
	const float *source;
	uint16_t *a; /* packed */
	int64_t m;
	int row_parts, column_parts, n_tasks;
	atomic_bool failed;
};

static void pack_task(void *arg, int task, int thread)
{
	struct widened *w = arg;
	int64_t lo, hi, k = w->q->k;
	(void)thread;
	cpu_range((w->m + PAIRS_M - 1) / PAIRS_M, w->n_tasks, task, &lo, &hi);
	int64_t first = lo * PAIRS_M, end = hi * PAIRS_M < w->m ? hi * PAIRS_M : w->m;
	pairs_pack_a(w->a + pairs_a_elements(first, k), w->source + first * k, end - first, k, 1);
}

/* Panel number `panel` in bf16. */
static void widen(const struct qpanels *q, int64_t panel, float *f32, uint16_t *b)
{
	for (int64_t i = 0; i < q->k; i += ROWS) {
		int64_t rows = q->k - i < ROWS ? q->k - i : ROWS;
		qpanel_unpack(q, panel, i, rows, f32);
		pairs_pack_b(b + i * PAIRS_N, f32, rows, GEMM_N, false);
	}
}

/* m rows of a panel of n columns; edge (m,GEMM_N): room where they are fewer than a panel has. */
static void multiply(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k,
		     float *c, int64_t ldc, float *edge)
{
	pairs_multiply(a, b, m, n, k, n < GEMM_N ? edge : c, n < GEMM_N ? GEMM_N : ldc);
	for (int64_t i = 0; i < m && n < GEMM_N; i++)
		memcpy(c + i * ldc, edge + i * GEMM_N, (size_t)n * sizeof *c);
}

/* Codes from..to of `all` parts of a panel are on their way while others are multiplied. */
static void fetch(const struct qpanels *q, int64_t panel, int64_t from, int64_t to, int64_t all)
{
	const char *data = q->data + panel * q->panel_bytes;
	int64_t lines = (q->panel_bytes + LINE - 1) / LINE;
	for (int64_t i = lines * from / all; i < lines * to / all; i++)
		__builtin_prefetch(data + i * LINE, 0, 2);
}

/* Some panels, and of the rows a part. */
static void panels_task(void *arg, int task, int thread)
{
	struct widened *w = arg;
	const struct qpanels *q = w->q;
	int64_t k = q->k, n = q->n, lo, hi, row, end;
	size_t wide = (size_t)ROWS * GEMM_N, floats = wide + (size_t)SOME_ROWS * GEMM_N;
	float *f32 = cpu_thread_scratch(
		w->k->ctx, thread, floats * sizeof *f32 + (size_t)pairs_b_elements(k, GEMM_N) * 2);
	if (!f32) {
		w->failed = true;
		return;
	}
	float *edge = f32 + wide;
	uint16_t *b = (uint16_t *)(void *)(f32 + floats);
	float *out = w->k->out[0].data;
	cpu_range((w->m + PAIRS_M - 1) / PAIRS_M, w->row_parts, task / w->column_parts, &row, &end);
	row *= PAIRS_M;
	end = end * PAIRS_M < w->m ? end * PAIRS_M : w->m;
	cpu_range((n + GEMM_N - 1) / GEMM_N, w->column_parts, task % w->column_parts, &lo, &hi);
	for (int64_t p = lo; p < hi; p++) {
		int64_t col = p * GEMM_N, columns = n - col < GEMM_N ? n - col : GEMM_N;
		widen(q, p, f32, b);
		for (int64_t i = row; i < end; i += SOME_ROWS) {
			int64_t rows = end - i < SOME_ROWS ? end - i : SOME_ROWS;
			float *c = out + i * n + col;
			if (p + 1 < hi)
				fetch(q, p + 1, i - row, i - row + rows, end - row);
			multiply(w->a + pairs_a_elements(i, k), b, rows, columns, k, c, n, edge);
			if (w->k->post)
				cpu_epilogue_tile(w->k->post, c, n, i, rows, col, columns);
		}
	}
}

int widened_run(const struct kernel_call *k, const struct qpanels *q, const float *a, int64_t m,
		struct err *e)
{
	enum { PACK_GRAIN = 1 << 14, GRAIN = 1 << 18, PARTS = 4 };
	struct widened w = {.k = k, .q = q, .source = a, .m = m};
	int64_t tiles = (m + PAIRS_M - 1) / PAIRS_M, panels = (q->n + GEMM_N - 1) / GEMM_N;
	int threads = k->ctx->n_threads;
	w.a = cpu_slot_scratch(k->ctx, SLOT_WHOLE, (size_t)pairs_a_elements(m, q->k) * sizeof *w.a);
	if (!w.a)
		return cpu_no_memory(e);
	w.n_tasks = cpu_tasks(m * q->k, PACK_GRAIN);
	w.n_tasks = w.n_tasks > tiles ? (int)tiles : w.n_tasks;
	cpu_parallel(k->ctx, w.n_tasks, pack_task, &w);
	w.column_parts = cpu_tasks(m * q->n * q->k, GRAIN);
	w.column_parts = w.column_parts > PARTS * threads ? PARTS * threads : w.column_parts;
	w.column_parts = w.column_parts > panels ? (int)panels : w.column_parts;
	w.row_parts = w.column_parts < threads && m >= 2 * GEMM_M * threads
			      ? (threads + w.column_parts - 1) / w.column_parts
			      : 1;
	w.row_parts = w.row_parts > tiles ? (int)tiles : w.row_parts;
	cpu_parallel(k->ctx, w.column_parts * w.row_parts, panels_task, &w);
	return w.failed ? cpu_no_memory(e) : 0;
}
