/* race.c - a race from its arms to who is handed over. */
#include <math.h>

#include "base/mem.h"
#include "race/race_impl.h"
#include "stats/quantile.h"

struct race *race_new(const struct race_options *o, const struct race_source *source)
{
	struct race *x = MEM_NEW(struct race);
	x->o = *o;
	x->o.block = o->block < 3 ? 3 : o->block;
	x->source = source;
	x->begin_s = source->spent_s(source->ctx);
	return x;
}

void race_free(struct race *x)
{
	if (!x)
		return;
	block_effects_release(&x->fx);
	mem_free(x->arm);
	mem_free(x->run_s);
	mem_free(x->off);
	mem_free(x);
}

uint32_t race_add(struct race *x, const struct race_entry *entry)
{
	x->arm = mem_grow(x->arm, &x->cap, x->n + 1, sizeof *x->arm);
	x->run_s = mem_grow(x->run_s, &x->cap_run, x->n + 1, sizeof *x->run_s);
	x->run_s[x->n] = 0;
	x->off = mem_grow(x->off, &x->cap_off, (size_t)(x->n + 1) * x->source->n_draws + 1,
			  sizeof *x->off);
	for (uint32_t d = 0; d < x->source->n_draws; d++)
		x->off[(size_t)x->n * x->source->n_draws + d] = 0;
	x->arm[x->n] = (struct race_arm){.start = entry->start || x->n == 0,
					 .group = entry->group,
					 .predicted_s = entry->predicted_s};
	return x->n++;
}

const struct race_arm *race_arm(const struct race *x, uint32_t i)
{
	return &x->arm[i];
}

/* ---- the end ---- */

int race_run(struct race *x, double until_s, struct err *e)
{
	return race_blocks(x, fmin(until_s, x->o.budget_s * (1 - x->o.final_share)), false, e);
}

/* The best arm that is surely as fast as the start, else the start. */
static int hand_over(const struct race *x, int start)
{
	int best = start;
	for (uint32_t i = 0; i < x->n; i++) {
		const struct race_arm *a = &x->arm[i];
		struct interval r;
		if (a->state == RACE_LIVE && race_ripe(a) && (int)i != start &&
		    a->shrunk < x->arm[best].shrunk && race_usual(x, i, (uint32_t)start, &r) &&
		    r.hi <= 1)
			best = (int)i;
	}
	return best;
}

static void describe(struct race *x, struct race_result *out)
{
	double *by = mem_copy(x->fx.block, x->n_blocks, sizeof *by);
	order_values(by, x->n_blocks);
	out->lat_s = exp(x->arm[out->winner].effect + quantile(by, x->n_blocks, 0.5));
	out->drift = (quantile(by, x->n_blocks, 0.975) - quantile(by, x->n_blocks, 0.025)) / 2;
	out->noise = x->fx.seen;
	for (uint32_t b = 0; b < x->n_blocks; b++)
		out->n_disturbed += x->fx.trust[b] < 1;
	mem_free(by);
}

int race_finish(struct race *x, struct race_result *out, struct err *e)
{
	*out = (struct race_result){.winner = -1, .best_start = -1, .leader = -1};
	if (race_run(x, INFINITY, e) < 0 || race_blocks(x, x->o.budget_s, true, e) < 0)
		return -1;
	race_learn(x);
	out->leader = race_best(x, false);
	out->best_start = race_best(x, true);
	if (out->leader < 0)
		return 0;
	out->n_blocks = x->n_blocks;
	out->winner = out->best_start < 0 ? out->leader : hand_over(x, out->best_start);
	out->settled = race_settled(x);
	if (out->best_start >= 0 &&
	    !race_ratio(x, (uint32_t)out->leader, (uint32_t)out->best_start, &out->over_start))
		out->over_start = (struct interval){0, 0, INFINITY};
	if (x->arm[0].n_bursts == 0 ||
	    !race_ratio(x, (uint32_t)out->winner, 0, &out->over_reference))
		out->over_reference = (struct interval){0, 0, 0};
	describe(x, out);
	return 0;
}
