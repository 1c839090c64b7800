/* tabu.c - tabu search: F. Glover, "Tabu search - part I", ORSA Journal on Computing 1(3), 1989.
 * Of a sample of the neighbourhood (candidate list) the best move is made, for better or worse.
 * A unit may not go back to a device that it left within the tenure, unless that is better than
 * everything before (aspiration).  Where nothing better turns up for long, the search goes on from
 * the best placement after some random moves (diversification). */
#include <math.h>
#include <string.h>

#include "place/search/walks.h"

enum { CANDIDATES = 24, PATIENCE = 400, KICKS = 6 };
static const double PRICE = 30; /* of memory beyond a limit */

struct tabu {
	struct search_state *p;
	const struct limits *limits;
	uint32_t k;
	uint64_t now, *until; /* (units,k) no way back before */
	/* the best candidate: its units, in the order of their moves, and where they go */
	uint32_t n, *unit;
	uint16_t *to;
	double best_energy;
	uint16_t *best; /* (n_sets) of that energy */
};

static bool is_tabu(const struct tabu *x)
{
	const struct search_state *p = x->p;

	for (uint32_t i = 0; i < p->n_moved; i++) {
		uint16_t dev = search_context_device(p->s, p->device, p->unit[i]);

		if (x->until[(size_t)p->unit[i] * x->k + dev] > x->now)
			return true;
	}
	return false;
}

/* The best of some neighbours that are not tabu; false: all are. */
static bool choose_move(struct tabu *x)
{
	struct search_state *p = x->p;
	double best = INFINITY, e = p->energy, value = p->value;

	x->n = 0;
	for (int i = 0; i < CANDIDATES && limits_spent(x->limits, p->used) < 1; i++) {
		if (!search_state_draw_move(p))
			continue;
		search_state_evaluate(p, fmax(best, x->best_energy));
		if (p->energy < best && (p->energy < x->best_energy || !is_tabu(x))) {
			best = p->energy;
			x->n = p->n_moved;
			memcpy(x->unit, p->unit, x->n * sizeof(*x->unit));
			for (uint32_t j = 0; j < x->n; j++)
				x->to[j] = search_context_device(p->s, p->device, p->unit[j]);
		}
		search_state_undo(p, e, value);
	}
	return x->n > 0;
}

static void make_move(struct tabu *x)
{
	struct search_state *p = x->p;
	uint32_t tenure = 5 + (uint32_t)sqrt(p->s->u.n);

	for (uint32_t i = 0; i < x->n; i++) {
		uint16_t was = search_context_device(p->s, p->device, x->unit[i]);

		x->until[(size_t)x->unit[i] * x->k + was] =
			x->now + tenure + random_stream_below(&p->rng, tenure);
		search_state_move(p, x->unit[i], x->to[i]);
	}
	search_state_evaluate(p, INFINITY);
	search_state_keep(p);
}

static void diversify(struct tabu *x)
{
	struct search_state *p = x->p;

	memcpy(p->device, x->best, p->s->m->n_sets * sizeof(*p->device));
	search_state_refresh(p);
	for (int i = 0; i < KICKS; i++)
		if (search_state_draw_move(p))
			search_state_keep(p);
	search_state_refresh(p);
}

static void search_tabu(struct search_state *p, const struct limits *limits, double heat)
{
	const struct place_model *m = p->s->m;
	uint32_t n = p->s->u.n;
	struct tabu x = {.p = p,
			 .limits = limits,
			 .k = m->k,
			 .best_energy = INFINITY,
			 .until = MEM_NEWN(uint64_t, (size_t)n * m->k),
			 .unit = MEM_NEWN(uint32_t, n),
			 .to = MEM_NEWN(uint16_t, n),
			 .best = MEM_NEWN(uint16_t, m->n_sets)};
	uint64_t better_at = 0;

	(void)heat;
	p->price = PRICE;
	search_state_refresh(p);
	for (x.now = 1; limits_spent(limits, p->used) < 1; x.now++) {
		if (p->energy < x.best_energy) {
			x.best_energy = p->energy;
			memcpy(x.best, p->device, m->n_sets * sizeof(*x.best));
			better_at = x.now;
		}
		if (x.now - better_at > PATIENCE) {
			diversify(&x);
			better_at = x.now;
		}
		if (choose_move(&x))
			make_move(&x);
		else
			p->used++;
	}
	mem_free(x.until);
	mem_free(x.unit);
	mem_free(x.to);
	mem_free(x.best);
}

static int run_tabu(struct method_run *r, struct err *e)
{
	static const struct walks walks = {
		.method = &method_tabu, .walk = search_tabu, .purpose = RANDOM_TABU};

	walks_run(&walks, r);
	return r->emit(r, e);
}

const struct place_method method_tabu = {
	.name = "tabu",
	.needs_costs = true,
	.about = "tabu search over a sampled neighbourhood",
	.source = "Glover, ORSA J. Computing 1(3), 1989",
	.run = run_tabu,
};
