/* options.c - options of simulation, into what gathers its inputs. */
#include <stdio.h>
#include <string.h>

#include "place/options.h"

/* Every item is NAME=BUSY or NAME=BUSY/IDLE. */
static int check_watts(const char *list, struct err *e)
{
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		size_t n = strcspn(at, ","), name = strcspn(at, "=");
		char item[100];

		snprintf(item, sizeof(item), "%.*s", n < sizeof(item) ? (int)n : (int)sizeof(item) - 1, at);
		if (name == 0 || name + 1 >= n)
			return err_set(e, ST_USAGE, "--watts: '%s' is not NAME=BUSY or NAME=BUSY/IDLE", item);
		snprintf(item, sizeof(item), "%.*s", (int)(n - name - 1 < 99 ? n - name - 1 : 99), at + name + 1);
		char *busy = item, *idle = strchr(item, '/');
		double w;

		if (idle)
			*idle++ = 0;
		if (opt_real(busy, "--watts", 0, 1e9, &w, e) < 0 ||
		    (idle && opt_real(idle, "--watts, idle", 0, 1e9, &w, e) < 0))
			return -1;
	}
	return 0;
}

int place_options_inputs(const struct place_options *o, const char *default_spec,
			 struct place_inputs *x, struct err *e)
{
	struct place_objective objective = {0};

	*x = (struct place_inputs){0};
	if (o->objective && place_objective_parse(o->objective, &objective, e) < 0)
		return -1;
	if (o->rules != PLACE_SCHEDULE && !place_objective_is_latency(&objective))
		return err_set(e, ST_USAGE, "--objective does not go with --model %s, which is one itself",
			       place_rules_names[o->rules]);
	if (o->watts && check_watts(o->watts, e) < 0)
		return -1;
	if (place_inputs_init(x, o->spec ? o->spec : default_spec, e) < 0)
		return -1;
	x->objective = objective;
	x->rules = (enum place_rules)o->rules;
	x->watts_list = o->watts;
	x->order = (enum place_order)o->order;
	x->contention = o->contention;
	x->overlap = o->overlap;
	return 0;
}
