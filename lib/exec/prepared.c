/* prepared.c - a hash table of prepared steps by device and nodes. */
#include "exec/prepared.h"

#include <stdlib.h>
#include <string.h>

#include "base/msg.h"
#include "base/pool.h"

/* Nodes kept for later, over nodes of the model. */
enum { KEEP = 8, KEEP_LEAST = 4096 };

void prepared_open(struct prepared_cache *c, struct device_list *l, uint32_t n_steps)
{
	*c = (struct prepared_cache){.devices = l, .n_buckets = 64};
	while (c->n_buckets < 2 * n_steps)
		c->n_buckets *= 2;
	c->bucket = MEM_NEWN(struct prepared *, c->n_buckets);
	c->nodes = MEM_NEWN(uint64_t, (size_t)l->n + 1);
	c->most_nodes = (uint64_t)KEEP * n_steps + KEEP_LEAST;
}

static void forget(struct prepared_cache *c, struct prepared *x)
{
	struct device *d = &c->devices->dev[x->dev];
	c->nodes[x->dev] -= x->n;
	d->class->step_free(d, x->step);
	mem_free(x->node_step);
	mem_free(x);
}

void prepared_close(struct prepared_cache *c)
{
	for (uint32_t i = 0; i < c->n_buckets; i++)
		for (struct prepared *x = c->bucket[i], *next; x; x = next) {
			next = x->next;
			forget(c, x);
		}
	mem_free(c->bucket);
	mem_free(c->nodes);
	*c = (struct prepared_cache){0};
}

/* FNV-1a over the words. */
static uint32_t hash(uint32_t dev, uint32_t request, const uint32_t *step, uint32_t n)
{
	uint64_t h = 0xcbf29ce484222325u ^ dev ^ (uint64_t)request << 32;
	for (uint32_t i = 0; i < n; i++)
		h = (h ^ step[i]) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 32);
}

static struct prepared **bucket_of(const struct prepared_cache *c, uint32_t dev, uint32_t request,
				   const uint32_t *step, uint32_t n)
{
	return &c->bucket[hash(dev, request, step, n) & (c->n_buckets - 1)];
}

/* Whose step of group g the asking request takes: its own where there are dynamic tensors or variables. */
static uint32_t owner(const struct prepared_cache *c, const struct model *m,
		      const struct fusion_group *g)
{
	for (uint32_t j = 0; j < g->n && c->request > 0; j++)
		if (m->alone[g->step[j]])
			return c->request;
	return 0;
}

static int by_last_use(const void *pa, const void *pb)
{
	const struct prepared *a = *(struct prepared *const *)pa,
			      *b = *(struct prepared *const *)pb;
	return (a->last_use > b->last_use) - (a->last_use < b->last_use);
}

static void unlink_from(struct prepared **at, const struct prepared *x)
{
	while (*at != x)
		at = &(*at)->next;
	*at = x->next;
}

/* Forget the unused steps of device dev that were used longest ago until a quarter is free. */
static void make_room(struct prepared_cache *c, uint32_t dev)
{
	struct prepared **idle = NULL;
	size_t n = 0, cap = 0;
	if (c->nodes[dev] <= c->most_nodes)
		return;
	for (uint32_t i = 0; i < c->n_buckets; i++)
		for (struct prepared *x = c->bucket[i]; x; x = x->next)
			if (x->dev == dev && x->users == 0) {
				idle = mem_grow(idle, &cap, n + 1, sizeof(*idle));
				idle[n++] = x;
			}
	if (n > 1)
		qsort(idle, n, sizeof(*idle), by_last_use);
	for (size_t i = 0; i < n && c->nodes[dev] > c->most_nodes / 4 * 3; i++) {
		const struct prepared *x = idle[i];
		unlink_from(bucket_of(c, dev, x->request, x->node_step, x->n), x);
		forget(c, idle[i]);
	}
	mem_free(idle);
}

