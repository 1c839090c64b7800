/* inputs.c - graph, devs and cost records, and how they become a model. */
#include <math.h>
#include <string.h>

#include "graph/graphrec.h"
#include "place/inputs.h"

static const double DEFAULT_LATENCY_S = 10e-6, DEFAULT_BYTES_PER_S = 1e10;
enum { MAX_DNNPART_SETS = 60000 };
#define MAX_SET_BYTES (UINT64_C(1) << 62)

int place_inputs_init(struct place_inputs *x, const char *spec_list, struct err *e)
{
	*x = (struct place_inputs){.spec_list = spec_list, .contention = true, .overlap = true};
	x->arena = arena_new();
	x->devs_arena = arena_new();
	x->cost_arena = arena_new();
	return spec_list ? spec_load(spec_list, x->arena, &x->spec, e) : 0;
}

void place_inputs_reset(struct place_inputs *x)
{
	graph_free(x->g);
	x->g = NULL;
	x->has_devs = false;
	x->cost_k = 0;
	x->saved = (struct place_savings){0};
	x->extra = (struct place_cost_extra){0};
}

void place_inputs_release(struct place_inputs *x)
{
	if (!x->arena)
		return;
	place_inputs_reset(x);
	arena_free(x->arena);
	arena_free(x->devs_arena);
	arena_free(x->cost_arena);
}

/* ---- records ---- */

static int take_graph(struct place_inputs *x, const struct rec *r, struct err *e)
{
	if (x->g)
		return err_set(e, ST_INPUT, "a second graph in one stream; "
			       "this program takes one graph at a time");
	x->g = graph_decode(r, e);
	return x->g ? 1 : -1;
}

static int take_devs(struct place_inputs *x, const struct rec *r, struct err *e)
{
	arena_reset(x->devs_arena);
	x->has_devs = false;
	if (devs_decode(r, x->devs_arena, &x->devs, e) < 0)
		return -1;
	x->has_devs = true;
	return 1;
}

/* The pairs of a cost record. */
static int take_savings(struct place_inputs *x, const struct rec *r, size_t k, struct err *e)
{
	struct place_savings *p = &x->saved;
	uint64_t n[1] = {UINT64_MAX}, shape[2] = {0, k};

	if (get_tensor(r->map, "pair_src", TT_U32, 1, n, x->cost_arena, &p->src, e) < 0 ||
	    get_tensor(r->map, "pair_dst", TT_U32, 1, n, x->cost_arena, &p->dst, e) < 0)
		return -1;
	shape[0] = n[0];
	if (get_tensor(r->map, "saved_s", TT_F64, 2, shape, x->cost_arena, &p->saved_s, e) < 0)
		return -1;
	for (uint64_t i = 0; i < n[0]; i++)
		if (p->src[i] >= x->g->n_sets || p->dst[i] >= x->g->n_sets)
			return err_set(e, ST_INPUT, "pair %llu is of sets that the graph does not have",
				       (unsigned long long)i);
	p->n = (uint32_t)n[0];
	return 0;
}

static int take_extra(struct place_inputs *x, const struct rec *r, struct err *e)
{
	struct place_cost_extra *y = &x->extra;
	uint64_t shape[1] = {x->g->n_sets};

	if (val_get(r->map, "set_mem") &&
	    get_tensor(r->map, "set_mem", TT_U64, 1, shape, x->cost_arena, &y->set_mem, e) < 0)
		return -1;
	if (val_get(r->map, "move_s") &&
	    get_tensor(r->map, "move_s", TT_F64, 1, shape, x->cost_arena, &y->move_s, e) < 0)
		return -1;
	for (uint32_t i = 0; i < x->g->n_sets; i++)
		if ((y->move_s && y->move_s[i] < 0) || (y->set_mem && y->set_mem[i] > MAX_SET_BYTES))
			return err_set(e, ST_INPUT, "set_mem or move_s of set %u is out of range", i);
	y->has_rules = val_get(r->map, "contention") != NULL;
	return y->has_rules && (get_bool(r->map, "contention", &y->contention, e) < 0 ||
				get_bool(r->map, "overlap", &y->overlap, e) < 0 ||
				get_bool(r->map, "fifo", &y->fifo, e) < 0) ? -1 : 0;
}

