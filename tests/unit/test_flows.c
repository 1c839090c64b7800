/* test_flows.c - copies that share links, media and ports (struct sched_sharing): ends computed by
 * hand, random ones beside a plain water filling, and reruns beside whole runs. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "sched/timeline.h"
#include "tap.h"

enum { MAX_K = 8, MAX_FLOWS = 24, MAX_MEDIA = 3, NET = 0 };

/* Devices 0 .. k-1, links between all, one port name. */
struct net {
	uint32_t k;
	double latency_s[MAX_K * MAX_K], bytes_per_s[MAX_K * MAX_K];
	double medium_rate[MAX_MEDIA], told[2][MAX_K];
	uint32_t port[MAX_K * MAX_K], medium[MAX_K * MAX_K][MAX_MEDIA];
	struct sched_carriage of[MAX_K * MAX_K];
	struct sched_ports ports;
	struct sched_sharing sharing;
	struct sched_links links;
};

static void make_net(struct net *x, uint32_t k, enum sched_contention contention)
{
	memset(x, 0, sizeof(*x));
	x->k = k;
	for (uint32_t i = 0; i < k * k; i++) {
		x->bytes_per_s[i] = i / k == i % k ? INFINITY : 4096;
		x->port[i] = SCHED_NONE;
		x->of[i] = (struct sched_carriage){contention, 0, x->medium[i]};
	}
	x->ports = (struct sched_ports){1, x->port, x->told[0], x->told[1]};
	x->sharing = (struct sched_sharing){x->of, MAX_MEDIA, x->medium_rate};
	x->links = (struct sched_links){k, x->latency_s, x->bytes_per_s, &x->ports, &x->sharing};
}

static void pass(struct net *x, uint32_t src, uint32_t dst, uint32_t medium)
{
	struct sched_carriage *c = &x->of[src * x->k + dst];

	x->medium[src * x->k + dst][c->n_media++] = medium;
}

/* A tensor of these bytes is made on src at start_s and read on dst. */
struct copy {
	uint32_t src, dst;
	double start_s;
	uint64_t bytes;
	double begin_s, end_s; /* what came out */
};

/* Of each copy a task that takes start_s, on a device of its own or, with start 0, on src; its
 * reader takes no time. */
static bool send(struct net *x, struct copy *c, uint32_t n, bool contention)
{
	struct arena *a = arena_new();
	struct sched_edge edge[MAX_FLOWS];
	uint16_t device[2 * MAX_FLOWS];
	double task_s[2 * MAX_FLOWS * MAX_K] = {0};
	const struct timeline *t;
	struct sched_dag d;
	struct sched_costs costs = {
		.task_s = task_s, .links = x->links, .contention = contention, .overlap = true};

	for (uint32_t i = 0; i < n; i++) {
		edge[i] = (struct sched_edge){i, n + i, 0, c[i].bytes};
		device[i] = (uint16_t)c[i].src;
		device[n + i] = (uint16_t)c[i].dst;
		for (uint32_t dev = 0; dev < x->k; dev++)
			task_s[i * x->k + dev] = c[i].start_s;
	}
	sched_dag_build(&d, 2 * n, edge, n, a);
	struct timeliner *clock = timeliner_new(&d, &costs, true);
	bool ok = timeline_run(clock, device, &t) == TIMELINE_OK && t->n_copies == n;
	for (uint32_t i = 0; ok && i < n; i++) {
		struct copy *y = &c[d.tensor_task[t->copy[i].tensor]];

		y->begin_s = t->copy_start_s[i];
		y->end_s = t->copy_end_s[i];
	}
	timeliner_free(clock);
	arena_free(a);
	return ok;
}

static bool ends(const struct copy *c, const double *want, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (c[i].end_s != want[i])
			return false;
	return true;
}

