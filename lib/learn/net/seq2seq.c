/* seq2seq.c - the encoder, the decoder and the attention of the recurrent placers. */
#include "learn/net/seq2seq.h"
#include "learn/net/handover.h"
#include "learn/net/net_layer.h"

#include <assert.h>
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

/* ---- sequences and their rows ---- */

/* Sequences of several steps of the training side by side: step i has `copies` sequences of the same
 * length, its rank is how many sequences are before them. */
struct layout {
	struct sequences q;
	uint32_t n, copies;
	const uint32_t *length, *rank; /* (n) */
};

/* length (n): the longest first is what the sequences are put into. */
static struct layout layout_of(struct tape *t, const uint32_t *length, uint32_t n, uint32_t copies)
{
	struct arena *a = tape_arena(t);
	uint32_t *rank = arena_raw(a, n, sizeof *rank);
	uint32_t *sorted = arena_raw(a, (size_t)n * copies, sizeof *sorted);
	for (uint32_t i = 0; i < n; i++) {
		rank[i] = 0;
		for (uint32_t j = 0; j < n; j++)
			rank[i] += length[j] > length[i] || (length[j] == length[i] && j < i);
		rank[i] *= copies;
		for (uint32_t c = 0; c < copies; c++)
			sorted[rank[i] + c] = length[i];
	}
	return (struct layout){tape_sequences(t, sorted, n * copies), n, copies, length, rank};
}

/* Where place g of copy c of step i is. */
static uint32_t row_of(const struct layout *l, uint32_t i, uint32_t g, uint32_t c)
{
	return l->q.first[g] + l->rank[i] + c;
}

/* The rows of step i: places in order, the copies of a place beside each other. */
static struct mat *rows_of(struct tape *t, const struct layout *l, struct mat *x, uint32_t i)
{
	uint32_t n = l->length[i] * l->copies;
	if (l->n == 1)
		return x;
	uint32_t *index = arena_raw(tape_arena(t), n, sizeof *index);
	for (uint32_t r = 0; r < n; r++)
		index[r] = row_of(l, i, r / l->copies, r % l->copies);
	return tape_gather(t, x, index, n);
}

/* The matrices x (l->n) of all steps, each in the order of rows_of, as the rows of one. */
static struct mat *merge(struct tape *t, const struct layout *l, struct mat *const *x)
{
	if (l->n == 1)
		return x[0];
	uint32_t rows = l->q.first[l->q.steps];
	uint32_t *to = arena_raw(tape_arena(t), rows, sizeof *to), at = 0;
	for (uint32_t i = 0; i < l->n; i++)
		for (uint32_t r = 0; r < x[i]->rows; r++)
			to[at++] = row_of(l, i, r / l->copies, r % l->copies);
	return tape_stack(t, l->n, x, to);
}

/* A row of every sequence of `to`, that of its step in `from`: the last one, or the first. */
static struct mat *ends(struct tape *t, const struct layout *from, const struct layout *to,
			struct mat *x, bool last)
{
	uint32_t n = to->n * to->copies;
	uint32_t *index = arena_raw(tape_arena(t), n, sizeof *index);
	for (uint32_t i = 0; i < to->n; i++)
		for (uint32_t c = 0; c < to->copies; c++)
			index[to->rank[i] + c] = row_of(from, i, last ? from->length[i] - 1 : 0, 0);
	return tape_gather(t, x, index, n);
}

/* x + y, which have no other use */
static struct mat *add_done(struct tape *t, struct mat *x, struct mat *y)
{
	struct mat *sum = tape_add(t, x, y);
	tape_done(t, x);
	tape_done(t, y);
	return sum;
}

/* ---- what a draw hands over to a replay ---- */

/* States [h | c] and gates of a recurrent layer. */
struct run {
	struct tape_handed state, gates;
};

/* What is handed over: the runs of the encoder, either way, the keys; of the decoder in the order of the layout `all`
 * its run and the queries; of each step the weights of attention. */
struct handed {
	struct run encoder[2], decoder;
	struct tape_handed keys, query, *weights;
	const struct layout *all;
};

enum { ALIGNED = 16 }; /* floats */

/* n floats behind *at in the memory v; NULL: only counted. */
static struct tape_handed cut(float *v, size_t *at, size_t n, bool known)
{
	const struct tape_handed h = {v ? v + *at : NULL, known};
	*at += (n + ALIGNED - 1) / ALIGNED * ALIGNED;
	return h;
}

static struct run cut_run(float *v, size_t *at, size_t rows, size_t h, bool known)
{
	const struct tape_handed state = cut(v, at, rows * 2 * h, known);
	return (struct run){state, cut(v, at, rows * 4 * h, known)};
}

