/* test_net.c - the networks: replay against forward, gradients of the whole loss
 * against differences, groups, masks, threads; parameters and Adam. */
#include "tap.h"
#include "net_world.h"

#include "learn/net/gpn.h"
#include "learn/net/sampling.h"
#include "learn/train/update_rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 2 };

static struct gpn_hyper small(const struct gpn_hyper *from)
{
	struct gpn_hyper h = *from;
	h.hidden = 13;
	h.dropout_parsing = 0.1;
	h.policy_gain = 1;
	return h;
}

/* A partition that outlives the next call. */
static struct partition keep(struct arena *a, const struct partition *p, uint32_t d)
{
	struct partition q = *p;
	struct parse_round *r = ARENA_NEWN(a, struct parse_round, p->n_rounds + 1);
	for (uint32_t i = 0; i < p->n_rounds; i++) {
		uint32_t *kept = ARENA_NEWN(a, uint32_t, p->round[i].n_kept + 1);
		for (uint32_t j = 0; j < p->round[i].n_kept; j++)
			kept[j] = p->round[i].kept[j];
		r[i] = (struct parse_round){p->round[i].n, p->round[i].n_kept, kept};
	}
	q.round = r;
	q.group = memcpy(ARENA_NEWN(a, uint32_t, N), p->group, N * sizeof *p->group);
	if (p->label)
		q.label = memcpy(ARENA_NEWN(a, uint32_t, p->n_groups), p->label,
				 p->n_groups * sizeof *p->label);
	size_t n = (size_t)p->n_groups * d;
	q.z = memcpy(ARENA_NEWN(a, float, n), p->z, n * sizeof *p->z);
	return q;
}

static void die(const struct err *e)
{
	printf("Bail out! %s\n", e->msg);
	fflush(stdout);
	_Exit(1);
}

/* ---- one recorded step ---- */

struct recorded {
	struct rng_addr rng;
	struct partition part;
	uint8_t group_mask[N * K];
	float bias[N * K];
	uint16_t action[SAMPLES * N];
	double coef[SAMPLES], logp[SAMPLES], replayed[SAMPLES], entropy, by_group[SAMPLES * N];
	struct replay_step step;
};

static struct to_place asked(const struct recorded *r)
{
	return (struct to_place){r->part.z,     r->part.n_groups, r->part.group,
				 r->group_mask, r->bias,          NULL};
}

static void record(struct net_world *s, struct recorded *r, const float *x, uint32_t step,
		   const struct grouping *given, const uint8_t *mask)
{
	struct err e = ERR_INIT;
	struct partition p;
	const float *logp;
	r->rng = (struct rng_addr){.seed = 1, .episode = 3, .step = step};
	if (net_embed(s->w, &s->m, x, &r->rng, given, mask, mask ? K : 0, &p, &e) < 0)
		die(&e);
	r->part = keep(s->a, &p, D);
	memset(r->group_mask, 1, sizeof r->group_mask);
	if (mask &&
	    net_group_mask(mask, N, K, r->part.group, r->part.n_groups, r->group_mask, &e) < 0)
		die(&e);
	for (int i = 0; i < N * K; i++)
		r->bias[i] = i % 7 == 0 ? 0.8f : 0;
	struct rng_addr at = {.seed = 1, .episode = 3, .step = step, .stream = RNG_ACTION};
	for (uint32_t i = 0; i < SAMPLES * r->part.n_groups; i++) {
		uint32_t g = i % r->part.n_groups, k = rng_below(&at, i, K);
		while (!r->group_mask[g * K + k])
			k = (k + 1) % K;
		r->action[i] = (uint16_t)k;
	}
	r->entropy = 0;
	for (uint32_t i = 0; i < SAMPLES; i++) {
		const uint16_t *action = r->action + i * r->part.n_groups;
		const struct to_place q = asked(r);
		if (net_policy_prior(s->w, &s->m, &q, action, &logp, &e) < 0)
			die(&e);
		r->logp[i] = net_logp(logp, r->part.n_groups, K, action);
		r->coef[i] = i ? -0.7 : 1.3;
		r->entropy += net_entropy(logp, r->part.n_groups, K) / SAMPLES;
	}
	r->step = (struct replay_step){
		.x = x,
		.rng = &r->rng,
		.part = &r->part,
		.group_mask = r->group_mask,
		.bias = r->bias,
		.n_samples = SAMPLES,
		.action = r->action,
		.coef_logp = r->coef,
		.coef_entropy = 0.4,
		.logp = r->replayed,
	};
}

