/* act_known.c - placements on single devices, and the incumbent. */
#include "learn/act/act_known.h"
#include "record/placerec.h"

int act_single_devices(const struct act *a, uint32_t episode, struct err *e)
{
	uint32_t k = a->devs->k;
	uint16_t *device = ARENA_NEWN(a->arena, uint16_t, a->n_sets);
	for (uint32_t i = 0; i < k; i++) {
		bool legal = true;
		for (uint32_t v = 0; v < a->n_sets; v++) {
			device[v] = (uint16_t)i;
			legal = legal && (!a->mask || a->mask[(size_t)v * k + i]);
		}
		const struct place_rec out = {.id = {a->graph, episode, 0, i},
					      .source = "single",
					      .k = k,
					      .n_sets = a->n_sets,
					      .names = a->devs->names,
					      .device = device};
		if (legal && place_encode(&out, a->out, e) < 0)
			return -1;
	}
	return 0;
}

int act_incumbent(const struct act *a, uint32_t episode, struct err *e)
{
	const struct place_rec out = {.id = {a->graph, episode, 0, 0},
				      .source = "incumbent",
				      .k = a->devs->k,
				      .n_sets = a->n_sets,
				      .names = a->devs->names,
				      .device = a->incumbent.device};
	return place_encode(&out, a->out, e);
}
