/* fake.h - devices made up for tests of plans and the executor: kinds that compute at once
 * in host memory, kinds that queue everything, move at their own pace and have memory
 * of their own, and of each some that take several nodes as one step.  Every step
 * mixes all its inputs into all its outputs, so one byte that is overwritten early,
 * copied late or read from the wrong place changes the results.  Random graphs for them, and
 * what these compute. */
#ifndef HSDAG_TESTS_FAKE_H
#define HSDAG_TESTS_FAKE_H

#include "exec/executor.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "record/graphrec.h"
#include "graphgen.h"

/* ---- a random source ---- */

static struct rng_addr at = {1, 0, 0, RNG_SEARCH};
static uint32_t drawn;

static inline uint32_t below(uint32_t n)
{
	return rng_below(&at, drawn++, n);
}

/* ---- what a step computes ---- */

static inline uint32_t mix(uint32_t h, uint32_t x)
{
	h = (h ^ x) * 0x9e3779b1u;
	return h ^ h >> 15;
}

static inline void compute(uint32_t v, uint32_t n_in, const uint32_t *const *in, const size_t *in_n,
			   uint32_t n_out, uint32_t *const *out, const size_t *out_n)
{
	for (uint32_t o = 0; o < n_out; o++)
		for (size_t j = 0; j < out_n[o]; j++) {
			uint32_t h = mix(v, o);
			for (uint32_t i = 0; i < n_in; i++)
				if (in_n[i])
					h = mix(h, in[i][(j * 7 + i) % in_n[i]]);
			out[o][j] = h;
		}
}

/* ---- devices ---- */

struct fake_node {
	uint32_t v, n_in, n_out;
	struct step_arg in[8];
	size_t in_n[8], out_n[8]; /* elements */
	uint32_t *out[8];         /* made anew by each run, so that a step may run in place */
};

struct step {
	uint32_t n_nodes, n_in, n_out;
	struct fake_node *node;
	struct step_out *leaves;
};

struct devmem {
	unsigned char *p;
	bool owned;
	size_t bytes;
};
static atomic_size_t allocated; /* bytes of alloc that are not released */

enum what { DO_RUN, DO_UP, DO_DOWN, DO_NOTHING, DO_QUIT };
struct order {
	enum what what;
	struct step *s;
	struct devmem *const *in, *const *out; /* the plan's */
	void *dst;
	const void *src;
	size_t bytes;
	device_done_fn done;
	void *arg;
	struct order *next;
};

struct fake {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct order *first, **last;
	uint64_t n_ordered, n_ended;
};
static long step_ns;                        /* every step takes this much longer */
static atomic_int at_once, most_at_once;    /* steps of such a length under way; their most */
static atomic_int fail_step, fail_transfer; /* countdowns; 0 and below: never */

static inline bool must_fail(atomic_int *countdown)
{
	return atomic_load(countdown) > 0 && atomic_fetch_sub(countdown, 1) == 1;
}

static inline void run_step(struct step *s, struct devmem *const *in, struct devmem *const *out)
{
	for (uint32_t k = 0; k < s->n_nodes; k++) {
		struct fake_node *n = &s->node[k];
		const uint32_t *i[8];
		for (uint32_t j = 0; j < n->n_in; j++)
			i[j] = n->in[j].from == FROM_NODE
				       ? s->node[n->in[j].index].out[n->in[j].port]
				       : (const uint32_t *)(void *)in[n->in[j].index]->p;
		compute(n->v, n->n_in, i, n->in_n, n->n_out, n->out, n->out_n);
	}
	for (uint32_t k = 0; k < s->n_out; k++) {
		const struct fake_node *n = &s->node[s->leaves[k].node];
		memcpy(out[k]->p, n->out[s->leaves[k].port], 4 * n->out_n[s->leaves[k].port]);
	}
}

static inline void nap(uint32_t key)
{
	if (key % 5 == 0)
		nanosleep(&(struct timespec){0, (long)(key % 7) * 10000}, NULL);
}

