/* test_tape.c - every operation of the tape against central differences.
 *
 * The scalar L = sum_ij a_i Y_ij b_j of a result Y is differentiated by the tape
 * and by differences of width 2^-8 in each input, summed in double precision.
 * Where the slopes of the two sides differ, a kink of ReLU lies near, and the entry is
 * left out.  An entry is right within TOL of the largest one. */
#include "tap.h"

#include "learn/tape/tape.h"
#include "learn/tape/tape_product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOL 4e-3

enum { MAX_LEAVES = 6, MAX_FLOATS = 128 * 128 };

struct leaf {
	uint32_t rows, cols;
	float v[MAX_FLOATS], g[MAX_FLOATS];
};

/* Builds a result from the leaves. */
typedef struct mat *builder(struct tape *t, struct mat **x, const void *arg);

struct check {
	builder *build;
	const void *arg;
	int n;
	struct leaf x[MAX_LEAVES];
	struct rng_addr rng;
	float a[512], b[512];
	uint32_t every; /* check every so many entries; 0: all */
};

static float noise(uint32_t stream, uint32_t i)
{
	struct rng_addr at = {.seed = 7, .stream = stream};
	return (float)(2 * rng_uniform(&at, i) - 1);
}

static void add_leaf(struct check *c, uint32_t rows, uint32_t cols, float shift)
{
	struct leaf *l = &c->x[c->n];
	l->rows = rows;
	l->cols = cols;
	for (uint32_t i = 0; i < rows * cols; i++)
		l->v[i] = noise(100 + (uint32_t)c->n, i) + shift;
	c->n++;
}

static struct mat *forward(struct check *c, struct tape *t, bool train)
{
	struct mat *x[MAX_LEAVES] = {0};
	tape_begin(t, train, &c->rng);
	for (int i = 0; i < c->n; i++)
		x[i] = tape_param(t, c->x[i].v, c->x[i].g, c->x[i].rows, c->x[i].cols);
	return c->build(t, x, c->arg);
}

static double loss(struct check *c, struct tape *t)
{
	const struct mat *y = forward(c, t, false);
	double s = 0;
	for (uint32_t i = 0; i < y->rows; i++)
		for (uint32_t j = 0; j < y->cols; j++) {
			double v = y->v[(size_t)i * y->cols + j];
			if (v > -INFINITY)
				s += (double)c->a[i] * v * c->b[j];
		}
	return s;
}

/* Slopes of the loss on both sides of *v. */
static void slopes(struct check *c, struct tape *t, float *v, float width, double *up, double *down)
{
	float keep = *v;
	double mid = loss(c, t);
	*v = keep + width;
	*up = (loss(c, t) - mid) / ((double)*v - keep);
	*v = keep - width;
	*down = (mid - loss(c, t)) / (keep - (double)*v);
	*v = keep;
}

static void gradients(struct check *c, struct tape *t)
{
	for (int i = 0; i < c->n; i++)
		memset(c->x[i].g, 0, sizeof c->x[i].g);
	struct mat *y = forward(c, t, true);
	struct mat *a = tape_input(t, c->a, 1, y->rows), *b = tape_input(t, c->b, y->cols, 1);
	struct mat *l = tape_matmul(t, tape_matmul(t, a, y), b);
	tape_back(t, 1, &l, (double[]){1});
}

static void run_check(struct check *c, const char *name)
{
	struct tape *t = tape_new(NULL);
	double worst = 0, top = 0;
	uint32_t step = c->every ? c->every : 1;
	int skipped = 0, total = 0;
	c->rng = (struct rng_addr){.seed = 3, .episode = 1, .step = 2};
	for (uint32_t i = 0; i < 512; i++) {
		c->a[i] = noise(1, i);
		c->b[i] = noise(2, i);
	}
	gradients(c, t);
	for (int l = 0; l < c->n; l++)
		for (uint32_t i = 0; i < c->x[l].rows * c->x[l].cols; i++)
			top = fmax(top, fabs(c->x[l].g[i]));
	for (int l = 0; l < c->n; l++)
		for (uint32_t i = 0; i < c->x[l].rows * c->x[l].cols; i += step, total++) {
			double up, down;
			slopes(c, t, &c->x[l].v[i], 0x1p-8f, &up, &down);
			if (fabs(up - down) > 2 * TOL * top)
				skipped++;
			else
				worst = fmax(worst, fabs((up + down) / 2 - c->x[l].g[i]) / top);
		}
	tap(worst < TOL && top > 0 && skipped * 4 <= total,
	    "%s: worst error %.1e of the largest gradient, %d of %d entries at a kink", name, worst,
	    skipped, total);
	tape_free(t);
}

