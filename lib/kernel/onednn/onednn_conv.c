/* onednn_conv.c - a convolution as a whole, or as several, each of a part of the output channels: tasks of threads where
 * there are fewer slices than these. */
#include "kernel/onednn/onednn_conv.h"
#include "kernel/onednn/onednn_slices.h"

#include <string.h>

enum {
	PART_PRODUCTS = 1 << 17, /* multiplications of a part, at least */
	PART_CHANNELS = 64,      /* output channels of a part, at least */
	BLOCK_CHANNELS = 16      /* a part has whole blocks of them */
};

struct onednn_conv {
	size_t bytes; /* of a part's channels of a pixel of the output */
	int n;
	struct onednn_slices **part; /* (n) all with as many slices; 1: the whole */
};

/* ---- parts ---- */

/* A weight that comes from the third cache takes as long as so many multiplications, of whatever type: 60 GB/s beside 110, 230, 460
 * billion a second in f32, bf16, int8 on a Zen 5.  A core's second cache keeps so many bytes. */
static const double WEIGHT_PRODUCTS = 7.5;
enum { KEPT_BYTES = 1 << 20 };

static int choose_parts(const struct onednn_conv_spec *s, int slices, double uneven, int threads)
{
	const struct window *g = &s->g;
	int64_t bytes = g->cin * g->cout * g->taps * (int64_t)cpu_elem_size(s->src);
	int64_t most = g->cin * g->cout * g->taps * g->out_plane / slices / PART_PRODUCTS;
	if (most > g->cout / PART_CHANNELS)
		most = g->cout / PART_CHANNELS;
	if (g->groups > 1 || g->cout % BLOCK_CHANNELS)
		most = 1;
	const struct channel_parts c = {
		.slices = g->batch * slices,
		.threads = threads,
		.most = most < threads ? (int)most : threads,
		.blocks = g->cout / BLOCK_CHANNELS,
		/* what it costs to bring a part's outputs where they belong */
		.ready = 30.0 / (double)(g->cin * g->taps),
		.uneven = uneven,
		.reading = bytes > KEPT_BYTES ? WEIGHT_PRODUCTS * slices / (double)g->out_plane : 0,
		.kept = bytes / threads <= KEPT_BYTES,
		.worth = 0.97,
	};
	return channel_parts_choose(&c);
}

/* Part `at` of n of s, as it is, but for how many threads it is. */
static struct onednn_conv_spec part_of(const struct onednn_conv_spec *s, int at, int n)
{
	struct onednn_conv_spec part = *s;
	int64_t channels = s->g.cout / n, bytes = tensor_bytes(&s->weights) / n;
	if (n == 1)
		return part;
	part.g.cout = channels;
	part.weights.dim[0] = channels;
	part.weights.data = (char *)s->weights.data + at * bytes;
	part.key = (const char *)s->key + at * bytes;
	part.scale = s->scale ? s->scale + at * channels : NULL;
	part.bias = s->bias ? s->bias + at * channels : NULL;
	return part;
}

/* 0: the library has none, or they are cut in different ways. */
static int make_parts(struct onednn_conv *m, const struct onednn_conv_spec *s, int n,
		      struct cpu_ctx *c, struct err *e)
{
	m->part = MEM_NEWN(struct onednn_slices *, (size_t)n);
	for (; m->n < n; m->n++) {
		struct onednn_conv_spec part = part_of(s, m->n, n);
		struct onednn_slices *made = m->part[m->n] = onednn_slices_new(&part, 1);
		if (!made)
			return 0;
		if (onednn_slices_pack(made, &part, c, e) < 0) {
			onednn_slices_free(made);
			return -1;
		}
	}
	for (int i = 1; i < n; i++)
		if (onednn_slices_count(m->part[i]) != onednn_slices_count(m->part[0]))
			return 0;
	return 1;
}

static void drop_parts(struct onednn_conv *m)
{
	for (int i = 0; i < m->n; i++)
		onednn_slices_free(m->part[i]);
	mem_free(m->part);
	m->part = NULL;
	m->n = 0;
}

/* ---- all of it ---- */

int onednn_conv_new(const struct onednn_conv_spec *s, struct cpu_ctx *c, struct onednn_conv **out,
		    struct err *e)
{
	struct onednn_slices *whole = onednn_slices_new(s, c->n_threads);
	if (!whole)
		return 0;
	int n = s->parts ? choose_parts(s, onednn_slices_count(whole), onednn_slices_uneven(whole),
					c->n_threads)
			 : 1;
	struct onednn_conv *m = MEM_NEW(struct onednn_conv);
	m->bytes = (size_t)(s->g.cout / n) * cpu_elem_size(s->dst);
	int made = n > 1 ? make_parts(m, s, n, c, e) : 0;
	if (made == 0) {
		drop_parts(m);
		m->part = MEM_NEWN(struct onednn_slices *, 1);
		m->part[m->n++] = whole;
		made = onednn_slices_pack(whole, s, c, e) < 0 ? -1 : 1;
	} else {
		onednn_slices_free(whole);
	}
	if (made > 0)
		*out = m;
	else
		onednn_conv_free(m);
	return made;
}

void onednn_conv_free(struct onednn_conv *m)
{
	if (!m)
		return;
	drop_parts(m);
	mem_free(m);
}

uint64_t onednn_conv_bytes(const struct onednn_conv *m)
{
	uint64_t bytes = 0;
	for (int i = 0; i < m->n; i++)
		bytes += onednn_slices_bytes(m->part[i]);
	return bytes;
}

int onednn_conv_slices(const struct onednn_conv *m)
{
	return onednn_slices_count(m->part[0]);
}

int onednn_conv_parts(const struct onednn_conv *m)
{
	return m->n;
}

/* ---- running ---- */

/* Bytes of a part's outputs in a slice. */
static size_t part_bytes(const struct onednn_conv *m, int64_t pixels)
{
	return ((size_t)pixels * m->bytes + 63) / 64 * 64;
}

struct window_slice onednn_conv_slice(const struct onednn_conv *m, int i)
{
	struct window_slice first = onednn_slices_at(m->part[0], i);
	first.scratch += m->n > 1 ? part_bytes(m, first.n) : 0;
	return first;
}

/* Into scratch, and from there between the other parts' channels. */
static int run_part(const struct onednn_conv *m, int i, int at, const void *x, void *y,
		    char *scratch, struct err *e)
{
	int64_t n = onednn_slices_at(m->part[at], i).n;
	char *sums = scratch, *to = (char *)y + (size_t)at * m->bytes;
	if (onednn_slices_run(m->part[at], i, x, sums, scratch + part_bytes(m, n), e) < 0)
		return -1;
	for (int64_t j = 0; j < n; j++)
		memcpy(to + (size_t)(j * m->n) * m->bytes, sums + (size_t)j * m->bytes, m->bytes);
	return 0;
}

int onednn_conv_run(struct onednn_conv *m, int i, struct channel_part part, const void *x, void *y,
		    void *scratch, struct err *e)
{
	bool one = part.of > 1;
	if (m->n == 1)
		return onednn_slices_run(m->part[0], i, x, y, scratch, e);
	for (int at = one ? part.at : 0; at < (one ? part.at + 1 : m->n); at++)
		if (run_part(m, i, at, x, y, scratch, e) < 0)
			return -1;
	return 0;
}
