/* test_exec.c - plans and the executor on made-up devices (fake.h): any order of execution gives
 * the right results, failures are told and survived, devices work at the same time. */
#include "profile/profiler.h"
#include "fake.h"
#include "tap.h"

#include <math.h>

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
		pl.in_host = i % 3 != 2;
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

/* Devices work at the same time: each has a step under way while the other has, and none has two;
 * none is busy for longer than the run takes. */
static void overlap(void)
{
	struct device_list l;
	struct model m;
	struct planner pl;
	struct err e = ERR_INIT;
	struct graph *g = make_graph(100, 40);
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)g->n_sets + 1);
	uint32_t runs = 0;
	make_devices(&l, "nn");
	bool open = model_open(&m, g, NULL, &e) == 0 && planner_open(&pl, &m, &l, &e) == 0;
	if (!tap(open, "overlap: opens (%s)", e.msg))
		return;
	struct executor *x = executor_new(&l);
	step_ns = 1000000;
	atomic_store(&most_at_once, 0);
	for (int i = 0; i < 6; i++) {
		struct plan p;
		double busy[2];
		struct exec_sample s = {.busy_s = busy};
		for (uint32_t j = 0; j < g->n_sets; j++)
			device[j] = (uint16_t)below(2);
		if (plan_make(&pl, device, &p, &e) < 0)
			break;
		runs += executor_run(x, &p, &s, &e) == 0 && fmin(busy[0], busy[1]) > 0 &&
			fmax(busy[0], busy[1]) <= s.lat_s;
		plan_release(&p);
	}
	step_ns = 0;
	tap(e.code == ST_OK && runs == 6, "overlap: %u runs of 6 (%s)", runs, e.msg);
	tap(atomic_load(&most_at_once) == 2, "overlap: %d steps at once",
	    (int)atomic_load(&most_at_once));
	executor_free(x);
	planner_close(&pl);
	model_close(&m);
	end_devices(&l);
	graph_free(g);
	mem_free(device);
}

/* Cores of their own for the devices, as far as anybody asks. */
static void give_cores(struct device_list *l)
{
	for (uint32_t d = 0; d < l->n; d++) {
		l->dev[d].n_cpus = 1;
		l->dev[d].cpus = MEM_NEWN(int, 1);
		l->dev[d].cpus[0] = (int)d;
	}
}

static void take_cores(struct device_list *l)
{
	for (uint32_t d = 0; d < l->n; d++) {
		mem_free(l->dev[d].cpus);
		l->dev[d].cpus = NULL;
		l->dev[d].n_cpus = 0;
	}
}

/* How many sets of a profile take less than half of their steps' naps (0.2 ms each), or have a time and
 * no steps. */
static uint32_t too_quick(const struct session *s, const struct profile *p, const char *kinds)
{
	const struct graph *g = s->model.g;
	uint32_t k = s->devices.n, quick = 0;
	for (size_t i = 0; i < (size_t)g->n_sets * k; i++) {
		uint32_t n = 0;
		for (uint32_t j = 0; j < s->model.n_steps; j++)
			n += g->set[s->model.step_node[j]] == i / k;
		if (kinds[i % k] != 'l' && s->mask[i])
			quick += p->set_s[i].mid < n * 1e-4 || (n == 0) != (p->set_s[i].mid == 0);
	}
	return quick;
}

/* Times of sets: negative exactly where the mask says so; in the sets that have steps at least half of
 * their naps.  Links between devices of all kinds.  Devices with cores are timed beside each other.
 * Times are scaled by those of whole inferences, which a busy machine disturbs: one profile of ten
 * has to be right. */
static void profiles(const char *kinds, bool cores)
{
	enum { TRIES = 10 };
	struct err e = ERR_INIT;
	struct graph *g = make_graph(60, 10);
	struct session s = {.arena = arena_new(), .opt.max_s = cores ? 0.1 : 0};
	struct profile p;
	make_devices(&s.devices, kinds);
	if (cores)
		give_cores(&s.devices);
	uint32_t k = s.devices.n, wrong = 0, quick = 0, links = 0;
	s.mask = ARENA_NEWN(s.arena, uint8_t, (size_t)g->n_sets * k);
	bool open = model_open(&s.model, g, NULL, &e) == 0 &&
		    model_mask(&s.model, &s.devices, s.mask, &e) == 0 &&
		    planner_open(&s.planner, &s.model, &s.devices, &e) == 0;
	if (!tap(open, "profile of %s: opens (%s)", kinds, e.msg))
		return;
	s.x = executor_new(&s.devices);
	step_ns = 200000;
	atomic_store(&most_at_once, 0);
	bool taken = profile_take(&s, s.arena, &p, &e) == 0;
	for (int n = 1; taken && (quick = too_quick(&s, &p, kinds)) > 0 && n < TRIES; n++)
		taken = profile_take(&s, s.arena, &p, &e) == 0;
	step_ns = 0;
	tap(!cores || atomic_load(&most_at_once) > 1, "profile of %s: %d steps at once", kinds,
	    (int)atomic_load(&most_at_once));
	tap(taken && !p.failed[0] && !p.failed[k - 1], "profile of %s: taken (%s)", kinds, e.msg);
	for (size_t i = 0; taken && i < (size_t)g->n_sets * k; i++)
		wrong += p.set_s[i].mid < 0 ? s.mask[i] : !s.mask[i];
	tap(wrong == 0, "profile of %s: %u of %u times where the mask says no", kinds, wrong,
	    g->n_sets * k);
	tap(quick == 0, "profile of %s: %u sets quicker than their steps", kinds, quick);
	for (uint32_t i = 0; taken && i < k * k; i++)
		links += i / k != i % k && p.link[i].latency_s.mid > 0 &&
			 p.link[i].bytes_per_s.mid > 0 && isfinite(p.link[i].bytes_per_s.mid);
	tap(links == k * (k - 1), "profile of %s: %u links", kinds, links);
	/* A device that fails has no times, and that is all. */
	fail_step = 10;
	tap(profile_take(&s, s.arena, &p, &e) == 0 &&
		    (kinds[0] == 'l' || (p.failed[0] && p.set_s[0].mid < 0)),
	    "profile of %s: a failure is data", kinds);
	fail_step = 0;
	take_cores(&s.devices);
	executor_free(s.x);
	planner_close(&s.planner);
	model_close(&s.model);
	end_devices(&s.devices);
	arena_free(s.arena);
	graph_free(g);
}

