/* top_k.c - TopK: the first k of each line along an axis. */
#include "base/heap.h"
#include "kernel/kernel_impl.h"
#include "kernel/ops/lines.h"
#include "kernel/ops/radix.h"
#include "op/slice.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { TOPK_LANES = 64, TOPK_FEW = 8, SHORT_LINE = 32 };

#define LEVEL_FILE "kernel/ops/top_k_loops.h"
#include "kernel/isa_dispatch.h"

struct ranked {
	double real;
	int64_t integer, index;
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->real != y->real)
		return x->real < y->real ? -1 : 1;
	if (x->integer != y->integer)
		return x->integer < y->integer ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_value_down(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->real != y->real)
		return x->real > y->real ? -1 : 1;
	if (x->integer != y->integer)
		return x->integer > y->integer ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_index(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	return x->index < y->index ? -1 : x->index > y->index;
}

struct top_k_run {
	bool max, by_index;
	const struct tensor *x, *values, *indices;
	struct lines from, to;
	struct cpu_ctx *ctx;
	atomic_bool no_memory;
	int n_tasks;
};

typedef int order_fn(const void *a, const void *b);

static struct ranked ranked_at(const struct tensor *x, int64_t at, int64_t j)
{
	return (struct ranked){tensor_real(x, at), elem_is_real(x->elem) ? 0 : tensor_int(x, at),
			       j};
}

#define COMES_LATER(a, b) (order(&(a), &(b)) > 0)
static void sink(struct ranked *h, int64_t n, int64_t i, order_fn *order)
{
	struct ranked x = h[i];
	HEAP_SINK(h, n, i, x, COMES_LATER);
}

/* The first `most` of a line, in their order, in h: a heap with the last of them on top.  An element
 * comes later than its equals, so that only one that is before the top in value goes in. */
static void rank_line(const struct top_k_run *r, int64_t start, struct ranked *h, int64_t most)
{
	order_fn *order = r->max ? by_value_down : by_value;
	int64_t n = r->from.length, step = r->from.step, j = 0;
	for (; j < most; j++)
		h[j] = ranked_at(r->x, start + j * step, j);
	for (int64_t i = most / 2; i-- > 0 && most < n;)
		sink(h, most, i, order);
	const float *f = r->x->elem == EL_F32 ? (const float *)r->x->data + start : NULL;
	for (; j < n && most > 0; j++) {
		if (f) { /* most of them are passed by */
			const float top = (float)h[0].real, sign = r->max ? 1 : -1;
			while (j < n && !(sign * f[j * step] > sign * top))
				j++;
			if (j == n)
				break;
		}
		struct ranked next = ranked_at(r->x, start + j * step, j);
		if (order(&next, &h[0]) < 0) {
			h[0] = next;
			sink(h, most, 0, order);
		}
	}
	qsort(h, (size_t)most, sizeof *h, r->by_index ? by_index : order);
}

/* ---- lines of f32 and i32: ranked by their bits ---- */

enum { MANY = 32, MANY_OF = 128, TOP_BITS = 11, BLOCK = 64 };

/* Keys of n elements of a line from j on, a lower one comes first; the least of them. */
static uint32_t keys_at(const struct top_k_run *r, int64_t start, int64_t j, int64_t n,
			uint32_t *key)
{
	const int32_t *x = (const int32_t *)r->x->data + start + j * r->from.step;
	return LEVEL_CALL(line_keys, x, r->from.step, n, r->x->elem == EL_F32, r->max, key);
}

/* `key` into the `held` lowest ones, in order, of which there is room for `most`; how many there are then. */
static int64_t put_key(uint64_t *first, int64_t held, int64_t most, uint64_t key)
{
	if (held == most && key > first[most - 1])
		return held;
	int64_t i = held < most ? held : most - 1;
	for (; i > 0 && first[i - 1] > key; i--)
		first[i] = first[i - 1];
	first[i] = key;
	return held < most ? held + 1 : most;
}