static void one_link(void)
{
	static struct net x;
	struct copy two[] = {{0, 1, 0, 4096, 0, 0}, {0, 1, 0, 4096, 0, 0}};
	struct copy late[] = {{0, 2, 0, 4096, 0, 0}, {1, 2, 0.5, 4096, 0, 0}};

	make_net(&x, 3, SCHED_SHARED);
	for (uint32_t i = 0; i < 9; i++)
		x.latency_s[i] = i / 3 == i % 3 ? 0 : 0.25;
	tap(send(&x, two, 2, true) && ends(two, (double[]){2.25, 2.25}, 2),
	    "two copies on a shared link: both at half its rate, latencies at once");
	tap(send(&x, two, 2, false) && ends(two, (double[]){1.25, 1.25}, 2),
	    "without contention both at its rate");
	x.of[1].contention = SCHED_NO_WAIT;
	tap(send(&x, two, 2, true) && ends(two, (double[]){1.25, 1.25}, 2), "as where none waits");
	x.of[1].contention = SCHED_FCFS;
	tap(send(&x, two, 2, true) && ends(two, (double[]){1.25, 2.5}, 2),
	    "first come, first served: the second waits");
	/* Alone from 0.25 to 0.75, half each to 1.75, then the second alone. */
	x.medium_rate[0] = 4096;
	pass(&x, 0, 2, 0);
	pass(&x, 1, 2, 0);
	tap(send(&x, late, 2, true) && ends(late, (double[]){1.75, 2.25}, 2),
	    "two links on a bus, the second copy later: what the first leaves");
	two[0].bytes = 0;
	tap(send(&x, two, 1, true) && two[0].end_s == 0.25, "no bytes: the latency alone");
}

static void three_flows(void)
{
	static struct net x;
	/* A bus of 6 KB/s; the first link has 1 of it, so 2.5 for each of the others until 1 s; then
	 * its own 4 for the third, until 2.5 s. */
	struct copy bus[] = {{0, 1, 0, 4096, 0, 0}, {0, 2, 0, 2560, 0, 0}, {0, 3, 0, 8704, 0, 0}};
	/* Media of 2 and 6 KB/s; the second flow passes both: 1, 1 and 5. */
	struct copy lot[] = {{0, 1, 0, 2048, 0, 0}, {0, 2, 0, 2048, 0, 0}, {0, 3, 0, 10240, 0, 0}};
	/* A way out of 3 KB/s. */
	struct copy star[] = {{0, 1, 0, 1024, 0, 0}, {0, 2, 0, 1024, 0, 0}, {0, 3, 0, 4096, 0, 0}};

	make_net(&x, 4, SCHED_SHARED);
	x.bytes_per_s[1] = 1024;
	x.medium_rate[0] = 6 * 1024;
	for (uint32_t d = 1; d < 4; d++)
		pass(&x, 0, d, 0);
	tap(send(&x, bus, 3, true) && ends(bus, (double[]){4, 1, 2.5}, 3),
	    "three copies on a bus: a slow link leaves its share to the others");
	make_net(&x, 4, SCHED_SHARED);
	for (uint32_t d = 1; d < 4; d++)
		x.bytes_per_s[d] = INFINITY;
	x.medium_rate[0] = 2 * 1024;
	x.medium_rate[1] = 6 * 1024;
	pass(&x, 0, 1, 0);
	pass(&x, 0, 2, 0);
	pass(&x, 0, 2, 1);
	pass(&x, 0, 3, 1);
	tap(send(&x, lot, 3, true) && ends(lot, (double[]){2, 2, 2}, 3),
	    "a copy through two media has what the scarcer gives");
	make_net(&x, 4, SCHED_SHARED);
	for (uint32_t d = 1; d < 4; d++)
		x.port[d] = NET;
	x.told[0][0] = 3 * 1024;
	sched_links_limit(&x.links);
	tap(send(&x, star, 3, true) && ends(star, (double[]){1, 1, 2}, 3),
	    "what leaves a device by shared links divides its port");
}

/* ---- beside water filling ---- */

static uint32_t counter;

static uint32_t draw(uint32_t bound)
{
	struct rng_addr a = {51, 0, 0, RNG_SEARCH};

	return rng_below(&a, counter++, bound);
}