static double objective(struct net_world *s, struct recorded *r)
{
	struct err e = ERR_INIT;
	if (net_replay(s->w, &s->m, &r->step, 1, NULL, NULL, &e) < 0)
		die(&e);
	if (r->step.coef_group || r->step.weigh)
		return r->step.objective;
	double f = r->step.coef_entropy * r->step.entropy;
	for (int i = 0; i < SAMPLES; i++)
		f += r->coef[i] * (r->replayed[i] + r->step.group_logp);
	return f;
}

/* Distance of the gradient of one matrix from differences of width 2^-9, relative to
 * its length, over up to 10 entries; those where the slopes of both sides differ (a
 * kink of ReLU) are left out.  f32 log-probabilities make the differences uncertain by NOISE. */
#define NOISE 4e-4

static double matrix_error(struct net_world *s, struct recorded *r, float *v, const float *g,
			   size_t n, double mid, int *skipped, int *total)
{
	double top = 0, error = 0, length = 0, noise = 0;
	for (size_t j = 0; j < n; j++)
		top = fmax(top, fabs(g[j]));
	for (size_t j = 0; j < n; j += n / 10 + 1, ++*total) {
		float old = v[j];
		v[j] = old + 0x1p-9f;
		double up = (objective(s, r) - mid) / ((double)v[j] - old);
		v[j] = old - 0x1p-9f;
		double down = (mid - objective(s, r)) / (old - (double)v[j]);
		v[j] = old;
		if (fabs(up - down) > 0.01 * top + NOISE) {
			++*skipped;
			continue;
		}
		error += pow((up + down) / 2 - g[j], 2);
		length += g[j] * (double)g[j];
		noise += NOISE * NOISE;
	}
	return fmax(0, sqrt(error) - sqrt(noise)) / fmax(sqrt(length), 1e-30);
}

static void check_gradient(struct net_world *s, struct recorded *r, const char *name)
{
	struct err e = ERR_INIT;
	struct params *block[2] = {s->embed, s->policy};
	float *grad[2];
	double worst = 0;
	const char *where = "";
	int skipped = 0, total = 0, flat = 0;
	for (int b = 0; b < 2; b++)
		grad[b] = ARENA_NEWN(s->a, float, block[b]->n);
	if (net_replay(s->w, &s->m, &r->step, 1, grad[0], grad[1], &e) < 0)
		die(&e);
	double mid = objective(s, r);
	for (int b = 0; b < 2; b++)
		for (uint32_t i = 0; i < block[b]->n_mats; i++) {
			const struct param *q = &block[b]->mat[i];
			size_t n = (size_t)q->rows * q->cols;
			double err = matrix_error(s, r, block[b]->data + q->at, grad[b] + q->at, n,
						  mid, &skipped, &total);
			/* Groups from outside leave what would have drawn them alone. */
			bool idle = r->part.given && strncmp(q->name, "grouper.", 8) == 0;
			flat += !idle && params_norm2(grad[b] + q->at, n) == 0;
			if (err > worst) {
				worst = err;
				where = q->name;
			}
		}
	tap(worst < 0.1 && flat == 0 && skipped * 2 < total,
	    "%s: gradient of the loss in all "
	    "matrices (worst %.1e in %s, %d of %d at a kink)",
	    name, worst, where, skipped, total);
}

/* The loss of clipped ratios: at first use its gradient is that of c log p; later that of the loss, where some
 * ratios are clipped. */
