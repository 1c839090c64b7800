/* cpu_strided.c - blocks of memory with strides, copied to others: lines, planes in tiles, or rows,
 * whichever lies together. */
#include "kernel/cpu_impl.h"
#include "kernel/cpu_turn.h"

#include <string.h>

enum { GRAIN = 32768, TILE = 32 };

struct copy_run {
	size_t size;                                              /* of an element, bytes */
	uint32_t rank;                                            /* after merging, >= 1 */
	int64_t dim[COPY_DIMS], stride[COPY_DIMS], to[COPY_DIMS]; /* bytes, of source and copy */
	int64_t n_rows; /* product of all dims but the last */
	int cross;      /* dim whose elements lie together in src, or -1 */
	int64_t bands; /* then: parts of a plane of dims (cross, last), TILE of the longer dim each */
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
	case 8: FILL(uint64_t);
	default: MISSED(size);
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
	case 8: STRIDED(uint64_t);
	default: MISSED(size);
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

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* to[j][i] = from[i][j], as cpu_turn; the first step of each pair is that of i. */
struct plane {
	const char *from;
	char *to;
	int64_t n, m; /* i < n, j < m */
};

static void turn_plane(const struct copy_run *r, const struct plane *p)
{
	uint32_t last = r->rank - 1, cross = (uint32_t)r->cross;
	int64_t size = (int64_t)r->size, f = r->stride[last], t = r->to[cross];
	if (size == 4 && r->to[last] == 4 && f % 4 == 0 && t % 4 == 0) {
		cpu_turn((const float *)(const void *)p->from, f / 4, p->n, p->m,
			 (float *)(void *)p->to, t / 4);
		return;
	}
	for (int64_t i = 0; i < p->n; i += TILE)
		for (int64_t j = 0; j < p->m; j++)
			copy_line(r->size, p->to + j * t + i * r->to[last], r->to[last],
				  p->from + j * size + i * f, f, least(TILE, p->n - i));
}

/* Bands lo .. hi - 1 of the plane: src is contiguous along cross, dst along last. */
static void copy_bands(const struct copy_run *r, int64_t plane, int64_t lo, int64_t hi)
{
	uint32_t last = r->rank - 1, cross = (uint32_t)r->cross;
	struct plane p = {r->src, r->dst, r->dim[last], r->dim[cross]};
	for (uint32_t d = last; d-- > 0;) {
		if (d == cross)
			continue;
		p.from += plane % r->dim[d] * r->stride[d];
		p.to += plane % r->dim[d] * r->to[d];
		plane /= r->dim[d];
	}
	uint32_t longer = p.n > p.m ? last : cross;
	int64_t *count = p.n > p.m ? &p.n : &p.m;
	p.from += lo * TILE * r->stride[longer];
	p.to += lo * TILE * r->to[longer];
	*count = least(hi * TILE, *count) - lo * TILE;
	turn_plane(r, &p);
}

static void copy_task(void *arg, int task, int thread)
{
	const struct copy_run *r = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range(r->cross < 0 ? r->n_rows : r->n_rows / r->dim[r->cross] * r->bands, r->n_tasks,
		  task, &lo, &hi);
	if (r->cross < 0)
		copy_rows(r, lo, hi);
	while (r->cross >= 0 && lo < hi) {
		int64_t plane = lo / r->bands, first = lo % r->bands;
		int64_t n = least(r->bands - first, hi - lo);
		copy_bands(r, plane, first, first + n);
		lo += n;
	}
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
	int64_t all = r->dim[0], rows = n, part;
	if (r->rank > 1 || n < 2)
		return;
	while (rows < 64 * n && all % rows)
		rows++;
	part = all / rows;
	if (all % rows || part < 64)
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
	if (c->n_threads > 1)
		cut_line(&r, r.n_tasks < 64 ? r.n_tasks : 64);
	for (uint32_t d = 0; d + 1 < r.rank; d++) {
		r.n_rows *= r.dim[d];
		if (r.stride[d] == (int64_t)elem_size && r.dim[d] >= 4 &&
		    r.stride[r.rank - 1] != (int64_t)elem_size && r.dim[r.rank - 1] >= 4)
			r.cross = (int)d;
	}
	int64_t most = r.n_rows;
	if (r.cross >= 0) {
		int64_t n = r.dim[r.rank - 1], m = r.dim[r.cross];
		r.bands = ((n > m ? n : m) + TILE - 1) / TILE;
		most = r.n_rows / m * r.bands;
	}
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
