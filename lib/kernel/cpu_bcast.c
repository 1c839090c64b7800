/* cpu_bcast.c - broadcasting: from shapes to rows with constant strides. */
#include "kernel/cpu_impl.h"

#include <string.h>

enum { GRAIN = 16384 };

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
	for (int j = 0; j < n; j++)
		strides_of(in[j], out, b->stride[j]);
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

static void walk_rows(const struct bcast_job *job, int64_t lo, int64_t hi)
{
	const struct bcast *b = job->b;
	uint32_t last = b->rank - 1;
	int64_t n = b->dim[last], at[TENSOR_DIMS] = {0}, in[BCAST_MAX] = {0}, rest = lo;
	for (uint32_t d = last; d-- > 0; rest /= b->dim[d]) {
		at[d] = rest % b->dim[d];
		for (int j = 0; j < b->n; j++)
			in[j] += at[d] * b->stride[j][d];
	}
	for (int64_t row = lo; row < hi; row++) {
		job->fn(job->arg, b, row * n, in, n);
		for (uint32_t d = last; d-- > 0;) {
			bool wraps = ++at[d] == b->dim[d];
			for (int j = 0; j < b->n; j++)
				in[j] +=
					b->stride[j][d] - (wraps ? b->stride[j][d] * b->dim[d] : 0);
			if (!wraps)
				break;
			at[d] = 0;
		}
	}
}

static void bcast_task(void *arg, int task, int thread)
{
	const struct bcast_job *job = arg;
	const struct bcast *b = job->b;
	int64_t lo, hi, in[BCAST_MAX];
	(void)thread;
	cpu_range(job->n_rows > 1 ? job->n_rows : b->dim[0], job->n_tasks, task, &lo, &hi);
	if (job->n_rows > 1) {
		walk_rows(job, lo, hi);
		return;
	}
	for (int j = 0; j < b->n; j++)
		in[j] = lo * b->stride[j][b->rank - 1];
	job->fn(job->arg, b, lo, in, hi - lo);
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