static void check_ratios(struct net_world *s, struct recorded *r, const char *name)
{
	struct recipe recipe = {.update = &update_rules[1], .ratio_clip = 0.2};
	uint32_t n = SAMPLES * r->part.n_groups;
	struct err e = ERR_INIT;
	float *grad[2][2];
	double most = 0, logp_group[SAMPLES * N];
	struct weighed_step w = {.recipe = &recipe, .first = true, .c = r->coef};
	w.before = ARENA_NEWN(s->a, double, n);
	w.slope_group = ARENA_NEWN(s->a, double, n);
	w.slope = ARENA_NEWN(s->a, double, SAMPLES);
	for (int i = 0; i < 2; i++) {
		for (int b = 0; b < 2; b++)
			grad[i][b] = ARENA_NEWN(s->a, float, (b ? s->policy : s->embed)->n);
		if (net_replay(s->w, &s->m, &r->step, 1, grad[i][0], grad[i][1], &e) < 0)
			die(&e);
		r->step.weigh = update_weigh;
		r->step.weigh_arg = &w;
		r->step.logp_group = logp_group;
	}
	for (int b = 0; b < 2; b++)
		for (size_t i = 0; i < (b ? s->policy : s->embed)->n; i++)
			most = fmax(most, fabs((double)grad[0][b][i] - grad[1][b][i]) /
						  (1 + fabs((double)grad[0][b][i])));
	tap(most < 1e-4, "%s: at first use the gradient of the log-probability (%.1e)", name, most);
	w.first = false;
	for (uint32_t i = 0; i < n; i++)
		w.before[i] += 0.35 * cos(3 * i);
	w.before_groups += 0.1;
	check_gradient(s, r, name);
	r->step.weigh = NULL;
	r->step.coef_logp = r->coef;
	r->step.coef_group = NULL;
}

static void check_replay(struct recorded *r, struct net_world *s, const char *name)
{
	objective(s, r);
	/* Samples side by side round differently from one alone. */
	double most = s->m.net->policy ? 0 : 1e-5;
	tap(fabs(r->replayed[0] - r->logp[0]) <= most &&
		    fabs(r->replayed[1] - r->logp[1]) <= most &&
		    fabs(r->step.entropy - r->entropy) <= most &&
		    r->step.group_logp == r->part.logp,
	    "%s: replay gives the recorded log-probability (%.6f)", name, r->logp[0]);
	struct err e = ERR_INIT;
	tap(net_check(s->w, &s->m, &r->part, &e) == 0, "%s: the recorded partition is accepted",
	    name);
}

static void gpn_recipes(void)
{
	static struct recorded r;
	struct gpn_hyper h[3] = {small(&gpn_paper), small(&gpn_default), small(&gpn_default)};
	static const char *const name[] = {"paper", "default", "deeper"};
	h[1].min_groups = 9;
	h[2].layer_trans = h[2].layer_gnn = h[2].layer_gnn2 = h[2].layer_parsingnet = 3;
	h[2].layer_deepsets = 2;
	h[2].pool_sum = 1;
	h[2].min_groups = 4;
	for (int i = 0; i < 3; i++) {
		struct net_world s;
		net_world_init(&s, nets[0], &h[i]);
		record(&s, &r, s.x, 5, NULL, NULL);
		check_replay(&r, &s, name[i]);
		check_gradient(&s, &r, name[i]);
		net_world_release(&s);
	}
}

static void gradient(struct net_world *s, struct recorded *r, float *embed, float *policy)
{
	struct err e = ERR_INIT;
	memset(embed, 0, s->embed->n * sizeof *embed);
	memset(policy, 0, s->policy->n * sizeof *policy);
	if (net_replay(s->w, &s->m, &r->step, 1, embed, policy, &e) < 0)
		die(&e);
}

/* The cosine of the angle between the gradients of one matrix. */
static double cosine(const float *a, const float *b, size_t n)
{
	double both = 0, one = 0, other = 0;
	for (size_t i = 0; i < n; i++) {
		both += (double)a[i] * (double)b[i];
		one += (double)a[i] * (double)a[i];
		other += (double)b[i] * (double)b[i];
	}
	return both / sqrt(one * other);
}

/* Rounded operands: a replay computes what the forward pass did; the gradient is another one, in the same direction. */
static void rounded(void)
{
	static struct recorded r;
	struct gpn_hyper h = small(&gpn_paper);
	struct net_world s;
	double least = 1;
	h.hidden = 64;
	h.bf16 = 1;
	net_world_init(&s, nets[0], &h);
	record(&s, &r, s.x, 5, NULL, NULL);
	check_replay(&r, &s, "bf16");
	float *g[4];
	for (int i = 0; i < 4; i++)
		g[i] = ARENA_NEWN(s.a, float, i % 2 ? s.policy->n : s.embed->n);
	gradient(&s, &r, g[0], g[1]);
	double rounded_logp = r.replayed[0];
	h.bf16 = 0;
	gradient(&s, &r, g[2], g[3]);
	for (int b = 0; b < 2; b++) {
		const struct params *p = b ? s.policy : s.embed;
		for (uint32_t i = 0; i < p->n_mats; i++) {
			const struct param *q = &p->mat[i];
			least = fmin(least, cosine(g[b] + q->at, g[2 + b] + q->at,
						   (size_t)q->rows * q->cols));
		}
	}
	tap(least > 0.98 && least < 1 - 1e-9 && rounded_logp != r.replayed[0] &&
		    fabs(rounded_logp - r.replayed[0]) < 0.02 * fabs(r.replayed[0]),
	    "bf16: gradients of all matrices point where those of f32 do (least cosine %.4f)",
	    least);
	net_world_release(&s);
}

