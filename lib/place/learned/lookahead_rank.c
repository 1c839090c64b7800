/* methods_rules.c - list scheduling by the look-ahead rank, as a method of its own. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "place/learned/decode.h"
#include "place/method/method.h"

static const double HEFT_SHARE = 0.2; /* of the budget: for what is left */

static int run_lookahead_rank(struct method_run *r, struct err *e)
{
	struct decode x = {.rule = DECODE_LOOKAHEAD, .links = true, .end_s = method_deadline_s(r)};
	struct cost_view view;
	struct place_units u;

	if (x.end_s > 0)
		x.deadline_s = x.end_s - HEFT_SHARE * r->budget_s;
	cost_view_init(&view, r->m, r->a);
	int rc = decode_run(&x, &view, r->device, e);

	snprintf(r->note, sizeof(r->note), "its own schedule takes %.6g s", x.makespan_s);
	if (x.n_late || x.n_last) {
		size_t used = strlen(r->note);

		snprintf(r->note + used, sizeof(r->note) - used,
			 "; %u tasks by HEFT and %u to one device, the budget being spent",
			 x.n_late, x.n_last);
	}
	place_units_init(&u, r->m, r->a);
	if (method_mend(r, &u) && rc < 0) {
		err_clear(e);
		rc = 0;
	}
	return rc < 0 ? -1 : r->emit(r, e);
}

const struct place_method method_lookahead_rank = {
	.name = "lookahead-rank",
	.needs_costs = true,
	.about = "list schedule by where consumers and what follows would end",
	.source = "Bittencourt, Sakellariou, Madeira, PDP 2010, with upward ranks",
	.run = run_lookahead_rank,
	.scope = SCOPE_SCHEDULES,
	.is_heuristic = true,
};