void prepared_forget(struct prepared_cache *c, uint32_t dev)
{
	for (uint32_t i = 0; i < c->n_buckets; i++)
		for (struct prepared **at = &c->bucket[i], *x = *at; x; x = *at) {
			if (x->dev != dev || x->users > 0) {
				at = &x->next;
				continue;
			}
			*at = x->next;
			forget(c, x);
		}
}

static int describe(const struct prepared_cache *c, struct model *m, const struct fusion_group *g,
		    const uint32_t *local, struct arena *a, struct step_spec *out, struct err *e)
{
	struct device *d = &c->devices->dev[g->dev];
	return g->n == 1 ? model_spec(m, g->step[0], d, MODEL_ALL, a, out, e)
			 : fusion_group_spec(m, g, local, d, MODEL_ALL, a, out, e);
}

static int prefix_group(const struct prepared_cache *c, const struct model *m,
			const struct fusion_group *g, struct err *e)
{
	char l[300];
	return err_prefix(e, "%s on '%s'", model_layer(m, m->step_node[g->step[0]], l, sizeof l),
			  c->devices->dev[g->dev].name);
}

/* HSDAG_EXPLAIN=1: what each step that is prepared is, a line for each. */
static void explain(struct device *d, const struct step_spec *s, const struct step *x)
{
	const char *asked = getenv("HSDAG_EXPLAIN");
	char how[600] = "", nodes[500], l[300];
	size_t at;
	if (!asked || !*asked)
		return;
	graph_layer(s->node[0].graph, s->node[0].v, l, sizeof l);
	at = (size_t)snprintf(nodes, sizeof nodes, "%s", l);
	for (uint32_t i = 1; i < s->n_nodes && at < sizeof nodes; i++)
		at += (size_t)snprintf(nodes + at, sizeof nodes - at, "%s%s", i > 1 ? ", " : " + ",
				       s->node[i].graph->type[s->node[i].v]);
	if (d->class->explain)
		d->class->explain(d, s, x, how, sizeof how);
	msg_note(0, "explain: %s: %s: %s", d->name, nodes, how);
}

static int prepare(struct prepared_cache *c, struct model *m, const struct fusion_group *g,
		   const uint32_t *local, struct step **out, struct err *e)
{
	struct device *d = &c->devices->dev[g->dev];
	struct arena *a = arena_new();
	struct step_spec spec;
	int rc = mem_check(e);
	if (rc == 0)
		rc = describe(c, m, g, local, a, &spec, e);
	if (rc == 0)
		rc = d->class->prepare(d, &spec, out, e);
	if (rc == 0)
		explain(d, &spec, *out);
	arena_free(a);
	return rc == 0 ? 0 : prefix_group(c, m, g, e);
}

static struct prepared *find(const struct prepared_cache *c, const struct model *m,
			     const struct fusion_group *g)
{
	uint32_t request = owner(c, m, g);
	struct prepared *x = *bucket_of(c, g->dev, request, g->step, g->n);
	while (x && (x->dev != g->dev || x->request != request || x->n != g->n ||
		     memcmp(x->node_step, g->step, g->n * sizeof *g->step) != 0))
		x = x->next;
	return x;
}

static struct prepared *insert(struct prepared_cache *c, const struct model *m,
			       const struct fusion_group *g, struct step *step)
{
	uint32_t request = owner(c, m, g);
	struct prepared **at = bucket_of(c, g->dev, request, g->step, g->n);
	struct prepared *x = MEM_NEW(struct prepared);
	*x = (struct prepared){.dev = g->dev,
			       .n = g->n,
			       .request = request,
			       .step = step,
			       .last_use = ++c->clock,
			       .next = *at,
			       .node_step = mem_copy(g->step, g->n, sizeof *g->step)};
	*at = x;
	c->nodes[g->dev] += x->n;
	return x;
}

int prepared_get(struct prepared_cache *c, struct model *m, const struct fusion_group *g,
		 const uint32_t *local, struct prepared **out, struct err *e)
{
	struct prepared *x = find(c, m, g);
	if (!x) {
		struct step *step;
		if (prepare(c, m, g, local, &step, e) < 0)
			return -1;
		weights_rest(&m->weights);
		x = insert(c, m, g, step);
	}
	x->users++;
	x->last_use = ++c->clock;
	make_room(c, g->dev);
	*out = x;
	return 0;
}

