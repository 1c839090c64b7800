/* strided.c - blocks of memory with strides, copied to others: lines, planes in tiles, or rows,
 * whichever lies together. */
#include "kernel/kernel_impl.h"
#include "kernel/transpose.h"

#include <string.h>

enum { GRAIN = 32768, TILE = 32, SHORT = 4, FEW = 64 };

struct copy_run {
	size_t size;                                              /* of an element, bytes */
	uint32_t rank;                                            /* after merging, >= 1 */
	int64_t dim[COPY_DIMS], stride[COPY_DIMS], to[COPY_DIMS]; /* bytes, of source and copy */
	/* The last dim, or the last two, are copied at a time: a line, or a plane whose elements lie together along the last
	 * but one in src and along the last in dst. */
	bool planes;
	int64_t n_rows; /* product of all dims before these */
	int64_t bands;  /* parts of a row; of a plane TILE of the longer dim each */
	const char *src;
	char *dst;
	int n_tasks;
};

/* n elements of `size` bytes, from src with a stride to dst with one; most are contiguous there. */
#define STRIDED(T) \
	do { \
		if (dst_stride == (int64_t)sizeof(T)) \
			for (int64_t i = 0; i < n; i++) \
				((T *)(void *)dst)[i] = \
					*(const T *)(const void *)(src + i * stride); \
		else \
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

static void copy_line(size_t size, char *restrict dst, int64_t dst_stride, const char *restrict src,
		      int64_t stride, int64_t n)
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

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* to[j][i] = from[i][j], i < n, j < m: i along the last dim, j along the one before. */
static void turn_plane(const struct copy_run *r, const char *from, char *to, int64_t n, int64_t m)
{
	uint32_t last = r->rank - 1, cross = last - 1;
	int64_t size = (int64_t)r->size, f = r->stride[last], t = r->to[cross];
	bool tiles = (n >= SHORT && m >= SHORT && n * m >= FEW) || (n == 3 && t == 3 * size);
	if (tiles && size == 4 && r->to[last] == 4 && f % 4 == 0 && t % 4 == 0) {
		cpu_turn((const float *)(const void *)from, f / 4, n, m, (float *)(void *)to,
			 t / 4);
		return;
	}
	for (int64_t i = 0; i < n && n < m; i++)
		copy_line(r->size, to + i * r->to[last], t, from + i * f, size, m);
	int64_t tile = m < SHORT ? n : TILE;
	for (int64_t i = 0; i < n && n >= m; i += tile)
		for (int64_t j = 0; j < m; j++)
			copy_line(r->size, to + j * t + i * r->to[last], r->to[last],
				  from + j * size + i * f, f, least(tile, n - i));
}

/* Bands lo .. hi - 1 of the plane. */
static void copy_bands(const struct copy_run *r, const char *from, char *to, int64_t lo, int64_t hi)
{
	uint32_t last = r->rank - 1, cross = last - 1;
	int64_t n = r->dim[last], m = r->dim[cross];
	uint32_t longer = n > m ? last : cross;
	int64_t *count = n > m ? &n : &m;
	*count = least(hi * TILE, *count) - lo * TILE;
	turn_plane(r, from + lo * TILE * r->stride[longer], to + lo * TILE * r->to[longer], n, m);
}

/* Bands lo .. hi - 1, of one row after another. */
static void copy_task(void *arg, int task, int thread)
{
	const struct copy_run *r = arg;
	int64_t lo, hi, at[COPY_DIMS] = {0}, from = 0, to = 0, n;
	uint32_t last = r->rank - 1, outer = r->planes ? last - 1 : last;
	(void)thread;
	cpu_range(r->n_rows * r->bands, r->n_tasks, task, &lo, &hi);
	int64_t rest = lo / r->bands;
	for (uint32_t d = outer; d-- > 0; rest /= r->dim[d]) {
		at[d] = rest % r->dim[d];
		from += at[d] * r->stride[d];
		to += at[d] * r->to[d];
	}
	for (int64_t first = lo % r->bands; lo < hi; lo += n, first = 0) {
		n = least(r->bands - first, hi - lo);
		if (r->planes)
			copy_bands(r, r->src + from, r->dst + to, first, first + n);
		else
			copy_line(r->size, r->dst + to, r->to[last], r->src + from, r->stride[last],
				  r->dim[last]);
		for (uint32_t d = outer; d-- > 0;) {
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

/* Dim d behind those that were behind it: in which order dims are walked does not matter. */
static void walk_last(struct copy_run *r, uint32_t d, uint32_t place)
{
	int64_t dim = r->dim[d], stride = r->stride[d], to = r->to[d];
	for (; d < place; d++) {
		r->dim[d] = r->dim[d + 1];
		r->stride[d] = r->stride[d + 1];
		r->to[d] = r->to[d + 1];
	}
	r->dim[d] = dim;
	r->stride[d] = stride;
	r->to[d] = to;
}

/* Planes where there are some, else lines along the last dim, or the longest one where that is short. */
static void choose_order(struct copy_run *r)
{
	uint32_t last = r->rank - 1, longest = last;
	int64_t size = (int64_t)r->size, n = r->dim[last];
	for (uint32_t d = 0; d < last; d++)
		longest = r->dim[d] > r->dim[longest] ? d : longest;
	for (uint32_t d = 0; d < last && r->stride[last] != size; d++)
		if (r->stride[d] == size && r->dim[d] > 1 && (n >= SHORT || r->dim[d] >= SHORT)) {
			walk_last(r, d, last - 1);
			r->planes = true;
			n = n > r->dim[last - 1] ? n : r->dim[last - 1];
			r->bands = (n + TILE - 1) / TILE;
			return;
		}
	if (n < SHORT && r->dim[longest] >= 4 * n)
		walk_last(r, longest, last);
}

void cpu_move_strided(struct cpu_ctx *c, size_t elem_size, uint32_t rank, const int64_t *dim,
		      const int64_t *stride, const char *src, const int64_t *to, char *dst)
{
	struct copy_run r = {.size = elem_size, .n_rows = 1, .bands = 1, .src = src, .dst = dst};
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
	choose_order(&r);
	for (uint32_t d = 0; d + 1 + r.planes < r.rank; d++)
		r.n_rows *= r.dim[d];
	if (r.n_tasks > r.n_rows * r.bands)
		r.n_tasks = (int)(r.n_rows * r.bands);
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