static int take_cost(struct place_inputs *x, const struct rec *r, struct err *e)
{
	size_t k = SIZE_MAX;
	uint64_t digest = 0, shape[2];

	arena_reset(x->cost_arena);
	x->cost_k = 0;
	x->saved = (struct place_savings){0};
	x->extra = (struct place_cost_extra){0};
	if (!x->g)
		return err_set(e, ST_INPUT, "a cost record before its graph");
	if (get_uint(r->map, "graph", 0, UINT64_MAX, &digest, e) < 0 ||
	    get_texts(r->map, "names", x->cost_arena, &k, &x->cost_names, e) < 0)
		return err_prefix(e, "cost record");
	if (digest != x->g->digest)
		return err_set(e, ST_INPUT, "a cost record is about another graph");
	if (k == 0 || k > DEVS_MAX)
		return err_set(e, ST_INPUT, "a cost record with %zu devices, not 1 to %d", k,
			       DEVS_MAX);
	shape[0] = x->g->n_sets;
	shape[1] = k;
	if (get_tensor(r->map, "set_s", TT_F64, 2, shape, x->cost_arena, &x->cost_s, e) < 0)
		return err_prefix(e, "cost record");
	if ((val_get(r->map, "pair_src") && take_savings(x, r, k, e) < 0) || take_extra(x, r, e) < 0)
		return err_prefix(e, "cost record");
	x->cost_k = (uint32_t)k;
	return 1;
}

int place_inputs_take(struct place_inputs *x, const struct rec *r, struct err *e)
{
	if (rec_is(r, "graph"))
		return take_graph(x, r, e);
	if (rec_is(r, "devs"))
		return take_devs(x, r, e);
	if (rec_is(r, "cost"))
		return take_cost(x, r, e);
	return 0;
}

int cost_encode(const struct graph *g, const char *const *names, uint32_t k, const double *set_s,
		const struct place_cost_extra *x, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "cost");
	put_uint(w, "graph", g->digest);
	put_texts(w, "names", names, k);
	put_matrix(w, "set_s", TT_F64, g->n_sets, k, set_s);
	if (x && x->set_mem)
		put_vector(w, "set_mem", TT_U64, g->n_sets, x->set_mem);
	if (x && x->move_s)
		put_vector(w, "move_s", TT_F64, g->n_sets, x->move_s);
	if (x && x->has_rules) {
		put_bool(w, "contention", x->contention);
		put_bool(w, "overlap", x->overlap);
		put_bool(w, "fifo", x->fifo);
	}
	return rec_end(w, e);
}

/* ---- the model ---- */

/* The device that the records know for `name`: itself, and for the dnnpart models, whose devices
 * come in kinds, the first that has its name up to a ':'. */
static const char *known_as(const struct place_inputs *x, const char *name)
{
	size_t n = strcspn(name, ":");

	if (x->rules == PLACE_SCHEDULE || !x->has_devs || devs_find(&x->devs, name) >= 0)
		return name;
	for (uint32_t i = 0; i < x->devs.k; i++)
		if (strncmp(x->devs.names[i], name, n) == 0 && x->devs.names[i][n] == ':')
			return x->devs.names[i];
	return name;
}

static int recorded_costs(const struct place_inputs *x, const char *const *names, uint32_t k,
			  double *set_s, struct err *e)
{
	if (!x->cost_k)
		return err_set(e, ST_USAGE, "no costs; give --spec FILE or PRESET, or put "
			       "'devsim --probe' in front");
	for (uint32_t dev = 0; dev < k; dev++) {
		uint32_t from = 0;

		while (from < x->cost_k && strcmp(x->cost_names[from], known_as(x, names[dev])) != 0)
			from++;
		if (from == x->cost_k)
			return err_set(e, ST_INPUT, "no costs for device '%s'; "
				       "--spec would give them", names[dev]);
		for (uint32_t s = 0; s < x->g->n_sets; s++)
			set_s[(size_t)s * k + dev] = x->cost_s[(size_t)s * x->cost_k + from];
	}
	return 0;
}

/* The record's savings, by the devices asked for. */
static void recorded_savings(const struct place_inputs *x, const char *const *names, uint32_t k,
			     struct arena *a, struct place_savings *out)
{
	*out = x->saved;
	out->saved_s = ARENA_NEWN(a, double, (size_t)out->n * k);
	for (uint32_t dev = 0; dev < k; dev++)
		for (uint32_t from = 0; from < x->cost_k; from++)
			for (uint32_t i = 0; strcmp(x->cost_names[from], names[dev]) == 0 && i < out->n;
			     i++)
				out->saved_s[(size_t)i * k + dev] =
					x->saved.saved_s[(size_t)i * x->cost_k + from];
}

/* Sets that the stream's devs says cannot run get a negative cost. */
static void apply_mask(const struct place_inputs *x, const char *const *names, uint32_t k,
		       double *set_s)
{
	const struct devs *d = &x->devs;

	if (!x->has_devs || !d->mask || d->graph != x->g->digest || d->n_sets != x->g->n_sets)
		return;
	for (uint32_t dev = 0; dev < k; dev++) {
		int row = devs_find(d, known_as(x, names[dev]));

		for (uint32_t s = 0; row >= 0 && s < x->g->n_sets; s++)
			if (!d->mask[(size_t)s * d->k + (uint32_t)row])
				set_s[(size_t)s * k + dev] = -1;
	}
}

static void recorded_links(const struct place_inputs *x, const char *const *names, uint32_t k,
			   struct arena *a, struct sched_links *out)
{
	const struct devs *d = &x->devs;
	bool told = x->has_devs && d->links_told;