static inline void long_nap(void)
{
	int n = atomic_fetch_add(&at_once, 1) + 1, most = atomic_load(&most_at_once);
	while (n > most && !atomic_compare_exchange_weak(&most_at_once, &most, n))
		;
	nanosleep(&(struct timespec){0, step_ns}, NULL);
	atomic_fetch_sub(&at_once, 1);
}

static inline void *serve(void *arg)
{
	struct fake *f = arg;
	for (uint32_t n = 0;; n++) {
		pthread_mutex_lock(&f->lock);
		while (!f->first)
			pthread_cond_wait(&f->wake, &f->lock);
		struct order *o = f->first;
		f->first = o->next;
		if (!f->first)
			f->last = &f->first;
		pthread_mutex_unlock(&f->lock);
		nap(mix(n, 3));
		bool ok = true;
		if (o->what == DO_RUN)
			run_step(o->s, o->in, o->out);
		else if (o->what == DO_UP || o->what == DO_DOWN) {
			ok = !must_fail(&fail_transfer);
			memcpy(o->dst, o->src, o->bytes);
		}
		enum what what = o->what;
		if (o->done)
			o->done(o->arg, ok);
		free(o);
		pthread_mutex_lock(&f->lock);
		f->n_ended++;
		pthread_cond_broadcast(&f->wake);
		pthread_mutex_unlock(&f->lock);
		if (what == DO_QUIT)
			return NULL;
	}
}

static inline void give(struct fake *f, struct order o)
{
	struct order *p = malloc(sizeof *p);
	*p = o;
	p->next = NULL;
	pthread_mutex_lock(&f->lock);
	*f->last = p;
	f->last = &p->next;
	f->n_ordered++;
	pthread_cond_broadcast(&f->wake);
	pthread_mutex_unlock(&f->lock);
}

static inline bool f_supports(struct device *d, const struct step_spec *s, char *why, size_t cap)
{
	if (strcmp(d->name, "picky") != 0 ||
	    strcmp(s->node[0].graph->type[s->node[0].v], "Part") != 0)
		return true;
	snprintf(why, cap, "it does not part");
	return false;
}

/* What a spec must hold; every violation is counted. */
static atomic_int bad_specs;
static inline void check_spec(const struct device *d, const struct step_spec *s)
{
	int bad = s->n_nodes > d->class->max_nodes;
	for (uint32_t i = 0; i < s->n_in; i++)
		bad += s->in[i] == NULL;
	for (uint32_t k = 0; k < s->n_nodes; k++)
		for (uint32_t j = 0; j < s->node[k].n_in; j++) {
			const struct step_arg *a = &s->node[k].in[j];
			const struct tensor *from = a->from == FROM_INPUT && a->index < s->n_in
							    ? s->in[a->index]
						    : a->from == FROM_NODE && a->index < k
							    ? &s->node[a->index].out[a->port]
							    : NULL;
			bad += !from || tensor_elements(from) != tensor_elements(a->tensor);
		}
	for (uint32_t i = 0; i < s->n_out; i++)
		bad += s->out[i].node >= s->n_nodes ||
		       s->out[i].port >= s->node[s->out[i].node].n_out;
	atomic_fetch_add(&bad_specs, bad);
}

static inline enum fuse_answer f_fuses(struct device *d, const struct step_spec *s)
{
	uint32_t h = s->n_nodes;
	check_spec(d, s);
	for (uint32_t k = 0; k < s->n_nodes; k++)
		h = mix(h, s->node[k].v);
	return (enum fuse_answer)((h % 8 < 3 ? FUSE_YES : FUSE_NO) |
				  (h / 8 % 2 ? FUSE_WITH_MORE : FUSE_NO));
}

static inline bool f_in_place(struct device *d, const struct step *s, uint32_t in, uint32_t out)
{
	(void)d;
	return mix(s->node[0].v, in + out) % 4 != 0;
}

