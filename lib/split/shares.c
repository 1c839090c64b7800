/* shares.c - how large the parts of unlike devices are: in eighths, by their speed, or for two devices the best of all. */
#include "split/decide.h"

enum { EIGHTHS = 8 };

/* Eighths by speed, each at least one; of more than eight devices each the same. */
static void by_speed(const struct split_costs *c, uint32_t ways, uint32_t *share)
{
	double sum = 0;
	uint32_t left = EIGHTHS;
	for (uint32_t p = 0; p < ways; p++) {
		share[p] = 1;
		sum += c->device[p % c->n].flops_per_s;
	}
	if (ways >= EIGHTHS)
		return;
	for (left -= ways; left > 0; left--) { /* to who has the least beside its speed */
		uint32_t least = 0;
		double most = -1;
		for (uint32_t p = 0; p < ways; p++) {
			double want = c->device[p % c->n].flops_per_s / sum * EIGHTHS - share[p];
			if (want > most) {
				most = want;
				least = p;
			}
		}
		share[least]++;
	}
}

void split_decide_shares(struct split_facts *f, const struct split_costs *costs, unsigned axes,
			 bool all, double min_gain, struct split_plan *plan, uint32_t *share,
			 struct split_decision *out)
{
	uint32_t best = 0;
	double least = 0;
	by_speed(costs, plan->ways, share);
	for (uint32_t k = 1; plan->ways == 2 && k < EIGHTHS; k++) {
		share[0] = k;
		share[1] = EIGHTHS - k;
		split_decide(f, costs, axes, all, min_gain, plan, out);
		if (best == 0 || out->cut_s < least) {
			least = out->cut_s;
			best = k;
		}
	}
	if (best > 0) {
		share[0] = best;
		share[1] = EIGHTHS - best;
	}
	split_decide(f, costs, axes, all, min_gain, plan, out);
}