	out->k = k;
	out->latency_s = ARENA_NEWN(a, double, (size_t)k * k);
	out->bytes_per_s = ARENA_NEWN(a, double, (size_t)k * k);
	for (size_t i = 0; i < (size_t)k * k; i++) {
		bool same = i / k == i % k;

		out->latency_s[i] = same ? 0 : told ? -1 : DEFAULT_LATENCY_S;
		out->bytes_per_s[i] = same || told ? INFINITY : DEFAULT_BYTES_PER_S;
	}
	for (uint32_t i = 0; told && i < d->n_links; i++) {
		const struct dev_link *l = &d->link[i];

		for (uint32_t s = 0; s < k; s++)
			for (uint32_t t = 0; t < k; t++)
				if (s != t && strcmp(names[s], d->names[l->src]) == 0 &&
				    strcmp(names[t], d->names[l->dst]) == 0) {
					out->latency_s[(size_t)s * k + t] = l->latency_s;
					out->bytes_per_s[(size_t)s * k + t] = l->bytes_per_s;
				}
	}
}

/* Types of devices, sets that stay together, and what the cost record says besides times. */
static void recorded_rules(const struct place_inputs *x, const char *const *names, uint32_t k,
			   struct arena *a, struct place_setup *s)
{
	const struct devs *d = &x->devs;
	const struct place_cost_extra *y = &x->extra;
	const char **types = ARENA_NEWN(a, const char *, k);

	for (uint32_t i = 0; i < k; i++) {
		int row = x->has_devs ? devs_find(d, known_as(x, names[i])) : -1;

		types[i] = row >= 0 ? d->types[row] : "model";
	}
	s->types = types;
	s->rules = x->rules;
	s->set_mem = y->set_mem;
	s->move_s = y->move_s;
	if (x->has_devs && d->together && d->graph == x->g->digest && d->n_sets == x->g->n_sets)
		s->together = d->together;
	s->contention &= !y->has_rules || y->contention;
	s->overlap &= !y->has_rules || y->overlap;
	if (y->has_rules && y->fifo)
		s->policy = SCHED_FIFO;
}

static uint64_t memory_limit(const struct place_inputs *x, const char *name)
{
	int row = x->has_devs ? devs_find(&x->devs, known_as(x, name)) : -1;
	const struct device_spec *d = spec_find(&x->spec, name);

	if (row >= 0 && x->devs.mem_bytes[row])
		return x->devs.mem_bytes[row];
	return d ? d->mem_bytes : 0;
}

int place_inputs_model(struct place_inputs *x, const char *const *names, uint32_t k,
		       struct arena *a, struct place_model *m, struct err *e)
{
	struct place_setup s = {.k = k, .names = names, .contention = x->contention,
				.overlap = x->overlap, .policy = x->policy};
	double *set_s = ARENA_NEWN(a, double, (size_t)x->g->n_sets * k);
	uint64_t *limit = ARENA_NEWN(a, uint64_t, k);
	double *j_per_byte;
	int rc;

	if (x->spec.n_devs) {
		rc = place_spec_costs(x->g, &x->spec, names, k, set_s, e);
		spec_links(&x->spec, names, k, a, &s.links, &j_per_byte);
	} else {
		rc = recorded_costs(x, names, k, set_s, e);
		recorded_links(x, names, k, a, &s.links);
		recorded_savings(x, names, k, a, &s.saved);
	}
	if (rc < 0)
		return -1;
	apply_mask(x, names, k, set_s);
	for (uint32_t i = 0; i < k; i++)
		limit[i] = memory_limit(x, names[i]);
	s.set_s = set_s;
	s.mem_limit = limit;
	recorded_rules(x, names, k, a, &s);
	if (s.rules != PLACE_SCHEDULE && !s.move_s)
		return err_set(e, ST_INPUT, "no move_s in a cost record, which the dnnpart models need; "
			       "json2dag writes it from an instance of dnn-partitioning");
	if (s.rules != PLACE_SCHEDULE && x->g->n_sets > MAX_DNNPART_SETS)
		return err_set(e, ST_INPUT, "%u sets; the dnnpart models take at most %d", x->g->n_sets,
			       MAX_DNNPART_SETS);
	return place_model_init(m, x->g, &s, a, e);
}

void place_inputs_masks(struct place_inputs *x, const char *const *names, uint32_t k,
			struct arena *a, struct place_model *m)
{
	double *set_s = ARENA_NEWN(a, double, (size_t)x->g->n_sets * k);
	struct place_setup s = {0};
	struct err none = ERR_INIT;

	/* Devices that the cost record does not name keep their zeros. */
	if (recorded_costs(x, names, k, set_s, &none) < 0)
		err_clear(&none);
	apply_mask(x, names, k, set_s);
	recorded_rules(x, names, k, a, &s);
	*m = (struct place_model){.g = x->g, .k = k, .n_sets = x->g->n_sets, .names = names,
				  .set_s = set_s, .types = s.types};
	place_model_together(m, s.together, a);
}
