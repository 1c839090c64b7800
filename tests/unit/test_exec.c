/* test_exec.c - plans and the executor on devices made up for the purpose: one
 * kind that computes at once in host memory, one that queues everything, moves
 * at its own pace and has memory of its own.  Every step mixes all its inputs
 * into all its outputs, so one byte that is overwritten early, copied late or
 * read from the wrong place changes the results. */
#include "device/profile.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "graph/graphrec.h"
#include "tap.h"

/* ---- a random source ---- */

static struct rng_addr at = {1, 0, 0, RNG_SEARCH};
static uint32_t drawn;

static uint32_t below(uint32_t n)
{
	return rng_below(&at, drawn++, n);
}

/* ---- what a step computes ---- */

static uint32_t mix(uint32_t h, uint32_t x)
{
	h = (h ^ x) * 0x9e3779b1u;
	return h ^ h >> 15;
}

static void compute(uint32_t v, uint32_t n_in, const uint32_t *const *in, const size_t *in_n,
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

struct step {
	uint32_t v, n_in, n_out;
	size_t in_n[8], out_n[8];
};

struct devmem {
	unsigned char *p;
	bool owned;
};

enum what { DO_RUN, DO_UP, DO_DOWN, DO_NOTHING, DO_QUIT };
struct order {
	enum what what;
	struct step *s;
	struct devmem *in[8], *out[8];
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
static long step_ns;                          /* every step takes this much longer */
static atomic_int fail_step, fail_transfer;   /* countdowns; 0 and below: never */

static bool must_fail(atomic_int *countdown)
{
	return atomic_load(countdown) > 0 && atomic_fetch_sub(countdown, 1) == 1;
}

static void run_step(struct step *s, struct devmem *const *in, struct devmem *const *out)
{
	const uint32_t *i[8];
	uint32_t *o[8];
	for (uint32_t k = 0; k < s->n_in; k++)
		i[k] = (const uint32_t *)(void *)in[k]->p;
	for (uint32_t k = 0; k < s->n_out; k++)
		o[k] = (uint32_t *)(void *)out[k]->p;
	compute(s->v, s->n_in, i, s->in_n, s->n_out, o, s->out_n);
}

static void nap(uint32_t key)
{
	if (key % 5 == 0)
		nanosleep(&(struct timespec){0, (long)(key % 7) * 10000}, NULL);
}

static void *serve(void *arg)
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

static void give(struct fake *f, struct order o)
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

static bool f_supports(struct device *d, const struct step_spec *s, char *why, size_t cap)
{
	if (strcmp(d->name, "picky") != 0 ||
	    strcmp(s->node[0].graph->type[s->node[0].v], "Part") != 0)
		return true;
	snprintf(why, cap, "it does not part");
	return false;
}

static int f_prepare(struct device *d, const struct step_spec *spec, struct step **out,
		     struct err *e)
{
	(void)d, (void)e;
	struct step *s = MEM_NEW(struct step);
	s->v = spec->node[0].v;
	s->n_in = spec->n_in;
	s->n_out = spec->n_out;
	for (uint32_t i = 0; i < s->n_in; i++)
		s->in_n[i] = (size_t)tensor_elements(spec->in[i]);
	for (uint32_t i = 0; i < s->n_out; i++)
		s->out_n[i] = (size_t)tensor_elements(&spec->node[0].out[i]);
	*out = s;
	return 0;
}

static void f_step_free(struct device *d, struct step *s)
{
	(void)d;
	mem_free(s);
}

static int f_alloc(struct device *d, size_t bytes, struct devmem **out, struct err *e)
{
	(void)d, (void)e;
	*out = MEM_NEW(struct devmem);
	**out = (struct devmem){mem_try(bytes), true};
	memset((*out)->p, 0xaa, bytes);
	return 0;
}

static int f_view(struct device *d, struct devmem *base, size_t offset, size_t bytes,
		  struct devmem **out, struct err *e)
{
	(void)d, (void)bytes, (void)e;
	*out = MEM_NEW(struct devmem);
	**out = (struct devmem){base->p + offset, false};
	return 0;
}

static int f_wrap(struct device *d, void *host, size_t bytes, struct devmem **out, struct err *e)
{
	(void)d, (void)bytes, (void)e;
	*out = MEM_NEW(struct devmem);
	**out = (struct devmem){host, false};
	return 0;
}

static void f_release(struct device *d, struct devmem *m)
{
	(void)d;
	if (m->owned)
		mem_free(m->p);
	mem_free(m);
}

static void *f_host(struct device *d, struct devmem *m)
{
	(void)d;
	return m->p;
}

static int now_run(struct device *d, struct step *s, struct devmem *const *in,
		   struct devmem *const *out, struct err *e)
{
	(void)d;
	if (must_fail(&fail_step))
		return err_set(e, ST_RUNTIME, "it broke");
	nap(mix(s->v, 1));
	if (step_ns)
		nanosleep(&(struct timespec){0, step_ns}, NULL);
	run_step(s, in, out);
	return 0;
}

static int later_run(struct device *d, struct step *s, struct devmem *const *in,
		     struct devmem *const *out, struct err *e)
{
	struct order o = {.what = DO_RUN, .s = s};
	(void)e;
	memcpy(o.in, in, s->n_in * sizeof *in);
	memcpy(o.out, out, s->n_out * sizeof *out);
	give(d->state, o);
	return 0;
}

static int later_up(struct device *d, struct devmem *dst, const void *src, size_t bytes,
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

static int later_down(struct device *d, struct devmem *src, void *dst, size_t bytes,
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

static int later_flush(struct device *d, struct err *e)
{
	(void)d, (void)e;
	return 0;
}

static int later_finish(struct device *d, struct err *e)
{
	struct fake *f = d->state;
	(void)e;
	pthread_mutex_lock(&f->lock);
	while (f->n_ended < f->n_ordered)
		pthread_cond_wait(&f->wake, &f->lock);
	pthread_mutex_unlock(&f->lock);
	return 0;
}

static const struct device_class now_class = {.type = "now",
					      .max_nodes = 1,
					      .supports = f_supports,
					      .prepare = f_prepare,
					      .step_free = f_step_free,
					      .alloc = f_alloc,
					      .view = f_view,
					      .release = f_release,
					      .host = f_host,
					      .wrap = f_wrap,
					      .run = now_run};
static const struct device_class later_class = {.type = "later",
						.max_nodes = 1,
						.supports = f_supports,
						.prepare = f_prepare,
						.step_free = f_step_free,
						.alloc = f_alloc,
						.view = f_view,
						.release = f_release,
						.run = later_run,
						.upload = later_up,
						.download = later_down,
						.flush = later_flush,
						.finish = later_finish};

static void make_devices(struct device_list *l, const char *kinds)
{
	l->n = (uint32_t)strlen(kinds);
	l->dev = MEM_NEWN(struct device, l->n);
	for (uint32_t i = 0; i < l->n; i++) {
		struct device *d = &l->dev[i];
		*d = (struct device){.class = kinds[i] == 'l' ? &later_class : &now_class,
				     .align = 64};
		snprintf(d->name, sizeof d->name, kinds[i] == 'p' ? "picky" : "%c%u", kinds[i], i);
		if (kinds[i] != 'l')
			continue;
		struct fake *f = MEM_NEW(struct fake);
		pthread_mutex_init(&f->lock, NULL);
		pthread_cond_init(&f->wake, NULL);
		f->last = &f->first;
		d->state = f;
		pthread_create(&f->thread, NULL, serve, f);
	}
}

static void end_devices(struct device_list *l)
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
 * outputs), Squeeze (a view) and Results. */
static struct graph *make_graph(uint32_t n, uint32_t span)
{
	static const char *const types[] = {"Mix", "Stir", "Squeeze", "Part"};
	static const uint32_t ins[] = {2, 1, 1, 2}, outs[] = {1, 1, 1, 3};
	struct graph *g = graph_new();
	struct arena *a = g->arena;
	g->name = g->xml = g->weights = "";
	g->n = n;
	g->id = ARENA_NEWN(a, int64_t, n);
	g->node_name = ARENA_NEWN(a, const char *, n);
	g->type = ARENA_NEWN(a, const char *, n);
	g->opset = ARENA_NEWN(a, const char *, n);
	g->attr_ptr = ARENA_NEWN(a, uint32_t, n + 1);
	g->in_ptr = ARENA_NEWN(a, uint32_t, n + 1);
	g->in_node = ARENA_NEWN(a, uint32_t, 2 * (size_t)n);
	g->in_port = ARENA_NEWN(a, uint32_t, 2 * (size_t)n);
	g->out_ptr = ARENA_NEWN(a, uint32_t, n + 1);
	g->out_elem = ARENA_NEWN(a, uint8_t, 3 * (size_t)n);
	g->out_rank = ARENA_NEWN(a, uint8_t, 3 * (size_t)n);
	g->out_names = ARENA_NEWN(a, const char *, 3 * (size_t)n);
	g->dim_ptr = ARENA_NEWN(a, uint32_t, 3 * (size_t)n + 1);
	g->dim = ARENA_NEWN(a, int64_t, 3 * (size_t)n);
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
				back = v - (n - 3) + 1;   /* each Result reads another late node */
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
			g->dim[o] = type == types[2]
					    ? g->dim[g->out_ptr[g->in_node[src]] + g->in_port[src]]
					    : 2 + below(below(4) ? 50 : 3000);
			g->dim_ptr[o + 1] = o + 1;
		}
		g->out_ptr[v + 1] = o;
	}
	graph_colocate(g, CONST_DROP, true);
	return g;
}

/* The results by computing node after node. */
static void oracle(const struct model *m, uint32_t **result)
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

static size_t result_n(const struct model *m, uint32_t r)
{
	uint32_t s = m->g->in_ptr[m->result[r]];
	return (size_t)m->g->dim[m->g->out_ptr[m->g->in_node[s]] + m->g->in_port[s]];
}

static bool same_results(const struct model *m, const struct plan *p, uint32_t *const *want)
{
	for (uint32_t r = 0; r < m->n_results; r++)
		if (memcmp(p->result[r], want[r], 4 * result_n(m, r)) != 0)
			return false;
	return true;
}

static void fill_inputs(struct model *m)
{
	for (uint32_t i = 0; i < m->n_params; i++) {
		uint32_t *x = m->input[i];
		for (int64_t j = 0; j < m->g->dim[m->g->out_ptr[m->param[i]]]; j++)
			x[j] = mix((uint32_t)j, i);
	}
}

/* Random placements of a random graph on devices of these kinds. */
static void placements(const char *kinds, uint32_t n, uint32_t span, int n_placements)
{
	struct device_list l;
	struct model m;
	struct planner pl;
	struct err e = ERR_INIT;
	struct graph *g = make_graph(n, span);
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)g->n_sets + 1);
	uint32_t *want[8], wrong = 0, failed = 0;
	make_devices(&l, kinds);
	bool open = model_open(&m, g, NULL, &e) == 0 && planner_open(&pl, &m, &l, &e) == 0;
	if (!tap(open, "%s, %u nodes: opens (%s)", kinds, n, e.msg))
		return;
	fill_inputs(&m);
	oracle(&m, want);
	struct executor *x = executor_new(&l);
	uint64_t copies = 0;
	for (int i = 0; i < n_placements; i++) {
		struct plan p;
		struct exec_sample s = {0};
		for (uint32_t j = 0; j < g->n_sets; j++)
			device[j] = (uint16_t)(i < (int)l.n ? (uint32_t)i : below(l.n));
		if (plan_make(&pl, device, &p, &e) < 0) {
			failed++;
			err_clear(&e);
			continue;
		}
		for (int run = 0; run < 3; run++)
			if (executor_run(x, &p, &s, &e) < 0)
				failed++;
			else if (!same_results(&m, &p, want))
				wrong++;
		copies += p.n_copies;
		plan_release(&p);
	}
	tap(wrong == 0 && failed == 0,
	    "%s, %u nodes: %d placements, %llu copies, %u wrong, %u failed", kinds, n, n_placements,
	    (unsigned long long)copies, wrong, failed);
	for (uint32_t r = 0; r < m.n_results; r++)
		mem_free(want[r]);
	executor_free(x);
	planner_close(&pl);
	model_close(&m);
	end_devices(&l);
	graph_free(g);
	mem_free(device);
}

