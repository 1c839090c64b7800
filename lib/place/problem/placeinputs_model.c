/* placeinputs_model.c - what was gathered becomes a model. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/disjoint.h"
#include "base/opt.h"
#include "place/problem/placeinputs.h"

static const double DEFAULT_LATENCY_S = 10e-6, DEFAULT_BYTES_PER_S = 1e10;
enum { MAX_DNNPART_SETS = 60000 };

/* ---- costs, links and rules ---- */

/* The device that the records know for `name`: itself, and for the dnnpart models, whose devices
 * come in kinds, the first that has its name up to a ':' or '/'. */
static const char *known_as(const struct place_inputs *x, const char *name)
{
	size_t n = strcspn(name, ":");

	if (x->rules == PLACE_SCHEDULE || !x->has_devs || devs_find(&x->devs, name) >= 0)
		return name;
	for (uint32_t i = 0; i < x->devs.k; i++)
		if (strncmp(x->devs.names[i], name, n) == 0 &&
		    (x->devs.names[i][n] == ':' || x->devs.names[i][n] == '/'))
			return x->devs.names[i];
	return name;
}

/* The recorded column of costs of device `name`; x->cost.k: there is none. */
static uint32_t cost_column(const struct place_inputs *x, const char *name)
{
	uint32_t from = 0;

	while (from < x->cost.k && strcmp(x->cost.names[from], known_as(x, name)) != 0)
		from++;
	return from;
}

static int recorded_costs(const struct place_inputs *x, const char *const *names, uint32_t k,
			  double *set_s, struct err *e)
{
	if (!x->cost.k)
		return err_set(e, ST_USAGE,
			       "no costs; give --spec FILE or PRESET, or put "
			       "'devsim --probe' in front");
	for (uint32_t dev = 0; dev < k; dev++) {
		uint32_t from = cost_column(x, names[dev]);

		if (from == x->cost.k)
			return err_set(e, ST_INPUT,
				       "no costs for device '%s'; "
				       "--spec would give them",
				       names[dev]);
		for (uint32_t s = 0; s < x->g->n_sets; s++)
			set_s[(size_t)s * k + dev] = x->cost.set_s[(size_t)s * x->cost.k + from];
	}
	return 0;
}

/* The record's savings, by the devices asked for. */
static void recorded_savings(const struct place_inputs *x, const char *const *names, uint32_t k,
			     struct arena *a, struct place_savings *out)
{
	const struct cost_rec *c = &x->cost;

	*out = (struct place_savings){.n = c->n_pairs,
				      .src = c->pair_src,
				      .dst = c->pair_dst,
				      .saved_s = ARENA_NEWN(a, double, (size_t)c->n_pairs *k)};
	for (uint32_t dev = 0; dev < k; dev++)
		for (uint32_t from = 0; from < x->cost.k; from++) {
			if (strcmp(x->cost.names[from], names[dev]) != 0)
				continue;
			for (uint32_t i = 0; i < out->n; i++)
				out->saved_s[(size_t)i * k + dev] =
					c->saved_s[(size_t)i * c->k + from];
		}
}

/* Columns of the record's matrix of bytes (rows, cost.k), by the devices asked for. */
static const uint64_t *columns_of(const struct place_inputs *x, const uint64_t *bytes,
				  uint32_t rows, const char *const *names, uint32_t k,
				  struct arena *a)
{
	uint64_t *out = ARENA_NEWN(a, uint64_t, (size_t)rows * k);

	for (uint32_t dev = 0; dev < k; dev++) {
		uint32_t from = cost_column(x, names[dev]);

		for (uint32_t i = 0; from < x->cost.k && i < rows; i++)
			out[(size_t)i * k + dev] = bytes[(size_t)i * x->cost.k + from];
	}
	return out;
}

static void recorded_memory(const struct place_inputs *x, const char *const *names, uint32_t k,
			    struct arena *a, struct place_held *out)
{
	const struct cost_rec *c = &x->cost;

