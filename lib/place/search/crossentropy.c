/* crossentropy.c - the cross-entropy method: P.-T. de Boer, D. P. Kroese, S. Mannor, R. Y.
 * Rubinstein, "A tutorial on the cross-entropy method", Annals of Operations Research 134, 2005,
 * optimisation with smoothed updates; for placements: Y. Gao, L. Chen, B. Li, "Post: device
 * placement with cross-entropy minimization and proximal policy optimization", NeurIPS 2018.
 *
 * As in Post, groups of operations have independent distributions over devices; a batch of
 * placements is drawn from them, and they move towards the frequencies in its best part, which
 * minimises the cross-entropy to it.  Post's second ingredient, steps of a policy gradient between
 * batches, is not here.  Beyond the papers: one more outcome leaves a group where it is in the
 * best placement, and when the distributions are nearly certain a new round begins from there with
 * other groups, coarse or fine, of contracted heavy edges. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place/search/walks.h"

enum { BATCH = 24, ELITE = 2, MOST_BATCHES = 40, LEAST_GROUPS = 4 };
static const double SMOOTH = 0.5;  /* weight of the newest elite */
static const double CERTAIN = 1.5; /* groups expected to differ from the likeliest outcome */
static const double LEAVES = 2, LEAVES_SHARE = 0.1; /* groups away from home at first */
static const double PRICE = 10;                     /* of memory beyond a limit */

struct sample {
	double energy;
	uint16_t *outcome; /* (groups) a device; k: stays */
};

struct entropy {
	struct search_state *p;
	const struct limits *limits;
	struct group_graph graph;  /* of the units */
	uint32_t n, k;             /* units, devices */
	uint32_t n_groups, *group; /* (units) */
	uint16_t *home, *unit_dev; /* (units) in the best placement; in the one at hand */
	double *prob;              /* (groups,k+1) */
	struct sample batch[BATCH];
};

static int by_energy(const void *pa, const void *pb)
{
	const struct sample *a = pa, *b = pb;

	if (a->energy != b->energy)
		return a->energy < b->energy ? -1 : 1;
	return a->outcome < b->outcome ? -1 : 1;
}

/* Groups of this round: from a few to all units by themselves, all magnitudes alike. */
static void form_groups(struct entropy *x)
{
	static const struct group_method heavy_edge = {.run = group_heavy_edge};
	double most = fmax(1, (double)x->n / LEAST_GROUPS);
	double n_groups = x->n / pow(most, random_stream_uniform(&x->p->rng));
	struct group_options o = {.n_groups = (uint32_t)fmax(1, n_groups)};
	struct group_told told;
	struct err none = ERR_INIT;

	if (group_make(&heavy_edge, &x->graph, &o, x->group, &told, &none) == 0) {
		x->n_groups = told.n_groups;
		return;
	}
	x->n_groups = x->n;
	for (uint32_t i = 0; i < x->n; i++)
		x->group[i] = i;
}

/* Home is the best placement so far, and most groups stay there. */
static void begin_round(struct entropy *x, double heat)
{
	struct search_state *p = x->p;
	const uint16_t *device = p->best_value < INFINITY ? p->best : p->device;

	form_groups(x);
	for (uint32_t i = 0; i < x->n; i++)
		x->home[i] = search_context_device(p->s, device, i);
	double leave = fmin(0.5, LEAVES / x->n_groups + LEAVES_SHARE * heat);

	for (uint32_t g = 0; g < x->n_groups; g++)
		for (uint32_t c = 0; c <= x->k; c++)
			x->prob[(size_t)g * (x->k + 1) + c] = c == x->k ? 1 - leave : leave / x->k;
}

static uint16_t draw_outcome(struct entropy *x, uint32_t g)
{
	const double *prob = x->prob + (size_t)g * (x->k + 1);
	double u = random_stream_uniform(&x->p->rng);
	uint32_t c = 0;

	while (c < x->k && (u -= prob[c]) >= 0)
		c++;
	return (uint16_t)c;
}

/* A placement from the distributions, and what it is worth. */
static void draw_sample(struct entropy *x, struct sample *s)
{
	for (uint32_t g = 0; g < x->n_groups; g++)
		s->outcome[g] = draw_outcome(x, g);
	for (uint32_t i = 0; i < x->n; i++) {
		uint16_t c = s->outcome[x->group[i]];

		x->unit_dev[i] = c == x->k ? x->home[i] : c;
	}
	search_state_move_all(x->p, x->unit_dev);
	s->energy = search_state_evaluate(x->p, INFINITY);
	search_state_keep(x->p);
}

/* Move the distributions towards the elite's frequencies; returns how many groups are expected
 * to have another outcome than the likeliest. */
static double update_distributions(struct entropy *x)
{
	double doubt = 0;

	qsort(x->batch, BATCH, sizeof(x->batch[0]), by_energy);
	for (uint32_t g = 0; g < x->n_groups; g++) {
		double *prob = x->prob + (size_t)g * (x->k + 1), likeliest = 0;

		for (uint32_t c = 0; c <= x->k; c++)
			prob[c] *= 1 - SMOOTH;
		for (uint32_t i = 0; i < ELITE; i++)
			prob[x->batch[i].outcome[g]] += SMOOTH / ELITE;
		for (uint32_t c = 0; c <= x->k; c++)
			likeliest = fmax(likeliest, prob[c]);
		doubt += 1 - likeliest;
	}
	return doubt;
}

static void search_round(struct entropy *x, double heat)
{
	double doubt = INFINITY;

	begin_round(x, heat);
	for (int i = 0; i < MOST_BATCHES && doubt > CERTAIN; i++) {
		for (uint32_t j = 0; j < BATCH; j++) {
			if (limits_spent(x->limits, x->p->used) >= 1)
				return;
			draw_sample(x, &x->batch[j]);
		}
		doubt = update_distributions(x);
	}
}

static void search_rounds(struct search_state *p, const struct limits *limits, double heat)
{
	struct entropy x = {.p = p, .limits = limits, .n = p->s->u.n, .k = p->s->m->k};
	struct arena *a = arena_new();
	uint16_t *outcome = ARENA_NEWN(a, uint16_t, BATCH * (size_t)x.n);

	unit_traffic_graph(&p->s->traffic, false, a, &x.graph);
	x.group = ARENA_NEWN(a, uint32_t, x.n);
	x.home = ARENA_NEWN(a, uint16_t, x.n);
	x.unit_dev = ARENA_NEWN(a, uint16_t, x.n);
	x.prob = ARENA_NEWN(a, double, (size_t)x.n *(x.k + 1));
	for (uint32_t i = 0; i < BATCH; i++)
		x.batch[i].outcome = outcome + (size_t)i * x.n;
	p->price = PRICE;
	search_state_refresh(p);
	while (limits_spent(limits, p->used) < 1)
		search_round(&x, heat);
	arena_free(a);
}

static int run_cross_entropy(struct method_run *r, struct err *e)
{
	static const struct walks walks = {
		.method = &method_cross_entropy, .walk = search_rounds, .purpose = RANDOM_ENTROPY};

	walks_run(&walks, r);
	return r->emit(r, e);
}

const struct place_method method_cross_entropy = {
	.name = "cross-entropy",
	.needs_costs = true,
	.about = "the cross-entropy method over groups",
	.source = "de Boer et al., Ann. Oper. Res. 134, 2005; Gao, Chen, Li, Post, NeurIPS 2018",
	.run = run_cross_entropy,
	.evals = EVALS_WHOLE,
};
