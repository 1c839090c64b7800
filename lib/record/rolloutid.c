/* rolloutid.c - graph, episode, step and sample of a record. */
#include "record/rolloutid.h"

int rollout_id_decode(const struct val *map, unsigned keys, struct rollout_id *out, struct err *e)
{
	*out = (struct rollout_id){0};
	if ((keys & ID_GRAPH) && get_uint(map, "graph", 0, UINT64_MAX, &out->graph, e) < 0)
		return -1;
	if ((keys & ID_STEP) && (get_u32(map, "episode", 0, &out->episode, e) < 0 ||
				 get_u32(map, "step", 0, &out->step, e) < 0))
		return -1;
	return keys & ID_SAMPLE ? get_u32(map, "sample", 0, &out->sample, e) : 0;
}

void rollout_id_put(struct rec_writer *w, unsigned keys, const struct rollout_id *id)
{
	if (keys & ID_GRAPH)
		put_uint(w, "graph", id->graph);
	if (keys & ID_STEP) {
		put_uint(w, "episode", id->episode);
		put_uint(w, "step", id->step);
	}
	if (keys & ID_SAMPLE)
		put_uint(w, "sample", id->sample);
}

bool rollout_id_same(const struct rec *a, const struct rec *b)
{
	struct err none = ERR_INIT;
	struct rollout_id x, y;

	return rollout_id_decode(a->map, ID_ALL, &x, &none) == 0 &&
	       rollout_id_decode(b->map, ID_ALL, &y, &none) == 0 && x.graph == y.graph &&
	       x.episode == y.episode && x.step == y.step && x.sample == y.sample;
}