	if (!c->held)
		return;
	*out = (struct place_held){
		.set = columns_of(x, c->held, c->n_sets, names, k, a),
		.inner = columns_of(x, c->inner, c->n_sets, names, k, a),
		.n_shared = c->n_shared,
		.shared = columns_of(x, c->shared, c->n_shared, names, k, a),
		.shared_ptr = c->shared_ptr,
		.shared_set = c->shared_set,
		.work = columns_of(x, c->work, 1, names, k, a),
	};
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

/* NULL: nothing is told of how links carry copies. */
static struct sched_sharing *recorded_sharing(const struct devs *d, uint32_t k, struct arena *a)
{
	bool told = false;

	for (uint32_t i = 0; i < d->n_links; i++)
		told |= d->link[i].contention > DEV_FCFS;
	return told ? link_sharing_new(d->medium, d->n_media, k, a) : NULL;
}

static void recorded_links(const struct place_inputs *x, const char *const *names, uint32_t k,
			   struct arena *a, struct sched_links *out, double *j_per_byte)
{
	const struct devs *d = &x->devs;
	bool told = x->has_devs && d->links_told;
	struct sched_ports *ports =
		told && d->port_names.n ? sched_ports_new(k, d->port_names.n, a) : NULL;

	*out = (struct sched_links){.k = k,
				    .latency_s = ARENA_NEWN(a, double, (size_t)k *k),
				    .bytes_per_s = ARENA_NEWN(a, double, (size_t)k *k),
				    .ports = ports};
	struct sched_sharing *sharing = told ? recorded_sharing(d, k, a) : NULL;
	out->sharing = sharing;
	for (size_t i = 0; i < (size_t)k * k; i++) {
		bool same = i / k == i % k;

		out->latency_s[i] = same ? 0 : told ? -1 : DEFAULT_LATENCY_S;
		out->bytes_per_s[i] = same || told ? INFINITY : DEFAULT_BYTES_PER_S;
	}
	int *at = MEM_NEWN(int, d->k + 1); /* of the recorded devices those asked for; -1: not */
	for (uint32_t i = 0; told && i < d->k; i++) {
		at[i] = -1;
		for (uint32_t s = 0; s < k && at[i] < 0; s++)
			at[i] = strcmp(names[s], d->names[i]) == 0 ? (int)s : -1;
	}
	for (uint32_t i = 0; told && i < d->n_links; i++) {
		const struct dev_link *l = &d->link[i];
		size_t pair = (size_t)at[l->src] * k + (size_t)at[l->dst];

		if (at[l->src] < 0 || at[l->dst] < 0 || l->src == l->dst)
			continue;
		out->latency_s[pair] = l->latency_s;
		out->bytes_per_s[pair] = l->bytes_per_s;
		j_per_byte[pair] = l->j_per_byte;
		if (l->port)
			ports->of[pair] = l->port - 1;
		if (sharing)
			link_sharing_tell(sharing, pair, l->contention, l->medium, l->n_media);
	}
	for (uint32_t i = 0; ports && i < d->n_ports; i++) {
		const struct dev_port *p = &d->port[i];
		size_t cell = (size_t)at[p->dev] * ports->n + p->port - 1;

		if (at[p->dev] < 0)
			continue;
		ports->out_bytes_per_s[cell] = p->out_bytes_per_s;
		ports->in_bytes_per_s[cell] = p->in_bytes_per_s;
	}
	sched_links_limit(out);
	mem_free(at);
}

static enum sched_policy policy_of(enum place_order order)
{
	return order == PLACE_ORDER_FIFO       ? SCHED_FIFO
	       : order == PLACE_ORDER_IMPROVED ? SCHED_IMPROVED
	       : order == PLACE_ORDER_FREE     ? SCHED_FREE
					       : SCHED_RANK;
}

/* ---- sets that share a device ---- */

/* up (n_sets): roots of the classes of `together` joined with the groups that are not dropped. */
static void join_classes(const struct place_inputs *x, const uint32_t *together,
			 const bool *dropped, uint32_t *up)
{
	uint32_t n = x->g->n_sets, *first = MEM_NEWN(uint32_t, n), *class = MEM_NEWN(uint32_t, n);

	for (uint32_t i = 0; i < n; i++) {
		up[i] = i;
		class[i] = together ? together[i] : i;
	}
	group_number(class, n);
	for (int kind = 0; kind < 2; kind++) {
		const uint32_t *of = kind ? x->group.group : class;

		for (uint32_t i = 0; i < n; i++)
			first[i] = UINT32_MAX;
		for (uint32_t i = 0; i < n; i++) {
			if (kind && dropped[of[i]])
				continue;
			if (first[of[i]] == UINT32_MAX)
				first[of[i]] = i;
			disjoint_join(up, i, first[of[i]]);
		}
	}
	for (uint32_t i = 0; i < n; i++)
		up[i] = disjoint_find(up, i);
	mem_free(class);
	mem_free(first);
}

/* Drop the groups in classes that no device can run as a whole; set_s (n_sets,k). */
static void drop_groups(const struct place_inputs *x, const uint32_t *up, const double *set_s,
			uint32_t k, bool *dropped)
{
	uint32_t n = x->g->n_sets;
	bool *cannot = MEM_NEWN(bool, (size_t)n *k), *none = MEM_NEWN(bool, n);

	for (size_t i = 0; i < (size_t)n * k; i++)
		if (set_s[i] < 0)
			cannot[(size_t)up[i / k] * k + i % k] = true;
	for (uint32_t i = 0; i < n; i++) {
		none[i] = true;
		for (uint32_t d = 0; d < k; d++)
			none[i] &= cannot[(size_t)i * k + d];
	}
	for (uint32_t i = 0; i < n; i++)
		dropped[x->group.group[i]] |= none[up[i]];
	mem_free(none);
	mem_free(cannot);
}

/* Classes by devs' `together` and by groups; NULL: any sets may part. */
static const uint32_t *classes(const struct place_inputs *x, const double *set_s, uint32_t k,
			       struct arena *a)
{
	const struct devs *d = &x->devs;
	const uint32_t *together = NULL;

