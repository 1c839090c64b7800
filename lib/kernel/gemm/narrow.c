/* narrow.c - see narrow.h. */
#include "kernel/gemm/narrow.h"
#include "kernel/vec.h"

#include <stdatomic.h>
#include <string.h>

enum {
	MOST_K = 16,
	MOST_N = 8,
	TILE = 256,      /* rows, whose columns stay in the first-level cache */
	LEAST_TILES = 4, /* fewer rows: it makes no difference */
	GRAIN = 1 << 13  /* elements of A and C of a task */
};

struct narrow_task {
	const struct narrow *p;
	struct cpu_ctx *ctx;
	float w[MOST_N][MOST_K + 1]; /* what each column is a sum of: columns of A, and 1 */
	const struct epilogue *post; /* that is left to do */
	int n_tasks;
	atomic_bool failed;
};

bool narrow_fits(int64_t m, int64_t n, int64_t k)
{
	return k >= 1 && k <= MOST_K && n >= 1 && n <= MOST_N && m >= LEAST_TILES * TILE;
}

/* The value of each column that the epilogue adds, if it does nothing else; otherwise NULL. */
static const float *added_columns(const struct epilogue *e)
{
	if (!e || e->n_code != 1 || e->code[0].kind != OP_ADD || e->code[0].n_sources != 2 ||
	    e->code[0].to.operand || e->code[0].to.index != 0)
		return NULL;
	const struct epi_source *s = e->code[0].source;
	int other = s[0].operand ? 0 : 1;
	if (!s[other].operand || s[1 - other].operand || s[1 - other].index != 0)
		return NULL;
	const struct epi_operand *o = &e->operand[s[other].index];
	return o->row == 0 && o->col == 1 ? o->data : NULL;
}

/* Rows first .. first + n - 1; room: (k + 1 + n columns, TILE). */
static void tile(const struct narrow_task *t, int64_t first, int64_t n, float *room)
{
	const struct narrow *p = t->p;
	const float *column[MOST_K + 1];
	float *sums = room + (p->k + 1) * TILE, *c = p->c + first * p->n;
	for (int64_t i = 0; i <= p->k; i++)
		column[i] = room + i * TILE;
	for (int64_t i = 0; i < p->k; i++)
		vec_every(p->a + first * p->k + i, p->k, room + i * TILE, n);
	for (int64_t j = 0; j < p->n; j++)
		vec_mix(column, t->w[j], (int)p->k + 1, sums + j * TILE, n);
	vec_interleave(sums, TILE, p->n, c, n * p->n);
	if (t->post)
		cpu_epilogue_tile(t->post, c, p->n, first, n, 0, p->n);
}

static void rows_task(void *arg, int task, int thread)
{
	struct narrow_task *t = arg;
	const struct narrow *p = t->p;
	int64_t lo, hi, floats = (p->k + 1 + p->n) * TILE;
	float *room = cpu_thread_scratch(t->ctx, thread, (size_t)floats * sizeof *room);
	if (!room) {
		t->failed = true;
		return;
	}
	for (int64_t i = 0; i < TILE; i++)
		room[p->k * TILE + i] = 1;
	cpu_range((p->m + TILE - 1) / TILE, t->n_tasks, task, &lo, &hi);
	for (int64_t i = lo * TILE; i < hi * TILE && i < p->m; i += TILE)
		tile(t, i, p->m - i < TILE ? p->m - i : TILE, room);
}

int narrow_run(struct cpu_ctx *ctx, const struct narrow *p, struct err *e)
{
	struct narrow_task t = {.p = p, .ctx = ctx};
	const float *added = added_columns(p->post);
	t.post = added ? NULL : p->post;
	for (int64_t j = 0; j < p->n; j++) {
		for (int64_t i = 0; i < p->k; i++)
			t.w[j][i] = p->b[i * p->row + j * p->col];
		t.w[j][p->k] = added ? added[j] : 0;
	}
	t.n_tasks = cpu_tasks(p->m * (p->k + p->n), GRAIN);
	cpu_parallel(ctx, t.n_tasks, rows_task, &t);
	return t.failed ? cpu_no_memory(e) : 0;
}