/* A step or a transfer that fails ends the run with a reason, and the next run is right again. */
static void failures(void)
{
	struct device_list l;
	struct model m;
	struct planner pl;
	struct plan p;
	struct err e = ERR_INIT;
	struct exec_sample s = {0};
	struct graph *g = make_graph(120, 12);
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)g->n_sets + 1);
	uint32_t *want[8];
	make_devices(&l, "nlnl");
	for (uint32_t j = 0; j < g->n_sets; j++)
		device[j] = (uint16_t)below(l.n);
	bool open = model_open(&m, g, NULL, &e) == 0 && planner_open(&pl, &m, &l, &e) == 0 &&
		    plan_make(&pl, device, &p, &e) == 0;
	if (!tap(open, "failures: opens (%s)", e.msg))
		return;
	fill_inputs(&m);
	oracle(&m, want);
	struct executor *x = executor_new(&l);
	int told = 0, right = 0, alive = 0;
	for (int k = 1; k <= 20; k++) {
		fail_step = k % 2 ? (k + 1) / 2 : 0;
		fail_transfer = k % 2 ? 0 : k / 2;
		told += executor_run(x, &p, &s, &e) < 0 &&
			strstr(e.msg, k % 2 ? "it broke" : "transfer failed");
		fail_step = fail_transfer = 0;
		err_clear(&e);
		alive += executor_alive(x);
		right += executor_run(x, &p, &s, &e) == 0 && same_results(&m, &p, want);
	}
	tap(told == 20, "failures: %d of 20 are told", told);
	tap(alive == 20, "failures: the executor outlives %d of 20", alive);
	tap(right == 20, "failures: %d of 20 runs after them are right", right);
	plan_release(&p);
	for (uint32_t r = 0; r < m.n_results; r++)
		mem_free(want[r]);
	executor_free(x);
	planner_close(&pl);
	model_close(&m);
	end_devices(&l);
	graph_free(g);
	mem_free(device);
}