/* Networks that choose in turn: what is drawn has the log-probabilities that a replay finds, keeps
 * to the mask, does not depend on the samples beside it, and leaves home. */
static void turns(const struct net *net)
{
	enum { DRAWN = 3 };
	static struct recorded r;
	struct err e = ERR_INIT;
	struct net_world s;
	struct rng_addr rng[DRAWN];
	struct drawn drawn;
	const float *logp;
	void *h = net_hyper_new(net, RECIPE_PAPER);
	uint8_t mask[N * K];
	for (uint32_t i = 0; i < N * K; i++)
		mask[i] = i % K != 1;
	net_world_init(&s, net, h);
	record(&s, &r, s.x, 5, NULL, mask);
	uint32_t g = r.part.n_groups;
	for (uint32_t i = 0; i < DRAWN; i++)
		rng[i] = (struct rng_addr){.seed = 2, .stream = RNG_ACTION + i};
	struct draw draw = {DRAWN, false, rng, NULL, NULL};
	const struct to_place q = asked(&r);
	if (net_draw(s.w, &s.m, &q, &draw, &drawn, &e) < 0)
		die(&e);
	uint16_t action[DRAWN * N];
	double own[DRAWN], off = 0;
	bool kept = true;
	memcpy(action, drawn.action, DRAWN * g * sizeof *action);
	for (uint32_t i = 0; i < DRAWN; i++)
		own[i] = net_logp(drawn.logp + i * drawn.stride, g, K, action + i * g);
	for (uint32_t i = 0; i < DRAWN * g; i++)
		kept = kept && action[i] != 1;
	for (uint32_t i = 0; i < DRAWN; i++) {
		if (net_policy_prior(s.w, &s.m, &q, action + i * g, &logp, &e) < 0)
			die(&e);
		off = fmax(off, fabs(net_logp(logp, g, K, action + i * g) - own[i]));
	}
	tap(off < 1e-5 && kept && memcmp(action, action + g, g * sizeof *action) != 0,
	    "%s: log-probabilities of what is drawn (off by %.1e)", net->name, off);

	draw = (struct draw){1, false, rng + 1, action + g, NULL};
	if (net_draw(s.w, &s.m, &q, &draw, &drawn, &e) < 0)
		die(&e);
	tap(memcmp(drawn.action, action + g, g * sizeof *action) != 0,
	    "%s: a sample that would stay at home is drawn again", net->name);
	draw.home = NULL;
	if (net_draw(s.w, &s.m, &q, &draw, &drawn, &e) < 0)
		die(&e);
	tap(memcmp(drawn.action, action + g, g * sizeof *action) == 0,
	    "%s: a sample is the same whatever is beside it", net->name);
	net_world_release(&s);
	mem_free(h);
}

/* Every network of the table: defaults in range, replay, gradients; by itself, with a grouping given
 * from outside, with sets that must share a device, with devices that cannot run all sets. */