/* Lays them out in v; NULL: nothing is handed over.  Returns the floats that they take. */
static size_t lay_out(struct handed *d, const struct seq2seq *s, float *v, bool known)
{
	const struct layout *all = d->all;
	size_t rows = all->q.first[all->q.steps], at = 0;
	for (int i = 0; i < 1 + s->both_ways; i++)
		d->encoder[i] = cut_run(v, &at, rows / all->copies, half(s), known);
	d->keys = cut(v, &at, rows / all->copies * width(s), known);
	d->decoder = cut_run(v, &at, rows, width(s), known);
	d->query = cut(v, &at, rows * width(s), known);
	for (uint32_t i = 0; i < all->n; i++)
		d->weights[i] =
			cut(v, &at, (size_t)all->length[i] * all->copies * all->length[i], known);
	return at;
}

/* From row `row` on, of n columns. */
static struct tape_handed handed_from(const struct tape_handed *h, size_t row, size_t n)
{
	return (struct tape_handed){h->v ? h->v + row * n : NULL, h->known};
}

/* Where the values of these choices are to be written, or found. */
static struct handed handed_of(struct tape *t, const struct seq2seq *s, const struct layout *all,
			       const struct choices *c)
{
	struct handover *to = c->handover;
	struct handed d = {.all = all,
			   .weights = ARENA_NEWN(tape_arena(t), struct tape_handed, all->n)};
	size_t n = lay_out(&d, s, NULL, false);
	bool fits = to && n <= to->room && to->steps == all->n;
	for (uint32_t i = 0; i < all->n; i++)
		fits = fits && c[i].handover == to &&
		       tape_keeps_weights((size_t)all->length[i] * all->copies, all->length[i]);
	if (fits && c->draw)
		to->n = n;
	if (fits && to->n == n)
		lay_out(&d, s, to->v, !c->draw);
	return d;
}

/* ---- encoder ---- */

/* The states of the groups (rows,h), and [h | c] (sequences of the decoder, 2h) from which it begins. */
struct encoded {
	struct layout of;
	struct mat *e, *last;
};

/* One direction of the encoder: [h | c]. */
static struct mat *run_encoder(struct tape *t, struct mat *x, struct mat *const *p,
			       const struct layout *l, bool back, const struct run *run)
{
	const struct tape_handed in = {NULL, run->state.known};
	return tape_lstm_handed(t, tape_linear_handed(t, x, p[0], p[1], &in), p[2], NULL, &l->q,
				back, &run->state, &run->gates);
}

