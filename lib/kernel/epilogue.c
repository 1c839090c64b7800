/* epilogue.c - the interpreter of epilogues: blocks of a row, a vector loop an instruction. */
#include "kernel/epilogue.h"
#include "kernel/kernel_impl.h"

#include <string.h>

enum { GRAIN = 8192 };

/* Row `row` of an operand. */
static float *operand_row(const struct epi_operand *o, int64_t row)
{
	if (o->row == 0 || !o->data) /* one that nothing reads in these rows has no data */
		return o->data;
	if (o->div > 1)
		row /= o->div;
	if (row >= o->mod)
		row %= o->mod;
	return o->data + row * o->row;
}

static void copy(const float *x, int sx, float *y, int64_t n)
{
	/* In vectors as long as those that are read next: these would wait for shorter ones. */
	if (sx && x != y)
		memcpy(y, x, (size_t)n * sizeof *y);
	else if (sx)
		return;
	else
		vec_fill(*x, y, n);
}

/* The byte of an operand of bytes that is element `at` of it. */
static uint8_t *byte_of(const struct epi_operand *o, const float *at)
{
	return (uint8_t *)(void *)o->data + (at - o->data);
}

/* n <= EPI_BLOCK elements from `first` on; operand i has its own at base[i] + first, or one for all
 * where step[i] is 0. */
static void run_block(const struct epilogue *e, float *const *base, const int *step, float *c,
		      int64_t first, int64_t n)
{
	float space[EPI_VALUES][EPI_BLOCK] __attribute__((aligned(64)));
	for (int i = 0; i < e->n_code; i++) {
		const struct epi_code *k = &e->code[i];
		const float *p[EPI_SOURCES];
		int s[EPI_SOURCES];
		float *to;
		for (int j = 0; j < k->n_sources; j++) {
			int at = k->source[j].index;
			s[j] = k->source[j].operand ? step[at] : 1;
			p[j] = k->source[j].operand ? base[at] + first * step[at]
			       : at == 0 && c       ? c
						    : space[at];
		}
		to = k->to.operand           ? base[k->to.index] + first
		     : k->to.index == 0 && c ? c
					     : space[k->to.index];
		if (k->codes)
			codes_of(k->codes, p[0], n, byte_of(&e->operand[k->to.index], to));
		else if (k->kind == OP_RESULT)
			copy(p[0], s[0], to, n);
		else if (k->kind == OP_FAKE_QUANTIZE)
			vec_quantize(p, s, k->levels, to, n);
		else if (k->n_sources == 2)
			cpu_binary_f32(k->kind, p[0], s[0], p[1], s[1], to, n);
		else
			cpu_unary_f32(k->kind, &k->args, p[0], s[0], to, n);
	}
}

void cpu_epilogue_row(const struct epilogue *e, float *c, int64_t row, int64_t col, int64_t n)
{
	float *base[EPI_OPERANDS];
	int step[EPI_OPERANDS];
	for (int j = 0; j < e->n_operands; j++) {
		base[j] = operand_row(&e->operand[j], row);
		step[j] = (int)e->operand[j].col;
	}
	for (int64_t i = 0; i < n; i += EPI_BLOCK)
		run_block(e, base, step, c ? c + i : NULL, col + i,
			  n - i < EPI_BLOCK ? n - i : EPI_BLOCK);
}

/* ---- several short rows at once ---- */

enum { COPIES = 8 }; /* operands that do not walk as the rows do */

/* Do rows row .. row + n_rows - 1 of the operand lie one behind the other? */
static bool in_a_row(const struct epilogue *e, const struct epi_operand *o, int64_t row,
		     int64_t n_rows)
{
	return o->col == 1 && o->div == 1 && o->row == e->cols && row % o->mod + n_rows <= o->mod;
}

/* Rows of an operand, one behind the other. */
static void copy_rows(const struct epi_operand *o, int64_t row, int64_t n_rows, int64_t cols,
		      float *to)
{
	int64_t all = n_rows * cols;
	if (o->row == 0) { /* all the same */
		copy(o->data, (int)o->col, to, cols);
		for (int64_t n = cols; n < all; n *= 2)
			memcpy(to + n, to, (size_t)(n < all - n ? n : all - n) * sizeof *to);
		return;
	}
	for (int64_t i = 0; i < n_rows; i++, to += cols) {
		const float *from = operand_row(o, row + i);
		if (o->col)
			memcpy(to, from, (size_t)cols * sizeof *to);
		for (int64_t j = 0; j < cols && !o->col; j++)
			to[j] = *from;
	}
}

