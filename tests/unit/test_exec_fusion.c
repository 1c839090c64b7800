/* test_exec_fusion.c - which steps of a placement run as one, on made-up devices (fake.h). */
#include "exec/plan.h"
#include "fake.h"
#include "tap.h"

struct world {
	struct device_list l;
	struct model m;
	struct planner p;
	struct graph *g;
	uint16_t *device;
	bool open;
};

static void world_open(struct world *w, const char *kinds, uint32_t n, uint32_t span)
{
	struct err e = ERR_INIT;
	*w = (struct world){.g = make_graph(n, span)};
	w->device = MEM_NEWN(uint16_t, (size_t)w->g->n_sets + 1);
	make_devices(&w->l, kinds);
	w->open = model_open(&w->m, w->g, NULL, &e) == 0 &&
		  planner_open(&w->p, &w->m, &w->l, &e) == 0;
	if (!w->open)
		tap(false, "%s: %s", kinds, e.msg);
	else
		fill_inputs(&w->m);
}

static void world_close(struct world *w)
{
	planner_close(&w->p);
	model_close(&w->m);
	end_devices(&w->l);
	graph_free(w->g);
	mem_free(w->device);
}

static void draw(struct world *w)
{
	for (uint32_t j = 0; j < w->g->n_sets; j++)
		w->device[j] = (uint16_t)below(w->l.n);
}

/* Every step is in one group, on the device of its set; groups are in a topological order; what
 * enters a group is no output of it, what leaves is, and inner outputs are read inside alone. */
static uint32_t wrong_groups(const struct world *w, const struct plan *p)
{
	const struct sched_dag *d = &w->p.dag;
	uint32_t *of = MEM_NEWN(uint32_t, d->n), wrong = 0, seen = 0;
	bool *out = MEM_NEWN(bool, d->n_tensors);
	for (uint32_t i = 0; i < p->n_groups; i++)
		for (uint32_t j = 0; j < p->group[i].n; j++, seen++) {
			of[p->group[i].step[j]] = i;
			wrong += j > 0 && p->group[i].step[j] <= p->group[i].step[j - 1];
		}
	for (uint32_t i = 0; i < p->n_groups; i++)
		for (uint32_t j = 0; j < p->group[i].n_out; j++)
			out[w->p.out_tensor[p->group[i].out[j]]] = true;
	for (uint32_t s = 0; s < d->n; s++) {
		uint32_t set = w->g->set[w->m.step_node[s]];
		wrong += set != GRAPH_NONE && w->device[set] != p->group[of[s]].dev;
	}
	for (uint32_t t = 0; t < d->n_tensors; t++)
		for (uint32_t u = d->use_ptr[t]; u < d->use_ptr[t + 1]; u++) {
			uint32_t from = of[d->tensor_task[t]], to = of[d->use_task[u]];
			wrong += from > to || (from != to && !out[t]);
		}
	mem_free(of);
	mem_free(out);
	return wrong + (seen != d->n);
}

/* Outputs that are written over an input: nothing else reads that later. */
static uint32_t written_over(const struct plan *p)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->n_groups; i++)
		for (uint32_t j = 0; j < p->group[i].n_in; j++)
			for (uint32_t o = 0; o < p->group[i].n_out; o++)
				n += p->task[i].in[j] == p->task[i].out[o];
	return n;
}

/* Groups of random placements. */
static void rules(const char *kinds, enum fuse_mode mode)
{
	static const char *const names[] = {"none", "sets", "all"};
	struct world w;
	uint32_t wrong = 0, failed = 0, larger = 0, crossing = 0, splits = 0, over = 0;
	world_open(&w, kinds, 240, 20);
	w.p.fuse = mode;
	for (int i = 0; i < 60 && w.open; i++) {
		struct plan p;
		struct err e = ERR_INIT;
		draw(&w);
		if (plan_make(&w.p, w.device, &p, &e) < 0) {
			failed++;
			continue;
		}
		wrong += wrong_groups(&w, &p);
		splits += p.n_splits;
		over += written_over(&p);
		for (uint32_t j = 0; j < p.n_groups; j++) {
			const struct fusion_group *g = &p.group[j];
			larger += g->n > 1;
			for (uint32_t s = 1; s < g->n; s++)
				crossing += w.g->set[w.m.step_node[g->step[s]]] !=
					    w.g->set[w.m.step_node[g->step[0]]];
		}
		plan_release(&p);
	}
	tap(wrong == 0 && failed == 0, "%s, %s: %u wrong, %u failed", kinds, names[mode], wrong,
	    failed);
	tap((larger > 0) == (mode != FUSE_NONE), "%s, %s: %u groups of several steps", kinds,
	    names[mode], larger);
	if (mode != FUSE_ALL)
		tap(crossing == 0, "%s, %s: %u steps of other sets", kinds, names[mode], crossing);
	if (mode == FUSE_ALL && strchr(kinds, 's'))
		tap(splits > 0, "%s: segments split %u times", kinds, splits);
	tap(over > 0, "%s, %s: %u outputs over an input", kinds, names[mode], over);
	world_close(&w);
}