static struct encoded encode(struct tape *t, const struct seq2seq *s, struct mat *const *p,
			     struct mat *const *z, const struct handed *handed)
{
	const struct layout *to = handed->all;
	const struct after none = {0};
	const struct layout l = layout_of(t, to->length, to->n, 1);
	uint32_t h = half(s);
	struct mat *x = tape_norm(t, merge(t, &l, z), NULL, p[NORM_GAIN], p[NORM_BIAS], none);
	struct mat *run = run_encoder(t, x, p + ENC_IN, &l, false, &handed->encoder[0]);
	struct mat *e = tape_columns(t, run, 0, h), *last = ends(t, &l, to, run, true);
	if (!s->both_ways)
		return (struct encoded){l, e, last};
	struct mat *back = run_encoder(t, x, p + back_at(s), &l, true, &handed->encoder[1]);
	struct mat *first = ends(t, &l, to, back, false);
	struct mat *hs = tape_beside(t, tape_columns(t, last, 0, h), tape_columns(t, first, 0, h));
	struct mat *cs = tape_beside(t, tape_columns(t, last, h, h), tape_columns(t, first, h, h));
	return (struct encoded){l, tape_beside(t, e, tape_columns(t, back, 0, h)),
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

/* What the decoder has beside its state. */
struct decoder {
	struct handed handed;
	const struct seq2seq *s;
	struct mat *const *p;
	struct encoded enc;
	struct attended **places;  /* of each step */
	const uint32_t *places_of; /* (n) how many */
	struct mat *device, *own;  /* what it reads: E[.], e W_o; own NULL: not that */
};

static struct decoder decoder_of(struct tape *t, const struct seq2seq *s, struct mat *const *p,
				 struct mat *const *z, const struct handed *handed)
{
	const struct layout *l = handed->all;
	struct decoder d = {.s = s, .p = p, .handed = *handed, .enc = encode(t, s, p, z, handed)};
	struct mat *keys = tape_linear_handed(t, d.enc.e, p[ATT_KEY], NULL, &handed->keys);
	/* a_g is used in a_g W_a alone: so what is summed over the places is e_j W_a, a column for each
	 * device. */
	struct mat *says = tape_matmul(t, d.enc.e, p[OUT_CONTEXT]);
	d.places = ARENA_NEWN(tape_arena(t), struct attended *, l->n);
	for (uint32_t i = 0; i < l->n; i++)
		d.places[i] = tape_attended(t, rows_of(t, &d.enc.of, keys, i),
					    rows_of(t, &d.enc.of, says, i));
	d.places_of = l->length;
	d.own = s->aligned ? tape_matmul(t, d.enc.e, p[own_at()]) : NULL;
	d.device = tape_linear(t, p[DEVICE], p[DEC_IN], p[DEC_BIAS], (struct after){0});
	return d;
}

/* What the decoder reads at places [at, at + of each sequence's length in l) of the steps. */
static struct mat *read(struct tape *t, const struct decoder *d, const struct layout *l,
			const struct choices *c, uint32_t at)
{
	struct arena *a = tape_arena(t);
	uint32_t n = l->q.first[l->q.steps];
	uint32_t *device = arena_raw(a, n, sizeof *device), *own = arena_raw(a, n, sizeof *own);
	for (uint32_t i = 0; i < l->n; i++) {
		const uint32_t *before = choices_before(&c[i], at, l->length[i]);
		for (uint32_t r = 0; r < l->length[i] * l->copies; r++) {
			uint32_t g = r / l->copies, to = row_of(l, i, g, r % l->copies);
			device[to] = before[r];
			own[to] = row_of(&d->enc.of, i, at + g, 0);
		}
	}
	if (d->handed.decoder.state.known && !d->own)
		return tape_gather_unseen(t, d->device, device, n);
	struct mat *in = tape_gather(t, d->device, device, n);
	return d->own ? add_done(t, in, tape_gather(t, d->own, own, n)) : in;
}

/* Decodes the places from `at` on: l of each sequence.  Returns [h | c] of them, from the state `from`. */
static struct mat *decode(struct tape *t, const struct decoder *d, const struct layout *l,
			  struct choices *c, uint32_t at, struct mat *from)
{
	const struct after none = {0};
	struct mat *const *p = d->p;
	struct mat *in = read(t, d, l, c, at);
	const uint32_t h = width(d->s), row = d->handed.all->q.first[at];
	const struct tape_handed state = handed_from(&d->handed.decoder.state, row, 2 * h),
				 gates = handed_from(&d->handed.decoder.gates, row, 4 * h),
				 asked = handed_from(&d->handed.query, row, h);
	struct mat *run = tape_lstm_handed(t, in, p[DEC_STATE], from, &l->q, false, &state, &gates);
	struct mat *now = tape_columns(t, run, 0, h);
	struct mat *query = tape_linear_handed(t, now, p[ATT_QUERY], NULL, &asked);
	struct mat *by_state = tape_linear(t, now, p[OUT_STATE], p[OUT_BIAS], none);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct tape_handed weights =
			handed_from(&d->handed.weights[i], (size_t)at * l->copies, d->places_of[i]);
		struct mat *context = tape_attend_handed(t, rows_of(t, l, query, i), d->places[i],
							 p[ATT_V], &weights);
		struct mat *logits = tape_add(t, rows_of(t, l, by_state, i), context);
		tape_done(t, context);
		choices_take(&c[i], at, l->length[i], squash(t, logits, d->s->tanh_constant));
		tape_done(t, logits);
	}
	tape_done(t, by_state);
	tape_done(t, query);
	tape_done(t, now);
	tape_done(t, in);
	return run;
}

/* The steps of the longest sequences first. */
static void sort_steps(struct tape *t, uint32_t n, struct mat *const **z, struct choices **c)
{
	struct mat **sorted_z = ARENA_NEWN(tape_arena(t), struct mat *, n);
	struct choices *sorted_c = ARENA_NEWN(tape_arena(t), struct choices, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i;
		for (; at > 0 && sorted_z[at - 1]->rows < (*z)[i]->rows; at--) {
			sorted_z[at] = sorted_z[at - 1];
			sorted_c[at] = sorted_c[at - 1];
		}
		sorted_z[at] = (*z)[i];
		sorted_c[at] = (*c)[i];
	}
	*z = sorted_z;
	*c = sorted_c;
}

void seq2seq_choose(struct tape *t, const struct seq2seq *s, struct mat *const *p, uint32_t n,
		    struct mat *const *z, struct choices *c)
{
	uint32_t copies = c->n_samples, *length = arena_raw(tape_arena(t), 2 * (size_t)n, 4),
		 *ones = length + n;
	if (n > 1)
		sort_steps(t, n, &z, &c);
	for (uint32_t i = 0; i < n; i++) {
		length[i] = z[i]->rows;
		ones[i] = 1;
		assert(c[i].n_samples == copies);
	}
	const struct layout all = layout_of(t, length, n, copies);
	const struct handed handed = handed_of(t, s, &all, c);
	const struct decoder d = decoder_of(t, s, p, z, &handed);
	if (!c->draw) {
		decode(t, &d, &all, c, 0, d.enc.last);
		return;
	}
	/* A device that was drawn is what the next place reads: one place after another. */
	struct layout place = layout_of(t, ones, n, copies);
	struct mat *state = d.enc.last;
	for (uint32_t at = 0; choices_run(c, at) > 0; at++) {
		uint32_t left = place.n;
		while (length[left - 1] == at)
			left--;
		if (left < place.n)
			place = layout_of(t, ones, left, copies);
		struct mat *next = decode(t, &d, &place, c, at, state);
		tape_done(t, state);
		state = next;
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
	return n ? tape_add_rows(t, z, at, w, beside, n) : z;
}