/* ---- what is built ---- */

static const struct after DROP = {true, 0.3}, RELU = {true, 0}, NOTHING = {false, 0};
#define BUILD(name) static struct mat *name(struct tape *t, struct mat **x, const void *arg)
#define UNUSED (void)arg

BUILD(b_matmul)
{
	UNUSED;
	return tape_matmul(t, x[0], x[1]);
}
BUILD(b_linear)
{
	return tape_linear(t, x[0], x[1], x[2], *(const struct after *)arg);
}
BUILD(b_norm)
{
	return tape_norm(t, x[0], NULL, x[1], x[2], *(const struct after *)arg);
}
BUILD(b_norm_res)
{
	return tape_norm(t, x[0], x[1], x[2], x[3], *(const struct after *)arg);
}
BUILD(b_linear_norm)
{
	return tape_linear_norm(t, x[0], x[1], x[2], x[3], x[4], x[5], *(const struct after *)arg);
}
BUILD(b_linear_norm_self) /* the residual is the input */
{
	return tape_linear_norm(t, x[0], x[1], NULL, x[0], x[2], x[3], *(const struct after *)arg);
}
BUILD(b_add)
{
	UNUSED;
	return tape_add(t, x[0], x[1]);
}
BUILD(b_sigmoid)
{
	UNUSED;
	return tape_sigmoid(t, x[0]);
}
BUILD(b_tanh)
{
	UNUSED;
	return tape_tanh(t, x[0]);
}
BUILD(b_by_number)
{
	UNUSED;
	return tape_scale(t, x[0], -1.75);
}
BUILD(b_beside)
{
	UNUSED;
	return tape_beside(t, x[0], tape_beside(t, x[1], x[0]));
}
BUILD(b_scale)
{
	UNUSED;
	return tape_scale_rows(t, x[0], x[1]);
}
BUILD(b_softmax)
{
	return tape_log_softmax(t, x[0], arg);
}

static const uint16_t actions[9] = {0, 1, 2, 1, 0, 2, 2, 1, 0};
BUILD(b_pick)
{
	return tape_pick(t, tape_log_softmax(t, x[0], arg), actions, NULL);
}
BUILD(b_pick_weighted)
{
	static const double weight[9] = {0.5, -2, 0, 1, 1, 3, -0.25, 1, 0.1};
	return tape_pick(t, tape_log_softmax(t, x[0], arg), actions, weight);
}
BUILD(b_entropy)
{
	return tape_entropy(t, tape_log_softmax(t, x[0], arg));
}

static const uint32_t some_rows[] = {4, 0, 4, 2, 8, 8, 8, 1};
BUILD(b_gather)
{
	UNUSED;
	return tape_gather(t, x[0], some_rows, 8);
}

BUILD(b_add_rows)
{
	UNUSED;
	static const uint32_t to[6] = {2, 0, 2, 2, 1, 0}, from[6] = {1, 1, 3, 0, 2, 3};
	return tape_add_rows(t, x[0], to, x[1], from, 6);
}

static const uint32_t segments[9] = {2, 0, 2, UINT32_MAX, 1, 1, 2, 4, 0};
BUILD(b_segsum)
{
	UNUSED;
	return tape_segment_sum(t, x[0], segments, 5, 1);
}
BUILD(b_segmean)
{
	UNUSED;
	return tape_segment_mean(t, x[0], segments, 5, 1);
}
BUILD(b_columns)
{
	UNUSED;
	return tape_columns(t, x[0], 2, 3);
}

