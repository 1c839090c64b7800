/* bench_exec.c - what the executor adds to the steps that it runs: steps that do nothing, in a
 * chain on one device, in a chain that changes devices at every step (one copy and two
 * hand-overs each time), and in random graphs on two devices. */
#include "measure/measure.h"
#include "fake.h"

enum { NODES = 4000, RUNS = 31 };

static int run_nothing(struct device *d, struct step *s, struct devmem *const *in,
		       struct devmem *const *out, struct err *e)
{
	(void)d, (void)s, (void)in, (void)out, (void)e;
	return 0;
}

/* The worker stays on a core of its own, as those of pinned devices do. */
static void enter(struct device *d)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((size_t)(uintptr_t)d->state, &set);
	(void)pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/* Microseconds per unit, median of RUNS. */
static void bench(const char *what, uint32_t nodes, uint32_t k, uint32_t span, bool alternate,
		  const char *unit)
{
	static const struct device_class idle = {NOW, .max_nodes = 1};
	struct device_class class = idle;
	struct device_list l;
	struct model m;
	struct planner pl;
	struct plan p;
	struct err e = ERR_INIT;
	struct graph *g = make_graph(nodes, span);
	graph_colocate(g, CONST_DROP, false);
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)g->n_sets + 1);
	double lat[RUNS];
	class.run = run_nothing;
	class.enter = enter;
	make_devices(&l, k == 1 ? "n" : "nn");
	for (uint32_t d = 0; d < k; d++) {
		l.dev[d].class = &class;
		l.dev[d].state = (void *)(uintptr_t)d;
	}
	for (uint32_t i = 0; i < g->n_sets; i++)
		device[i] = (uint16_t)(alternate ? i % k : below(k));
	if (model_open(&m, g, NULL, &e) < 0 || planner_open(&pl, &m, &l, &e) < 0 ||
	    plan_make(&pl, device, &p, &e) < 0) {
		fprintf(stderr, "%s: %s\n", what, e.msg);
		exit(1);
	}
	struct executor *x = executor_new(&l);
	for (int i = -3; i < RUNS; i++) {
		struct exec_sample s = {0};
		if (executor_run(x, &p, &s, &e) < 0)
			exit(1);
		lat[i < 0 ? 0 : i] = s.lat_s;
	}
	uint32_t n = alternate ? p.n_copies : p.n_tasks;
	printf("%-44s %6u tasks %5u copies %8.3f us per %s\n", what, p.n_tasks, p.n_copies,
	       interval_median(lat, RUNS).mid / n * 1e6, unit);
	executor_free(x);
	plan_release(&p);
	planner_close(&pl);
	model_close(&m);
	for (uint32_t d = 0; d < k; d++)
		l.dev[d].state = NULL;
	end_devices(&l);
	graph_free(g);
	mem_free(device);
}

int main(void)
{
	bench("chain on one device", NODES, 1, 1, false, "task");
	bench("random graph on one device", NODES, 1, 100, false, "task");
	bench("chain that changes devices at each step", NODES, 2, 1, true, "copy");
	bench("random graph on two devices", NODES, 2, 100, false, "task");
	bench("a run of hardly anything, one device", 12, 1, 1, false, "task");
	bench("a run of hardly anything, two devices", 12, 2, 1, false, "task");
	return 0;
}