/* Recorded steps with groups of their own, together, give what each gives by itself. */
static void together(const struct net *net)
{
	enum { STEPS = 3 };
	static struct recorded r[STEPS];
	struct err e = ERR_INIT;
	struct replay_step step[STEPS];
	struct net_world s;
	void *h = net_hyper_new(net, RECIPE_PAPER);
	uint32_t group[N];
	double worst = 0, length = 0, off = 0;
	net_world_init(&s, net, h);
	size_t ne = s.embed->n, n = ne + s.policy->n;
	float *sum = ARENA_NEWN(s.a, float, n), *all = ARENA_NEWN(s.a, float, n);
	for (uint32_t i = 0; i < STEPS; i++) { /* the second has the most groups */
		const struct grouping given = {i == 1 ? N : 5, group};
		for (uint32_t v = 0; v < N; v++)
			group[v] = i == 1 ? v : (v + i) % 5;
		record(&s, &r[i], s.x, i, i < 2 ? &given : NULL, NULL);
		step[i] = r[i].step;
		if (net_replay(s.w, &s.m, &r[i].step, 1, sum, sum + ne, &e) < 0)
			die(&e);
	}
	if (net_replay(s.w, &s.m, step, STEPS, all, all + ne, &e) < 0)
		die(&e);
	for (size_t i = 0; i < n; i++) {
		worst = fmax(worst, fabs(all[i] - (double)sum[i]));
		length = fmax(length, fabs(sum[i]));
	}
	for (uint32_t i = 0; i < STEPS; i++) {
		off = fmax(off, fabs(step[i].objective - r[i].step.objective));
		off = fmax(off, fabs(step[i].group_logp - r[i].part.logp));
	}
	struct rng_addr rng[STEPS][2];
	struct to_place q[STEPS];
	struct draw draw[STEPS];
	struct drawn drawn[STEPS], one;
	uint16_t action[STEPS][2 * N];
	double drawn_off = 0;
	for (uint32_t i = 0; i < STEPS; i++) {
		for (uint32_t j = 0; j < 2; j++)
			rng[i][j] =
				(struct rng_addr){.seed = 2, .step = i, .stream = RNG_ACTION + j};
		q[i] = asked(&r[i]);
		draw[i] = (struct draw){2, false, rng[i], NULL, NULL};
	}
	if (net_draw_steps(s.w, &s.m, STEPS, q, draw, drawn, &e) < 0)
		die(&e);
	float *drawn_logp[STEPS];
	for (uint32_t i = 0; i < STEPS; i++) {
		size_t g = q[i].n_groups;
		memcpy(action[i], drawn[i].action, 2 * g * sizeof **action);
		drawn_logp[i] = memcpy(ARENA_NEWN(s.a, float, 2 * g * K), drawn[i].logp,
				       2 * g * K * sizeof(float));
	}
	for (uint32_t i = 0; i < STEPS; i++) {
		size_t g = q[i].n_groups;
		if (net_draw(s.w, &s.m, &q[i], &draw[i], &one, &e) < 0)
			die(&e);
		if (memcmp(action[i], one.action, 2 * g * sizeof **action) != 0)
			drawn_off = INFINITY;
		for (size_t j = 0; j < 2 * g * K; j++)
			drawn_off = fmax(drawn_off, fabs(drawn_logp[i][j] - one.logp[j]));
	}
	tap(drawn_off < 1e-5, "%s: steps together are drawn as by themselves", net->name);
	tap(worst < 2e-5 * length && off < 2e-5,
	    "%s: steps together are replayed as by themselves (%.1e of the largest gradient)",
	    net->name, worst / length);
	net_world_release(&s);
	mem_free(h);
}