/* A device that cannot run an operator, and one that has too little memory. */
static void infeasible(void)
{
	struct device_list l;
	struct model m;
	struct planner pl;
	struct plan p;
	struct err e = ERR_INIT;
	struct graph *g = make_graph(60, 10);
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)g->n_sets + 1);
	uint8_t *mask = MEM_NEWN(uint8_t, 2 * (size_t)g->n_sets + 1);
	make_devices(&l, "np");
	bool open = model_open(&m, g, NULL, &e) == 0 && planner_open(&pl, &m, &l, &e) == 0;
	tap(open && model_mask(&m, &l, mask, &e) == 0, "infeasible: opens");
	bool exact = true;
	for (uint32_t v = 0; v < g->n; v++)
		if (m.live[v] && strcmp(g->type[v], "Part") == 0)
			exact = exact && mask[2 * g->set[v]] == 1 && mask[2 * g->set[v] + 1] == 0;
	tap(exact, "infeasible: the mask says so");
	for (uint32_t j = 0; j < g->n_sets; j++)
		device[j] = 1;
	tap(plan_make(&pl, device, &p, &e) < 0 && strstr(e.msg, "it does not part") &&
		    strstr(e.msg, "picky"),
	    "infeasible: unsupported operator (%s)", e.msg);
	err_clear(&e);
	l.dev[0].mem_bytes = 100;
	memset(device, 0, g->n_sets * sizeof *device);
	tap(plan_make(&pl, device, &p, &e) < 0 && strstr(e.msg, "bytes and has 100"),
	    "infeasible: memory (%s)", e.msg);
	planner_close(&pl);
	model_close(&m);
	end_devices(&l);
	graph_free(g);
	mem_free(device);
	mem_free(mask);
}