struct sequence {
	uint32_t batch, length[3];
	bool back, start;
};
BUILD(b_lstm)
{
	const struct sequence *s = arg;
	const struct sequences q = tape_sequences(t, s->length, s->batch);
	return tape_lstm(t, x[0], x[1], s->start ? x[2] : NULL, &q, s->back);
}
BUILD(b_attend)
{
	UNUSED;
	return tape_attend(t, x[0], tape_attended(t, x[1], x[2]), x[3]);
}
BUILD(b_attend_keys) /* what is read is what is looked for */
{
	UNUSED;
	return tape_attend(t, x[0], tape_attended(t, x[1], x[1]), x[2]);
}

struct over_graph {
	const struct ugraph *g;
	struct after f;
};
BUILD(b_aggregate)
{
	const struct over_graph *o = arg;
	return tape_aggregate(t, o->g, x[0], x[1], o->f);
}
BUILD(b_edges)
{
	const struct ugraph *g = arg;
	return tape_edge_product(t, x[0], g->u, g->v, g->m);
}
/* A matrix that is used three times gathers all three gradients. */
BUILD(b_shared)
{
	const struct over_graph *o = arg;
	struct mat *y = tape_aggregate(t, o->g, x[0], NULL, NOTHING);
	struct mat *z = tape_matmul(t, tape_add(t, x[0], y), x[1]);
	z = tape_norm(t, z, x[0], x[2], x[3], NOTHING);
	return tape_aggregate(t, o->g, tape_add(t, z, x[0]), NULL, o->f);
}

/* Two graphs of four nodes side by side: 0, 1 -> 2 -> 3, 0 -> 3, in a circle by 3 -> 1. */
static const struct hearing heard = {
	4,
	{(const uint32_t[]){0, 0, 1, 3, 5}, (const uint32_t[]){0, 2, 3, 4, 5}},
	{(const uint32_t[]){3, 0, 1, 0, 2}, (const uint32_t[]){2, 3, 2, 3, 1}},
};
BUILD(b_hear) /* the other way in a second use of the same rows */
{
	const bool *turned = arg;
	return tape_add(t, tape_hear(t, x[0], &heard, *turned),
			tape_scale(t, tape_hear(t, x[0], &heard, !*turned), 0.3));
}

/* Rows of x[0] times x[1], squashed, and the first one of x[0] besides. */
static struct mat *again_part(struct tape *t, const void *arg, struct mat *const *x, uint32_t first,
			      uint32_t n)
{
	(void)arg;
	uint32_t *own = arena_raw(tape_arena(t), n, sizeof *own),
		 *zero = ARENA_NEWN(tape_arena(t), uint32_t, n);
	for (uint32_t i = 0; i < n; i++)
		own[i] = first + i;
	struct mat *y = tape_matmul(t, tape_gather(t, x[0], own, n), x[1]);
	return tape_tanh(t, tape_add(t, y, tape_gather(t, x[2], zero, n)));
}
BUILD(b_again)
{
	const uint32_t *most = arg;
	struct mat **in = ARENA_NEWN(tape_arena(t), struct mat *, 3);
	for (int i = 0; i < 3; i++)
		in[i] = x[i];
	struct mat *y = tape_again(t, 9, 5, *most, again_part, NULL, 3, in);
	/* the inputs have another use, and so has the result */
	return tape_add(t, tape_add(t, y, tape_matmul(t, x[0], x[1])), tape_scale(t, y, -0.5));
}