static void registered(void)
{
	static struct recorded r;
	uint32_t thirds[N];
	for (uint32_t i = 0; i < N; i++)
		thirds[i] = 7 + i / 3;
	const struct grouping given = {7 + N / 3 + 1, thirds};
	for (int i = 0; nets[i]; i++) {
		struct err e = ERR_INIT;
		const struct net *net = nets[i];
		bool fit = net_find(net->name) == net;
		for (int recipe = 0; recipe < N_RECIPES; recipe++)
			for (const struct named_field *f = net->fields; f->name; f++)
				fit = fit && field_check(f, field_get(net_defaults(net, recipe), f),
							 "default", &e) == 0;
		tap(fit, "%s: its name and its defaults %s", net->name, e.msg);
		void *h = net_hyper_new(net, RECIPE_PAPER);
		for (const struct named_field *f = net->fields; f->name; f++)
			if (strcmp(f->name, "hidden") == 0)
				field_set(h, f, 13);
			else if (strcmp(f->name, "tanh_constant") == 0)
				field_set(h, f, 4); /* slopes above the noise */
			else if (strcmp(f->name, "rounds") == 0 &&
				 strcmp(net->name, "placeto") == 0)
				field_set(h, f, 4); /* more of them have kinks nearly everywhere */
		uint8_t mask[N * K];
		for (uint32_t j = 0; j < N; j++)
			for (uint32_t k = 0; k < K; k++)
				mask[j * K + k] = k == j % K || k == j / 5 % K;
		for (int way = 0; way < 4; way++) {
			struct net_world s;
			char name[80];
			snprintf(name, sizeof name, "%s, %s", net->name,
				 way == 0   ? "by itself"
				 : way == 1 ? "given groups"
				 : way == 2 ? "together"
					    : "device masks");
			net_world_init(&s, net, h);
			struct ugraph tied;
			if (way == 2) {
				for (uint32_t j = 0; j < N; j++)
					thirds[j] = j / 3;
				ugraph_tie(&tied, &s.g, thirds, N / 3 + 1, s.a);
				s.m.graph = &tied;
				s.m.together = thirds;
			}
			record(&s, &r, s.x, 5, way == 1 ? &given : NULL, way == 3 ? mask : NULL);
			bool kept = true;
			for (uint32_t j = 1; j < N && (way == 1 || way == 2); j++)
				kept = kept && (j / 3 != (j - 1) / 3 ||
						r.part.group[j] == r.part.group[j - 1]);
			tap(kept && (way != 1 || (r.part.given && r.part.n_groups == N / 3 + 1)),
			    "%s: %u groups", name, r.part.n_groups);
			check_replay(&r, &s, name);
			double whole = objective(&s, &r);
			for (uint32_t j = 0; j < SAMPLES * r.part.n_groups; j++)
				r.by_group[j] = r.coef[j / r.part.n_groups];
			r.step.coef_group = r.by_group;
			tap(fabs(objective(&s, &r) - whole) < 1e-4,
			    "%s: a coefficient for each group", name);
			for (uint32_t j = 0; j < SAMPLES * r.part.n_groups; j++)
				r.by_group[j] = cos(j);
			if (way == 0)
				check_gradient(&s, &r, name);
			r.step.coef_group = NULL;
			check_gradient(&s, &r, name);
			if (way == 0)
				check_ratios(&s, &r, name);
			net_world_release(&s);
		}
		if (!net->policy) {
			turns(net);
			together(net);
		}
		mem_free(h);
	}
	tap(!net_find("unheard"), "an unknown network is none");
}

static uint32_t components(const struct ugraph *g)
{
	uint32_t label[N], n = 0;
	for (uint32_t i = 0; i < g->n; i++)
		label[i] = i;
	for (uint32_t pass = 0; pass < g->n; pass++)
		for (uint32_t e = 0; e < g->m; e++) {
			uint32_t *u = &label[g->u[e]], *v = &label[g->v[e]];
			*u = *v = *u < *v ? *u : *v;
		}
	for (uint32_t i = 0; i < g->n; i++)
		n += label[i] == i;
	return n;
}

static void groups(void)
{
	static struct recorded r;
	struct net_world s;
	struct gpn_hyper h = small(&gpn_paper);
	h.dropout_parsing = 0;
	net_world_init(&s, nets[0], &h);
	record(&s, &r, s.x, 0, NULL, NULL);
	tap(r.part.n_groups == components(&s.g) && r.part.n_groups > 1,
	    "parsing to the end leaves the components (%u)", r.part.n_groups);
	h.rounds = 1;
	record(&s, &r, s.x, 0, NULL, NULL);
	uint32_t one = r.part.n_groups;
	h.min_groups = one + 3;
	record(&s, &r, s.x, 0, NULL, NULL);
	tap(r.part.n_groups == one + 3, "a floor holds: %u groups instead of %u", one + 3, one);

	uint8_t mask[N * K];
	for (uint32_t i = 0; i < N; i++)
		for (uint32_t k = 0; k < K; k++)
			mask[i * K + k] = k == i % K || k == (i / 5) % K;
	h = small(&gpn_paper);
	record(&s, &r, s.x, 0, NULL, mask);
	check_replay(&r, &s, "device masks");
	check_gradient(&s, &r, "device masks");

	uint32_t group[N];
	for (uint32_t i = 0; i < N; i++)
		group[i] = 9 - (i + i % 3) / 6;
	struct grouping given = {12, group};
	record(&s, &r, s.x, 0, &given, NULL);
	bool same = r.part.n_groups == 9 && r.part.given && r.part.n_rounds == 0;
	for (uint32_t i = 0; i < N; i++)
		for (uint32_t j = 0; j < N; j++)
			same = same &&
			       (group[i] == group[j]) == (r.part.group[i] == r.part.group[j]);
	tap(same && r.part.group[0] == 0, "a given grouping is honoured and numbered by first set");
	check_replay(&r, &s, "given grouping");
	check_gradient(&s, &r, "given grouping");
	net_world_release(&s);
}