/* As rank_line, for few of a line: keys with indices behind them, in order; only the indices of h are filled in. */
static void rank_few(const struct top_k_run *r, int64_t start, struct ranked *h, int64_t most)
{
	uint64_t first[MANY];
	uint32_t key[BLOCK];
	int64_t n = r->from.length, held = 0;
	for (int64_t j = 0, end; j < n && most > 0; j = end) {
		end = n - j < BLOCK ? n : j + BLOCK;
		uint32_t least = keys_at(r, start, j, end - j, key);
		if (held == most && least >= first[most - 1] >> 32)
			continue;
		for (int64_t i = j; i < end; i++)
			held = put_key(first, held, most, (uint64_t)key[i - j] << 32 | (uint32_t)i);
	}
	for (int64_t j = 0; j < most; j++)
		h[j].index = (uint32_t)first[j];
	if (r->by_index)
		qsort(h, (size_t)most, sizeof *h, by_index);
}

/* Those of a line whose keys may be among the first `most`, in the line's order, in `found`; their
 * number.  key: (n) */
static int64_t find_first(const struct top_k_run *r, int64_t start, int64_t most, uint32_t *key,
			  struct keyed32 *found)
{
	int64_t count[1 << TOP_BITS] = {0}, n = r->from.length, m = 0;
	uint32_t last = 0;
	keys_at(r, start, 0, n, key);
	for (int64_t j = 0; j < n; j++)
		count[key[j] >> (32 - TOP_BITS)]++;
	for (int64_t sum = count[0]; sum < most; sum += count[last])
		last++;
	for (int64_t j = 0; j < n; j++) {
		found[m] = (struct keyed32){key[j], (uint32_t)j};
		m += key[j] >> (32 - TOP_BITS) <= last;
	}
	return m;
}

/* As rank_line; only the indices of h are filled in.  room: 2 (n + 1). */
static void rank_keys(const struct top_k_run *r, int64_t start, struct ranked *h, int64_t most,
		      struct keyed32 *room)
{
	struct keyed32 *b = room + r->from.length + 1;
	int64_t n = find_first(r, start, most, (uint32_t *)(void *)b, room);
	const struct keyed32 *sorted = radix_sort32(room, b, n);
	for (int64_t j = 0; j < most; j++)
		h[j].index = sorted[j].index;
	if (r->by_index)
		qsort(h, (size_t)most, sizeof *h, by_index);
}

static bool by_bits(enum elem t)
{
	return t == EL_F32 || t == EL_I32;
}

/* Few of each line, and lines beside each other in memory, or so short that they are soon put there. */
static bool in_lanes(const struct top_k_run *r)
{
	enum elem e = r->indices->elem;
	bool beside = r->from.step >= 16 && r->from.step == r->to.step;
	bool shorts = r->from.step == 1 && r->from.length <= SHORT_LINE;
	return by_bits(r->x->elem) && r->to.length <= TOPK_FEW && r->to.length > 0 &&
	       r->to.length <= r->from.length && r->from.length < INT32_MAX && (beside || shorts) &&
	       (!r->indices->data || e == EL_I32 || e == EL_I64);
}

/* Ranks of lane l by index. */
static void sort_lane(int32_t (*index)[TOPK_LANES], int l, int most)
{
	for (int i = 1; i < most; i++)
		for (int j = i; j > 0 && index[j - 1][l] > index[j][l]; j--) {
			int32_t t = index[j][l];
			index[j][l] = index[j - 1][l];
			index[j - 1][l] = t;
		}
}

/* The first `most` of lanes at x, `step` apart, where `length` elements are; those of lane l go to dst + l * lane. */
static void rank_to(const struct top_k_run *r, const int32_t *x, int64_t step, int lanes,
		    int64_t dst, int64_t lane)
{
	int32_t index[TOPK_FEW][TOPK_LANES], *values = r->values->data;
	int most = (int)r->to.length;
	LEVEL_CALL(rank_lanes, x, r->from.length, step, (lanes + 15) / 16 * 16, most,
		   r->x->elem == EL_F32, r->max, index);
	for (int l = 0; l < lanes && r->by_index; l++)
		sort_lane(index, l, most);
	for (int j = 0; j < most; j++, dst += r->to.step)
		for (int l = 0; l < lanes; l++) {
			int64_t at = dst + l * lane;
			if (values)
				values[at] = x[index[j][l] * step + l];
			if (r->indices->data && r->indices->elem == EL_I32)
				((int32_t *)r->indices->data)[at] = index[j][l];
			else if (r->indices->data)
				((int64_t *)r->indices->data)[at] = index[j][l];
		}
}

