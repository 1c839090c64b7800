/* evaluators.c - a pool without locks: a fixed number of places, each of which is empty or has an
 * evaluator. */
#include <stdatomic.h>

#include "place/simulate/evaluators.h"

enum { PLACES = 64 };

struct evaluators {
	const struct place_model *m;
	_Atomic(struct evaluator *) idle[PLACES];
};

struct evaluators *evaluators_new(const struct place_model *m)
{
	struct evaluators *x = MEM_NEW(struct evaluators);

	x->m = m;
	for (int i = 0; i < PLACES; i++)
		atomic_init(&x->idle[i], NULL);
	return x;
}

void evaluators_free(struct evaluators *x)
{
	for (int i = 0; i < PLACES; i++)
		evaluator_free(atomic_load(&x->idle[i]));
	mem_free(x);
}

struct evaluator *evaluators_take(struct evaluators *x)
{
	for (int i = 0; i < PLACES; i++) {
		struct evaluator *ev = atomic_exchange(&x->idle[i], NULL);

		if (ev)
			return ev;
	}
	return evaluator_new(x->m);
}

void evaluators_put(struct evaluators *x, struct evaluator *ev)
{
	for (int i = 0; i < PLACES; i++) {
		struct evaluator *empty = NULL;

		if (atomic_compare_exchange_strong(&x->idle[i], &empty, ev))
			return;
	}
	evaluator_free(ev);
}