static void dense(struct check *c)
{
	static const struct after f[] = {{false, 0}, {true, 0}, {true, 0.3}};
	static const char *const with[] = {"", " + relu", " + relu + dropout"};
	char name[80];
	for (int i = 0; i < 3; i++) {
		*c = (struct check){.build = b_linear, .arg = &f[i]};
		add_leaf(c, 37, 18, 0);
		add_leaf(c, 18, 21, 0);
		add_leaf(c, 1, 21, 0);
		snprintf(name, sizeof name, "linear%s", with[i]);
		run_check(c, name);

		*c = (struct check){.build = b_norm, .arg = &f[i]};
		add_leaf(c, 9, 37, 0);
		add_leaf(c, 1, 37, 1);
		add_leaf(c, 1, 37, 0);
		snprintf(name, sizeof name, "layer norm%s", with[i]);
		run_check(c, name);

		*c = (struct check){.build = b_norm_res, .arg = &f[i]};
		add_leaf(c, 9, 32, 0);
		add_leaf(c, 9, 32, 0);
		add_leaf(c, 1, 32, 1);
		add_leaf(c, 1, 32, 0);
		snprintf(name, sizeof name, "residual layer norm%s", with[i]);
		run_check(c, name);

		*c = (struct check){.build = b_linear_norm, .arg = &f[i]};
		add_leaf(c, 35, 6, 0);
		add_leaf(c, 6, 18, 0);
		add_leaf(c, 1, 18, 0);
		add_leaf(c, 35, 18, 0);
		add_leaf(c, 1, 18, 1);
		add_leaf(c, 1, 18, 0);
		snprintf(name, sizeof name, "linear + residual layer norm%s", with[i]);
		run_check(c, name);

		*c = (struct check){.build = b_linear_norm_self, .arg = &f[i]};
		add_leaf(c, 3, 128, 0);
		add_leaf(c, 128, 128, 0);
		add_leaf(c, 1, 128, 1);
		add_leaf(c, 1, 128, 0);
		c->every = 41;
		snprintf(name, sizeof name, "linear + residual layer norm, width 128%s", with[i]);
		run_check(c, name);
	}
	*c = (struct check){.build = b_matmul};
	add_leaf(c, 65, 17, 0);
	add_leaf(c, 17, 1, 0);
	run_check(c, "product with one column");
	*c = (struct check){.build = b_matmul};
	add_leaf(c, 33, 7, 0);
	add_leaf(c, 7, 5, 0);
	run_check(c, "product");
}

static void elementwise(struct check *c)
{
	static const struct {
		const char *name;
		builder *f;
		int n;
	} op[] = {
		{"add", b_add, 2},
		{"sigmoid", b_sigmoid, 1},
		{"tanh", b_tanh, 1},
		{"times a number", b_by_number, 1},
		{"side by side", b_beside, 2},
	};
	for (size_t i = 0; i < sizeof op / sizeof *op; i++) {
		*c = (struct check){.build = op[i].f};
		for (int k = 0; k < op[i].n; k++)
			add_leaf(c, 11, 21, 0);
		run_check(c, op[i].name);
	}
	*c = (struct check){.build = b_scale};
	add_leaf(c, 11, 21, 0);
	add_leaf(c, 11, 1, 0);
	run_check(c, "rows scaled");
}

static void graph_ops(struct check *c)
{
	/* nodes 0-8; 8 is isolated */
	uint32_t src[] = {0, 0, 1, 2, 2, 3, 4, 5}, dst[] = {1, 3, 2, 3, 4, 5, 6, 7};
	struct digraph d = {.n = 9, .m = 8, .src = src, .dst = dst};
	struct arena *a = arena_new();
	struct ugraph g;
	ugraph_from_digraph(&g, &d, a);
	struct over_graph plain = {&g, NOTHING}, drop = {&g, DROP}, relu = {&g, RELU};

	*c = (struct check){.build = b_aggregate, .arg = &plain};
	add_leaf(c, 9, 70, 0);
	add_leaf(c, 1, 70, 0);
	run_check(c, "aggregate");
	*c = (struct check){.build = b_aggregate, .arg = &relu};
	add_leaf(c, 9, 10, 0);
	add_leaf(c, 1, 10, 0);
	run_check(c, "aggregate + relu");
	*c = (struct check){.build = b_aggregate, .arg = &drop};
	add_leaf(c, 9, 70, 0);
	add_leaf(c, 1, 70, 0);
	run_check(c, "aggregate + relu + dropout");
	*c = (struct check){.build = b_edges, .arg = &g};
	add_leaf(c, 9, 20, 0);
	run_check(c, "products over edges");
	*c = (struct check){.build = b_add_rows};
	add_leaf(c, 3, 20, 0);
	add_leaf(c, 4, 20, 0);
	run_check(c, "rows added to rows");
	*c = (struct check){.build = b_shared, .arg = &plain};
	add_leaf(c, 9, 6, 0);
	add_leaf(c, 6, 6, 0);
	add_leaf(c, 1, 6, 1);
	add_leaf(c, 1, 6, 0);
	run_check(c, "a matrix with several uses");

	static const struct {
		const char *name;
		builder *f;
	} op[] = {
		{"rows by index", b_gather},
		{"sums of segments", b_segsum},
		{"means of segments", b_segmean},
		{"columns", b_columns},
	};
	for (size_t i = 0; i < sizeof op / sizeof *op; i++) {
		*c = (struct check){.build = op[i].f};
		add_leaf(c, 9, 5, 0);
		run_check(c, op[i].name);
	}
	static const bool ways[] = {false, true};
	for (int i = 0; i < 2; i++) {
		*c = (struct check){.build = b_hear, .arg = &ways[i]};
		add_leaf(c, 8, 5, 0);
		run_check(c, i ? "messages, turned" : "messages");
	}
	static const uint32_t most[] = {9, 4, 1};
	for (int i = 0; i < 3; i++) {
		*c = (struct check){.build = b_again, .arg = &most[i]};
		add_leaf(c, 9, 7, 0);
		add_leaf(c, 7, 5, 0);
		add_leaf(c, 2, 5, 0);
		run_check(c, i ? "rows made again in parts" : "rows made again");
	}
	arena_free(a);
}

