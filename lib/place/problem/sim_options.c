/* sim_options.c - options of simulation, into what gathers its inputs. */
#include "place/problem/sim_options.h"

int place_options_inputs(const struct place_options *o, const char *default_spec,
			 struct place_inputs *x, struct err *e)
{
	struct place_objective objective = {0};

	*x = (struct place_inputs){0};
	if (o->objective && place_objective_parse(o->objective, &objective, e) < 0)
		return -1;
	if (o->rules != PLACE_SCHEDULE && !place_objective_is_latency(&objective))
		return err_set(e, ST_USAGE,
			       "--objective does not go with --model %s, which is one "
			       "itself",
			       place_rules_names[o->rules]);
	if (place_inputs_init(x, o->spec ? o->spec : default_spec, e) < 0)
		return -1;
	if (o->watts && watts_parse(o->watts, x->arena, &x->watts, e) < 0)
		return -1;
	x->objective = objective;
	x->rules = (enum place_rules)o->rules;
	x->order = (enum place_order)o->order;
	if (o->headroom && headroom_parse(o->headroom, x->arena, &x->headroom, e) < 0)
		return -1;
	x->only_case = o->only_case;
	x->contention = o->contention;
	x->overlap = o->overlap;
	return 0;
}