	if (x->has_devs && d->together && d->graph == x->g->digest && d->n_sets == x->g->n_sets)
		together = d->together;
	if (!x->has_group)
		return together;
	uint32_t *up = ARENA_NEWN(a, uint32_t, x->g->n_sets);
	bool *dropped = ARENA_NEWN(a, bool, x->g->n_sets);

	join_classes(x, together, dropped, up);
	drop_groups(x, up, set_s, k, dropped);
	join_classes(x, together, dropped, up);
	return up;
}

const uint8_t *place_inputs_turns(const struct place_inputs *x, const char *const *names,
				  uint32_t k, struct arena *a)
{
	const struct devs *d = &x->devs;

	if (!x->has_devs || !d->turns)
		return NULL;
	uint8_t *turns = ARENA_NEWN(a, uint8_t, (size_t)k * k);
	bool any = false;

	for (uint32_t i = 0; i < k * k; i++) {
		int src = devs_find(d, names[i / k]), dst = devs_find(d, names[i % k]);

		if (src < 0 || dst < 0)
			continue;
		turns[i] = d->turns[(size_t)src * d->k + (uint32_t)dst];
		any |= turns[i] != 0;
	}
	return any ? turns : NULL;
}

/* The record's copy_holds, by the devices asked for; of one that it does not know: both. */
static const uint8_t *recorded_holds(const struct place_inputs *x, const char *const *names,
				     uint32_t k, struct arena *a)
{
	const struct cost_rec *c = &x->cost;

	if (!c->copy_holds || !x->overlap)
		return NULL;
	uint8_t *holds = ARENA_NEWN(a, uint8_t, (size_t)k * k);

	for (size_t i = 0; i < (size_t)k * k; i++) {
		uint32_t src = cost_column(x, names[i / k]), dst = cost_column(x, names[i % k]);

		holds[i] = src < c->k && dst < c->k ? c->copy_holds[(size_t)src * c->k + dst]
						    : COPY_HOLDS_SRC | COPY_HOLDS_DST;
	}
	return holds;
}

/* Types of devices, sets that stay together, and what the cost record says besides times. */
static void recorded_rules(const struct place_inputs *x, const char *const *names, uint32_t k,
			   struct arena *a, struct place_setup *s)
{
	const struct devs *d = &x->devs;
	const struct cost_rec *y = &x->cost;
	const char **types = ARENA_NEWN(a, const char *, k);