/* What flow i of c passes: its link, media, ports; how much of each there is. */
static bool passes(const struct net *x, const struct copy *c, uint32_t r, double *rate)
{
	uint32_t k = x->k, link = c->src * k + c->dst, m = r - k * k, port = m - MAX_MEDIA;
	bool on = x->port[link] != SCHED_NONE, yes = false;

	if (r < k * k) {
		*rate = x->bytes_per_s[r];
		return r == link;
	}
	if (m < MAX_MEDIA) {
		*rate = x->medium_rate[m];
		for (uint32_t i = 0; i < x->of[link].n_media; i++)
			yes |= x->medium[link][i] == m;
		return yes;
	}
	*rate = sched_port_rate(&x->links, port % k, NET, port >= k);
	return on && port == (port < k ? c->src : k + c->dst);
}

/* Rates of flows that are `on`: all grow alike until something is full. */
static void fill(const struct net *x, const struct copy *c, const bool *on, uint32_t n,
		 double *rate)
{
	uint32_t resources = x->k * x->k + MAX_MEDIA + 2 * x->k;
	bool stuck[MAX_FLOWS] = {false};

	for (uint32_t i = 0; i < n; i++)
		rate[i] = 0;
	for (;;) {
		double least = INFINITY, all;
		uint32_t full = 0;

		for (uint32_t r = 0; r < resources; r++) {
			double used = 0, grow = 0;
			for (uint32_t i = 0; i < n; i++)
				if (on[i] && passes(x, &c[i], r, &all)) {
					used += rate[i];
					grow += !stuck[i];
				}
			if (grow > 0 && (all - used) / grow < least) {
				least = (all - used) / grow;
				full = r;
			}
		}
		if (least == INFINITY)
			return;
		for (uint32_t i = 0; i < n; i++)
			rate[i] += on[i] && !stuck[i] ? least : 0;
		for (uint32_t i = 0; i < n; i++)
			stuck[i] |= on[i] && passes(x, &c[i], full, &all);
	}
}

/* Do all end when the fluid has run through, from when they began to flow? */
static bool as_fluid(const struct net *x, const struct copy *c, uint32_t n)
{
	double left[MAX_FLOWS], rate[MAX_FLOWS], from[MAX_FLOWS], now = 0;
	bool on[MAX_FLOWS] = {false}, over[MAX_FLOWS] = {false};

	for (uint32_t i = 0; i < n; i++) {
		left[i] = (double)c[i].bytes;
		from[i] = c[i].begin_s + x->latency_s[c[i].src * x->k + c[i].dst];
	}
	for (uint32_t rest = n; rest > 0;) {
		double step = INFINITY;

		for (uint32_t i = 0; i < n; i++)
			on[i] = !over[i] && from[i] <= now + 1e-9;
		fill(x, c, on, n, rate);
		for (uint32_t i = 0; i < n; i++)
			step = fmin(step, on[i]      ? left[i] / rate[i]
					  : !over[i] ? from[i] - now
						     : INFINITY);
		now += step;
		for (uint32_t i = 0; i < n; i++) {
			left[i] -= on[i] ? rate[i] * step : 0;
			if (!on[i] || left[i] > 1e-9 * (double)(c[i].bytes + 1))
				continue;
			over[i] = true;
			rest--;
			if (fabs(now - c[i].end_s) > 1e-7 * (1 + now))
				return false;
		}
	}
	return true;
}

static void random_net(struct net *x)
{
	make_net(x, 2 + draw(MAX_K - 1), SCHED_SHARED);
	bool ports = draw(2);
	for (uint32_t m = 0; m < MAX_MEDIA; m++)
		x->medium_rate[m] = 100 + draw(3000);
	for (uint32_t i = 0; i < x->k * x->k; i++) {
		if (i / x->k == i % x->k)
			continue;
		x->latency_s[i] = draw(3) * 0.037;
		x->bytes_per_s[i] = draw(5) ? 200 + draw(2000) : 1e6;
		x->port[i] = ports && draw(3) ? NET : SCHED_NONE;
		for (uint32_t m = 0; m < MAX_MEDIA; m++)
			if (draw(3) == 0)
				pass(x, i / x->k, i % x->k, m);
	}
	x->told[0][0] = 500;
	sched_links_limit(&x->links);
}