static void sequences(struct check *c)
{
	static const struct sequence s[] = {
		{1, {7}, false, false},      {3, {7, 7, 7}, false, true},
		{1, {7}, true, true},        {3, {7, 7, 7}, true, false},
		{3, {7, 4, 1}, false, true}, {3, {6, 6, 2}, true, true},
		{2, {5, 3}, true, false}};
	char name[80];
	for (size_t i = 0; i < sizeof s / sizeof *s; i++) {
		*c = (struct check){.build = b_lstm, .arg = &s[i]};
		add_leaf(c, s[i].length[0] + s[i].length[1] + s[i].length[2], 4 * 5, 0);
		add_leaf(c, 5, 4 * 5, 0);
		if (s[i].start)
			add_leaf(c, s[i].batch, 2 * 5, 0);
		snprintf(name, sizeof name, "LSTM%s%s, %u at once%s", s[i].back ? " backwards" : "",
			 s[i].start ? " from a state" : "", s[i].batch,
			 s[i].batch > 1 && s[i].length[1] < s[i].length[0] ? " of other lengths"
									   : "");
		run_check(c, name);
	}
	*c = (struct check){.build = b_attend};
	add_leaf(c, 40, 19, 0);
	add_leaf(c, 6, 19, 0);
	add_leaf(c, 6, 4, 0);
	add_leaf(c, 1, 19, 0);
	run_check(c, "attention");
	*c = (struct check){.build = b_attend_keys};
	add_leaf(c, 5, 19, 0);
	add_leaf(c, 6, 19, 0);
	add_leaf(c, 1, 19, 0);
	run_check(c, "attention that reads its keys");
}

/* An LSTM over the last steps, from the state behind the first ones, is the LSTM over all. */
static void lstm_in_parts(void)
{
	enum { H = 8, B = 2, FIRST = 3, REST = 4 };
	static float x[(FIRST + REST) * B * 4 * H], w[H * 4 * H];
	struct tape *t = tape_new(NULL);
	for (uint32_t i = 0; i < sizeof x / sizeof *x; i++)
		x[i] = noise(3, i);
	for (uint32_t i = 0; i < sizeof w / sizeof *w; i++)
		w[i] = noise(4, i);
	tape_begin(t, false, NULL);
	struct mat *mw = tape_input(t, w, H, 4 * H);
	const uint32_t length[][B] = {{FIRST + REST, FIRST + REST}, {FIRST, FIRST}, {REST, REST}};
	const struct sequences q[] = {tape_sequences(t, length[0], B),
				      tape_sequences(t, length[1], B),
				      tape_sequences(t, length[2], B)};
	struct mat *all =
		tape_lstm(t, tape_input(t, x, (FIRST + REST) * B, 4 * H), mw, NULL, &q[0], false);
	struct mat *first =
		tape_lstm(t, tape_input(t, x, FIRST * B, 4 * H), mw, NULL, &q[1], false);
	struct mat *state = tape_input(t, first->v + (FIRST - 1) * B * 2 * H, B, 2 * H);
	struct mat *rest = tape_lstm(t, tape_input(t, x + FIRST * B * 4 * H, REST * B, 4 * H), mw,
				     state, &q[2], false);
	tap(memcmp(all->v + FIRST * B * 2 * H, rest->v, REST * B * 2 * H * sizeof(float)) == 0,
	    "an LSTM goes on from a state with the same bits");
	tape_free(t);
}

