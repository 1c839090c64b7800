/* seq2seq.c - the encoder, the decoder and the attention of the recurrent placers. */
#include "learn/net/seq2seq.h"
#include "learn/net/net_layer.h"

#include <math.h>

enum {
	NORM_GAIN,
	NORM_BIAS,
	ENC_IN,
	ENC_BIAS,
	ENC_STATE,
	DEVICE,
	DEC_IN,
	DEC_BIAS,
	DEC_STATE,
	ATT_QUERY,
	ATT_KEY,
	ATT_V,
	OUT_STATE,
	OUT_BIAS,
	OUT_CONTEXT,
	FIRST_OPTIONAL
};

/* Where the matrices of the options are. */
static int own_at(void)
{
	return FIRST_OPTIONAL;
}

static int back_at(const struct seq2seq *s)
{
	return FIRST_OPTIONAL + s->aligned;
}

/* Of one direction of the encoder. */
static uint32_t half(const struct seq2seq *s)
{
	return (uint32_t)(s->both_ways ? (s->hidden + 1) / 2 : s->hidden);
}

static uint32_t width(const struct seq2seq *s)
{
	return s->both_ways ? 2 * half(s) : half(s);
}

/* A weight matrix without bias, as add_linear makes it. */
static void add_weight(struct params *p, const char *name, uint32_t in, uint32_t out, double gain)
{
	params_add(p, name, in, out, PARAM_UNIFORM, (float)(gain / sqrt(in)));
}

void seq2seq_add(struct params *p, const struct seq2seq *s, uint32_t d, uint32_t k)
{
	uint32_t h = width(s), e = half(s);
	add_norm(p, "policy.norm", d);
	add_linear(p, "encoder.in", d, 4 * e, 1);
	add_weight(p, "encoder.state", e, 4 * e, 1);
	add_weight(p, "device", k + 1, h, sqrt(k + 1));
	add_linear(p, "decoder.in", h, 4 * h, 1);
	add_weight(p, "decoder.state", h, 4 * h, 1);
	add_weight(p, "attention.query", h, h, 1);
	add_weight(p, "attention.key", h, h, 1);
	add_weight(p, "attention.v", 1, h, 1 / sqrt(h));
	add_linear(p, "out.state", h, k, s->gain);
	add_weight(p, "out.context", h, k, s->gain);
	if (s->aligned)
		add_weight(p, "decoder.own", h, 4 * h, 1);
	if (s->both_ways) {
		add_linear(p, "backwards.in", d, 4 * e, 1);
		add_weight(p, "backwards.state", e, 4 * e, 1);
	}
}

/* ---- rows ---- */

/* Each of the rows [first, first + n) `times` times. */
static struct mat *rows_of(struct tape *t, struct mat *x, uint32_t first, uint32_t n,
			   uint32_t times)
{
	uint32_t *index = arena_raw(tape_arena(t), (size_t)n * times, sizeof *index);
	for (uint32_t i = 0; i < n * times; i++)
		index[i] = first + i / times;
	return tape_gather(t, x, index, n * times);
}

/* x + y, which have no other use */
static struct mat *add_done(struct tape *t, struct mat *x, struct mat *y)
{
	struct mat *sum = tape_add(t, x, y);
	tape_done(t, x);
	tape_done(t, y);
	return sum;
}

/* ---- encoder ---- */

/* The states of the groups (n,h), and [h | c] (1,2h) from which the decoder begins. */
struct encoded {
	struct mat *e, *last;
};