void prepared_drop(struct prepared *x)
{
	x->users--;
}

/* describe, which wants local filled in. */
static int describe_alone(const struct prepared_cache *c, struct model *m,
			  const struct fusion_group *g, uint32_t *local, struct arena *a,
			  struct step_spec *out, struct err *e)
{
	for (uint32_t j = 0; j < g->n; j++)
		local[g->step[j]] = j;
	int rc = describe(c, m, g, local, a, out, e);
	for (uint32_t j = 0; j < g->n; j++)
		local[g->step[j]] = GRAPH_NONE;
	return rc;
}

int prepared_node_times(struct prepared_cache *c, struct model *m, const struct fusion_group *g,
			uint32_t *local, double *step_s, struct err *e)
{
	struct device *d = &c->devices->dev[g->dev];
	struct arena *a = arena_new();
	struct step_spec spec;
	int rc = describe_alone(c, m, g, local, a, &spec, e);
	if (rc == 0)
		rc = d->class->node_times(d, &spec, step_s, e);
	arena_free(a);
	return rc == 0 ? 0 : prefix_group(c, m, g, e);
}

/* ---- several at once ---- */

struct job {
	const struct fusion_group *g;
	struct device *d;
	struct step_spec spec;
	struct step *step; /* NULL: it failed, and e says why */
	struct err e;
};

static void run_job(void *arg, int i, int thread)
{
	struct job *x = &((struct job *)arg)[i];
	(void)thread;
	if (x->d->class->prepare(x->d, &x->spec, &x->step, &x->e) < 0)
		x->step = NULL;
	else
		explain(x->d, &x->spec, x->step);
}

/* What is missing of groups[n], of devices that prepare several steps at once. */
static int make_jobs(struct prepared_cache *c, struct model *m, const struct fusion_group *groups,
		     uint32_t n, uint32_t *local, struct arena *a, struct job *job, int *n_jobs,
		     struct err *e)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct fusion_group *g = &groups[i];
		struct device *d = &c->devices->dev[g->dev];
		if (!d->class->parallel || find(c, m, g))
			continue;
		if (mem_check(e) < 0)
			return -1;
		struct job *x = &job[(*n_jobs)++];
		*x = (struct job){.g = g, .d = d, .e = ERR_INIT};
		if (describe_alone(c, m, g, local, a, &x->spec, e) < 0)
			return prefix_group(c, m, g, e);
	}
	return 0;
}

int prepared_ahead(struct prepared_cache *c, struct model *m, const struct fusion_group *groups,
		   uint32_t n, uint32_t *local, struct err *e)
{
	uint32_t most = 0;
	for (uint32_t i = 0; i < n; i++)
		most += c->devices->dev[groups[i].dev].class->parallel;
	if (most == 0)
		return 0;
	struct arena *a = arena_new();
	struct job *job = MEM_NEWN(struct job, most);
	int n_jobs = 0, rc = make_jobs(c, m, groups, n, local, a, job, &n_jobs, e);
	if (rc < 0)
		n_jobs = 0;
	int threads = pool_n_cpus() < n_jobs ? pool_n_cpus() : n_jobs;
	if (threads > 1) {
		struct pool *p = pool_new(threads, NULL);
		pool_run(p, n_jobs, run_job, job);
		pool_free(p);
	} else if (n_jobs > 0) {
		run_job(job, 0, 0);
	}
	for (int i = 0; i < n_jobs; i++) {
		if (job[i].step)
			insert(c, m, job[i].g, job[i].step);
		else if (rc == 0) {
			*e = job[i].e;
			rc = prefix_group(c, m, job[i].g, e);
		}
	}
	if (n_jobs > 0)
		weights_rest(&m->weights);
	mem_free(job);
	arena_free(a);
	return rc;
}