static void probabilities(struct check *c)
{
	static const uint8_t mask[27] = {1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 0,
					 0, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1};
	static const struct {
		const char *name;
		builder *f;
		const uint8_t *mask;
	} op[] = {
		{"log softmax", b_softmax, NULL},
		{"log softmax, masked", b_softmax, mask},
		{"log-probability of actions", b_pick, NULL},
		{"log-probability of actions, masked", b_pick, mask},
		{"weighted log-probability of actions", b_pick_weighted, mask},
		{"entropy", b_entropy, NULL},
		{"entropy, masked", b_entropy, mask},
	};
	for (size_t i = 0; i < sizeof op / sizeof *op; i++) {
		*c = (struct check){.build = op[i].f, .arg = op[i].mask};
		add_leaf(c, 9, 3, 0);
		/* The scalar that runs the gradients back multiplies by 0 what is -infinity. */
		if (op[i].f == b_softmax && op[i].mask)
			continue;
		run_check(c, op[i].name);
	}
}

/* A mask is a matter of position: the same for any number of threads, near p,
 * another one for another step. */
static void masks(void)
{
	enum { N = 200, C = 128 };
	static float one[N * C];
	struct pool *pool = pool_new(3, NULL);
	struct tape *t = tape_new(NULL), *tp = tape_new(pool);
	struct rng_addr at = {.seed = 5, .episode = 1, .step = 9};
	double kept = 0;
	for (int i = 0; i < N * C; i++)
		one[i] = 1;
	float gain[C], bias[C];
	for (int j = 0; j < C; j++) {
		gain[j] = 0;
		bias[j] = 1;
	}
	struct mat *y[3];
	struct tape *on[3] = {t, tp, tape_new(NULL)};
	for (int i = 0; i < 3; i++) {
		at.step = i == 2 ? 10 : 9;
		tape_begin(on[i], false, &at);
		y[i] = tape_norm(on[i], tape_input(on[i], one, N, C), NULL,
				 tape_input(on[i], gain, 1, C), tape_input(on[i], bias, 1, C),
				 (struct after){true, 0.2});
	}
	for (int i = 0; i < N * C; i++)
		kept += y[0]->v[i] > 0;
	kept /= N * C;
	tap(fabs(kept - 0.8) < 0.01, "a mask keeps %.4f of 0.8", kept);
	tap(memcmp(y[0]->v, y[1]->v, sizeof one) == 0, "masks do not depend on the threads");
	tap(memcmp(y[0]->v, y[2]->v, sizeof one) != 0, "masks depend on the step");
	tape_free(t);
	tape_free(tp);
	tape_free(on[2]);
	pool_free(pool);
}

/* After the first step a tape of the same shapes takes no more memory. */
static void steady(struct check *c)
{
	struct tape *t = tape_new(NULL);
	size_t before = 0;
	static const struct after f = {true, 0.3};
	*c = (struct check){.build = b_linear, .arg = &f};
	add_leaf(c, 60, 50, 0);
	add_leaf(c, 50, 40, 0);
	add_leaf(c, 1, 40, 0);
	for (int i = 0; i < 4; i++) {
		gradients(c, t);
		if (i == 0)
			before = tape_bytes(t);
	}
	tap(tape_bytes(t) == before, "a tape keeps its memory from step to step");
	tape_free(t);
}

/* ---- products ---- */

static double worst_of(const float *c, const struct rows *a, const float *b, size_t k, size_t n,
		       double before)
{
	double worst = 0;
	for (size_t i = 0; i < a->m; i++)
		for (size_t j = 0; j < n; j++) {
			double sum = before;
			for (size_t l = 0; l < k; l++)
				sum += (double)a->v[i * a->row + l * a->col] * b[l * n + j];
			worst = fmax(worst, fabs(sum - c[i * n + j]) / sqrt((double)k));
		}
	return worst;
}

