/* placemodel.h - the model of a placement problem, which the simulator evaluates: a graph as tasks,
 * devices, what each task costs on each, links, memory.  Built once, evaluated often (evaluate.h).
 *
 * Constants, and nodes that depend on constants alone, are folded: they cost nothing while
 * the model runs, and their values occupy memory on every device that reads them.  So do an IR
 * model's inputs, which devrun brings to each of these devices by itself; its results and static
 * views are no tasks either (op/idle_nodes.c). */
#ifndef HSDAG_PLACE_PROBLEM_PLACEMODEL_H
#define HSDAG_PLACE_PROBLEM_PLACEMODEL_H

#include "record/devrec.h"
#include "graph/graph.h"
#include "op/stored.h"
#include "place/problem/objective.h"
#include "place/problem/spec.h"
#include "sched/graphtask.h"
#include "sched/timeline.h"

/* What two neighbouring sets take less when both are on one device, which then runs parts of them
 * as one. */
struct place_savings {
	uint32_t n;
	const uint32_t *src, *dst; /* (n) sets; dst reads what src makes */
	double *saved_s;           /* (n,k) */
};

/* What a placement costs: by the schedule (timeline.h), or as the dnn-partitioning paper has it. */
enum place_rules { PLACE_SCHEDULE, PLACE_DNNPART_LATENCY, PLACE_DNNPART_THROUGHPUT };
extern const char *const place_rules_names[]; /* as options have them; NULL ends */

/* What devices draw and copies take: (k) watts while computing and while not, (k,k) joules per
 * byte from row to column.  NULL: nothing. */
struct place_power {
	const double *watts, *idle_watts, *j_per_byte;
	const double *usd_per_s; /* (k) what a device costs; NULL: nothing is told */
};

/* What sets hold on devices all the time, measured, instead of what the graph says of constants. */
struct place_held {
	const uint64_t
		*set; /* (n_sets,k) bytes that no other set needs; NULL: nothing was measured */
	const uint64_t *inner; /* (n_sets,k) bytes that a set takes besides while it runs */
	/* Values that several sets need, once on each device that has one of them. */
	uint32_t n_shared;
	const uint64_t *shared;     /* (n_shared,k) bytes */
	const uint32_t *shared_ptr; /* (n_shared+1) sets shared_set[shared_ptr[i]] .. */
	const uint32_t *shared_set;
	const uint64_t *work; /* (k) what a device needs besides as soon as it runs anything */
};

/* Memory that several devices share. */
struct place_pool {
	const char *name;
	uint64_t mem_limit; /* bytes that all its devices may need together; 0: any */
	uint64_t headroom;  /* that stay free beside these */
	double bytes_per_s; /* of all together; 0: nobody knows */
	bool copied;        /* each device holds weights of its own */
};

/* Of a model. */
struct place_pools {
	uint32_t n;
	const struct place_pool *pool; /* (n) */
	const uint32_t *of;            /* (k) n: the device's memory is its own */
	const double *
		set_s; /* (n_sets,k) seconds for which a set keeps its pool busy; NULL: nobody knows */
};

/* What a model is made from; everything is borrowed. */
struct place_setup {
	uint32_t k;
	const char *const *names; /* (k) */
	const double *set_s;      /* (n_sets,k) seconds, negative: cannot run there */
	struct sched_links links;
	const uint64_t *mem_limit; /* (k) bytes, 0: not limited */
	const op_keeps *keeps;     /* (k) types that weights are kept in; NULL: op_keeps_usual */
	const uint64_t *
		headroom; /* (k) what stays free beside the limits, for who tells it; NULL: nothing */
	const double *workspace; /* (k) as struct place_model has it; NULL: none */
	struct place_pools pools;
	bool contention, overlap;
	const uint8_t *copy_holds; /* as struct sched_costs has it, and the next two */
	enum sched_policy policy;
	const uint8_t *turns;
	/* As place_latency_s has them; 0: none.  More than PLACE_MOST_SLOWDOWN counts as that. */
	double slowdown, multi_slowdown;
	struct place_objective objective;
	struct place_power power;
	struct place_savings saved;
	/* (n_sets) bytes that a set holds besides constants; NULL: none */
	const uint64_t *set_mem;
	struct place_held held; /* with held.set: counts instead of constants and set_mem */
	/* Rules that need no clock (dnnpart.h). */
	enum place_rules rules;
	const char *const *types; /* (k) of the devices */
	const double *move_s;     /* (n_sets) */
	/* (n_sets) sets of equal value share a device; NULL: any may part */
	const uint32_t *together;
};

/* A value that no task makes and several read: once on each device that has one of them. */
struct shared_weight {
	const uint64_t *bytes; /* (k) */
	uint32_t first, n;     /* readers: weight_task[first .. first+n-1] */
};