	for (uint32_t i = 0; i < k; i++) {
		int row = x->has_devs ? devs_find(d, known_as(x, names[i])) : -1;

		types[i] = row >= 0 ? d->types[row] : "model";
	}
	s->types = types;
	s->rules = x->rules;
	s->turns = place_inputs_turns(x, names, k, a);
	s->set_mem = y->set_mem;
	s->move_s = y->move_s;
	s->together = classes(x, s->set_s, k, a);
	s->contention &= !y->has_rules || y->contention;
	s->overlap &= !y->has_rules || y->overlap;
	s->copy_holds = recorded_holds(x, names, k, a);
	s->slowdown = x->spec.n_devs ? 0 : y->slowdown;
	s->multi_slowdown = x->spec.n_devs ? 0 : y->multi_slowdown;
	s->policy = policy_of(x->order != PLACE_ORDER_RECORDED ? x->order : x->cost_order);
}

/* ---- operations ---- */

/* What the record tells of device `from` in words. */
static void tell_words(const struct cost_rec *c, uint32_t from, struct device_spec *d)
{
	d->keeps_told = c->keeps ? c->keeps[from] : NULL;
	d->fuses_told = c->fuses ? c->fuses[from] : NULL;
	d->peaks_told = c->peaks ? c->peaks[from] : NULL;
}

/* The recorded costs' specification of these devices; false: they have none. */
static bool recorded_spec(const struct place_inputs *x, const char *const *names, uint32_t k,
			  struct arena *a, struct spec *out)
{
	const struct cost_rec *c = &x->cost;

	struct err none = ERR_INIT;

	*out = (struct spec){.n_devs = k, .dev = ARENA_NEWN(a, struct device_spec, k)};
	for (uint32_t i = 0; i < k; i++) {
		uint32_t from = cost_column(x, names[i]);

		if (!c->flops_per_s || from == c->k)
			return false;
		out->dev[i] = (struct device_spec){.name = names[i],
						   .flops_per_s = c->flops_per_s[from],
						   .bytes_per_s = c->bytes_per_s[from],
						   .overhead_s = c->overhead_s[from],
						   .efficiency = 1};
		tell_words(c, from, &out->dev[i]);
		if (spec_device_told(&out->dev[i], a, &none) < 0)
			err_clear(&none); /* place_inputs_model told it */
	}
	return true;
}

/* Seconds that any part of an operation takes: none where it may be in the kernel of another. */
static double fixed(const struct device_spec *d)
{
	return d->fuses ? 0 : d->overhead_s;
}

bool place_inputs_operations(const struct place_inputs *x, const char *const *names, uint32_t k,
			     struct arena *a, const struct graph **g, double **work_s,
			     double **fixed_s)
{
	struct err none = ERR_INIT;
	struct spec recorded;
	const struct spec *s = &x->spec;

	if (!s->n_devs) {
		if (!recorded_spec(x, names, k, a, &recorded))
			return false;
		s = &recorded;
	}
	*g = x->g->whole ? x->g->whole : x->g;
	*work_s = ARENA_NEWN(a, double, (size_t)(*g)->n *k);
	*fixed_s = ARENA_NEWN(a, double, k);
	if (place_spec_node_costs(*g, s, names, k, *work_s, &none) < 0) {
		err_clear(&none);
		return false;
	}
	for (uint32_t i = 0; i < k; i++)
		(*fixed_s)[i] = fixed(spec_find(s, names[i]));
	return true;
}

/* ---- memory ---- */

/* What may be used of a device's memory, 0: any; *headroom: what stays free. */
static uint64_t memory_limit(const struct place_inputs *x, const char *name, uint64_t *headroom)
{
	int row = x->has_devs ? devs_find(&x->devs, known_as(x, name)) : -1;
	const struct device_spec *d = spec_find(&x->spec, name);

	uint64_t all = row >= 0 && x->devs.mem_bytes[row] ? x->devs.mem_bytes[row]
		       : d                                ? d->mem_bytes
							  : 0;
	uint64_t recorded = row >= 0 && all == x->devs.mem_bytes[row] && x->devs.headroom
				    ? x->devs.headroom[row]
				    : 0;
	struct headroom_item asked = headroom_of(&x->headroom, name);

	all += recorded;
	*headroom = headroom_bytes(&asked, all);
	*headroom = *headroom > recorded ? *headroom : recorded;
	return all - *headroom;
}

/* The pools of these devices, and limits (k) and headroom (k) that are no larger than theirs. */
static void pools_of(const struct place_inputs *x, const char *const *names, uint32_t k,
		     struct arena *a, struct place_pools *out, uint64_t *limit, uint64_t *headroom)
{
	const struct devs *d = &x->devs;
	bool by_spec = x->spec.n_pools > 0 || !x->has_devs;
	uint32_t n = by_spec ? x->spec.n_pools : d->n_pools, *of = ARENA_NEWN(a, uint32_t, k);
	const struct dev_pool *told = by_spec ? x->spec.pool : d->pool;
	struct place_pool *pool = ARENA_NEWN(a, struct place_pool, n);