/* As many lines from line i on as are beside each other and before hi, by 16, or of short ones whose elements lie together those
 * that are there; how many. */
static int rank_beside(const struct top_k_run *r, int64_t i, int64_t hi)
{
	int64_t start = line_start(&r->from, i), dst = line_start(&r->to, i), step = r->from.step;
	const int32_t *x = (const int32_t *)r->x->data + start; /* their bits */
	if (step == 1) {
		int32_t side[SHORT_LINE][TOPK_LANES] = {{0}};
		int lanes = hi - i < TOPK_LANES ? (int)(hi - i) : TOPK_LANES;
		for (int l = 0; l < lanes; l++)
			for (int64_t j = 0; j < r->from.length; j++)
				side[j][l] = *x++;
		rank_to(r, side[0], TOPK_LANES, lanes, dst, r->to.length);
		return lanes;
	}
	int64_t beside = step - i % step < hi - i ? step - i % step : hi - i;
	int lanes = beside < TOPK_LANES ? (int)beside / 16 * 16 : TOPK_LANES;
	if (lanes > 0)
		rank_to(r, x, step, lanes, dst, 1);
	return lanes;
}

static void top_k_task(void *arg, int task, int thread)
{
	struct top_k_run *r = arg;
	size_t size = cpu_elem_size(r->x->elem);
	int64_t lo, hi, most = r->to.length;
	bool bits = by_bits(r->x->elem) && most <= r->from.length && r->from.length < UINT32_MAX;
	bool lanes = in_lanes(r), few = r->x->elem == EL_F32 && r->from.length > MANY_OF * most;
	bool keys = bits && most >= MANY && !few;
	size_t room = keys ? 2 * (size_t)(r->from.length + 1) * sizeof(struct keyed32) : 0;
	struct ranked *h =
		cpu_thread_scratch(r->ctx, thread, (size_t)(most + 1) * sizeof *h + room);
	if (!h) {
		atomic_store(&r->no_memory, true);
		return;
	}
	int64_t unit = lanes ? TOPK_LANES : 1;
	cpu_range((r->from.n + unit - 1) / unit, r->n_tasks, task, &lo, &hi);
	lo *= unit;
	hi = hi * unit < r->from.n ? hi * unit : r->from.n;
	for (int64_t i = lo, done; i < hi; i += done) {
		done = lanes ? rank_beside(r, i, hi) : 0;
		if (done > 0)
			continue;
		done = 1;
		int64_t start = line_start(&r->from, i), dst = line_start(&r->to, i);
		if (keys)
			rank_keys(r, start, h, most, (struct keyed32 *)(void *)(h + most + 1));
		else if (bits && most < MANY)
			rank_few(r, start, h, most);
		else
			rank_line(r, start, h, most);
		for (int64_t j = 0; j < most; j++, dst += r->to.step) {
			int64_t at = start + h[j].index * r->from.step;
			if (r->values->data)
				memcpy((char *)r->values->data + (size_t)dst * size,
				       (const char *)r->x->data + (size_t)at * size, size);
			if (r->indices->data)
				tensor_set_int(r->indices, dst, h[j].index);
		}
	}
}

int run_top_k(const struct kernel_call *k, struct err *e)
{
	struct top_k_run r = {.max = k->op->a.topk.max,
			      .by_index = k->op->a.topk.by_index,
			      .x = &k->in[0],
			      .values = &k->out[0],
			      .indices = &k->out[1],
			      .ctx = k->ctx};
	int axis = op_axis(k->op->a.topk.axis, r.x->rank);
	if (axis < 0 || !cpu_elem_size(r.x->elem))
		return err_set(e, ST_INPUT, "axis or type of TopK do not fit");
	r.from = lines_of(r.x, axis);
	r.to = lines_of(r.values, axis);
	r.n_tasks = cpu_tasks(r.from.n * r.from.length, 4096);
	if (r.n_tasks > r.from.n)
		r.n_tasks = (int)r.from.n;
	cpu_parallel(k->ctx, r.n_tasks, top_k_task, &r);
	return atomic_load(&r.no_memory) ? cpu_no_memory(e) : 0;
}