static inline int f_prepare(struct device *d, const struct step_spec *spec, struct step **out,
			    struct err *e)
{
	(void)e;
	struct step *s = MEM_NEW(struct step);
	check_spec(d, spec);
	*s = (struct step){.n_nodes = spec->n_nodes,
			   .n_in = spec->n_in,
			   .n_out = spec->n_out,
			   .node = MEM_NEWN(struct fake_node, spec->n_nodes),
			   .leaves = mem_copy(spec->out, spec->n_out, sizeof *spec->out)};
	for (uint32_t k = 0; k < s->n_nodes; k++) {
		const struct step_node *from = &spec->node[k];
		struct fake_node *n = &s->node[k];
		n->v = from->v;
		n->n_in = from->n_in;
		n->n_out = from->n_out;
		for (uint32_t i = 0; i < n->n_in; i++) {
			n->in[i] = from->in[i];
			n->in_n[i] = (size_t)tensor_elements(from->in[i].tensor);
		}
		for (uint32_t i = 0; i < n->n_out; i++) {
			n->out_n[i] = (size_t)tensor_elements(&from->out[i]);
			n->out[i] = MEM_NEWN(uint32_t, n->out_n[i]);
		}
	}
	*out = s;
	return 0;
}

static inline void f_step_free(struct device *d, struct step *s)
{
	(void)d;
	for (uint32_t k = 0; k < s->n_nodes; k++)
		for (uint32_t i = 0; i < s->node[k].n_out; i++)
			mem_free(s->node[k].out[i]);
	mem_free(s->node);
	mem_free(s->leaves);
	mem_free(s);
}

static inline int f_alloc(struct device *d, size_t bytes, struct devmem **out, struct err *e)
{
	(void)d, (void)e;
	*out = MEM_NEW(struct devmem);
	**out = (struct devmem){mem_try(bytes), true, bytes};
	atomic_fetch_add(&allocated, bytes);
	memset((*out)->p, 0xaa, bytes);
	return 0;
}

static inline int f_view(struct device *d, struct devmem *base, size_t offset, size_t bytes,
			 struct devmem **out, struct err *e)
{
	(void)d, (void)bytes, (void)e;
	*out = MEM_NEW(struct devmem);
	**out = (struct devmem){base->p + offset, false, 0};
	return 0;
}

static inline int f_wrap(struct device *d, void *host, size_t bytes, struct devmem **out,
			 struct err *e)
{
	(void)d, (void)bytes, (void)e;
	*out = MEM_NEW(struct devmem);
	**out = (struct devmem){host, false, 0};
	return 0;
}

static inline void f_release(struct device *d, struct devmem *m)
{
	(void)d;
	if (m->owned)
		mem_free(m->p);
	atomic_fetch_sub(&allocated, m->bytes);
	mem_free(m);
}

static inline void *f_host(struct device *d, struct devmem *m)
{
	(void)d;
	return m->p;
}

static inline int now_run(struct device *d, struct step *s, struct devmem *const *in,
			  struct devmem *const *out, struct err *e)
{
	(void)d;
	if (must_fail(&fail_step))
		return err_set(e, ST_RUNTIME, "it broke");
	nap(mix(s->node[0].v, 1));
	if (step_ns)
		long_nap();
	run_step(s, in, out);
	return 0;
}

static inline int later_run(struct device *d, struct step *s, struct devmem *const *in,
			    struct devmem *const *out, struct err *e)
{
	(void)e;
	give(d->state, (struct order){.what = DO_RUN, .s = s, .in = in, .out = out});
	return 0;
}

static inline int later_up(struct device *d, struct devmem *dst, const void *src, size_t bytes,
			   device_done_fn done, void *arg, struct err *e)
{
	(void)e;
	give(d->state, (struct order){.what = DO_UP,
				      .dst = dst->p,
				      .src = src,
				      .bytes = bytes,
				      .done = done,
				      .arg = arg});
	return 0;
}

static inline int later_down(struct device *d, struct devmem *src, void *dst, size_t bytes,
			     device_done_fn done, void *arg, struct err *e)
{
	(void)e;
	give(d->state, (struct order){.what = DO_DOWN,
				      .dst = dst,
				      .src = src->p,
				      .bytes = bytes,
				      .done = done,
				      .arg = arg});
	return 0;
}

static inline int later_flush(struct device *d, struct err *e)
{
	(void)d, (void)e;
	return 0;
}

