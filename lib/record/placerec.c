/* placerec.c - place records in and out. */
#include <string.h>

#include "record/devrec.h"
#include "record/placerec.h"

static int decode_devices(const struct rec *r, uint32_t n_sets, struct arena *a,
			  struct place_rec *p, struct err *e)
{
	size_t k = SIZE_MAX;
	const char **names;
	uint16_t *device;
	uint64_t shape[1] = {n_sets == UINT32_MAX ? UINT64_MAX : n_sets};

	if (get_texts(r->map, "devices", a, &k, &names, e) < 0 ||
	    get_tensor(r->map, "device", TT_U16, 1, shape, a, &device, e) < 0)
		return -1;
	if (k == 0 || k > DEVS_MAX)
		return err_set(e, ST_INPUT, "%zu devices, not 1 to %d", k, DEVS_MAX);
	if (shape[0] >= UINT32_MAX)
		return err_set(e, ST_INPUT, "'device' is too long");
	for (size_t i = 1; i < k; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(names[i], names[j]) == 0)
				return err_set(e, ST_INPUT, "device %zu has the name of device %zu",
					       i, j);
	p->k = (uint32_t)k;
	p->n_sets = (uint32_t)shape[0];
	for (uint32_t i = 0; i < p->n_sets; i++)
		if (device[i] >= k)
			return err_set(e, ST_INPUT, "set %u is on device %u of %zu", i, device[i],
				       k);
	p->names = names;
	p->device = device;
	return 0;
}

/* Rows of device behind the first. */
static int decode_replicas(const struct rec *r, unsigned keys, struct arena *a, struct place_rec *p,
			   struct err *e)
{
	uint64_t shape[2] = {UINT64_MAX, p->n_sets};
	uint16_t *more, *all;

	if (!val_get(r->map, "replicas"))
		return 0;
	if (!(keys & PLACE_REPLICAS))
		return err_set(e, ST_INPUT, "it has replicas, of which nothing is known here");
	if (val_get(r->map, "order"))
		return err_set(e, ST_INPUT, "'replicas' and 'order' exclude each other");
	if (get_tensor(r->map, "replicas", TT_U16, 2, shape, a, &more, e) < 0)
		return -1;
	if (shape[0] == 0 || shape[0] >= PLACE_MOST_REPLICAS)
		return err_set(e, ST_INPUT, "'replicas' has %llu rows, not 1 to %d",
			       (unsigned long long)shape[0], PLACE_MOST_REPLICAS - 1);
	size_t row = p->n_sets, n = (size_t)shape[0] * row;
	for (size_t i = 0; i < n; i++)
		if (more[i] >= p->k)
			return err_set(e, ST_INPUT, "'replicas' names device %u of %u", more[i],
				       p->k);
	all = ARENA_NEWN(a, uint16_t, row + n);
	if (row)
		memcpy(all, p->device, row * sizeof *all);
	if (n)
		memcpy(all + row, more, n * sizeof *all);
	p->device = all;
	p->n_more = (uint32_t)shape[0];
	return 0;
}

void place_put_device(const struct place_rec *p, struct rec_writer *w)
{
	put_vector(w, "device", TT_U16, p->n_sets, p->device);
	if (p->n_more)
		put_matrix(w, "replicas", TT_U16, p->n_more, p->n_sets, p->device + p->n_sets);
}

static int decode_order(const struct rec *r, struct arena *a, struct place_rec *p, struct err *e)
{
	uint64_t shape[1] = {UINT64_MAX};
	uint32_t *order;
	bool *seen;

	if (!val_get(r->map, "order"))
		return 0;
	if (get_tensor(r->map, "order", TT_U32, 1, shape, a, &order, e) < 0)
		return -1;
	if (shape[0] > p->n_sets)
		return err_set(e, ST_INPUT, "'order' is longer than 'device'");
	seen = ARENA_NEWN(a, bool, p->n_sets);
	for (uint32_t i = 0; i < shape[0]; i++) {
		if (order[i] >= p->n_sets || seen[order[i]])
			return err_set(e, ST_INPUT, "'order' has set %u %s", order[i],
				       order[i] < p->n_sets ? "twice" : "of a larger graph");
		seen[order[i]] = true;
	}
	p->n_order = (uint32_t)shape[0];
	p->order = order;
	return 0;
}

