/* test_in_flight.c - several requests at once on made-up devices (fake.h): each has the results that it has alone, the
 * oldest goes first, one that fails takes no other with it, and their memory is counted. */
#include "fake.h"
#include "tap.h"

enum { MOST = 6 };

struct world {
	struct device_list l;
	struct model m;
	struct planner pl;
	struct plan first, *plan[MOST];
	struct graph *g;
	struct executor *x;
	uint16_t *device;
	uint32_t n;
	uint32_t *want[MOST][8];
};

/* Inputs of the request that the model is at: others than those of the others. */
static void fill_request(struct model *m, uint32_t r)
{
	fill_inputs(m);
	for (uint32_t i = 0; i < m->n_params; i++)
		((uint32_t *)m->input[i])[0] += r;
}

static bool open_world(struct world *w, const char *kinds, uint32_t nodes, uint32_t span,
		       uint32_t n, struct err *e)
{
	*w = (struct world){.n = n, .g = make_graph(nodes, span)};
	w->device = MEM_NEWN(uint16_t, (size_t)w->g->n_sets + 1);
	make_devices(&w->l, kinds);
	if (model_open(&w->m, w->g, NULL, e) < 0 || planner_open(&w->pl, &w->m, &w->l, e) < 0)
		return false;
	for (uint32_t r = 0; r < n; r++) {
		if (planner_request(&w->pl, r, e) < 0)
			return false;
		fill_request(&w->m, r);
		oracle(&w->m, w->want[r]);
	}
	for (uint32_t j = 0; j < w->g->n_sets; j++)
		w->device[j] = (uint16_t)below(w->l.n);
	w->x = executor_new(&w->l);
	return planner_request(&w->pl, 0, e) == 0;
}

static bool plan_world(struct world *w, struct err *e)
{
	w->pl.in_flight = w->n;
	if (plan_make(&w->pl, w->device, &w->first, e) < 0)
		return false;
	struct plan *p = &w->first;
	for (uint32_t r = 0; r < w->n; r++, p = p->next_request)
		w->plan[r] = p;
	return p == NULL;
}

static void close_world(struct world *w)
{
	plan_release(&w->first);
	for (uint32_t r = 0; r < w->n; r++)
		for (uint32_t i = 0; i < w->m.n_results; i++)
			mem_free(w->want[r][i]);
	executor_free(w->x);
	planner_close(&w->pl);
	model_close(&w->m);
	end_devices(&w->l);
	graph_free(w->g);
	mem_free(w->device);
}

/* So many requests, and what became of them. */
struct loop {
	struct world *w;
	atomic_uint left, ended, right, failed, told, disordered;
	_Atomic uint64_t begun[MOST], n_begun, n_ended;
};

static bool next(void *arg, uint32_t i, const struct err *end, double begin_s, double end_s)
{
	struct loop *x = arg;
	if (end) {
		atomic_fetch_add(&x->ended, 1);
		if (end->code != ST_OK)
			atomic_fetch_add(&x->failed, 1);
		atomic_fetch_add(&x->told,
				 end->code != ST_OK && (strstr(end->msg, "it broke") ||
							strstr(end->msg, "transfer failed")));
		atomic_fetch_add(&x->right,
				 end->code == ST_OK && begin_s <= end_s &&
					 same_results(&x->w->m, x->w->plan[i], x->w->want[i]));
		/* On one device the oldest ends first. */
		atomic_fetch_add(&x->disordered, x->begun[i] != x->n_ended++);
	}
	uint32_t left = atomic_load(&x->left);
	while (left > 0 && !atomic_compare_exchange_weak(&x->left, &left, left - 1))
		;
	if (left > 0)
		x->begun[i] = x->n_begun++;
	return left > 0;
}

static int run(struct world *w, struct loop *x, uint32_t requests, struct err *e)
{
	*x = (struct loop){.w = w};
	atomic_store(&x->left, requests);
	const struct exec_load l = {.n = w->n, .plan = w->plan, .next = next, .arg = x};
	return executor_load(w->x, &l, e);
}

