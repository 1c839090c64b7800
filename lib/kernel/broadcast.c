/* broadcast.c - broadcasting: from shapes to stretches of elements. */
#include "kernel/kernel_impl.h"

#include <string.h>

enum {
	GRAIN = 16384,
	SHORT_ROW = 64,
	STRETCH = 512 /* elements of several short rows */
};

static void strides_of(const struct tensor *t, const struct tensor *out, int64_t *stride)
{
	int64_t s = 1;
	for (uint32_t i = 0; i < out->rank; i++) {
		uint32_t o = out->rank - 1 - i;
		int64_t d = i < t->rank ? t->dim[t->rank - 1 - i] : 1;
		stride[o] = d == 1 ? 0 : s;
		s *= d;
	}
}

static bool joins(const struct bcast *b, uint32_t outer, uint32_t inner)
{
	for (int j = 0; j < b->n; j++)
		if (b->stride[j][outer] != b->dim[inner] * b->stride[j][inner])
			return false;
	return true;
}

void cpu_bcast_init(struct bcast *b, const struct tensor *out, const struct tensor *const *in,
		    int n)
{
	uint32_t kept = 0;
	b->n = n;
	memcpy(b->dim, out->dim, sizeof b->dim);
	for (int j = 0; j < n; j++) {
		strides_of(in[j], out, b->stride[j]);
		b->data[j] = in[j]->data;
		b->size[j] = cpu_elem_size(in[j]->elem);
	}
	for (uint32_t i = 0; i < out->rank; i++) {
		if (b->dim[i] == 1)
			continue;
		bool join = kept && joins(b, kept - 1, i);
		uint32_t to = join ? kept - 1 : kept++;
		b->dim[to] = join ? b->dim[to] * b->dim[i] : b->dim[i];
		for (int j = 0; j < n; j++)
			b->stride[j][to] = b->stride[j][i];
	}
	if (kept == 0) {
		b->dim[0] = 1;
		for (int j = 0; j < n; j++)
			b->stride[j][0] = 0;
		kept = 1;
	}
	b->rank = kept;
}

struct bcast_job {
	const struct bcast *b;
	bcast_fn *fn;
	void *arg;
	int64_t n_rows;
	int n_tasks;
};

/* Row lo of the output: its coordinates but the last one, and where it begins in each input. */
static void find_row(const struct bcast *b, int64_t lo, int64_t *at, int64_t *in)
{
	for (uint32_t d = b->rank - 1; d-- > 0; lo /= b->dim[d]) {
		at[d] = lo % b->dim[d];
		for (int j = 0; j < b->n; j++)
			in[j] += at[d] * b->stride[j][d];
	}
}

/* On by `rows` rows, which do not go beyond the end of their dim. */
static void next_row(const struct bcast *b, int64_t rows, int64_t *at, int64_t *in)
{
	for (uint32_t d = b->rank - 1; d-- > 0; rows = 1) {
		bool wraps = (at[d] += rows) == b->dim[d];
		for (int j = 0; j < b->n; j++)
			in[j] += (rows - (wraps ? b->dim[d] : 0)) * b->stride[j][d];
		if (!wraps)
			break;
		at[d] = 0;
	}
}

/* rows of n elements, with strides of the rows and within them, one behind the other; up to 15 bytes
 * more may be written. */
#define GATHER(T) \
	do { \
		const T *x = from; \
		T *y = to; \
		for (int64_t i = 0; i < rows; i++, x += row_step) \
			for (int64_t k = 0; k < n; k++) \
				*y++ = x[k * step]; \
	} while (0)
#define FILL(T) \
	do { \
		enum { PIECE = 16 / sizeof(T) }; \
		const T *x = from; \
		T *y = to; \
		for (int64_t i = 0; i < rows; i++, x += row_step, y += n) { \
			T piece[PIECE]; \
			for (int k = 0; k < PIECE; k++) \
				piece[k] = *x; \
			for (int64_t k = 0; k < n; k += PIECE) \
				memcpy(y + k, piece, sizeof piece); \
		} \
	} while (0)
