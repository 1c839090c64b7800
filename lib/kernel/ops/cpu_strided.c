/* cpu_strided.c - blocks of memory with strides, copied to others: lines, planes in tiles, or rows,
 * whichever lies together. */
#include "kernel/cpu_impl.h"

#include <string.h>

enum { GRAIN = 32768, TILE = 32 };

struct copy_run {
	size_t size;                                              /* of an element, bytes */
	uint32_t rank;                                            /* after merging, >= 1 */
	int64_t dim[COPY_DIMS], stride[COPY_DIMS], to[COPY_DIMS]; /* bytes, of source and copy */
	int64_t n_rows; /* product of all dims but the last */
	int cross;      /* dim whose elements lie together in src, or -1 */
	const char *src;
	char *dst;
	int n_tasks;
};

/* n elements of `size` bytes, from src with a stride to contiguous dst. */
#define STRIDED(T) \
	do { \
		for (int64_t i = 0; i < n; i++) \
			*(T *)(void *)(dst + i * dst_stride) = \
				*(const T *)(const void *)(src + i * stride); \
		return; \
	} while (0)

#define FILL(T) \
	do { \
		const T v = *(const T *)(const void *)src; \
		for (int64_t i = 0; i < n; i++) \
			((T *)(void *)dst)[i] = v; \
		return; \
	} while (0)

/* n times the same element. */
static void fill_line(size_t size, char *dst, const char *src, int64_t n)
{
	switch (size) {
	case 1: FILL(uint8_t);
	case 2: FILL(uint16_t);
	case 4: FILL(uint32_t);
	default: FILL(uint64_t);
	}
}

static void copy_line(size_t size, char *dst, int64_t dst_stride, const char *src, int64_t stride,
		      int64_t n)
{
	if (dst_stride == (int64_t)size && stride == (int64_t)size) {
		memcpy(dst, src, (size_t)n * size);
		return;
	}
	if (stride == 0 && dst_stride == (int64_t)size && size <= sizeof(uint64_t)) {
		fill_line(size, dst, src, n);
		return;
	}
	switch (size) {
	case 1: STRIDED(uint8_t);
	case 2: STRIDED(uint16_t);
	case 4: STRIDED(uint32_t);
	default: STRIDED(uint64_t);
	}
}

/* Rows lo .. hi - 1, one after another. */
static void copy_rows(const struct copy_run *r, int64_t lo, int64_t hi)
{
	uint32_t last = r->rank - 1;
	int64_t at[COPY_DIMS] = {0}, from = 0, to = 0, rest = lo;
	for (uint32_t d = last; d-- > 0; rest /= r->dim[d]) {
		at[d] = rest % r->dim[d];
		from += at[d] * r->stride[d];
		to += at[d] * r->to[d];
	}
	for (int64_t row = lo; row < hi; row++) {
		copy_line(r->size, r->dst + to, r->to[last], r->src + from, r->stride[last],
			  r->dim[last]);
		for (uint32_t d = last; d-- > 0;) {
			from += r->stride[d];
			to += r->to[d];
			if (++at[d] < r->dim[d])
				break;
			from -= r->stride[d] * r->dim[d];
			to -= r->to[d] * r->dim[d];
			at[d] = 0;
		}
	}
}

/* A plane of dims (cross, last) in tiles: src is contiguous along cross, dst along last. */
static void copy_plane(const struct copy_run *r, int64_t plane)
{
	uint32_t last = r->rank - 1, cross = (uint32_t)r->cross;
	int64_t m = r->dim[cross], n = r->dim[last], from = 0, to = 0;
	for (uint32_t d = last; d-- > 0;) {
		if (d == cross)
			continue;
		from += plane % r->dim[d] * r->stride[d];
		to += plane % r->dim[d] * r->to[d];
		plane /= r->dim[d];
	}
	for (int64_t i0 = 0; i0 < n; i0 += TILE)
		for (int64_t j0 = 0; j0 < m; j0 += TILE) {
			int64_t ni = n - i0 < TILE ? n - i0 : TILE,
				nj = m - j0 < TILE ? m - j0 : TILE;
			for (int64_t j = j0; j < j0 + nj; j++)
				copy_line(
					r->size, r->dst + to + j * r->to[cross] + i0 * r->to[last],
					r->to[last],
					r->src + from + j * r->stride[cross] + i0 * r->stride[last],
					r->stride[last], ni);
		}
}