/* A placement that takes another time than expected is planned by its own durations. */
static void replans(void)
{
	struct err e = ERR_INIT;
	struct graph *g = make_graph(60, 20);
	struct session s = {.arena = arena_new()};
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)g->n_sets + 1);
	uint32_t short_ones = 0;
	struct plan p;
	make_devices(&s.devices, "nn");
	bool open = model_open(&s.model, g, NULL, &e) == 0 &&
		    planner_open(&s.planner, &s.model, &s.devices, &e) == 0;
	if (!tap(open, "a plan by its own durations: opens (%s)", e.msg))
		return;
	for (uint32_t i = 0; i < g->n_sets; i++)
		device[i] = (uint16_t)below(2);
	s.x = executor_new(&s.devices);
	step_ns = 500000;
	bool planned = session_plan(&s, &(struct trial){.device = device}, &p, &e) == 0;
	tap(planned && p.predicted_s > s.model.n_steps * 5e-4 / 2 * 0.99,
	    "it expects what steps took (%s)", e.msg);
	for (uint32_t i = 0; planned && i < p.n_groups; i++)
		for (uint32_t j = 0; j < p.group[i].n; j++)
			short_ones +=
				s.planner.step_s[p.group[i].step[j] * 2 + p.group[i].dev] < 5e-4;
	tap(short_ones == 0, "%u steps shorter than they are", short_ones);
	if (planned)
		plan_release(&p);
	fail_step = 10;
	tap(session_plan(&s, &(struct trial){.device = device}, &p, &e) < 0 && e.code == ST_RUNTIME,
	    "a run that fails is told");
	step_ns = 0;
	fail_step = 0;
	executor_free(s.x);
	planner_close(&s.planner);
	model_close(&s.model);
	end_devices(&s.devices);
	arena_free(s.arena);
	graph_free(g);
	mem_free(device);
}

/* Which devices copies may occupy: `want` has a digit for each link, row by row, of each rule; "-": they
 * overlap; "b": both always.  cores: the last device computes on one of this machine's. */
static void holds(const char *kinds, bool cores, const char *want)
{
	struct device_list l;
	struct copy_rule rule[COPY_RULES];
	struct arena *a = arena_new();
	char got[64] = "";
	int core = 0;
	make_devices(&l, kinds);
	l.dev[l.n - 1].n_cpus = cores;
	l.dev[l.n - 1].cpus = &core;
	uint32_t n = planner_copy_rules(&l, a, rule), end = 0;
	for (uint32_t r = 0; r < n; r++) {
		got[end] = ' ';
		end += r > 0;
		for (uint32_t i = 0; rule[r].holds && i < l.n * l.n; i++)
			got[end++] = (char)('0' + rule[r].holds[i]);
		if (!rule[r].holds)
			got[end++] = rule[r].overlap ? '-' : 'b';
	}
	got[end] = 0;
	tap(strcmp(got, want) == 0, "%s%s: copies occupy %s", kinds,
	    cores ? ", the last on a core" : "", got);
	end_devices(&l);
	arena_free(a);
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
	placements("f", 80, 10, 1);
	placements("F", 80, 10, 1);
	placements("ff", 300, 20, 12);
	placements("fnF", 200, 30, 12);
	placements("sn", 200, 20, 12);
	placements("sS", 300, 20, 12);
	placements("fsFl", 300, 30, 12);
	tap(bad_specs == 0, "%d steps were badly described", (int)bad_specs);
	overlap();
	failures();
	infeasible();
	profiles("np", false);
	profiles("nn", true);
	profiles("nl", false);
	profiles("ll", false);
	replans();
	holds("nn", false, "-");
	holds("nl", false, "0210 - b");
	holds("nnl", false, "002002110 - 003003330");
	holds("ll", false, "b - b");
	holds("nl", true, "b");
	holds("nnl", true, "003003330");
	holds("nll", true, "023103330 003003330 b");
	return tap_end();
}