static inline int later_finish(struct device *d, struct err *e)
{
	struct fake *f = d->state;
	(void)e;
	pthread_mutex_lock(&f->lock);
	while (f->n_ended < f->n_ordered)
		pthread_cond_wait(&f->wake, &f->lock);
	pthread_mutex_unlock(&f->lock);
	return 0;
}

#define NOW \
	.supports = f_supports, .prepare = f_prepare, .step_free = f_step_free, .alloc = f_alloc, \
	.view = f_view, .release = f_release, .host = f_host, .wrap = f_wrap, .run = now_run
#define LATER \
	.supports = f_supports, .prepare = f_prepare, .step_free = f_step_free, .alloc = f_alloc, \
	.view = f_view, .release = f_release, .run = later_run, .upload = later_up, \
	.download = later_down, .flush = later_flush, .finish = later_finish

/* By letter: n computes at once, l queues; f and F are the same with steps of several nodes and
 * in place; s and S take segments.  p is picky. */
static const struct device_class fake_now = {NOW, .max_nodes = 1},
				 fake_later = {LATER, .max_nodes = 1},
				 fake_fuse_now = {NOW, .max_nodes = 5, .fuses = f_fuses,
						  .in_place = f_in_place},
				 fake_fuse_later = {LATER, .max_nodes = 5, .fuses = f_fuses,
						    .in_place = f_in_place},
				 fake_segment_now = {NOW, .max_nodes = UINT32_MAX,
						     .segments = true},
				 fake_segment_later = {LATER, .max_nodes = 40, .segments = true,
						       .in_place = f_in_place};

static inline const struct device_class *class_of(char kind)
{
	return kind == 'l'   ? &fake_later
	       : kind == 'f' ? &fake_fuse_now
	       : kind == 'F' ? &fake_fuse_later
	       : kind == 's' ? &fake_segment_now
	       : kind == 'S' ? &fake_segment_later
			     : &fake_now;
}

static inline void make_devices(struct device_list *l, const char *kinds)
{
	*l = (struct device_list){.n = (uint32_t)strlen(kinds)};
	l->dev = MEM_NEWN(struct device, l->n);
	for (uint32_t i = 0; i < l->n; i++) {
		struct device *d = &l->dev[i];
		*d = (struct device){.class = class_of(kinds[i]), .align = 64};
		snprintf(d->name, sizeof d->name, kinds[i] == 'p' ? "picky" : "%c%u", kinds[i], i);
		if (d->class->run != later_run)
			continue;
		struct fake *f = MEM_NEW(struct fake);
		pthread_mutex_init(&f->lock, NULL);
		pthread_cond_init(&f->wake, NULL);
		f->last = &f->first;
		d->state = f;
		pthread_create(&f->thread, NULL, serve, f);
	}
}

static inline void end_devices(struct device_list *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		struct fake *f = l->dev[i].state;
		if (!f)
			continue;
		give(f, (struct order){.what = DO_QUIT});
		pthread_join(f->thread, NULL);
		mem_free(f);
	}
	mem_free(l->dev);
}

/* ---- graphs ---- */

/* n nodes of i32 tensors: Parameters, operators that no table knows (Part has three
 * outputs, every other Stir an output as large as its input), Squeeze (a view) and Results. */
