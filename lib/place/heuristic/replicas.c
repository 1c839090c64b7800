/* replicas.c - requests in flight, each on a device of its own: the whole model on every device that computes at once with
 * the others, as OpenVINO's hint CUMULATIVE_THROUGHPUT has it. */
#include "place/method/method.h"
#include "sched/turns.h"

static int run_replicas(struct method_run *r, struct err *e)
{
	const struct place_model *m = r->m;
	struct evaluator *ev = evaluator_new(m);
	uint32_t *dev = ARENA_NEWN(r->a, uint32_t, (size_t)m->k + 1), rows = 0,
		 n = sched_apart(m->costs.turns, m->k, dev);
	uint16_t *all = ARENA_NEWN(r->a, uint16_t, (size_t)n * m->n_sets + 1);
	for (uint32_t i = 0; i < n; i++) {
		uint16_t *row = all + (size_t)rows * m->n_sets;
		for (uint32_t s = 0; s < m->n_sets; s++)
			row[s] = (uint16_t)dev[i];
		rows += place_evaluate(ev, row)->status == PLACE_OK;
	}
	evaluator_free(ev);
	if (rows < 2)
		return err_set(e, ST_RUNTIME,
			       "the whole model fits on %u of the devices that compute at once: "
			       "there are no replicas",
			       rows);
	for (uint32_t s = 0; s < m->n_sets; s++)
		r->device[s] = all[s];
	r->more = all + m->n_sets;
	r->n_more = rows - 1;
	return r->emit(r, e);
}

const struct place_method method_replicas = {
	.name = "replicas",
	.needs_costs = true,
	.about = "requests in flight: the whole model on each device apart",
	.source = "-",
	.run = run_replicas,
};