static void random_flows(void)
{
	enum { CASES = 400 };
	static struct net x;
	struct copy c[MAX_FLOWS];
	uint32_t right = 0;

	for (uint32_t i = 0; i < CASES; i++) {
		uint32_t n = 1 + draw(MAX_FLOWS);

		random_net(&x);
		for (uint32_t j = 0; j < n; j++) {
			c[j] = (struct copy){draw(x.k), 0, draw(4) * 0.21, draw(9) * 331, 0, 0};
			c[j].dst = (c[j].src + 1 + draw(x.k - 1)) % x.k;
		}
		right += send(&x, c, n, true) && as_fluid(&x, c, n);
	}
	tap(right == CASES, "random copies end as water filling says (%u of %u)", right, CASES);
}

/* ---- reruns ---- */

/* A few tasks move, to and fro: the makespan of a rerun is that of a whole run, to the last bit. */
static void reruns(void)
{
	enum { CASES = 200, TASKS = 24, EDGES = 48, MOVES = 10 };
	static struct net x;
	struct arena *a = arena_new();
	uint32_t equal = 0, total = 0, wrong = 0;

	for (uint32_t i = 0; i < CASES; i++) {
		struct sched_edge edge[EDGES];
		double task_s[TASKS * MAX_K];
		uint16_t device[TASKS];
		const struct timeline *y, *z;
		struct sched_dag d;
		bool is_base;

		random_net(&x);
		for (uint32_t j = 0; j < x.k * x.k; j++)
			if (x.port[j] == SCHED_NONE && x.of[j].n_media == 0)
				x.of[j].contention = (enum sched_contention)draw(3);
		struct sched_costs costs = {
			.task_s = task_s, .links = x.links, .contention = true, .overlap = true};
		for (uint32_t v = 0; v < TASKS; v++)
			device[v] = (uint16_t)draw(x.k);
		for (uint32_t v = 0; v < TASKS * x.k; v++)
			task_s[v] = draw(10) * 0.1;
		for (uint32_t e = 0; e < EDGES; e++) {
			uint32_t src = draw(TASKS - 1);
			edge[e] = (struct sched_edge){src, src + 1 + draw(TASKS - 1 - src), draw(2),
						      draw(900)};
		}
		sched_dag_build(&d, TASKS, edge, EDGES, a);
		struct timeliner *once = timeliner_new(&d, &costs, false),
				 *again = timeliner_new(&d, &costs, false);
		bool ok = timeline_run_base(again, device, &z, &is_base) == TIMELINE_OK && is_base;
		for (uint32_t j = 0; j < MOVES; j++) {
			uint32_t v = draw(TASKS);

			device[v] = (uint16_t)draw(x.k);
			total++;
			ok &= timeline_run(once, device, &y) == TIMELINE_OK;
			equal +=
				ok &&
				timeline_rerun(again, device, &v, 1, INFINITY, &z) == TIMELINE_OK &&
				z->makespan_s == y->makespan_s && z->n_copies == y->n_copies;
			double limit = y->makespan_s * (0.5 + draw(100) * 0.01);
			bool above =
				timeline_rerun(again, device, &v, 1, limit, &z) == TIMELINE_ABOVE;
			wrong += above ? y->makespan_s <= limit : z->makespan_s != y->makespan_s;
			timeline_rebase(again);
		}
		timeliner_free(once);
		timeliner_free(again);
		arena_reset(a);
	}
	arena_free(a);
	tap(equal == total, "a task moved: as from the beginning (%u of %u)", equal, total);
	tap(wrong == 0, "only what is above a limit is stopped");
}

int main(void)
{
	one_link();
	three_flows();
	random_flows();
	reruns();
	return tap_end();
}
