/* spec_probe.c - devs and cost records from a specification. */
#include "place/problem/spec_probe.h"

#include <string.h>

#include "record/costrec.h"
#include "record/devrec.h"

static int describe_devices(const struct spec *spec, const char *spec_name, const char *devices,
			    struct arena *a, struct devs *d, struct err *e)
{
	if (devices) {
		if (devs_from_list(devices, a, d, e) < 0)
			return -1;
	} else {
		*d = (struct devs){.k = spec->n_devs};
		d->names = ARENA_NEWN(a, const char *, d->k);
		for (uint32_t i = 0; i < d->k; i++)
			d->names[i] = spec->dev[i].name;
	}
	d->types = ARENA_NEWN(a, const char *, d->k);
	d->mem_bytes = ARENA_NEWN(a, uint64_t, d->k);
	d->watts = ARENA_NEWN(a, double, d->k);
	d->idle_watts = ARENA_NEWN(a, double, d->k);
	d->n_pools = spec->n_pools;
	d->pool = spec->pool;
	d->pool_of = ARENA_NEWN(a, uint32_t, d->k);
	for (uint32_t i = 0; i < d->k; i++) {
		const struct device_spec *x = spec_find(spec, d->names[i]);

		if (!x)
			return err_set(e, ST_USAGE, "device '%s' is not in the specification '%s'",
				       d->names[i], spec_name);
		d->types[i] = x->type;
		d->mem_bytes[i] = x->mem_bytes;
		d->pool_of[i] = x->pool_name ? x->pool : spec->n_pools;
		d->watts[i] = x->watts;
		d->idle_watts[i] = x->idle_watts;
		if (x->usd_per_hour > 0 && !d->price)
			d->price = ARENA_NEWN(a, double, d->k);
		if (d->price)
			d->price[i] = x->usd_per_hour;
	}
	return 0;
}

/* Of the ports those of which something is told. */
static void describe_ports(const struct spec *spec, const struct sched_ports *p, struct arena *a,
			   struct devs *d)
{
	d->port_names = spec->port_names;
	d->port = ARENA_NEWN(a, struct dev_port, (size_t)d->k * p->n);
	for (uint32_t i = 0; i < d->k * p->n; i++)
		if (p->out_bytes_per_s[i] > 0 || p->in_bytes_per_s[i] > 0)
			d->port[d->n_ports++] =
				(struct dev_port){.dev = i / p->n,
						  .port = i % p->n + 1,
						  .out_bytes_per_s = p->out_bytes_per_s[i],
						  .in_bytes_per_s = p->in_bytes_per_s[i]};
}

static const enum dev_contention told_as[] = {
	[SCHED_FCFS] = DEV_UNTOLD, [SCHED_NO_WAIT] = DEV_NO_WAIT, [SCHED_SHARED] = DEV_SHARED};

static void describe_links(const struct spec *spec, struct arena *a, struct devs *d)
{
	struct sched_links l;
	double *j_per_byte;

	spec_links(spec, d->names, d->k, a, &l, &j_per_byte);
	d->medium = spec->medium;
	d->n_media = spec->n_media;
	d->link = ARENA_NEWN(a, struct dev_link, (size_t)d->k * d->k);
	for (uint32_t i = 0; i < d->k; i++)
		for (uint32_t j = 0; j < d->k; j++) {
			size_t at = (size_t)i * d->k + j;
			const struct sched_carriage *c = l.sharing ? &l.sharing->of[at] : NULL;

			if (i != j && l.latency_s[at] >= 0)
				d->link[d->n_links++] = (struct dev_link){
					.contention = !c ? DEV_UNTOLD : told_as[c->contention],
					.n_media = c ? c->n_media : 0,
					.medium = c ? c->medium : NULL,
					.src = i,
					.dst = j,
					.latency_s = l.latency_s[at],
					.bytes_per_s = l.bytes_per_s[at],
					.j_per_byte = j_per_byte[at],
					.port = !l.ports || l.ports->of[at] == SCHED_NONE
							? 0
							: l.ports->of[at] + 1};
		}
	if (l.ports)
		describe_ports(spec, l.ports, a, d);
}