	for (uint32_t i = 0; i < n; i++) {
		struct headroom_item asked = headroom_of(&x->headroom, told[i].name);
		uint64_t free = headroom_bytes(&asked, told[i].mem_bytes);

		pool[i] = (struct place_pool){.name = told[i].name,
					      .mem_limit = told[i].mem_bytes - free,
					      .headroom = free,
					      .bytes_per_s = told[i].bytes_per_s,
					      .copied = told[i].copied};
	}
	for (uint32_t i = 0; i < k; i++) {
		const struct device_spec *s = spec_find(&x->spec, names[i]);
		int row = by_spec ? -1 : devs_find(d, known_as(x, names[i]));

		of[i] = by_spec         ? (s && s->pool_name ? s->pool : n)
			: row >= 0 && n ? d->pool_of[row]
					: n;
		if (of[i] == n || !pool[of[i]].mem_limit ||
		    (limit[i] && limit[i] <= pool[of[i]].mem_limit))
			continue;
		limit[i] = pool[of[i]].mem_limit;
		headroom[i] = pool[of[i]].headroom;
	}
	*out = (struct place_pools){.n = n, .pool = pool, .of = of};
}

/* Seconds for which sets keep pools busy, by the specification, or the one behind recorded costs. */
static void pool_seconds(const struct place_inputs *x, const char *const *names, uint32_t k,
			 struct arena *a, struct place_pools *pools)
{
	double *set_s;
	const struct spec *s = &x->spec;
	struct err none = ERR_INIT;
	struct spec recorded;
	bool any = false;

	for (uint32_t i = 0; i < pools->n; i++)
		any |= pools->pool[i].bytes_per_s > 0;
	if (!any || (!s->n_devs && !recorded_spec(x, names, k, a, &recorded)))
		return;
	s = s->n_devs ? s : &recorded;
	set_s = ARENA_NEWN(a, double, (size_t)x->g->n_sets *k);
	if (place_spec_bytes(x->g, s, names, k, set_s, &none) < 0) {
		err_clear(&none);
		return;
	}
	for (size_t i = 0; i < (size_t)x->g->n_sets * k; i++) {
		uint32_t p = pools->of[i % k];

		set_s[i] = p < pools->n && pools->pool[p].bytes_per_s > 0
				   ? set_s[i] / pools->pool[p].bytes_per_s
				   : 0;
	}
	pools->set_s = set_s;
}

/* -1: --headroom names neither a device nor a pool. */
static int check_headroom(const struct place_inputs *x, const char *const *names, uint32_t k,
			  const struct place_pools *pools, struct err *e)
{
	const char **all = MEM_NEWN(const char *, (size_t)k + pools->n);

	memcpy(all, names, k * sizeof *all);
	for (uint32_t i = 0; i < pools->n; i++)
		all[k + i] = pools->pool[i].name;
	int rc = headroom_check(&x->headroom, all, k + pools->n, e);
	mem_free(all);
	return rc;
}

/* (k) scratch of devices by the specification or the record of costs; NULL: none has any. */
static const double *workspaces(const struct place_inputs *x, const char *const *names, uint32_t k,
				struct arena *a)
{
	double *out = ARENA_NEWN(a, double, k);
	bool any = false;