/* Of OpenBLAS a row's bits may depend on the rows beside it. */
static void products(bool own)
{
	enum { M = 50, K = 1100, N = 70 };
	static const size_t ms[] = {1, 2, 11, 12, 13, M}, ks[] = {1, 7, 300, K},
			    ns[] = {2, 31, 32, N};
	struct rng_addr at = {.seed = 11};
	float *x = MEM_NEWN(float, M *K), *b = MEM_NEWN(float, K *N), *c = MEM_NEWN(float, M *N);
	float *packed = mem_try(packed_floats(K, N + 32) * sizeof(float));
	float *some = MEM_NEWN(float, M *N);
	double worst = 0, worst_few = 0, worst_outer = 0;
	bool rows_alone = true, chosen = true;
	rng_uniform_f32(&at, -1, 1, x, (size_t)M * K);
	at.stream = 1;
	rng_uniform_f32(&at, -1, 1, b, (size_t)K * N);
	for (int i = 0; i < 6 * 4 * 4; i++) {
		size_t m = ms[i % 6], k = ks[i / 6 % 4], n = ns[i / 24];
		const struct rows a = {x, m, k, 1}, across = {x, m, 1, m},
				  last = {x + (m - 1) * k, 1, k, 1};
		struct packed p = product_pack(packed, b, k, n, n, 1, false);
		chosen = chosen && own == (p.row == 0);
		product_rows(c, n, &a, &p, false);
		product_rows(some, n, &last, &p, false);
		rows_alone = rows_alone && memcmp(some, c + (m - 1) * n, n * sizeof *c) == 0;
		worst = fmax(worst, worst_of(c, &a, b, k, n, 0));
		for (size_t e = 0; e < m * n; e++)
			c[e] = 1;
		product_rows(c, n, &a, &p, true);
		worst = fmax(worst, worst_of(c, &a, b, k, n, 1));
		if (m <= PRODUCT_FEW) {
			product_few(c, n, &a, &p);
			worst_few = fmax(worst_few, worst_of(c, &a, b, k, n, 0));
			product_few(c, n, &across, &p);
			worst_few = fmax(worst_few, worst_of(c, &across, b, k, n, 0));
		}
		for (size_t e = 0; e < m * n; e++)
			c[e] = -2;
		product_outer(c, n, &across, b, n, k, n, false, packed);
		worst_outer = fmax(worst_outer, worst_of(c, &across, b, k, n, -2));
	}
	tap(chosen, "by whom they are to be");
	tap(worst < 2e-6, "products of packed operands (%.1g)", worst);
	tap(worst_few < 2e-6, "products of few rows (%.1g)", worst_few);
	tap(worst_outer < 2e-6, "products that are added, packed on the way (%.1g)", worst_outer);
	tap(rows_alone || !own, "a row's bits do not depend on the rows beside it");
	mem_free(x);
	mem_free(b);
	mem_free(c);
	mem_free(some);
	mem_free(packed);
}

/* Inputs, an LSTM of six sequences, attention over keys: parameters at v, gradients to g, large enough that threads
 * share each product.  Returns the log-probability of what is picked. */
enum { SHARED_H = 256, SHARED_D = 70, SHARED_ROWS = 30, SHARED_KEYS = 20 };
enum { SHARED_PARAMS = SHARED_H * (4 * SHARED_D + 4 * SHARED_H + SHARED_D + 1) + 3 * SHARED_KEYS };

static float shared_step(struct tape *t, const float *v, float *g)
{
	static const uint32_t length[] = {5, 5, 5, 5, 5, 5};
	static const uint16_t picked[SHARED_ROWS] = {1, 2, 1};
	static float x[SHARED_ROWS * SHARED_D];
	const uint32_t shape[][2] = {{SHARED_D, 4 * SHARED_H},
				     {SHARED_H, 4 * SHARED_H},
				     {SHARED_D, SHARED_H},
				     {1, SHARED_H},
				     {SHARED_KEYS, 3}};
	struct mat *p[5];
	size_t at = 0;
	for (uint32_t i = 0; i < SHARED_ROWS * SHARED_D; i++)
		x[i] = noise(200, i);
	tape_begin(t, true, NULL);
	for (int i = 0; i < 5; i++) {
		p[i] = tape_param(t, v + at, g + at, shape[i][0], shape[i][1]);
		at += (size_t)shape[i][0] * shape[i][1];
	}
	const struct sequences q = tape_sequences(t, length, 6);
	struct mat *in = tape_matmul(t, tape_input(t, x, SHARED_ROWS, SHARED_D), p[0]);
	struct mat *h = tape_columns(t, tape_lstm(t, in, p[1], NULL, &q, false), 0, SHARED_H);
	struct mat *e = tape_matmul(t, tape_input(t, x, SHARED_KEYS, SHARED_D), p[2]);
	struct mat *y = tape_attend(t, h, tape_attended(t, e, p[4]), p[3]);
	struct mat *logp = tape_pick(t, tape_log_softmax(t, y, NULL), picked, NULL);
	float value = logp->v[0];
	tape_back(t, 1, &logp, (double[]){1});
	return value;
}

