/* rule.h - what the placement rules of other runtimes share: accelerators in order, a host that takes what is left, bytes that
 * each unit adds, and the module that it belongs to. */
#ifndef HSDAG_PLACE_RUNTIMES_RULE_H
#define HSDAG_PLACE_RUNTIMES_RULE_H

#include "place/method/method.h"

struct runtime_rule {
	struct method_run *r;
	struct place_units u;
	uint32_t n_acc,
		*acc; /* devices that are no processors, in their order; of none all but the last */
	uint32_t
		host; /* the first processor; without one, or without accelerators, the last device */
	double *room; /* (k) bytes that the rule may fill of each; INFINITY: any */
	/* (units) bytes of values that no task makes, of several readers with the first one; bytes that it makes */
	double *weights, *outputs;
	const char **path;  /* (units) module, parts divided by dots (module_name.h) */
	uint16_t *unit_dev; /* (units) what a rule fills */
};

/* Of r's model; memory from r's arena. */
void runtime_rule_init(struct runtime_rule *x, struct method_run *r);

/* Unit i may go to dev. */
bool runtime_rule_may(const struct runtime_rule *x, uint32_t i, uint32_t dev);
/* Unit i on dev where it may go there, else on the first device that it may have, the host before others. */
void runtime_rule_put(struct runtime_rule *x, uint32_t i, uint32_t dev);

/* Hand over what `assign` fills into unit_dev.  Rules count weights, and the simulator what is made while the model runs, too: where
 * the answer needs more than there is, the rule has 95 %, 90 % ... 5 % of the accelerators' memory, as people lower a limit until it
 * works; the note tells how much.  Where none of these is legal the first is handed over. */
int runtime_rule_answer(struct runtime_rule *x, void (*assign)(struct runtime_rule *x),
			struct err *e) MUST_CHECK;

#endif