static void copy_task(void *arg, int task, int thread)
{
	const struct copy_run *r = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range(r->cross < 0 ? r->n_rows : r->n_rows / r->dim[r->cross], r->n_tasks, task, &lo,
		  &hi);
	if (r->cross < 0)
		copy_rows(r, lo, hi);
	else
		for (int64_t p = lo; p < hi; p++)
			copy_plane(r, p);
}

static void merge_dims(struct copy_run *r, uint32_t rank, const int64_t *dim, const int64_t *stride,
		       const int64_t *to)
{
	r->rank = 0;
	for (uint32_t i = 0; i < rank; i++) {
		if (dim[i] == 1)
			continue;
		uint32_t last = r->rank - 1;
		if (r->rank && r->stride[last] == dim[i] * stride[i] &&
		    r->to[last] == dim[i] * to[i]) {
			r->dim[last] *= dim[i];
		} else {
			last = r->rank++;
			r->dim[last] = dim[i];
		}
		r->stride[last] = stride[i];
		r->to[last] = to[i];
	}
	if (r->rank == 0) {
		r->dim[0] = 1;
		r->to[0] = (int64_t)r->size;
		r->stride[r->rank++] = (int64_t)r->size;
	}
}

/* The inner dim of a single block would be one line for one thread: it becomes rows. */
static void cut_line(struct copy_run *r, int n)
{
	int64_t all = r->dim[0], part = all / n;
	if (r->rank > 1 || n < 2)
		return;
	while (part > 1 && all % part)
		part--;
	if (part < 64)
		return;
	r->rank = 2;
	r->dim[0] = all / part;
	r->dim[1] = part;
	r->stride[1] = r->stride[0];
	r->to[1] = r->to[0];
	r->stride[0] *= part;
	r->to[0] *= part;
}

void cpu_move_strided(struct cpu_ctx *c, size_t elem_size, uint32_t rank, const int64_t *dim,
		      const int64_t *stride, const char *src, const int64_t *to, char *dst)
{
	struct copy_run r = {.size = elem_size, .n_rows = 1, .cross = -1, .src = src, .dst = dst};
	int64_t bytes = (int64_t)elem_size;
	for (uint32_t i = 0; i < rank; i++) {
		if (dim[i] == 0)
			return;
		bytes *= dim[i];
	}
	merge_dims(&r, rank, dim, stride, to);
	r.n_tasks = cpu_tasks(bytes, GRAIN * (int64_t)elem_size);
	cut_line(&r, r.n_tasks < 64 ? r.n_tasks : 64);
	for (uint32_t d = 0; d + 1 < r.rank; d++) {
		r.n_rows *= r.dim[d];
		if (r.stride[d] == (int64_t)elem_size && r.dim[d] >= 4 &&
		    r.stride[r.rank - 1] != (int64_t)elem_size && r.dim[r.rank - 1] >= 4)
			r.cross = (int)d;
	}
	int64_t most = r.cross < 0 ? r.n_rows : r.n_rows / r.dim[r.cross];
	if (r.n_tasks > most)
		r.n_tasks = (int)most;
	cpu_parallel(c, r.n_tasks, copy_task, &r);
}

void cpu_copy_strided(struct cpu_ctx *c, size_t elem_size, uint32_t rank, const int64_t *dim,
		      const int64_t *stride, const char *src, char *dst)
{
	int64_t to[COPY_DIMS], step = (int64_t)elem_size;
	for (uint32_t d = rank; d-- > 0; step *= dim[d])
		to[d] = step;
	cpu_move_strided(c, elem_size, rank, dim, stride, src, to, dst);
}