/* What a device holds all the time for some tasks: a constant, an input of the model, a variable, or what was measured of a set. */
enum held_kind { HELD_WEIGHTS, HELD_INPUTS, HELD_VARIABLES, HELD_KINDS };
struct held_value {
	enum held_kind kind;
	uint32_t node;         /* that stands for it */
	uint64_t stored;       /* bytes as the model has it; 0: nobody knows */
	const uint64_t *bytes; /* (k) */
	uint32_t first, n;     /* readers: holder[first .. first+n-1] */
};

struct place_model {
	const struct graph *g;
	uint32_t k, n_sets;
	const char *const *names;
	struct graph_tasks tasks;
	const double *set_s;      /* (n_sets,k) as set up */
	struct sched_costs costs; /* by task, nothing saved */
	/* (tasks+1) its neighbours saved_ptr[t] .., earlier tasks; NULL: nothing is saved */
	uint32_t *saved_ptr;
	uint32_t *saved_task;
	double *saved_s; /* (neighbours,k) */
	const uint64_t
		*mem_limit; /* (k) bytes for what tasks hold and make, `work` not counted; 0: any */
	const uint64_t *work;      /* (k) bytes besides that a device in use needs; NULL: none */
	const uint64_t *mem_given; /* (k) mem_limit as it was given, `work` counted; 0: any */
	uint64_t *task_mem;        /* (tasks,k) values that no task makes and only this one reads */
	uint64_t *inner;           /* (tasks,k) bytes besides while it runs; NULL: none */
	uint32_t n_shared;
	struct shared_weight *shared;
	uint32_t *weight_task;
	/* All of that one by one, for who tells it: task_mem and shared are sums of these. */
	uint32_t n_values;
	struct held_value *value;
	struct place_pools pools; /* limits of devices are no larger than those of their pools */
	uint32_t *holder;         /* tasks */
	const uint64_t *headroom; /* (k) what stays free beside mem_limit and work; NULL: nothing */
	const double *
		workspace; /* (k) scratch, in bytes for each byte of tensors at their peak; NULL: none */
	double slowdown, multi_slowdown;
	struct place_objective objective;
	struct place_power power;
	enum place_rules rules;
	const char *const *types;
	const double *move_s;
	/* (n_sets) the first set that shares its device; NULL: any may part */
	uint32_t *together;
	/* The model with several lists of shapes (graph.n_cases): what a placement is worth is the sum over these by weight, and
	 * times, bytes and links above are such sums, for methods that look at them; 0: there is one. */
	uint32_t n_cases;
	const struct place_model *cases; /* (n_cases) of the same sets */
	const double *weight;            /* (n_cases); 0: it does not count */
	double over;                     /* what counts of the latency (graph/case_value.h) */
};

/* The model borrows g and s's arrays; its own memory is from a.  -1 (ST_INPUT): see
 * graph_tasks_init. */
int place_model_init(struct place_model *m, const struct graph *g, const struct place_setup *s,
		     struct arena *a, struct err *e) MUST_CHECK;

/* Fill what m's tasks hold, of place_model_init alone; root as place_idle_nodes has it. */
void place_model_hold(struct place_model *m, const struct place_setup *s, const uint32_t *root,
		      struct arena *a);

/* The nodes of g that run nothing, idle (g->n), and the outputs whose bytes outputs have, root
 * (outputs of g), as graph_tasks_init takes them.  Sets of nothing but inputs, results and views
 * run all the same where set_s (n_sets,k) gives them time. */
void place_idle_nodes(const struct graph *g, const double *set_s, uint32_t k, bool *idle,
		      uint32_t *root);

/* Choose devices for sets that run nothing and do not have to stay with one that does: that of what
 * they read, or of what reads them, or the first that they may have.  The simulator does not care, but programs that carry a
 * placement out as it is written do. */
void place_idle_sets(const struct place_model *m, uint16_t *device);

/* Fill m->together from numbers of classes (n_sets); NULL: any sets may part. */
void place_model_together(struct place_model *m, const uint32_t *class, struct arena *a);

/* Seconds of task t on dev when device[u] is where each earlier task u is: less what it saves with
 * neighbours there, at least 0.  Negative: cannot run there. */
double place_task_s(const struct place_model *m, uint32_t t, uint32_t dev, const uint16_t *device);

/* The name of a set's first node, escaped, in text, of cap bytes. */
const char *place_set_name(const struct place_model *m, uint32_t set, char *text, size_t cap);

/* -1 (ST_RUNTIME): no device is left that can run the set and has what else it wants. */
int place_no_device(const struct place_model *m, uint32_t set, const char *wants, struct err *e);

/* May set `set` run on device `dev`? */
static inline bool place_allowed(const struct place_model *m, uint32_t set, uint32_t dev)
{
	return m->set_s[(size_t)set * m->k + dev] >= 0;
}