static int decode_moves(const struct rec *r, struct arena *a, struct place_rec *p, struct err *e)
{
	uint64_t shape[2] = {UINT64_MAX, UINT64_MAX}, move;
	float *moves;

	if (get_tensor(r->map, "moves", TT_F32, 2, shape, a, &moves, e) < 0)
		return -1;
	if (shape[0] == 0 || shape[0] >= UINT32_MAX || shape[1] >= UINT32_MAX)
		return err_set(e, ST_INPUT, "'moves' is empty or too long");
	if (get_uint(r->map, "move", 0, shape[0] - 1, &move, e) < 0)
		return -1;
	p->n_moves = (uint32_t)shape[0];
	p->n_move_features = (uint32_t)shape[1];
	p->moves = moves;
	p->move = (uint32_t)move;
	return val_get(r->map, "adapted") ? get_bool(r->map, "adapted", &p->adapted, e) : 0;
}

static int decode_action(const struct rec *r, struct arena *a, struct place_rec *p, struct err *e)
{
	uint64_t shape[1] = {UINT64_MAX};
	uint16_t *action;

	if (get_tensor(r->map, "action", TT_U16, 1, shape, a, &action, e) < 0)
		return -1;
	if (shape[0] >= UINT32_MAX)
		return err_set(e, ST_INPUT, "'action' is too long");
	for (size_t i = 0; i < shape[0]; i++)
		if (action[i] >= p->k)
			return err_set(e, ST_INPUT, "'action' names device %u of %u", action[i],
				       p->k);
	p->n_groups = (uint32_t)shape[0];
	p->action = action;
	return 0;
}

static int decode_policy(const struct rec *r, struct arena *a, struct place_rec *p, struct err *e)
{
	bool action = val_get(r->map, "action"), moves = val_get(r->map, "moves");

	p->has_stay = val_get(r->map, "stay") != NULL;
	if (p->has_stay && get_real(r->map, "stay", &p->stay, e) < 0)
		return -1;
	if (action && moves)
		return err_set(e, ST_INPUT, "'action' and 'moves' exclude each other");
	if (!action && !moves)
		return 0;
	if (action ? decode_action(r, a, p, e) < 0 : decode_moves(r, a, p, e) < 0)
		return -1;
	return get_real(r->map, "logp", &p->logp, e) < 0 ||
			       get_real(r->map, "entropy", &p->entropy, e) < 0
		       ? -1
		       : 0;
}

static int decode_bound_parts(const struct rec *r, struct arena *a, struct place_rec *p,
			      struct err *e)
{
	if (!val_get(r->map, "bound_parts_of"))
		return 0;
	if (get_text(r->map, "bound_parts_of", a, &p->bound_parts_of, e) < 0)
		return -1;
	if (strcmp(p->bound_parts_of, "operations") != 0 && strcmp(p->bound_parts_of, "sets") != 0)
		return err_set(e, ST_INPUT, "bound_parts_of: operations or sets");
	return get_real(r->map, "bound_parts_s", &p->bound_parts_s, e) < 0
		       ? -1
		       : get_real(r->map, "bound_parts_wait_s", &p->bound_parts_wait_s, e);
}

static int decode_bound(const struct rec *r, struct arena *a, struct place_rec *p, struct err *e)
{
	if (decode_bound_parts(r, a, p, e) < 0)
		return -1;
	p->by_value = val_get(r->map, "bound_value") != NULL;
	p->bounded = p->by_value || val_get(r->map, "bound_s") != NULL;
	if (!p->bounded)
		return 0;
	const char *rule = p->by_value ? "bound_rule_value" : "bound_rule_s";
	if (val_get(r->map, rule) && get_real(r->map, rule, &p->rule_bound, e) < 0)
		return -1;
	return p->by_value ? get_real(r->map, "bound_value", &p->bound_value, e)
			   : get_real(r->map, "bound_s", &p->bound_s, e);
}

