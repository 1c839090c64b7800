/* depthwise_nhwc.c - see depthwise_nhwc.h. */
#include "kernel/conv/depthwise_nhwc.h"
#include "kernel/conv/depthwise_tokens.h"

struct depthwise_rows {
	struct window g;
	struct tokens_blocks blocks;
	struct window_slices slices;
	struct cpu_pack *weights;
	float *bias; /* NULL: none */
	float lo, hi;
};

bool depthwise_rows_does(const struct window *g)
{
	return cpu_tokens_fit(g) && cpu_tokens_blocks(g).rows > 1;
}

static void fill(void *arg, void *data)
{
	const struct depthwise_rows_spec *s = arg;
	cpu_tokens_pack(data, s->weights->elem, s->weights->data, s->g.groups, s->g.taps);
}

struct depthwise_rows *depthwise_rows_new(const struct depthwise_rows_spec *s, struct cpu_ctx *c)
{
	enum { SLICES = 4 }; /* of each thread and image, so that all end at about one time */
	struct depthwise_rows *m = MEM_NEW(struct depthwise_rows);
	const struct window *g = &s->g;
	const uint64_t layout[6] = {OP_GROUP_CONVOLUTION, s->weights->elem, (uint64_t)g->groups,
				    (uint64_t)g->taps};
	*m = (struct depthwise_rows){
		.g = *g, .blocks = cpu_tokens_blocks(g), .lo = s->lo, .hi = s->hi};
	int64_t wanted = c->n_threads > 1 ? SLICES * c->n_threads : 1, rows = m->blocks.rows;
	int64_t each = (g->out[1] + wanted - 1) / wanted;
	each = (each + rows - 1) / rows * rows;
	m->slices = (struct window_slices){.axis = 1,
					   .each = each,
					   .in_inner = g->in[2],
					   .out_inner = g->out[2],
					   .n = (int)((g->out[1] + each - 1) / each)};
	union {
		const struct depthwise_rows_spec *c;
		void *p;
	} arg = {s};
	m->weights = cpu_pack_get(c->packs, s->weights->data, layout,
				  (uint64_t)(g->groups * g->taps) * sizeof(float), fill, arg.p);
	if (s->bias)
		m->bias = mem_copy(s->bias, (size_t)g->groups, sizeof *m->bias);
	if (m->weights)
		return m;
	depthwise_rows_free(m);
	return NULL;
}

void depthwise_rows_free(struct depthwise_rows *m)
{
	if (!m)
		return;
	if (m->weights)
		cpu_pack_drop(m->weights);
	mem_free(m->bias);
	mem_free(m);
}

const struct cpu_pack *depthwise_rows_pack(const struct depthwise_rows *m)
{
	return m->weights;
}

int depthwise_rows_slices(const struct depthwise_rows *m)
{
	return m->slices.n;
}

struct window_slice depthwise_rows_slice(const struct depthwise_rows *m, int i)
{
	struct window_slice s = window_slice_at(&m->g, &m->slices, i);
	s.scratch = cpu_tokens_scratch(&m->g);
	return s;
}

void depthwise_rows_run(const struct depthwise_rows *m, int i, const float *x, float *y,
			void *scratch)
{
	const struct window_slice s = window_slice_at(&m->g, &m->slices, i);
	const struct tokens_rows rows = {.g = &m->g,
					 .b = m->blocks,
					 .x = x,
					 .from = s.from,
					 .weights = (const float *)m->weights->data,
					 .bias = m->bias,
					 .lo = m->lo,
					 .hi = m->hi,
					 .y0 = s.at / m->g.out[2],
					 .y1 = (s.at + s.n) / m->g.out[2],
					 .y = y};
	cpu_tokens_rows(&rows, scratch);
}
