/* widened.c - see widened.h. */
#include "kernel/gemm/widened.h"
#include "kernel/epilogue.h"
#include "kernel/gemm/dynamic_quant.h"
#include "kernel/gemm/vnni_gemm.h"

#include <stdatomic.h>
#include <string.h>

enum {
	ROWS = 128,     /* of B that are widened to f32 at a time: a multiple of PAIRS_K */
	SOME_ROWS = 48, /* that are multiplied between two looks ahead: whole tiles of both kinds */
	LINE = 64
};

_Static_assert(ROWS % PAIRS_K == 0 && ROWS % QBLOCK == 0 && (int)GEMM_N == (int)PAIRS_N,
	       "panels are alike, and so are their pieces");

/* How rows and panels lie while they are multiplied; tiles of PAIRS_M rows. */
struct kind {
	size_t (*rows_bytes)(const struct qpanels *q, int64_t m);
	size_t (*panel_bytes)(const struct qpanels *q);
	void (*rows)(const struct qpanels *q, const float *x, int64_t m, char *to);
	/* f32: (ROWS,GEMM_N), room. */
	void (*panel)(const struct qpanels *q, int64_t panel, float *f32, char *to);
	/* C (m, n <= GEMM_N), rows ldc apart; edge: (m,GEMM_N), room. */
	void (*multiply)(const struct qpanels *q, const char *rows, const char *panel, int64_t m,
			 int64_t n, float *c, int64_t ldc, float *edge);
};

/* ---- in bf16 ---- */

static size_t pair_rows_bytes(const struct qpanels *q, int64_t m)
{
	return (size_t)pairs_a_elements(m, q->k) * sizeof(uint16_t);
}

static size_t pair_panel_bytes(const struct qpanels *q)
{
	return (size_t)pairs_b_elements(q->k, GEMM_N) * sizeof(uint16_t);
}

static void pair_rows(const struct qpanels *q, const float *x, int64_t m, char *to)
{
	pairs_pack_a((uint16_t *)(void *)to, x, m, q->k, 1);
}

static void pair_panel(const struct qpanels *q, int64_t panel, float *f32, char *to)
{
	uint16_t *b = (uint16_t *)(void *)to;
	for (int64_t i = 0; i < q->k; i += ROWS) {
		int64_t rows = q->k - i < ROWS ? q->k - i : ROWS;
		qpanel_unpack(q, panel, i, rows, f32);
		pairs_pack_b(b + i * PAIRS_N, f32, rows, GEMM_N, false);
	}
}

static void pair_multiply(const struct qpanels *q, const char *rows, const char *panel, int64_t m,
			  int64_t n, float *c, int64_t ldc, float *edge)
{
	const uint16_t *a = (const uint16_t *)(const void *)rows;
	const uint16_t *b = (const uint16_t *)(const void *)panel;
	pairs_multiply(a, b, m, n, q->k, n < GEMM_N ? edge : c, n < GEMM_N ? GEMM_N : ldc);
	for (int64_t i = 0; i < m && n < GEMM_N; i++)
		memcpy(c + i * ldc, edge + i * GEMM_N, (size_t)n * sizeof *c);
}

static const struct kind in_bf16 = {pair_rows_bytes, pair_panel_bytes, pair_rows, pair_panel,
				    pair_multiply};

/* ---- in integers ---- */

static size_t code_rows_bytes(const struct qpanels *q, int64_t m)
{
	return (size_t)m * dynamic_row_bytes(q);
}

static void code_panel(const struct qpanels *q, int64_t panel, float *f32, char *to)
{
	(void)f32;
	dynamic_panel(q, panel, to);
}

static void code_multiply(const struct qpanels *q, const char *rows, const char *panel, int64_t m,
			  int64_t n, float *c, int64_t ldc, float *edge)
{
	(void)edge;
	dynamic_multiply(q, rows, panel, m, n, c, ldc);
}

static const struct kind in_codes = {code_rows_bytes, dynamic_panel_bytes, dynamic_rows, code_panel,
				     code_multiply};

/* ---- both ---- */

