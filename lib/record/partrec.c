/* partrec.c - part records in and out. */
#include "record/partrec.h"

/* u32 tensor of rank 1 into *out; its length in *n. */
static int get_indices(const struct val *m, const char *key, struct arena *a, uint32_t *n,
		       const uint32_t **out, struct err *e)
{
	uint64_t shape[1] = {UINT64_MAX};
	uint32_t *data;
	if (get_tensor(m, key, TT_U32, 1, shape, a, &data, e) < 0)
		return -1;
	if (shape[0] >= UINT32_MAX)
		return err_set(e, ST_INPUT, "'%s' is too long", key);
	*n = (uint32_t)shape[0];
	*out = data;
	return 0;
}

static int get_rounds(const struct val *m, struct arena *a, struct partition *p, struct err *e)
{
	const struct val *list;
	if (get_list(m, "rounds", &list, e) < 0)
		return -1;
	p->n_rounds = (uint32_t)val_count(list);
	struct parse_round *round = ARENA_NEWN(a, struct parse_round, p->n_rounds);
	p->round = round;
	for (uint32_t i = 0; i < p->n_rounds; i++) {
		const struct val *v = val_at(list, i);
		if (val_type(v) != VAL_MAP)
			return err_set(e, ST_INPUT, "round %u is not a map", i);
		if (get_u32(v, "n", 0, &round[i].n, e) < 0 ||
		    get_indices(v, "kept", a, &round[i].n_kept, &round[i].kept, e) < 0)
			return err_prefix(e, "round %u", i);
	}
	return 0;
}

static int get_groups(const struct val *m, struct arena *a, struct part_rec *p, struct err *e)
{
	if (get_u32(m, "n_groups", 0, &p->p.n_groups, e) < 0 ||
	    get_indices(m, "group", a, &p->n_sets, &p->p.group, e) < 0)
		return -1;
	if (p->p.n_groups > p->n_sets)
		return err_set(e, ST_INPUT, "more groups than sets");
	for (uint32_t i = 0; i < p->n_sets; i++)
		if (p->p.group[i] >= p->p.n_groups)
			return err_set(e, ST_INPUT, "group %u of %u", p->p.group[i], p->p.n_groups);
	return 0;
}

int part_decode(const struct rec *r, struct arena *a, struct part_rec *out, struct err *e)
{
	struct part_rec p = {0};
	uint64_t shape[2] = {0, UINT64_MAX};
	float *z;
	if (rollout_id_decode(r->map, ID_GRAPH | ID_STEP, &p.id, e) < 0 ||
	    get_bool(r->map, "given", &p.p.given, e) < 0 || get_rounds(r->map, a, &p.p, e) < 0 ||
	    get_groups(r->map, a, &p, e) < 0)
		return err_prefix(e, "part");
	uint32_t n = p.p.n_groups;
	if (val_get(r->map, "label") && (get_indices(r->map, "label", a, &n, &p.p.label, e) < 0 ||
					 get_real(r->map, "logp", &p.p.logp, e) < 0))
		return err_prefix(e, "part");
	if (n != p.p.n_groups)
		return err_set(e, ST_INPUT, "part: %u labels of %u groups", n, p.p.n_groups);
	if (val_get(r->map, "z")) {
		shape[0] = p.p.n_groups;
		if (get_tensor(r->map, "z", TT_F32, 2, shape, a, &z, e) < 0)
			return err_prefix(e, "part");
		if (shape[1] > UINT32_MAX)
			return err_set(e, ST_INPUT, "part: z has too many columns");
		p.d = (uint32_t)shape[1];
		p.p.z = z;
	}
	*out = p;
	return 0;
}

int part_encode(const struct part_rec *p, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "part");
	rollout_id_put(w, ID_GRAPH | ID_STEP, &p->id);
	put_list_begin(w, "rounds", p->p.n_rounds);
	for (uint32_t i = 0; i < p->p.n_rounds; i++) {
		put_map_begin(w, NULL);
		put_uint(w, "n", p->p.round[i].n);
		put_vector(w, "kept", TT_U32, p->p.round[i].n_kept, p->p.round[i].kept);
		put_map_end(w);
	}
	put_bool(w, "given", p->p.given);
	put_uint(w, "n_groups", p->p.n_groups);
	put_vector(w, "group", TT_U32, p->n_sets, p->p.group);
	if (p->p.label) {
		put_vector(w, "label", TT_U32, p->p.n_groups, p->p.label);
		put_real(w, "logp", p->p.logp);
	}
	if (p->d)
		put_matrix(w, "z", TT_F32, p->p.n_groups, p->d, p->p.z);
	return rec_end(w, e);
}

int part_encode_without_z(const struct rec *r, struct arena *a, struct rec_writer *w, struct err *e)
{
	static const char *const dropped[] = {"z", NULL};
	rec_begin(w, "part");
	put_entries(w, r->map, dropped, a);
	return rec_end(w, e);
}
