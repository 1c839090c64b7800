/* bench_plan.c - how long models take to become plans on one device, all sets there: processor milliseconds for opening the model,
 * for the first plan, which prepares every step, and for the next one, whose steps are there.
 *
 * usage: bench_plan DEVICE MODEL.xml...      (as in cpu:0/precision=int8 model.xml) */
#include <stdio.h>
#include <time.h>

#include "exec/plan.h"
#include "ir/ir.h"

static double cpu_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int bench(const char *device, const char *xml, struct err *e)
{
	struct graph *g;
	struct device_list l;
	struct model m;
	struct planner pl;
	struct plan first, p;
	if (!(g = ir_read(xml, &(struct ir_options){0}, NULL, e)))
		return -1;
	graph_colocate(g, CONST_DROP, true);
	if (device_list_parse(device, &l, e) < 0 || device_list_open(&l, false, e) < 0)
		return -1;
	uint16_t *where = MEM_NEWN(uint16_t, (size_t)g->n_sets + 1);
	double at[4];
	at[0] = cpu_ms();
	if (model_open(&m, g, NULL, e) < 0 || planner_open(&pl, &m, &l, e) < 0)
		return -1;
	at[1] = cpu_ms();
	if (plan_make(&pl, where, &first, e) < 0)
		return -1;
	at[2] = cpu_ms();
	if (plan_make(&pl, where, &p, e) < 0)
		return -1;
	at[3] = cpu_ms();
	printf("%-40s %6u nodes %6u sets %6u groups: open %6.1f ms, first plan %7.1f, next %6.1f\n",
	       g->name, g->n, g->n_sets, p.n_groups, at[1] - at[0], at[2] - at[1], at[3] - at[2]);
	plan_release(&p);
	plan_release(&first);
	planner_close(&pl);
	model_close(&m);
	device_list_close(&l);
	mem_free(where);
	graph_free(g);
	return 0;
}

int main(int argc, char **argv)
{
	struct err e = ERR_INIT;
	for (int i = 2; i < argc; i++)
		if (bench(argv[1], argv[i], &e) < 0) {
			fprintf(stderr, "bench_plan: %s: %s\n", argv[i], e.msg);
			return 1;
		}
	return argc < 3;
}