static void gather_rows(const void *from, size_t size, int64_t rows, int64_t row_step, int64_t n,
			int64_t step, void *to)
{
	size_t row = (size_t)n * size;
	if (row_step == 0 && step == 1) { /* the same again: what is there, once more */
		memcpy(to, from, row);
		for (int64_t i = 1; i < rows; i *= 2)
			memcpy((char *)to + (size_t)i * row, to,
			       (size_t)(i < rows - i ? i : rows - i) * row);
		return;
	}
	if (step == 0) {
		switch (size) {
		case 1: FILL(uint8_t); break;
		case 2: FILL(uint16_t); break;
		case 4: FILL(uint32_t); break;
		case 8: FILL(uint64_t); break;
		default: MISSED(size);
		}
		return;
	}
	switch (size) {
	case 1: GATHER(uint8_t); break;
	case 2: GATHER(uint16_t); break;
	case 4: GATHER(uint32_t); break;
	case 8: GATHER(uint64_t); break;
	default: MISSED(size);
	}
}

/* Several rows at once, as far as the dim around them goes. */
static void walk_short_rows(const struct bcast_job *job, int64_t lo, int64_t hi)
{
	const struct bcast *b = job->b;
	uint32_t last = b->rank - 1, outer = last - 1;
	int64_t n = b->dim[last], at[TENSOR_DIMS] = {0}, in[BCAST_MAX] = {0}, rows;
	uint64_t room[BCAST_MAX][STRETCH + 2];
	const void *kept[BCAST_MAX] = {NULL}; /* what room has `kept_rows` times */
	int64_t kept_rows[BCAST_MAX] = {0};
	find_row(b, lo, at, in);
	for (int64_t row = lo; row < hi; row += rows) {
		const void *from[BCAST_MAX];
		int64_t stride[BCAST_MAX];
		rows = STRETCH / n;
		rows = rows < b->dim[outer] - at[outer] ? rows : b->dim[outer] - at[outer];
		rows = rows < hi - row ? rows : hi - row;
		for (int j = 0; j < b->n; j++) {
			int64_t step = b->stride[j][last], row_step = b->stride[j][outer];
			from[j] = b->data[j] + (size_t)in[j] * b->size[j];
			stride[j] = step;
			if (row_step == step * n)
				continue;
			if (row_step != 0 || kept[j] != from[j] || kept_rows[j] < rows) {
				gather_rows(from[j], b->size[j], rows, row_step, n, step, room[j]);
				kept[j] = from[j];
				kept_rows[j] = rows;
			}
			from[j] = room[j];
			stride[j] = 1;
		}
		job->fn(job->arg, row * n, from, stride, rows * n);
		next_row(b, rows, at, in);
	}
}

static void walk_rows(const struct bcast_job *job, int64_t lo, int64_t hi)
{
	const struct bcast *b = job->b;
	uint32_t last = b->rank - 1;
	int64_t n = b->dim[last], at[TENSOR_DIMS] = {0}, in[BCAST_MAX] = {0}, stride[BCAST_MAX];
	for (int j = 0; j < b->n; j++)
		stride[j] = b->stride[j][last];
	find_row(b, lo, at, in);
	for (int64_t row = lo; row < hi; row++) {
		const void *from[BCAST_MAX];
		for (int j = 0; j < b->n; j++)
			from[j] = b->data[j] + (size_t)in[j] * b->size[j];
		job->fn(job->arg, row * n, from, stride, n);
		next_row(b, 1, at, in);
	}
}

static void bcast_task(void *arg, int task, int thread)
{
	const struct bcast_job *job = arg;
	const struct bcast *b = job->b;
	int64_t lo, hi, stride[BCAST_MAX];
	const void *from[BCAST_MAX];
	(void)thread;
	cpu_range(job->n_rows > 1 ? job->n_rows : b->dim[0], job->n_tasks, task, &lo, &hi);
	if (job->n_rows > 1 && b->dim[b->rank - 1] > 0 && b->dim[b->rank - 1] < SHORT_ROW) {
		walk_short_rows(job, lo, hi);
		return;
	}
	if (job->n_rows > 1) {
		walk_rows(job, lo, hi);
		return;
	}
	for (int j = 0; j < b->n; j++) {
		stride[j] = b->stride[j][b->rank - 1];
		from[j] = b->data[j] + (size_t)(lo * stride[j]) * b->size[j];
	}
	job->fn(job->arg, lo, from, stride, hi - lo);
}

void cpu_bcast_run(struct cpu_ctx *c, const struct bcast *b, bcast_fn *fn, void *arg)
{
	struct bcast_job job = {b, fn, arg, 1, 1};
	for (uint32_t d = 0; d + 1 < b->rank; d++)
		job.n_rows *= b->dim[d];
	job.n_tasks = cpu_tasks(job.n_rows * b->dim[b->rank - 1], GRAIN);
	if (job.n_rows > 1 && job.n_tasks > job.n_rows)
		job.n_tasks = (int)job.n_rows;
	cpu_parallel(c, job.n_tasks, bcast_task, &job);
}