	for (uint32_t i = 0; i < k; i++) {
		const struct device_spec *d = spec_find(&x->spec, names[i]);
		uint32_t from =
			x->spec.n_devs || !x->cost.workspace ? x->cost.k : cost_column(x, names[i]);

		out[i] = d ? d->workspace : from < x->cost.k ? x->cost.workspace[from] : 0;
		any |= out[i] > 0;
	}
	return any ? out : NULL;
}

/* ---- watts ---- */

static bool any_about(const struct watts_item *item, const char *const *names, uint32_t k)
{
	for (uint32_t i = 0; i < k; i++)
		if (watts_about(item, names[i]))
			return true;
	return false;
}

/* Every item is about one of these devices, or one of the stream's or the specification's. */
static int check_names(const struct place_inputs *x, const char *const *names, uint32_t k,
		       struct err *e)
{
	for (uint32_t j = 0; j < x->watts.n; j++) {
		const struct watts_item *item = &x->watts.item[j];
		bool known = any_about(item, names, k) ||
			     (x->has_devs && any_about(item, x->devs.names, x->devs.k));

		for (uint32_t i = 0; i < x->spec.n_devs && !known; i++)
			known = watts_about(item, x->spec.dev[i].name);
		if (!known) {
			devs_unknown(names, k, item->name, ST_USAGE, e);
			return err_prefix(e, "--watts");
		}
	}
	return 0;
}

static int power_of(const struct place_inputs *x, const char *const *names, uint32_t k,
		    struct arena *a, struct place_power *p, struct err *e)
{
	double *watts = ARENA_NEWN(a, double, k), *idle = ARENA_NEWN(a, double, k),
	       *usd = ARENA_NEWN(a, double, k);
	bool priced = false;

	if (check_names(x, names, k, e) < 0)
		return -1;
	for (uint32_t i = 0; i < k; i++) {
		const struct device_spec *d = spec_find(&x->spec, names[i]);
		const struct watts_item *item = watts_find(&x->watts, names[i]);
		int row = x->has_devs && x->devs.watts ? devs_find(&x->devs, names[i]) : -1;

		if (item) {
			watts[i] = item->busy;
			idle[i] = item->idle;
		} else if (x->spec.n_devs) {
			watts[i] = d ? d->watts : 0;
			idle[i] = d ? d->idle_watts : 0;
		} else if (row >= 0) {
			watts[i] = x->devs.watts[row];
			idle[i] = x->devs.idle_watts[row];
		}
		int priced_row = x->has_devs && x->devs.price ? devs_find(&x->devs, names[i]) : -1;
		usd[i] = (x->spec.n_devs    ? (d ? d->usd_per_hour : 0)
			  : priced_row >= 0 ? x->devs.price[priced_row]
					    : 0) /
			 3600;
		priced |= usd[i] > 0;
		if (x->objective.energy > 0 && watts[i] == 0 && !item)
			return err_set(
				e, ST_USAGE,
				"no watts for device '%s', without which there is no energy; "
				"--watts, --spec or the devs record give them",
				names[i]);
	}
	if (x->objective.price > 0 && !priced)
		return err_set(e, ST_USAGE,
			       "no device has a price, without which there is none of an "
			       "inference; 'price' in a specification is dollars an hour");
	p->usd_per_s = priced ? usd : NULL;
	p->watts = watts;
	p->idle_watts = idle;
	return 0;
}

/* ---- the model ---- */

/* keeps (k): types in which devices keep weights, by the specification or the record of costs. */
static int weights_kept(const struct place_inputs *x, const char *const *names, uint32_t k,
			struct arena *a, op_keeps *keeps, struct err *e)
{
	const struct cost_rec *c = &x->cost;