/* Devices work at the same time: more seconds of work than seconds. */
static void overlap(void)
{
	struct device_list l;
	struct model m;
	struct planner pl;
	struct err e = ERR_INIT;
	struct graph *g = make_graph(100, 40);
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)g->n_sets + 1);
	double most = 0;
	make_devices(&l, "nn");
	bool open = model_open(&m, g, NULL, &e) == 0 && planner_open(&pl, &m, &l, &e) == 0;
	if (!tap(open, "overlap: opens (%s)", e.msg))
		return;
	struct executor *x = executor_new(&l);
	step_ns = 1000000;
	for (int i = 0; i < 6; i++) {
		struct plan p;
		double busy[2];
		struct exec_sample s = {.busy_s = busy};
		for (uint32_t j = 0; j < g->n_sets; j++)
			device[j] = (uint16_t)below(2);
		if (plan_make(&pl, device, &p, &e) < 0)
			break;
		if (executor_run(x, &p, &s, &e) == 0 && (busy[0] + busy[1]) / s.lat_s > most)
			most = (busy[0] + busy[1]) / s.lat_s;
		plan_release(&p);
	}
	step_ns = 0;
	tap(e.code == ST_OK && most > 1.2 && most <= 2, "overlap: %.2f devices busy", most);
	executor_free(x);
	planner_close(&pl);
	model_close(&m);
	end_devices(&l);
	graph_free(g);
	mem_free(device);
}

