/* single.c - single devices: everything on one of them. */
#include <stdio.h>
#include <string.h>

#include "place/method/method.h"
#include "record/devrec.h"

static void all_on(struct method_run *r, uint32_t dev)
{
	for (uint32_t i = 0; i < r->m->n_sets; i++)
		r->device[i] = (uint16_t)dev;
}

static int run_single(struct method_run *r, struct err *e)
{
	double deadline_s = method_deadline_s(r);
	uint32_t left_out = 0;
	bool found = false;

	for (uint32_t dev = 0; dev < r->m->k; dev++) {
		if (r->arg && strcmp(r->arg, r->m->names[dev]) != 0)
			continue;
		if (found && method_is_late(deadline_s)) {
			left_out++;
			continue;
		}
		found = true;
		all_on(r, dev);
		if (r->emit(r, e) < 0)
			return -1;
	}
	if (left_out)
		snprintf(r->note, sizeof(r->note), "%u devices left out, the budget being spent",
			 left_out);
	return found ? 0 : devs_unknown(r->m->names, r->m->k, r->arg, ST_USAGE, e);
}

const struct place_method method_single = {
	.name = "single",
	.arg = "DEVICE",
	.about = "every device alone, or only DEVICE",
	.source = "-",
	.run = run_single,
};
