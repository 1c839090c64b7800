/* costs.c - what is known of devices, for decisions what is cut: of cores, by a specification, measured. */
#include <math.h>
#include <string.h>

#include "place/problem/spec.h"
#include "record/grouprec.h"
#include "split/decide.h"
#include "stats/quantile.h"

/* Figures of cores of an EPYC: they need not be right, only in proportion. */
const struct split_costs split_costs_cores = {.n = 1,
					      .device = {{2e11, 2e10, 2e-6, 1e10}},
					      .handover_s = 15e-6,
					      .copy_s_per_byte = 1e-10};

void split_costs_spec(const struct spec *s, uint32_t ways, struct split_costs *c, uint8_t *group)
{
	const char *names[SPLIT_MAX_WAYS];
	struct sched_links links;
	double *joules;
	struct arena *a = arena_new();
	*c = split_costs_cores;
	c->n = ways;
	for (uint32_t p = 0; p < ways; p++) {
		const struct device_spec *d = &s->dev[p];
		c->device[p] =
			(struct split_device){d->flops_per_s, d->bytes_per_s, d->overhead_s, 0};
		if (d->mem_bytes &&
		    (c->memory_bytes == 0 || (double)d->mem_bytes < c->memory_bytes))
			c->memory_bytes = (double)d->mem_bytes;
		names[p] = d->name;
	}
	spec_links(s, names, ways, a, &links, &joules);
	struct sched_mean_link mean = sched_mean_link(&links);
	c->handover_s = mean.latency_s;
	c->copy_s_per_byte = mean.s_per_byte;
	split_groups(c, links.latency_s, links.bytes_per_s, group);
	arena_free(a);
}

const bool *split_stays(const struct graph *g, const struct devs *d, struct arena *a)
{
	if (!d->mask || d->graph != g->digest || d->n_sets != g->n_sets)
		return NULL;
	bool *set_stays = ARENA_NEWN(a, bool, g->n_sets), *stays = ARENA_NEWN(a, bool, g->n);
	uint32_t *first = ARENA_NEWN(a, uint32_t, g->n_sets);
	if (d->together) {
		memcpy(first, d->together, g->n_sets * sizeof *first);
		group_first(first, g->n_sets);
	}
	for (uint32_t s = 0; s < g->n_sets; s++) {
		set_stays[s] |= memchr(d->mask + (size_t)s * d->k, 0, d->k) != NULL;
		if (d->together && first[s] != s)
			set_stays[s] = set_stays[first[s]] = true;
	}
	for (uint32_t v = 0; v < g->n; v++)
		stays[v] = g->set[v] != GRAPH_NONE && set_stays[g->set[v]];
	return stays;
}

/* ---- measured ---- */

/* A device that waits for another one's tensor wakes up. */
static const double WAKE_S = 10e-6;

/* Seconds of sets less what pairs of neighbours save on one device: of the second of them first. */
static double *saved_sets(const struct place_model *m, struct arena *a)
{
	double *s = ARENA_NEWN(a, double, (size_t)m->n_sets * m->k);
	memcpy(s, m->set_s, (size_t)m->n_sets * m->k * sizeof *s);
	for (uint32_t t = 0; m->saved_ptr && t < m->tasks.dag.n; t++)
		for (uint32_t i = m->saved_ptr[t]; i < m->saved_ptr[t + 1]; i++)
			for (uint32_t d = 0; d < m->k; d++) {
				double *second = &s[(size_t)m->tasks.task_set[t] * m->k + d],
				       *first = &s[(size_t)m->tasks.task_set[m->saved_task[i]] *
							   m->k +
						   d],
				       saved = m->saved_s[(size_t)i * m->k + d];
				if (*first < 0 || *second < 0)
					continue;
				double here = fmin(saved, *second);
				*second -= here;
				*first = fmax(0, *first - (saved - here));
			}
	return s;
}

/* What a tenth of the operations that take time take at most: any step's time. */
static double least_step(const double *node_s, uint32_t n, uint32_t k, uint32_t d)
{
	double *s = MEM_NEWN(double, (size_t)n + 1), least = 0;
	uint32_t many = 0;
	for (uint32_t v = 0; v < n; v++)
		if (node_s[(size_t)v * k + d] > 0)
			s[many++] = node_s[(size_t)v * k + d];
	order_values(s, many);
	if (many > 0)
		least = quantile(s, many, 0.1);
	mem_free(s);
	return least;
}