static inline struct graph *make_graph(uint32_t n, uint32_t span)
{
	static const char *const types[] = {"Mix", "Stir", "Squeeze", "Part"};
	static const uint32_t ins[] = {2, 1, 1, 2}, outs[] = {1, 1, 1, 3};
	struct graph *g = gen_columns(n, 2, 3, 1);
	struct arena *a = g->arena;
	g->xml = g->weights = "";
	g->set = ARENA_NEWN(a, uint32_t, n);
	uint32_t m = 0, o = 0;
	for (uint32_t v = 0; v < n; v++) {
		uint32_t t = below(4), n_in = ins[t], n_out = outs[t];
		const char *type = types[t];
		if (v < 2 || v == 9)
			type = "Parameter", n_in = 0, n_out = 1;
		else if (v + 3 >= n)
			type = "Result", n_in = 1, n_out = 0;
		g->id[v] = v;
		g->node_name[v] = arena_printf(a, "n%u", v);
		g->type[v] = type;
		g->opset[v] = "opset1";
		for (uint32_t i = 0; i < n_in; i++, m++) {
			uint32_t back = v < span ? v : span;
			if (v + 3 >= n)
				back = v - (n - 3) + 1; /* each Result reads another late node */
			uint32_t u = v - 1 - below(back);
			while (g->out_ptr[u + 1] == g->out_ptr[u])
				u--;
			g->in_node[m] = u;
			g->in_port[m] = below(g->out_ptr[u + 1] - g->out_ptr[u]);
		}
		g->in_ptr[v + 1] = m;
		for (uint32_t i = 0; i < n_out; i++, o++) {
			uint32_t src = g->in_ptr[v];
			g->out_elem[o] = EL_I32;
			g->out_rank[o] = 1;
			g->out_names[o] = "";
			g->dim[o] = type == types[2] || (type == types[1] && v % 2)
					    ? g->dim[g->out_ptr[g->in_node[src]] + g->in_port[src]]
					    : 2 + below(below(4) ? 50 : 3000);
			g->dim_ptr[o + 1] = o + 1;
		}
		g->out_ptr[v + 1] = o;
	}
	graph_finish(g);
	graph_colocate(g, CONST_DROP, true);
	return g;
}

/* The results by computing node after node. */
static inline void oracle(const struct model *m, uint32_t **result)
{
	const struct graph *g = m->g;
	uint32_t n_out = g->out_ptr[g->n], **val = MEM_NEWN(uint32_t *, n_out);
	for (uint32_t v = 0; v < g->n; v++) {
		const uint32_t *in[8];
		size_t in_n[8], out_n[8];
		uint32_t *out[8], n_in = g->in_ptr[v + 1] - g->in_ptr[v];
		for (uint32_t i = 0; i < n_in; i++) {
			uint32_t o = g->out_ptr[g->in_node[g->in_ptr[v] + i]] +
				     g->in_port[g->in_ptr[v] + i];
			in[i] = val[o];
			in_n[i] = (size_t)g->dim[o];
		}
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++) {
			out_n[o - g->out_ptr[v]] = (size_t)g->dim[o];
			out[o - g->out_ptr[v]] = val[o] = MEM_NEWN(uint32_t, (size_t)g->dim[o]);
		}
		if (strcmp(g->type[v], "Parameter") == 0) {
			for (uint32_t i = 0; i < m->n_params; i++)
				if (m->param[i] == v)
					memcpy(out[0], m->input[i], out_n[0] * 4);
		} else if (strcmp(g->type[v], "Squeeze") == 0) {
			memcpy(out[0], in[0], out_n[0] * 4);
		} else if (strcmp(g->type[v], "Result") != 0) {
			compute(v, n_in, in, in_n, g->out_ptr[v + 1] - g->out_ptr[v], out, out_n);
		}
	}
	for (uint32_t r = 0; r < m->n_results; r++) {
		uint32_t s = g->in_ptr[m->result[r]], o = g->out_ptr[g->in_node[s]] + g->in_port[s];
		result[r] = mem_copy(val[o], (size_t)g->dim[o], 4);
	}
	for (uint32_t o = 0; o < n_out; o++)
		mem_free(val[o]);
	mem_free(val);
}

static inline size_t result_n(const struct model *m, uint32_t r)
{
	uint32_t s = m->g->in_ptr[m->result[r]];
	return (size_t)m->g->dim[m->g->out_ptr[m->g->in_node[s]] + m->g->in_port[s]];
}

static inline bool same_results(const struct model *m, const struct plan *p, uint32_t *const *want)
{
	for (uint32_t r = 0; r < m->n_results; r++)
		if (memcmp(p->result[r], want[r], 4 * result_n(m, r)) != 0)
			return false;
	return true;
}

static inline void fill_inputs(struct model *m)
{
	for (uint32_t i = 0; i < m->n_params; i++) {
		uint32_t *x = m->input[i];
		for (int64_t j = 0; j < m->g->dim[m->g->out_ptr[m->param[i]]]; j++)
			x[j] = mix((uint32_t)j, i);
	}
}

#endif