/* Times of sets: negative exactly where the mask says so, a step's nap in the sets that have
 * steps; links between devices of all kinds. */
static void profiles(const char *kinds)
{
	struct err e = ERR_INIT;
	struct graph *g = make_graph(60, 10);
	struct session s = {.arena = arena_new()};
	struct profile p;
	make_devices(&s.devices, kinds);
	uint32_t k = s.devices.n, wrong = 0, quick = 0, links = 0;
	s.mask = ARENA_NEWN(s.arena, uint8_t, (size_t)g->n_sets * k);
	bool open = model_open(&s.model, g, NULL, &e) == 0 &&
		    model_mask(&s.model, &s.devices, s.mask, &e) == 0 &&
		    planner_open(&s.planner, &s.model, &s.devices, &e) == 0;
	if (!tap(open, "profile of %s: opens (%s)", kinds, e.msg))
		return;
	s.x = executor_new(&s.devices);
	step_ns = 200000;
	bool taken = profile_take(&s, s.arena, &p, &e) == 0;
	step_ns = 0;
	tap(taken && !p.failed[0] && !p.failed[k - 1], "profile of %s: taken (%s)", kinds, e.msg);
	for (size_t i = 0; taken && i < (size_t)g->n_sets * k; i++) {
		wrong += p.set_s[i] < 0 ? s.mask[i] : !s.mask[i];
		uint32_t n = 0;
		for (uint32_t j = 0; j < s.model.n_steps; j++)
			n += g->set[s.model.step_node[j]] == i / k;
		if (kinds[i % k] != 'l' && s.mask[i])
			quick += p.set_s[i] < n * 2e-4 || (n == 0) != (p.set_s[i] == 0);
	}
	tap(wrong == 0, "profile of %s: %u of %u times where the mask says no", kinds, wrong,
	    g->n_sets * k);
	tap(quick == 0, "profile of %s: %u sets quicker than their steps", kinds, quick);
	for (uint32_t i = 0; taken && i < k * k; i++)
		links += i / k != i % k && p.link[i].latency_s > 0 && p.link[i].bytes_per_s > 1e6 &&
			 p.link[i].bytes_per_s < 1e13;
	tap(links == k * (k - 1), "profile of %s: %u links", kinds, links);
	/* A device that fails has no times, and that is all. */
	fail_step = 10;
	tap(profile_take(&s, s.arena, &p, &e) == 0 &&
		    (kinds[0] == 'l' || (p.failed[0] && p.set_s[0] < 0)),
	    "profile of %s: a failure is data", kinds);
	fail_step = 0;
	executor_free(s.x);
	planner_close(&s.planner);
	model_close(&s.model);
	end_devices(&s.devices);
	arena_free(s.arena);
	graph_free(g);
}

int main(void)
{
	placements("n", 40, 10, 1);
	placements("nn", 200, 20, 12);
	placements("nnn", 150, 150, 8);
	placements("l", 60, 10, 1);
	placements("ll", 100, 10, 6);
	placements("nl", 200, 20, 12);
	placements("nlnl", 200, 30, 12);
	overlap();
	failures();
	infeasible();
	profiles("np");
	profiles("nl");
	profiles("ll");
	return tap_end();
}