/* Bytes a second of weights of device d, where an operation reads them the fastest; at least a core's. */
static double weights_rate(const struct graph *g, const double *node_s, uint32_t k, uint32_t d)
{
	double rate = split_costs_cores.device[0].weights_per_s;
	bool *constant = MEM_NEWN(bool, g->n);
	op_constant_nodes(g, constant);
	for (uint32_t v = 0; v < g->n; v++) {
		double bytes = 0, s = node_s[(size_t)v * k + d];
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1] && s > 0; i++)
			if (g->in_node[i] != GRAPH_NONE && constant[g->in_node[i]])
				bytes += (double)op_stored_bytes(g, graph_slot_output(g, i));
		rate = s > 0 ? fmax(rate, bytes / s) : rate;
	}
	mem_free(constant);
	return rate;
}

/* Seconds (nodes, k) of which each node has a share of its set's, by what it computes, and reads and writes. */
static double *node_seconds(const struct place_model *m, const double *set_s, struct arena *a)
{
	const struct graph *g = m->g;
	double *all = ARENA_NEWN(a, double, m->n_sets),
	       *node_s = ARENA_NEWN(a, double, (size_t)g->n * m->k);
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t v = 0; v < g->n; v++) {
			double work = (double)op_flops(g, v) + (double)op_bytes(g, v);
			if (g->set[v] == GRAPH_NONE || work <= 0)
				continue;
			if (pass == 0)
				all[g->set[v]] += work;
			for (uint32_t d = 0; d < m->k && pass == 1; d++) {
				double s = set_s[(size_t)g->set[v] * m->k + d];
				node_s[(size_t)v * m->k + d] =
					s < 0 ? -1 : s * work / all[g->set[v]];
			}
		}
	return node_s;
}

/* Bytes a second of device d where it moves them: in all that is no product or convolution. */
static double moving_rate(const struct place_model *m, const double *node_s, uint32_t d)
{
	double bytes = 0, seconds = 0;
	for (uint32_t v = 0; v < m->g->n; v++) {
		double s = node_s[(size_t)v * m->k + d];
		enum op_category kind = op_info(m->g->kind[v])->category;
		if (s <= 0 || kind == OPC_CONV || kind == OPC_MATMUL)
			continue;
		bytes += (double)op_bytes(m->g, v);
		seconds += s;
	}
	return seconds > 0 ? bytes / seconds : split_costs_cores.device[0].bytes_per_s;
}

/* Of all links: a profile finds some far too long, as another program ran. */
static double least_latency(const struct sched_links *l, uint32_t k)
{
	double least = INFINITY;
	for (uint32_t i = 0; i < k * k; i++)
		if (i % (k + 1) != 0 && l->latency_s[i] >= 0)
			least = fmin(least, l->latency_s[i]);
	return least < INFINITY ? least : 0;
}

void split_costs_measured(const struct place_model *m, struct split_costs *c, struct arena *a)
{
	const struct graph *g = m->g;
	const double *alone_s = node_seconds(m, m->set_s, a),
		     *node_s = node_seconds(m, saved_sets(m, a), a);
	*c = split_costs_cores;
	c->n = m->k;
	c->node_s = node_s;
	struct sched_mean_link mean = sched_mean_link(&m->costs.links);
	c->handover_s = WAKE_S + least_latency(&m->costs.links, m->k);
	c->copy_s_per_byte = fmax(c->copy_s_per_byte, mean.s_per_byte);
	for (uint32_t d = 0; d < m->k; d++) {
		const struct split_device core = split_costs_cores.device[0];
		bool cpu = m->types && strcmp(m->types[d], "cpu") == 0;
		c->device[d] = core;
		c->device[d].bytes_per_s = moving_rate(m, alone_s, d);
		if (cpu)
			continue;
		c->device[d].weights_per_s = weights_rate(g, node_s, m->k, d);
		c->device[d].step_s = least_step(node_s, g->n, m->k, d);
	}
}