/* Who multiplies first leaves his gradients for the next. */
static void shared_products(void)
{
	static float *known;
	struct pool *pool = pool_new(3, NULL);
	struct tape *t = tape_new(NULL);
	float *v = MEM_NEWN(float, 3 * SHARED_PARAMS), *g = v + SHARED_PARAMS, y[2];
	for (uint32_t i = 0; i < SHARED_PARAMS; i++)
		v[i] = noise(201, i) / 16;
	for (int way = 0; way < 2; way++) {
		tape_share(t, way ? pool : NULL);
		y[way] = shared_step(t, v, g + way * SHARED_PARAMS);
	}
	double all = 0;
	for (size_t i = 0; i < SHARED_PARAMS; i++)
		all += g[i] != 0;
	tap(y[0] == y[1] && !memcmp(g, g + SHARED_PARAMS, SHARED_PARAMS * sizeof *g),
	    "an LSTM and attention on three threads have the bits of one");
	tap(all > 0.9 * SHARED_PARAMS, "gradients of all parameters (%.0f)", all);
	double off = 0, largest = 0;
	for (size_t i = 0; i < SHARED_PARAMS && known; i++) {
		off = fmax(off, fabs((double)g[i] - (double)known[i]));
		largest = fmax(largest, fabs((double)g[i]));
	}
	tap(off <= 1e-5 * largest, "gradients of both who multiply: %.1g of %.1g", off, largest);
	mem_free(known);
	known = known ? NULL : mem_copy(g, SHARED_PARAMS, sizeof *g);
	mem_free(v);
	tape_free(t);
	pool_free(pool);
}

/* x (1,2) times a parameter w (2,2), both 1, 1, .. */
static float product_now(struct tape *t, float *w, float *g)
{
	static const float x[] = {1, 1};
	tape_begin(t, true, NULL);
	return tape_matmul(t, tape_input(t, x, 1, 2), tape_param(t, w, g, 2, 2))->v[0];
}

static void fixed_parameters(void)
{
	struct tape *t = tape_new(NULL);
	float w[] = {1, 1, 1, 1}, g[4] = {0}, now[4];
	now[0] = product_now(t, w, g);
	w[0] = 2;
	now[1] = product_now(t, w, g);
	for (int i = 2; i < 4; i++) {
		w[0] = (float)(i + 1);
		tape_fix(t);
		now[i] = product_now(t, w, g) + product_now(t, w, g);
	}
	tap(now[0] == 2 && now[1] == 3 && now[2] == 8 && now[3] == 10,
	    "products are of the parameters' values now, fixed or not");
	tape_free(t);
}

static void everything(bool own)
{
	static struct check c;
	products(own);
	dense(&c);
	elementwise(&c);
	graph_ops(&c);
	sequences(&c);
	lstm_in_parts();
	probabilities(&c);
	masks();
	steady(&c);
	fixed_parameters();
	shared_products();
}

int main(void)
{
	static const char *const who[] = {"own", "openblas"};
	struct err e = ERR_INIT;
	for (int i = 0; i < 2; i++) {
		setenv("HSDAG_PRODUCTS", who[i], 1);
		tap(tape_choose_products(&e) == 0, "products by %s: %s", who[i], e.msg);
		everything(i == 0);
	}
	setenv("HSDAG_PRODUCTS", "mkl", 1);
	tap(tape_choose_products(&e) < 0 && e.code == ST_USAGE, "by another: %s", e.msg);
	return tap_end();
}