static const struct kind *kind_of(const struct cpu_ctx *c, const struct qpanels *q)
{
	return c->codes && dynamic_fits(q)         ? &in_codes
	       : c->bf16_products && pairs_there() ? &in_bf16
						   : NULL;
}

bool widened_fits(const struct cpu_ctx *c, const struct qpanels *q, int64_t m)
{
	return m > GEMM_M && kind_of(c, q);
}

struct widened {
	const struct kernel_call *k;
	const struct kind *kind;
	const struct qpanels *q;
	const float *source;
	char *a; /* rows as they are multiplied */
	int64_t m;
	int row_parts, column_parts, n_tasks;
	atomic_bool failed;
};

/* Rows of tiles lo .. hi - 1: from *first on, before *end. */
static void rows_of_tiles(const struct widened *w, int64_t lo, int64_t hi, int64_t *first,
			  int64_t *end)
{
	*first = lo * PAIRS_M;
	*end = hi * PAIRS_M < w->m ? hi * PAIRS_M : w->m;
}

static void rows_task(void *arg, int task, int thread)
{
	struct widened *w = arg;
	int64_t lo, hi, first, end;
	(void)thread;
	cpu_range((w->m + PAIRS_M - 1) / PAIRS_M, w->n_tasks, task, &lo, &hi);
	rows_of_tiles(w, lo, hi, &first, &end);
	w->kind->rows(w->q, w->source + first * w->q->k, end - first,
		      w->a + w->kind->rows_bytes(w->q, first));
}

/* Codes from .. to of `all` parts of a panel are on their way while others are multiplied. */
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
	int64_t n = q->n, lo, hi, row, end;
	size_t wide = (size_t)ROWS * GEMM_N, floats = wide + (size_t)SOME_ROWS * GEMM_N;
	float *f32 = cpu_thread_scratch(w->k->ctx, thread,
					floats * sizeof *f32 + w->kind->panel_bytes(q));
	if (!f32) {
		w->failed = true;
		return;
	}
	char *b = (char *)(f32 + floats);
	float *out = w->k->out[0].data;
	cpu_range((w->m + PAIRS_M - 1) / PAIRS_M, w->row_parts, task / w->column_parts, &lo, &hi);
	rows_of_tiles(w, lo, hi, &row, &end);
	cpu_range((n + GEMM_N - 1) / GEMM_N, w->column_parts, task % w->column_parts, &lo, &hi);
	for (int64_t p = lo; p < hi; p++) {
		int64_t col = p * GEMM_N, columns = n - col < GEMM_N ? n - col : GEMM_N;
		w->kind->panel(q, p, f32, b);
		for (int64_t i = row; i < end; i += SOME_ROWS) {
			int64_t rows = end - i < SOME_ROWS ? end - i : SOME_ROWS;
			float *c = out + i * n + col;
			if (p + 1 < hi)
				fetch(q, p + 1, i - row, i - row + rows, end - row);
			w->kind->multiply(q, w->a + w->kind->rows_bytes(q, i), b, rows, columns, c,
					  n, f32 + wide);
			if (w->k->post)
				cpu_epilogue_tile(w->k->post, c, n, i, rows, col, columns);
		}
	}
}

int widened_run(const struct kernel_call *k, const struct qpanels *q, const float *a, int64_t m,
		struct err *e)
{
	enum { PACK_GRAIN = 1 << 14, GRAIN = 1 << 18, PARTS = 4 };
	struct widened w = {.k = k, .kind = kind_of(k->ctx, q), .q = q, .source = a, .m = m};
	int64_t tiles = (m + PAIRS_M - 1) / PAIRS_M, panels = (q->n + GEMM_N - 1) / GEMM_N;
	int threads = k->ctx->n_threads;
	w.a = cpu_slot_scratch(k->ctx, SLOT_WHOLE, w.kind->rows_bytes(q, m));
	if (!w.a)
		return cpu_no_memory(e);
	w.n_tasks = cpu_tasks(m * q->k, PACK_GRAIN);
	w.n_tasks = w.n_tasks > tiles ? (int)tiles : w.n_tasks;
	cpu_parallel(k->ctx, w.n_tasks, rows_task, &w);
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