static void same_as_alone(const char *kinds, uint32_t nodes, uint32_t span, uint32_t n)
{
	enum { REQUESTS = 60 };
	struct world w;
	struct loop x;
	struct err e = ERR_INIT;
	struct exec_sample s = {0};
	bool open = open_world(&w, kinds, nodes, span, n, &e) && plan_world(&w, &e);
	if (!tap(open, "%s, %u at once: opens (%s)", kinds, n, e.msg))
		return;
	int rc = run(&w, &x, REQUESTS, &e);
	tap(rc == 0 && x.ended == REQUESTS && x.right == REQUESTS,
	    "%s, %u at once: %u of %u ended, %u right (%s)", kinds, n, x.ended, REQUESTS, x.right,
	    e.msg);
	if (strcmp(kinds, "n") == 0)
		tap(x.disordered == 0, "%s, %u at once: %u ended before older ones", kinds, n,
		    x.disordered);
	tap(executor_run(w.x, &w.first, &s, &e) == 0 && same_results(&w.m, &w.first, w.want[0]),
	    "%s, %u at once: one alone is right after them", kinds, n);
	tap(run(&w, &x, 0, &e) == 0 && x.ended == 0, "%s, %u at once: none at all", kinds, n);
	close_world(&w);
}

/* Some step, or some transfer, of some request fails. */
static void failures(void)
{
	enum { REQUESTS = 20, TRIES = 20 };
	struct world w;
	struct err e = ERR_INIT;
	uint32_t alone = 0, told = 0, right = 0;
	bool open = open_world(&w, "nlnl", 80, 12, 4, &e) && plan_world(&w, &e);
	if (!tap(open, "failures: opens (%s)", e.msg))
		return;
	for (int k = 1; k <= TRIES; k++) {
		struct loop x;
		fail_step = k % 2 ? 10 * k : 0;
		fail_transfer = k % 2 ? 0 : 9 * k;
		int rc = run(&w, &x, REQUESTS, &e);
		fail_step = fail_transfer = 0;
		alone += rc == 0 && x.ended == REQUESTS && x.failed == 1;
		told += x.told == 1;
		right += x.right == REQUESTS - 1;
		err_clear(&e);
	}
	tap(alone == TRIES, "failures: %u of %d are of one request alone", alone, TRIES);
	tap(told == TRIES, "failures: %u of %d are told", told, TRIES);
	tap(right == TRIES, "failures: %u of %d times the others are right", right, TRIES);
	close_world(&w);
}

/* What six requests need is told, and no byte less does. */
static void memory(void)
{
	struct world w;
	struct err e = ERR_INIT;
	bool open = open_world(&w, "n", 60, 10, MOST, &e);
	w.pl.tight = true;
	if (!tap(open && plan_world(&w, &e), "memory: opens (%s)", e.msg))
		return;
	uint64_t all = w.first.mem_bytes[0], one = w.first.tensor_bytes[0];
	plan_release(&w.first);
	tap(all == MOST * one, "memory: %llu bytes, of one %llu", (unsigned long long)all,
	    (unsigned long long)one);
	w.l.dev[0].mem_bytes = all;
	tap(plan_world(&w, &e), "memory: they fit (%s)", e.msg);
	plan_release(&w.first);
	w.l.dev[0].mem_bytes = all - 1;
	tap(!plan_world(&w, &e) && strstr(e.msg, "request 6 of 6") &&
		    strstr(e.msg, "bytes and has"),
	    "memory: refused (%s)", e.msg);
	close_world(&w);
}

int main(void)
{
	const char *kinds[] = {"n", "l", "nl", "nnn", "nlnl", "fsFl"};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		for (uint32_t n = 1; n <= MOST; n += n == 1 ? 2 : 3)
			same_as_alone(kinds[i], 60 + 40 * (uint32_t)i, 12, n);
	failures();
	memory();
	return tap_end();
}