/* Each group's time is shared out to its steps, and prepared steps are kept. */
static void durations(void)
{
	struct world w;
	struct plan p, q;
	struct err e = ERR_INIT;
	world_open(&w, "ff", 200, 20);
	struct executor *x = executor_new(&w.l);
	draw(&w);
	if (!w.open || plan_make(&w.p, w.device, &p, &e) < 0)
		return;
	double *step_s = MEM_NEWN(double, w.p.dag.n), *task_s = MEM_NEWN(double, p.n_tasks);
	struct exec_sample s = {.step_s = step_s, .task_s = task_s};
	bool ran = executor_run(x, &p, &s, &e) == 0;
	uint32_t wrong = 0, same = 0;
	for (uint32_t i = 0; i < p.n_groups; i++) {
		double sum = 0;
		for (uint32_t j = 0; j < p.group[i].n; j++) {
			sum += step_s[p.group[i].step[j]];
			wrong += !(step_s[p.group[i].step[j]] > 0);
		}
		wrong += !(sum > 0.999 * task_s[i] && sum < 1.001 * task_s[i]);
	}
	tap(ran && wrong == 0, "durations: %u of %u groups are not the sum of their steps", wrong,
	    p.n_groups);
	bool again = plan_make(&w.p, w.device, &q, &e) == 0;
	for (uint32_t i = 0; again && i < q.n_groups; i++)
		same += q.task[i].prepared == p.task[i].prepared;
	tap(again && same == p.n_groups, "prepared steps are kept: %u of %u", same, p.n_groups);
	plan_release(&q);
	plan_release(&p);
	executor_free(x);
	mem_free(step_s);
	mem_free(task_s);
	world_close(&w);
}

static uint64_t sum(const uint64_t *x, uint32_t n)
{
	uint64_t s = 0;
	for (uint32_t i = 0; i < n; i++)
		s += x[i];
	return s;
}

/* What devices allocate is what plans say; plans share it, and it is no more than the largest
 * plan when that was reserved. */
static void memory(const char *kinds)
{
	struct world w;
	struct plan p[6];
	struct err e = ERR_INIT;
	uint64_t most[4] = {0};
	world_open(&w, kinds, 240, 20);
	draw(&w);
	bool made = w.open && plan_make(&w.p, w.device, &p[0], &e) == 0;
	if (!tap(made, "%s: memory: plans (%s)", kinds, e.msg))
		return;
	tap(allocated == sum(p[0].tensor_bytes, w.l.n), "%s: allocated %zu bytes, planned %llu",
	    kinds, allocated, (unsigned long long)sum(p[0].tensor_bytes, w.l.n));
	for (uint32_t d = 0; d < w.l.n; d++)
		most[d] = p[0].tensor_bytes[d];
	for (int pass = 0; pass < 2; pass++) {
		drawn = 1000;
		for (int i = 1; i < 6; i++) {
			draw(&w);
			made = plan_make(&w.p, w.device, &p[i], &e) == 0 && made;
			for (uint32_t d = 0; d < w.l.n; d++)
				if (p[i].tensor_bytes[d] > most[d])
					most[d] = p[i].tensor_bytes[d];
			if (pass == 0)
				plan_release(&p[i]);
		}
		if (pass == 0) {
			plan_release(&p[0]);
			made = planner_reserve(&w.p, most, &e) == 0 && made;
		}
	}
	tap(made && allocated == sum(most, w.l.n),
	    "%s: six plans in %zu bytes, the largest takes %llu", kinds, allocated,
	    (unsigned long long)sum(most, w.l.n));
	for (int i = 1; i < 6; i++)
		plan_release(&p[i]);
	world_close(&w);
	tap(allocated == 0, "%s: %zu bytes are left", kinds, allocated);
}

int main(void)
{
	for (int mode = FUSE_NONE; mode <= FUSE_ALL; mode++) {
		rules("ff", (enum fuse_mode)mode);
		rules("fFn", (enum fuse_mode)mode);
		rules("sfS", (enum fuse_mode)mode);
	}
	durations();
	memory("ff");
	memory("fFsS");
	tap(bad_specs == 0, "%d steps were badly described", (int)bad_specs);
	return tap_end();
}