/* No edges, one node: nothing to parse, and it still works. */
static void degenerate(void)
{
	static struct recorded r;
	struct net_world s;
	struct gpn_hyper h = small(&gpn_default);
	net_world_init(&s, nets[0], &h);
	struct digraph none = {.n = N};
	ugraph_from_digraph(&s.g, &none, s.a);
	record(&s, &r, s.x, 0, NULL, NULL);
	tap(r.part.n_groups == N && r.part.n_rounds == 0, "without edges every set is a group");
	check_replay(&r, &s, "no edges");
	s.x[7] = INFINITY;
	struct err e = ERR_INIT;
	struct partition p;
	tap(net_embed(s.w, &s.m, s.x, NULL, NULL, NULL, 0, &p, &e) < 0 && e.code == ST_INPUT,
	    "features that are not finite: %s", e.msg);
	net_world_release(&s);
}

static void tampered(void)
{
	static struct recorded r;
	struct net_world s;
	struct gpn_hyper h = small(&gpn_paper);
	net_world_init(&s, nets[0], &h);
	record(&s, &r, s.x, 0, NULL, NULL);
	struct parse_round round[8];
	uint32_t kept[N], group[N];
	for (int i = 0; i < 6; i++) {
		struct err e = ERR_INIT;
		struct partition p = r.part;
		memcpy(round, p.round, p.n_rounds * sizeof *round);
		memcpy(kept, round[0].kept, round[0].n_kept * sizeof *kept);
		memcpy(group, p.group, sizeof group);
		round[0].kept = kept;
		p.round = round;
		p.group = group;
		if (i == 0)
			kept[round[0].n_kept - 1] = s.g.m;
		else if (i == 1)
			kept[1] = kept[0];
		else if (i == 2)
			round[0].n--;
		else if (i == 3)
			p.n_rounds--;
		else if (i == 4)
			group[0] = 1;
		else
			p.n_groups++;
		tap(net_check(s.w, &s.m, &p, &e) < 0, "a bad partition is refused: %s", e.msg);
	}
	net_world_release(&s);
}

/* ---- threads, many steps ---- */

enum { STEPS = 7 };

static void threads(void)
{
	static struct recorded r[STEPS];
	static float x[STEPS][N * D];
	struct replay_step steps[STEPS];
	struct err e = ERR_INIT;
	struct net_world s;
	struct gpn_hyper h = small(&gpn_paper);
	h.hidden = 64;
	net_world_init(&s, nets[0], &h);
	for (uint32_t i = 0; i < STEPS; i++) {
		memcpy(x[i], i ? x[i - 1] : s.x, sizeof x[i]);
		if (i)
			net_advance(s.m.net, x[i], N, D, r[i - 1].part.group, r[i - 1].part.z);
		record(&s, &r[i], x[i], i, NULL, NULL);
	}
	struct pool *pool = pool_new(3, NULL);
	struct net_work *wp = net_work_new(pool);
	struct partition p;
	if (net_embed(wp, &s.m, x[1], &r[1].rng, NULL, NULL, 0, &p, &e) < 0)
		die(&e);
	tap(p.n_groups == r[1].part.n_groups &&
		    memcmp(p.z, r[1].part.z, p.n_groups * D * sizeof *p.z) == 0,
	    "embeddings do not depend on the threads");
	net_work_free(wp);

	size_t ne = s.embed->n, np = s.policy->n;
	float *g[3];
	double logp[3][STEPS];
	for (int run = 0; run < 3; run++) {
		g[run] = ARENA_NEWN(s.a, float, ne + np);
		for (uint32_t i = 0; i < STEPS; i++)
			steps[i] = r[i].step;
		struct replayer *q = replayer_new(run == 1 ? pool : NULL);
		for (int again = 0; run < 2 && again < 2; again++) {
			memset(g[run], 0, (ne + np) * sizeof(float));
			if (replayer_run(q, &s.m, steps, STEPS, g[run], g[run] + ne, &e) < 0)
				die(&e);
		}
		replayer_free(q);
		for (uint32_t i = 0; i < STEPS && run < 2; i++)
			logp[run][i] = r[i].replayed[0];
	}
	float *one = ARENA_NEWN(s.a, float, ne + np);
	for (uint32_t i = 0; i < STEPS; i++) {
		memset(one, 0, (ne + np) * sizeof *one);
		if (net_replay(s.w, &s.m, &r[i].step, 1, one, one + ne, &e) < 0)
			die(&e);
		for (size_t j = 0; j < ne + np; j++)
			g[2][j] += one[j];
		logp[2][i] = r[i].logp[0];
	}
	tap(memcmp(g[0], g[1], (ne + np) * sizeof(float)) == 0,
	    "gradients do not depend on the threads");
	tap(memcmp(g[0], g[2], (ne + np) * sizeof(float)) == 0, "steps are summed in their order");
	tap(memcmp(logp[0], logp[1], sizeof logp[0]) == 0 &&
		    memcmp(logp[0], logp[2], sizeof logp[0]) == 0,
	    "log-probabilities of all steps as recorded");
	pool_free(pool);
	net_world_release(&s);
}