static bool short_rows(const struct epilogue *e)
{
	int n = 0;
	for (int j = 0; j < e->n_operands; j++)
		n += !in_a_row(e, &e->operand[j], 0, e->rows);
	return e->rows > 1 && e->cols > 0 && e->cols <= EPI_BLOCK / 4 && n <= COPIES;
}

static int64_t stretch_rows(const struct epilogue *e)
{
	return EPI_BLOCK / e->cols;
}

/* Rows that fill a block at most. */
static void run_stretch(const struct epilogue *e, float *c, int64_t row, int64_t n)
{
	float room[COPIES][EPI_BLOCK], *base[EPI_OPERANDS];
	int step[EPI_OPERANDS], copies = 0;
	for (int j = 0; j < e->n_operands; j++) {
		const struct epi_operand *o = &e->operand[j];
		base[j] = operand_row(o, row);
		step[j] = o->row != 0 || o->col != 0;
		if (!step[j] || in_a_row(e, o, row, n))
			continue;
		copy_rows(o, row, n, e->cols, room[copies]);
		base[j] = room[copies++];
	}
	run_block(e, base, step, c, 0, n * e->cols);
}

void cpu_epilogue_rows(const struct epilogue *e, float *c, int64_t row, int64_t n_rows)
{
	bool stretches = n_rows > 1 && short_rows(e);
	int64_t most = stretches ? stretch_rows(e) : 1;
	for (int64_t i = 0; i < n_rows; i += most)
		if (stretches)
			run_stretch(e, c + i * e->cols, row + i,
				    n_rows - i < most ? n_rows - i : most);
		else
			cpu_epilogue_row(e, c + i * e->cols, row + i, 0, e->cols);
}

void cpu_epilogue_span(const struct epilogue *e, float *c, int64_t first, int64_t n)
{
	int64_t row = first / e->cols, col = first % e->cols;
	while (n > 0) {
		int64_t here = e->cols - col < n ? e->cols - col : n;
		if (col == 0 && n >= e->cols) {
			here = n / e->cols * e->cols;
			cpu_epilogue_rows(e, c, row, n / e->cols);
			row += n / e->cols;
		} else {
			cpu_epilogue_row(e, c, row++, col, here);
		}
		c += here;
		n -= here;
		col = 0;
	}
}

void cpu_epilogue_tile(const struct epilogue *e, float *c, int64_t ldc, int64_t row, int64_t n_rows,
		       int64_t col, int64_t n)
{
	if (col == 0 && n == e->cols && ldc == n) {
		cpu_epilogue_rows(e, c, row, n_rows);
		return;
	}
	for (int64_t i = 0; i < n_rows; i++)
		cpu_epilogue_row(e, c + i * ldc, row + i, col, n);
}

/* ---- over a finished output ---- */

struct whole_run {
	const struct epilogue *e;
	float *c;
	bool stretches;
	int64_t units;      /* rows, or stretches of them */
	int n_tasks, parts; /* parts of a row */
};

static void whole_task(void *arg, int task, int thread)
{
	const struct whole_run *r = arg;
	const struct epilogue *e = r->e;
	int64_t lo, hi, begin, end;
	(void)thread;
	cpu_range(r->units, r->n_tasks / r->parts, task / r->parts, &lo, &hi);
	if (r->stretches) {
		int64_t most = stretch_rows(e);
		for (int64_t row = lo * most; row < hi * most && row < e->rows; row += most)
			run_stretch(e, r->c ? r->c + row * e->cols : NULL, row,
				    e->rows - row < most ? e->rows - row : most);
		return;
	}
	cpu_range(e->cols, r->parts, task % r->parts, &begin, &end);
	for (int64_t row = lo; row < hi; row++)
		cpu_epilogue_row(e, r->c ? r->c + row * e->cols + begin : NULL, row, begin,
				 end - begin);
}

void cpu_epilogue_run(struct cpu_ctx *ctx, const struct epilogue *e, float *c)
{
	bool stretches = short_rows(e);
	int64_t most = stretches ? stretch_rows(e) : 1;
	struct whole_run r = {e, c, stretches, (e->rows + most - 1) / most, 1, 1};
	int64_t tasks = cpu_tasks(e->rows * e->cols * (e->n_code > 1 ? e->n_code : 1), GRAIN);
	if (tasks > 4 * ctx->n_threads)
		tasks = 4 * ctx->n_threads;
	if (ctx->n_threads == 1)
		tasks = 1;
	if (tasks <= r.units || stretches)
		r.n_tasks = (int)(tasks < r.units ? tasks : r.units);
	else
		r.n_tasks = (int)e->rows * (r.parts = (int)(tasks / e->rows));
	cpu_parallel(ctx, r.n_tasks, whole_task, &r);
}