	for (uint32_t i = 0; i < k; i++) {
		const struct device_spec *d = spec_find(&x->spec, names[i]);
		uint32_t from = x->spec.n_devs ? c->k : cost_column(x, names[i]);
		struct device_spec recorded = {.efficiency = 1};

		keeps[i] = d ? d->keeps : op_keeps_usual();
		if (from >= c->k)
			continue;
		tell_words(c, from, &recorded);
		if (spec_device_told(&recorded, a, e) < 0)
			return err_prefix(e, "cost");
		keeps[i] = recorded.keeps;
	}
	return 0;
}

static int one_model(const struct place_inputs *x, const char *const *names, uint32_t k,
		     struct arena *a, struct place_model *m, struct err *e)
{
	struct place_setup s = {.k = k,
				.names = names,
				.contention = x->contention,
				.overlap = x->overlap,
				.objective = x->objective};
	double *set_s = ARENA_NEWN(a, double, (size_t)x->g->n_sets *k);
	uint64_t *limit = ARENA_NEWN(a, uint64_t, k), *headroom = ARENA_NEWN(a, uint64_t, k);
	double *j_per_byte = ARENA_NEWN(a, double, (size_t)k *k);
	int rc;

	if (x->spec.n_devs) {
		rc = place_spec_costs(x->g, &x->spec, names, k, set_s, e);
		spec_links(&x->spec, names, k, a, &s.links, &j_per_byte);
	} else {
		rc = recorded_costs(x, names, k, set_s, e);
		recorded_links(x, names, k, a, &s.links, j_per_byte);
		recorded_savings(x, names, k, a, &s.saved);
		recorded_memory(x, names, k, a, &s.held);
	}
	s.power.j_per_byte = j_per_byte;
	op_keeps *keeps = ARENA_NEWN(a, op_keeps, k);
	s.keeps = keeps;
	if (rc < 0 || power_of(x, names, k, a, &s.power, e) < 0 ||
	    weights_kept(x, names, k, a, keeps, e) < 0)
		return -1;
	apply_mask(x, names, k, set_s);
	for (uint32_t i = 0; i < k; i++)
		limit[i] = memory_limit(x, names[i], &headroom[i]);
	s.set_s = set_s;
	pools_of(x, names, k, a, &s.pools, limit, headroom);
	if (check_headroom(x, names, k, &s.pools, e) < 0)
		return -1;
	pool_seconds(x, names, k, a, &s.pools);
	s.mem_limit = limit;
	s.headroom = headroom;
	s.workspace = workspaces(x, names, k, a);
	recorded_rules(x, names, k, a, &s);
	if (s.rules != PLACE_SCHEDULE && !s.move_s)
		return err_set(e, ST_INPUT,
			       "no move_s in a cost record, which the dnnpart models need; "
			       "json2dag writes it from an instance of dnn-partitioning");
	if (s.rules != PLACE_SCHEDULE && x->g->n_sets > MAX_DNNPART_SETS)
		return err_set(e, ST_INPUT, "%u sets; the dnnpart models take at most %d",
			       x->g->n_sets, MAX_DNNPART_SETS);
	return place_model_init(m, x->g, &s, a, e);
}

/* Of a tensor in one case: the sum over all cases is below 2^64. */
static const double MOST_BYTES = 1e18;

/* What methods look at besides values of placements, in m, which is one of the cases: sums over all. */
static void sum_cases(struct place_model *m, struct arena *a)
{
	size_t n = (size_t)m->n_sets * m->k, links = (size_t)m->k * m->k;
	double *set_s = ARENA_NEWN(a, double, n), *latency = ARENA_NEWN(a, double, links), all = 0;
	double *task_s = ARENA_NEWN(a, double, (size_t)m->tasks.dag.n * m->k);
	const double *link_s = m->costs.links.latency_s;
	uint64_t *bytes = ARENA_NEWN(a, uint64_t, m->tasks.dag.n_tensors);

	for (uint32_t i = 0; i < m->n_cases; i++) {
		double w = m->weight[i];

		all += w;
		for (size_t j = 0; j < n; j++)
			set_s[j] = m->cases[i].set_s[j] < 0 || set_s[j] < 0
					   ? -1
					   : set_s[j] + w * m->cases[i].set_s[j];
		for (uint32_t t = 0; t < m->tasks.dag.n_tensors; t++)
			bytes[t] += (uint64_t)fmin(
				w * fmax(0, (double)graph_out_bytes(m->cases[i].g,
								    m->tasks.tensor_out[t])),
				MOST_BYTES);
	}
	for (size_t j = 0; j < links; j++)
		latency[j] = link_s[j] < 0 ? link_s[j] : all * link_s[j];
	for (uint32_t t = 0; t < m->tasks.dag.n; t++)
		memcpy(task_s + (size_t)t * m->k, set_s + (size_t)m->tasks.task_set[t] * m->k,
		       m->k * sizeof(*task_s));
	m->set_s = set_s;
	m->costs.task_s = task_s;
	m->costs.least_s = NULL;
	m->costs.links.latency_s = latency;
	m->tasks.dag.tensor_bytes = bytes;
	m->saved_ptr = NULL;
}

static int cases_model(const struct place_inputs *x, const char *const *names, uint32_t k,
		       struct arena *a, struct place_model *m, struct err *e)
{
	const struct graph *g = x->g;
	struct place_model *of = ARENA_NEWN(a, struct place_model, g->n_cases);
	double *weight = ARENA_NEWN(a, double, g->n_cases);
	uint32_t most = 0;