static int decode_predicted(const struct rec *r, struct place_rec *p, struct err *e)
{
	p->predicted = val_get(r->map, "predicted_s") != NULL;
	return p->predicted ? get_real(r->map, "predicted_s", &p->predicted_s, e) : 0;
}

static int decode_took(const struct rec *r, struct place_rec *p, struct err *e)
{
	p->timed = val_get(r->map, "took_s") != NULL;
	return p->timed ? get_real(r->map, "took_s", &p->took_s, e) : 0;
}

int place_decode(const struct rec *r, uint32_t n_sets, unsigned keys, struct arena *a,
		 struct place_rec *out, struct err *e)
{
	struct place_rec p = {0};

	if (rollout_id_decode(r->map, ID_ALL, &p.id, e) < 0 ||
	    get_text(r->map, "source", a, &p.source, e) < 0 ||
	    decode_devices(r, n_sets, a, &p, e) < 0 || decode_replicas(r, keys, a, &p, e) < 0 ||
	    decode_order(r, a, &p, e) < 0 ||
	    ((keys & PLACE_POLICY) && decode_policy(r, a, &p, e) < 0) ||
	    ((keys & PLACE_BOUND) && decode_bound(r, a, &p, e) < 0) ||
	    ((keys & PLACE_PREDICTED) && decode_predicted(r, &p, e) < 0) ||
	    ((keys & PLACE_TOOK) && decode_took(r, &p, e) < 0))
		return -1;
	*out = p;
	return 0;
}

bool place_is_drawn(const struct rec *r)
{
	return val_get(r->map, "action") || val_get(r->map, "moves");
}

int place_encode(const struct place_rec *p, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "place");
	rollout_id_put(w, ID_ALL, &p->id);
	put_texts(w, "devices", p->names, p->k);
	place_put_device(p, w);
	put_text(w, "source", p->source);
	if (p->order)
		put_vector(w, "order", TT_U32, p->n_order, p->order);
	if (p->action) {
		put_vector(w, "action", TT_U16, p->n_groups, p->action);
		put_real(w, "logp", p->logp);
		put_real(w, "entropy", p->entropy);
		if (p->has_stay)
			put_real(w, "stay", p->stay);
	}
	if (p->moves) {
		put_matrix(w, "moves", TT_F32, p->n_moves, p->n_move_features, p->moves);
		put_uint(w, "move", p->move);
		if (p->adapted)
			put_bool(w, "adapted", true);
		put_real(w, "logp", p->logp);
		put_real(w, "entropy", p->entropy);
	}
	if (p->predicted)
		put_real(w, "predicted_s", p->predicted_s);
	if (p->predicted && p->by_value)
		put_real(w, "predicted_value", p->predicted_value);
	if (p->bounded)
		put_real(w, p->by_value ? "bound_value" : "bound_s",
			 p->by_value ? p->bound_value : p->bound_s);
	if (p->bounded && p->rule_bound > 0)
		put_real(w, p->by_value ? "bound_rule_value" : "bound_rule_s", p->rule_bound);
	if (p->bound_parts_of) {
		put_text(w, "bound_parts_of", p->bound_parts_of);
		put_real(w, "bound_parts_s", p->bound_parts_s);
		put_real(w, "bound_parts_wait_s", p->bound_parts_wait_s);
	}
	if (p->timed)
		put_real(w, "took_s", p->took_s);
	return rec_end(w, e);
}

int place_encode_predicted(const struct rec *r, double predicted_s, bool has_value,
			   double predicted_value, struct arena *a, struct rec_writer *w,
			   struct err *e)
{
	static const char *const replaced[] = {"predicted_s", "predicted_value", NULL};

	rec_begin(w, "place");
	put_entries(w, r->map, replaced, a);
	put_real(w, "predicted_s", predicted_s);
	if (has_value)
		put_real(w, "predicted_value", predicted_value);
	return rec_end(w, e);
}