/* ---- parameters ---- */

static void parameters(void)
{
	struct gpn_hyper h = small(&gpn_default);
	struct err e = ERR_INIT;
	struct params *p = nets[0]->embed_init(&h, D, 1), *q = nets[0]->embed_init(&h, D, 1),
		      *r = nets[0]->embed_init(&h, D, 2);
	tap(p->n == q->n && memcmp(p->data, q->data, p->n * sizeof *p->data) == 0,
	    "the seed gives the initial values");
	tap(memcmp(p->data, r->data, p->n * sizeof *p->data) != 0, "another seed gives others");
	const char *names[64];
	uint32_t rows[64], cols[64];
	for (uint32_t i = 0; i < p->n_mats; i++) {
		names[i] = p->mat[i].name;
		rows[i] = p->mat[i].rows;
		cols[i] = p->mat[i].cols;
	}
	tap(params_match(p, p->n_mats, names, rows, cols, &e) == 0, "a table matches itself");
	cols[3]++;
	tap(params_match(p, p->n_mats, names, rows, cols, &e) < 0, "a wrong shape: %s", e.msg);
	bool distinct = true;
	for (uint32_t i = 0; i < p->n_mats; i++)
		for (uint32_t j = 0; j < i; j++)
			distinct = distinct && strcmp(p->mat[i].name, p->mat[j].name) != 0;
	tap(distinct, "names of matrices are distinct");
	params_free(p);
	params_free(q);
	params_free(r);
}

/* Adam against the definition in double precision, and clipping. */
static void adam(void)
{
	enum { M = 5 };
	struct adam a;
	float x[M] = {1, -2, 0.5f, 0, 3};
	double y[M], m[M] = {0}, v[M] = {0}, worst = 0;
	for (int i = 0; i < M; i++)
		y[i] = x[i];
	adam_init(&a, M, 0.05);
	for (int t = 1; t <= 50; t++) {
		float g[M];
		for (int i = 0; i < M; i++) {
			g[i] = (float)(x[i] - i);
			double s = 0.5 * g[i];
			m[i] = 0.9 * m[i] + 0.1 * s;
			v[i] = 0.999 * v[i] + 0.001 * s * s;
			y[i] -= 0.05 * (m[i] / (1 - pow(0.9, t))) /
				(sqrt(v[i] / (1 - pow(0.999, t))) + 1e-8);
		}
		adam_step(&a, x, g, 0.5);
		for (int i = 0; i < M; i++)
			worst = fmax(worst, fabs(x[i] - y[i]));
	}
	tap(worst < 1e-4 && a.t == 50, "Adam follows its definition (error %.1e)", worst);
	adam_release(&a);
	tap(params_norm2((const float[]){3, 4}, 2) == 25 && params_clip(5, 1) == 0.2 &&
		    params_clip(0.5, 1) == 1 && params_clip(5, 0) == 1,
	    "norm and clipping");
}

static void hypers(void)
{
	struct gpn_hyper h = gpn_default;
	struct err e = ERR_INIT;
	const struct named_field *f = nets[0]->fields;
	while (f->name && strcmp(f->name, "rounds") != 0)
		f++;
	field_set(&h, f, 7);
	tap(h.rounds == 7 && field_get(&h, f) == 7, "hyperparameters by name");
	tap(field_check(f, 7, "hyperparameter", &e) == 0, "in range");
	tap(field_check(f, 1.5, "hyperparameter", &e) < 0, "not an integer: %s", e.msg);
	err_clear(&e);
	tap(field_check(f, 1001, "hyperparameter", &e) < 0, "out of range: %s", e.msg);
}

int main(void)
{
	gpn_recipes();
	rounded();
	registered();
	groups();
	degenerate();
	tampered();
	threads();
	parameters();
	adam();
	hypers();
	return tap_end();
}