int spec_devices(const struct spec *spec, const char *spec_name, const char *devices,
		 struct arena *a, struct devs *d, struct err *e)
{
	if (describe_devices(spec, spec_name, devices, a, d, e) < 0)
		return -1;
	describe_links(spec, a, d);
	return 0;
}

/* Of k devices device i tells `text` (NULL: nothing), and all that tell nothing `otherwise`; *texts stays NULL while none tells. */
static void tell(const char ***texts, uint32_t i, uint32_t k, const char *text,
		 const char *otherwise, struct arena *a)
{
	if (!text)
		return;
	if (!*texts) {
		*texts = ARENA_NEWN(a, const char *, k);
		for (uint32_t d = 0; d < k; d++)
			(*texts)[d] = otherwise;
	}
	(*texts)[i] = text;
}

/* Peaks by type with the efficiency in them, as a specification has them; NULL: none is told. */
static const char *peaks_text(const struct device_spec *d, struct arena *a)
{
	const char *text = NULL;

	for (int t = 0; d->peak && t < EL_COUNT; t++)
		if (d->peak[t] > 0)
			text = arena_printf(a, "%s%s%s=%.17g", text ? text : "", text ? "," : "",
					    elem_name((enum elem)t), d->peak[t]);
	return text;
}

static int write_records(const struct graph *g, const struct spec *spec, struct devs *d,
			 struct arena *a, struct rec_writer *w, struct err *e)
{
	double *flops = ARENA_NEWN(a, double, d->k), *bytes = ARENA_NEWN(a, double, d->k),
	       *overhead = ARENA_NEWN(a, double, d->k);
	double *workspace = NULL;
	const char **keeps = NULL, **fuses = NULL, **peaks = NULL;

	d->graph = g->digest;
	d->n_sets = g->n_sets;
	d->mask = ARENA_NEWN(a, uint8_t, (size_t)d->n_sets * d->k);
	memset(d->mask, 1, (size_t)d->n_sets * d->k);
	for (uint32_t i = 0; i < d->k; i++) {
		const struct device_spec *x = spec_find(spec, d->names[i]);

		flops[i] = x->flops_per_s;
		bytes[i] = x->bytes_per_s;
		overhead[i] = x->overhead_s;
		if (x->workspace > 0 && !workspace)
			workspace = ARENA_NEWN(a, double, d->k);
		if (workspace)
			workspace[i] = x->workspace;
		tell(&keeps, i, d->k, x->keeps_told, "usual", a);
		tell(&fuses, i, d->k, x->fuses_told, "none", a);
		tell(&peaks, i, d->k, peaks_text(x, a), "none", a);
	}
	uint32_t n = g->n_cases ? g->n_cases : 1;
	struct cost_rec *cost = ARENA_NEWN(a, struct cost_rec, n);
	double *weight = ARENA_NEWN(a, double, n);
	for (uint32_t i = 0; i < n; i++) {
		double *set_s = ARENA_NEWN(a, double, (size_t)g->n_sets * d->k);

		if (place_spec_costs(g->n_cases ? g->cases[i].graph : g, spec, d->names, d->k,
				     set_s, e) < 0)
			return -1;
		weight[i] = g->n_cases ? g->cases[i].weight : 1;
		cost[i] = (struct cost_rec){.graph = g->digest,
					    .n_sets = g->n_sets,
					    .k = d->k,
					    .names = d->names,
					    .set_s = set_s,
					    .flops_per_s = flops,
					    .bytes_per_s = bytes,
					    .overhead_s = overhead,
					    .workspace = workspace,
					    .keeps = keeps,
					    .fuses = fuses,
					    .peaks = peaks};
	}
	const struct cost_rec all = n > 1 ? cost_of_cases(cost, weight, n, a) : cost[0];

	return devs_encode(d, w, e) < 0 ? -1 : cost_encode(&all, w, e);
}

int spec_probe(const struct graph *g, const struct spec *spec, const char *spec_name,
	       const char *devices, struct rec_writer *w, struct err *e)
{
	struct devs d;

	if (!g)
		return err_set(e, ST_INPUT, "no graph in the input; ir2dag makes one");
	struct arena *a = arena_new();
	int rc = spec_devices(spec, spec_name, devices, a, &d, e);

	if (rc == 0)
		rc = write_records(g, spec, &d, a, w, e);
	arena_free(a);
	return rc;
}