static struct encoded encode(struct tape *t, const struct seq2seq *s, struct mat *const *p,
			     struct mat *z)
{
	const struct after none = {0};
	uint32_t h = half(s), n = z->rows;
	struct mat *x = tape_norm(t, z, NULL, p[NORM_GAIN], p[NORM_BIAS], none);
	struct mat *run = tape_lstm(t, tape_linear(t, x, p[ENC_IN], p[ENC_BIAS], none),
				    p[ENC_STATE], NULL, 1, false); /* [h | c] */
	struct mat *e = tape_columns(t, run, 0, h), *last = rows_of(t, run, n - 1, 1, 1);
	if (!s->both_ways)
		return (struct encoded){e, last};
	p += back_at(s);
	struct mat *back = tape_lstm(t, tape_linear(t, x, p[0], p[1], none), p[2], NULL, 1, true);
	struct mat *first = rows_of(t, back, 0, 1, 1);
	struct mat *hs = tape_beside(t, tape_columns(t, last, 0, h), tape_columns(t, first, 0, h));
	struct mat *cs = tape_beside(t, tape_columns(t, last, h, h), tape_columns(t, first, h, h));
	return (struct encoded){tape_beside(t, e, tape_columns(t, back, 0, h)),
				tape_beside(t, hs, cs)};
}

/* ---- decoder ---- */

/* C tanh(x / C), or x */
static struct mat *squash(struct tape *t, struct mat *x, double c)
{
	if (c <= 0)
		return x;
	return tape_scale(t, tape_tanh(t, tape_scale(t, x, 1 / c)), c);
}

void seq2seq_choose(struct tape *t, const struct seq2seq *s, struct mat *const *p, struct mat *z,
		    struct choices *c)
{
	const struct after none = {0};
	uint32_t h = width(s), samples = c->n_samples;
	struct encoded enc = encode(t, s, p, z);
	struct attended *places = tape_attended(t, tape_matmul(t, enc.e, p[ATT_KEY]), enc.e);
	struct mat *own = s->aligned ? tape_matmul(t, enc.e, p[own_at()]) : NULL;
	struct mat *device = tape_linear(t, p[DEVICE], p[DEC_IN], p[DEC_BIAS], none);
	struct mat *state = rows_of(t, enc.last, 0, 1, samples);

	for (uint32_t at = 0, n; (n = choices_run(c, at)) > 0; at += n) {
		struct mat *in = tape_gather(t, device, choices_before(c, at, n), n * samples);
		if (own)
			in = add_done(t, in, rows_of(t, own, at, n, samples));
		struct mat *run = tape_lstm(t, in, p[DEC_STATE], state, samples, false);
		struct mat *now = tape_columns(t, run, 0, h);
		struct mat *query = tape_project(t, now, p[ATT_QUERY]);
		struct mat *context = tape_attend(t, query, places, p[ATT_V]);
		struct mat *logits =
			add_done(t, tape_linear(t, now, p[OUT_STATE], p[OUT_BIAS], none),
				 tape_project(t, context, p[OUT_CONTEXT]));
		choices_take(c, at, n, squash(t, logits, s->tanh_constant));
		tape_done(t, logits);
		tape_done(t, in);
		tape_done(t, now);
		tape_done(t, query);
		tape_done(t, context);
		tape_done(t, state);
		state = rows_of(t, run, run->rows - samples, samples, 1);
		tape_done(t, run);
	}
}

struct mat *seq2seq_adjacency(struct tape *t, struct mat *z, const struct ugraph *graph,
			      const uint32_t *group, const uint32_t *row, struct mat *w)
{
	struct arena *a = tape_arena(t);
	struct ugraph q;
	ugraph_quotient(&q, graph, group, z->rows, a);
	uint32_t n = 0, *beside = arena_raw(a, 2 * (size_t)q.m, sizeof *beside);
	uint32_t *at = arena_raw(a, 2 * (size_t)q.m, sizeof *at);
	for (uint32_t g = 0; g < q.n; g++)
		for (uint32_t i = q.ptr[g]; i < q.ptr[g + 1]; i++)
			if (q.adj[i] != g) {
				beside[n] = row[q.adj[i]];
				at[n++] = g;
			}
	if (n == 0)
		return z;
	struct mat *rows = tape_gather(t, w, beside, n);
	struct mat *sum = tape_segment_sum(t, rows, at, z->rows, 0);
	tape_done(t, rows);
	return tape_add(t, z, sum);
}
