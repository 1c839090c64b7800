/* separators_price.c - the memory of all accelerators has a price; see separators.h. */
#include <math.h>

#include "place/bound/bounds.h"
#include "place/bound/separators.h"

enum { ROUNDS = 12 };
static const double MAX_STEPS = 1 << 30; /* of all rounds; about half a second */
static const double NEAR = 1e-6;         /* relative: planes this near to the dual are the dual */

/* A plane above the dual: the value of some placement, by the price, and what it holds of all
 * room. */
struct plane {
	double value, share;
};

struct prices {
	const struct reach *g;
	bool cpu_between;
	separators_see see;
	void *arg;
	double *acc_s;   /* (tasks) with the price */
	uint32_t *piece; /* (tasks) */
	double steps;    /* of one round */
	bool sure;       /* not to take long */
};

/* The least value at this price, and its plane. */
static double value_at_price(struct prices *x, double price, struct plane *plane)
{
	struct arena *a = arena_new();
	struct reach g = *x->g;
	struct separators s;
	uint32_t n_pieces = 0;
	double share = 0;

	for (uint32_t t = 0; price > 0 && t < g.n; t++)
		x->acc_s[t] = x->g->acc_s[t] + price * ((double)g.mem[t] / g.room);
	g.acc_s = price > 0 ? x->acc_s : x->g->acc_s;
	separators_init(&s, &g, x->cpu_between, x->sure, a);
	double value = separators_solve(&s, x->piece, &n_pieces);
	if (isnan(value)) {
		x->sure = true;
		arena_free(a);
		return value_at_price(x, price, plane);
	}
	x->steps = (double)s.work;
	for (uint32_t t = 0; value < INFINITY && t < g.n; t++)
		share += x->piece[t] ? (double)g.mem[t] / g.room : 0;
	*plane = (struct plane){value - price * share, share};
	if (x->see && value < INFINITY)
		x->see(x->arg, &s, x->piece, n_pieces);
	arena_free(a);
	return value;
}

/* Everything on CPUs; INFINITY: not possible. */
static double on_cpus_s(const struct reach *g)
{
	double *end = MEM_NEWN(double, g->n), most = 0;

	for (uint32_t t = 0; t < g->n; t++) {
		for (uint32_t i = g->pred_ptr[t]; i < g->pred_ptr[t + 1]; i++)
			end[t] = fmax(end[t], end[g->pred[i]]);
		end[t] += g->cpu_s[t];
		most = fmax(most, end[t]);
	}
	mem_free(end);
	return most;
}

double separators_priced(const struct reach *g, bool cpu_between, separators_see see, void *arg)
{
	struct prices x = {.g = g,
			   .cpu_between = cpu_between,
			   .see = see,
			   .arg = arg,
			   .acc_s = MEM_NEWN(double, g->n),
			   .piece = MEM_NEWN(uint32_t, g->n)};
	struct plane over, under = {on_cpus_s(g), 0}, now;
	double best = value_at_price(&x, 0, &over);
	double rounds = fmin(ROUNDS, MAX_STEPS / fmax(1, x.steps));

	if (over.share <= 1 || !(best < INFINITY) || !(under.value < INFINITY))
		rounds = 0;
	for (int i = 0; i < rounds; i++) {
		double price = (under.value - over.value) / (over.share - under.share);
		double roof = over.value + (over.share - 1) * price;

		if (!(price > 0) || roof <= best * (1 + NEAR))
			break;
		best = fmax(best, value_at_price(&x, price, &now) - price);
		*(now.share > 1 ? &over : &under) = now;
	}
	mem_free(x.acc_s);
	mem_free(x.piece);
	return best;
}

double bound_separators_s(const struct reach *g)
{
	double value = separators_priced(g, false, NULL, NULL);

	return value < INFINITY ? value * (1 - 1e-9) : 0;
}

static double separators_value(struct bound_problem *x)
{
	return x->reach ? bound_separators_s(x->reach) : 0;
}

const struct lower_bound bound_separators = {
	.kind = "spine",
	.source = "Narayanan et al., PipeDream, SOSP 2019, section 3.1, for blocks",
	.rules = 1U << PLACE_DNNPART_LATENCY,
	.metric = METRIC_LATENCY,
	.value = separators_value};