	if (x->order == PLACE_ORDER_FREE || x->objective.limit_s > 0)
		return err_set(e, ST_USAGE, "%s is about a model with one list of shapes",
			       x->objective.limit_s > 0 ? "a limit of latency" : "--order free");
	if (g->over > 0 && !place_objective_is_latency(&x->objective))
		return err_set(e, ST_USAGE,
			       "the worst case, or a percentile, is one of latencies: --objective "
			       "does not go with it");
	if (x->only_case > g->n_cases)
		return err_set(e, ST_USAGE, "there is no case %lld of %u", (long long)x->only_case,
			       g->n_cases);
	if (x->cost.k && x->cost.n_cases != g->n_cases && (!x->spec.n_devs || x->cost.n_cases))
		return err_set(e, ST_INPUT, "costs of %u cases, where the graph has %u",
			       x->cost.n_cases, g->n_cases);
	for (uint32_t i = 0; i < g->n_cases; i++) {
		struct place_inputs y = *x;

		y.g = g->cases[i].graph;
		if (x->cost.n_cases)
			y.cost = x->cost.cases[i];
		weight[i] =
			!x->only_case || x->only_case == (int64_t)i + 1 ? g->cases[i].weight : 0;
		if (one_model(&y, names, k, a, &of[i], e) < 0)
			return err_prefix(e, "case %s", g->cases[i].name);
		if (of[i].tasks.dag.n > of[most].tasks.dag.n)
			most = i;
	}
	*m = of[most];
	m->n_cases = g->n_cases;
	m->cases = of;
	m->weight = weight;
	m->over = g->over;
	sum_cases(m, a);
	return 0;
}

int place_inputs_model(struct place_inputs *x, const char *const *names, uint32_t k,
		       struct arena *a, struct place_model *m, struct err *e)
{
	return x->g->n_cases ? cases_model(x, names, k, a, m, e) : one_model(x, names, k, a, m, e);
}

void place_inputs_masks(struct place_inputs *x, const char *const *names, uint32_t k,
			struct arena *a, struct place_model *m)
{
	double *set_s = ARENA_NEWN(a, double, (size_t)x->g->n_sets *k);
	struct place_setup s = {.set_s = set_s};
	struct err none = ERR_INIT;

	/* Devices that the cost record does not name keep their zeros. */
	if (recorded_costs(x, names, k, set_s, &none) < 0)
		err_clear(&none);
	apply_mask(x, names, k, set_s);
	recorded_rules(x, names, k, a, &s);
	*m = (struct place_model){.g = x->g,
				  .k = k,
				  .n_sets = x->g->n_sets,
				  .names = names,
				  .set_s = set_s,
				  .costs.turns = s.turns,
				  .types = s.types};
	place_model_together(m, s.together, a);
}
