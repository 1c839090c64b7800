/* verdict_outputs.c - what the answer computes, beside a single device. */
#include "measure/verdict_outputs.h"

#include <string.h>

#include "measure/kept_results.h"

struct results {
	struct kept_results kept;
	bool compared;
	struct output_difference diff; /* of those that were compared the largest */
};

static int keep_results(void *arg, const void *const *result, struct err *e)
{
	struct results *r = arg;
	return kept_results_take(&r->kept, 0, result, e);
}

static int compare_results(void *arg, const void *const *result, struct err *e)
{
	struct results *r = arg;
	struct output_difference d;
	if (outputs_compare(&r->kept.s->model, result, kept_results_of(&r->kept, 0), &d, e) < 0)
		return -1;
	if (!r->compared || d.largest > r->diff.largest)
		r->diff = d;
	r->compared = true;
	return 0;
}

/* The reference, or, where that computes in less than f32, the first device that ran the model in f32. */
static int outputs_of(const struct session *s, const struct verdict *v)
{
	if (v->reference < 0 || device_is_f32(&s->devices.dev[v->reference]))
		return v->reference;
	for (uint32_t d = 0; d < s->devices.n; d++)
		if (v->single[d].ok && device_is_f32(&s->devices.dev[d]))
			return (int)d;
	return v->reference;
}

/* What outputs are compared with; where no single device has the memory, results of the first one that runs the
 * model without the user's limits, which are about placements. */
static int reference_results(struct session *s, struct verdict *v, struct results *r, struct err *e)
{
	int rc = -1;
	v->compared = outputs_of(s, v);
	if (v->compared >= 0)
		return session_results(s, v->single[v->compared].device, keep_results, r, e);
	struct device_limit *limit = device_list_lift(&s->devices);
	for (int f32 = 1; f32 >= 0; f32--)
		for (uint32_t d = 0; rc < 0 && d < s->devices.n && executor_alive(s->x); d++) {
			if (device_is_f32(&s->devices.dev[d]) != f32)
				continue;
			err_clear(e);
			rc = session_results(s, v->single[d].device, keep_results, r, e);
		}
	device_list_restore(&s->devices, limit);
	return rc;
}

int verdict_compare_outputs(struct session *s, struct verdict *v, struct arena *a, struct err *e)
{
	struct results r = {.compared = false};
	kept_results_init(&r.kept, s, a);
	int rc = reference_results(s, v, &r, e);
	for (uint32_t i = 0; rc == 0 && i <= v->final.n_more; i++)
		rc = session_results(s, v->final.device + (size_t)i * s->model.g->n_sets,
				     compare_results, &r, e);
	kept_results_release(&r.kept);
	v->diff = r.diff;
	if (rc == 0 || !executor_alive(s->x))
		return rc;
	memcpy(v->not_compared, e->msg, sizeof v->not_compared);
	err_clear(e);
	return 0;
}