/* Scratch memory of device dev beside so many bytes of tensors. */
static inline uint64_t place_workspace(const struct place_model *m, uint32_t dev, uint64_t tensors)
{
	double bytes = m->workspace ? m->workspace[dev] * (double)tensors : 0;

	return bytes < 0x1p62 ? (uint64_t)bytes : (uint64_t)1 << 62;
}

/* Dollars of one inference: the devices in use (busy_s, k, above 0) are paid for as long as it takes, or with an objective of throughput
 * as long as a pipeline takes for one. */
static inline double place_usd(const struct place_model *m, const double *busy_s, double lat_s,
			       double period_s)
{
	double sum = 0;

	for (uint32_t d = 0; m->power.usd_per_s && d < m->k; d++)
		sum += busy_s[d] > 0 ? m->power.usd_per_s[d] : 0;
	return sum * (m->objective.throughput > 0 ? period_s : lat_s);
}

/* Is device `dev` the host's processor, not an accelerator?  By its type (json2dag's, devrun's), or by its name: cpu, cpu:0,
 * ov:CPU. */
bool place_is_processor(const struct place_model *m, uint32_t dev);

/* Does the value of a placement depend on a rule of the order in which devices run it?  Not where
 * orders are searched, nor where what counts has none. */
static inline bool place_has_order_rule(const struct place_model *m)
{
	const struct place_objective *o = &m->objective;

	return m->rules == PLACE_SCHEDULE && m->costs.policy != SCHED_FREE &&
	       (place_objective_has_latency(o) || o->energy > 0 || o->memory > 0 || o->price > 0);
}

/* allowed (n_sets,k): may all sets that share the device of this one run there?  Only the rows of
 * the first of them count. */
void place_allowed_together(const struct place_model *m, bool *allowed);

/* What is computed at once takes at most as long as in turn: devices that share everything take the sum of their times.  With
 * more a schedule would gain by idle time, as that makes `at once` smaller by more than it makes the makespan longer. */
#define PLACE_MOST_SLOWDOWN 1.0

/* Of multi_slowdown, what counts as soon as a second device computes anything.  The rest counts by what the busiest device
 * leaves to others, in full where that is half of all. */
#define PLACE_BESIDE_AT_ONCE 0.4

/* The latency of a schedule of this makespan, whose devices compute busy_s (k).
 * slowdown: devices slow each other while they compute at the same time (memory, caches, threads of
 * drivers).  They do so for at least sum busy_s - makespan, and each second of that takes
 * `slowdown` seconds more, at most PLACE_MOST_SLOWDOWN.
 * multi_slowdown (`beside` in cost records): where several devices are in use, everything takes
 * at most this share longer, also while one of them waits: it is awake, and the more cores are awake the
 * lower are their clocks; and what one has made or read before is not in the caches of another. */
static inline double place_latency_s(const struct place_model *m, double makespan_s,
				     const double *busy_s)
{
	double busy = 0, most = 0;
	uint32_t in_use = 0;

	if (m->slowdown == 0 && m->multi_slowdown == 0)
		return makespan_s;
	for (uint32_t d = 0; d < m->k; d++) {
		busy += busy_s[d];
		most = busy_s[d] > most ? busy_s[d] : most;
		in_use += busy_s[d] > 0;
	}
	double s = makespan_s + (busy > makespan_s ? m->slowdown * (busy - makespan_s) : 0);
	if (in_use < 2)
		return s;
	double others = 2 * (1 - most / busy);
	return s *
	       (1 + m->multi_slowdown * (PLACE_BESIDE_AT_ONCE +
					 (1 - PLACE_BESIDE_AT_ONCE) * (others < 1 ? others : 1)));
}

/* Costs of the sets of g by specification: the sum over a set's nodes of
 *   overhead + max(FLOPs / (FLOP/s), bytes / (bytes/s))
 * (roofline: Williams, Waterman, Patterson 2009); folded nodes, inputs, results and views are free.
 * set_s (n_sets,k).  -1 (ST_USAGE) when a name has no specification. */
int place_spec_costs(const struct graph *g, const struct spec *s, const char *const *names,
		     uint32_t k, double *set_s, struct err *e) MUST_CHECK;
/* Bytes that sets read and write in memory on these devices, by the same: set_bytes (n_sets,k). */
int place_spec_bytes(const struct graph *g, const struct spec *s, const char *const *names,
		     uint32_t k, double *set_bytes, struct err *e) MUST_CHECK;
/* The same of nodes: work_s (n,k). */
int place_spec_node_costs(const struct graph *g, const struct spec *s, const char *const *names,
			  uint32_t k, double *work_s, struct err *e) MUST_CHECK;

#endif
