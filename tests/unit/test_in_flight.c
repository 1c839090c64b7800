/* test_in_flight.c - several requests at once on made-up devices (fake.h): each has the results that it has alone, the
 * oldest goes first, one that fails takes no other with it, and their memory is counted. */
#include <math.h>

#include "fake.h"
#include "measure/latency_limit.h"
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

/* ---- a limit of latency ---- */

struct machine {
	double one_s; /* what a request takes, times those beyond what is idle */
	uint32_t idle, tries;
};

static int take(void *ctx, uint32_t n, double *p95_s, struct err *e)
{
	struct machine *m = ctx;
	(void)e;
	m->tries++;
	*p95_s = m->one_s * (n > m->idle ? (double)n / m->idle : 1);
	return 0;
}

/* Every number from 1 to 40 is found, in a few tries where latencies grow with it. */
static void numbers(void)
{
	uint32_t right = 0, all = 0, most = 0;
	struct err e = ERR_INIT;
	for (uint32_t idle = 1; idle <= 4; idle++)
		for (uint32_t want = 0; want <= 40; want++) {
			double limit = want == 0      ? 0.9
				       : want <= idle ? 1.1
						      : (want + 0.5) / idle / 0.95;
			struct machine m = {1, idle, 0};
			uint32_t n = 99, is = want == 0 ? 0 : want <= idle ? idle : want;
			double s = 0;
			struct requests_within x = {1, 40, limit, take, &m};
			right += requests_within(&x, &n, &s, &e) == 0 && n == is &&
				 fabs(s - (is > idle ? (double)is / idle : 1)) < 1e-12;
			all++;
			most = m.tries > most ? m.tries : most;
		}
	tap(right == all, "limit: %u of %u numbers are right", right, all);
	tap(most <= 4, "limit: in %u tries at most", most);
	struct machine m = {1, 1, 0};
	uint32_t n;
	double s;
	struct requests_within x = {3, 8, 2.9, take, &m};
	tap(requests_within(&x, &n, &s, &e) == 0 && n == 0 && s == 3,
	    "limit: replicas have one request each at least");
	x.limit_s = 3;
	tap(requests_within(&x, &n, &s, &e) == 0 && n == 3,
	    "limit: with the least it may be close");
	x.limit_s = 6.2;
	tap(requests_within(&x, &n, &s, &e) == 0 && n == 5, "limit: with more it may not");
}

/* Two devices and three candidates: seconds a request, and the latency of 95 %; 0: it did not run. */
struct ran {
	double s, p95_s;
};

/* What is handed over, and the reference, as places; *stands: what is claimed. */
static void settle(const struct ran ran[5], int *reference, int *winner, bool *stands)
{
	struct session s = {.flight = {.n = 8, .limit_s = 50e-3}};
	struct trial t[5], *of[5];
	for (int i = 0; i < 5; i++) {
		t[i] = (struct trial){.ok = ran[i].s > 0, .has_ratio = true, .m.lat.mid = ran[i].s};
		of[i] = &t[i];
		t[i].served = MEM_NEW(struct served);
		if (ran[i].s == 0)
			continue;
		double bucket = log(ran[i].p95_s / LATENCY_LEAST_S) / log(LATENCY_STEP);
		t[i].served->ended = 1;
		t[i].served->latency[(int)bucket] = 1;
	}
	const struct limited x = {.s = &s, .k = 2, .n = 5, .trial = of};
	*stands = limited_settle(&x, reference, winner);
	for (int i = 0; i < 5; i++) {
		if (*stands != t[i].has_ratio)
			*winner = -99;
		mem_free(t[i].served);
	}
}

static void settled(void)
{
	static const struct {
		struct ran ran[5];
		int reference, winner, then_reference, then_winner;
		bool stands;
		const char *what;
	} c[] = {
		{{{2, 40e-3}, {3, 40e-3}, {1, 45e-3}, {2, 60e-3}}, 0, 2, 0, 2, true, "a gain"},
		{{{2, 40e-3}, {3, 40e-3}, {2, 60e-3}}, 0, -1, 0, -1, true, "the reference"},
		{{{2, 40e-3}, {3, 40e-3}, {1, 51e-3}}, 0, 2, 0, -1, false, "a winner beyond it"},
		{{{2, 60e-3}, {3, 40e-3}, {1, 49e-3}},
		 0,
		 2,
		 1,
		 2,
		 false,
		 "the reference beyond it"},
		{{{2, 60e-3}, {3, 60e-3}, {1, 49e-3}}, 0, 2, -1, 2, false, "no device keeps it"},
		{{{2, 60e-3}, {3, 60e-3}, {4, 49e-3}, {3, 45e-3}},
		 0,
		 -1,
		 -1,
		 3,
		 false,
		 "candidates do"},
		{{{2, 60e-3}, {3, 55e-3}, {1, 59e-3}},
		 0,
		 2,
		 1,
		 -1,
		 false,
		 "nothing does: a device"},
		{{{2, 60e-3}, {3, 55e-3}, {4, 54e-3}},
		 0,
		 -1,
		 -1,
		 2,
		 false,
		 "nothing does: a candidate"},
		{{{0, 0}, {0, 0}, {1, 45e-3}}, -1, 2, -1, 2, true, "no device ran"},
	};
	for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
		int reference = c[i].reference, winner = c[i].winner;
		bool stands;
		settle(c[i].ran, &reference, &winner, &stands);
		tap(stands == c[i].stands && reference == c[i].then_reference &&
			    winner == c[i].then_winner,
		    "handed over: %s (%d, %d, %d)", c[i].what, stands, reference, winner);
	}
}

/* Nothing kept the limit: fewer at once, one for each row at least; else all is as it was. */
static void fewer(void)
{
	struct session s = {.flight = {.n = 8, .limit_s = 50e-3}};
	struct served v[3] = {{.n = 8, .ended = 1}, {.n = 2, .ended = 1}, {.n = 3, .ended = 1}};
	struct trial t[3] = {{.ok = true}, {.ok = true}, {.ok = true, .n_more = 2}};
	struct trial *of[3] = {&t[0], &t[1], &t[2]};
	bool in[3] = {true, true, true};
	const struct limited x = {.s = &s, .k = 1, .n = 3, .trial = of, .in = in};
	for (int i = 0; i < 3; i++) {
		t[i].served = &v[i];
		v[i].latency[(int)(log(100e-3 / LATENCY_LEAST_S) / log(LATENCY_STEP))] = 1;
	}
	bool again = limited_fewer(&x);
	tap(again && v[0].n == 3 && v[1].n == 1 && v[2].n == 3 && v[0].ended == 0 &&
		    v[2].ended == 0,
	    "fewer at once: %u, %u and %u", v[0].n, v[1].n, v[2].n);
	for (int i = 0; i < 3; i++)
		v[i] = (struct served){.n = 2, .ended = 1};
	v[0].latency[0] = v[1].latency[LATENCY_BUCKETS - 1] = 1;
	tap(!limited_fewer(&x) && v[1].n == 2 && v[1].ended == 1, "fewer at once: one keeps it");
}

int main(void)
{
	const char *kinds[] = {"n", "l", "nl", "nnn", "nlnl", "fsFl"};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		for (uint32_t n = 1; n <= MOST; n += n == 1 ? 2 : 3)
			same_as_alone(kinds[i], 60 + 40 * (uint32_t)i, 12, n);
	failures();
	memory();
	numbers();
	settled();
	fewer();
	return tap_end();
}
