/* plan_build.h - shared by the files that make a plan: plan.c (values and the whole),
 * plan_fuse.c and plan_contract.c (groups of steps, and their schedule), plan_task.c (steps,
 * copies, waits), plan_count.c and plan_memory.c (bytes and
 * offsets), plan_bind.c (addresses).  Not for others. */
#ifndef HSDAG_EXEC_PLAN_BUILD_H
#define HSDAG_EXEC_PLAN_BUILD_H

#include "exec/plan.h"

/* A tensor somewhere: at home (the device of its step), a copy, or an input of
 * the model that was brought to a device.  Values of one placement are
 * numbered: tensors, then copies, then inputs on devices.  A copy that is not made (in_host)
 * has no writer. */
struct value {
	uint32_t out; /* the output of the graph */
	uint32_t dev;
	uint32_t writer; /* task that writes it; GRAPH_NONE: an input wrapped in place */
	uint32_t n_readers, first_reader; /* tasks that read it: a list in readers[] */
	double begin_s, end_s;            /* predicted */
	bool to_end;                      /* a result: kept to the end */
	uint32_t over; /* the value that its last reader writes over it; GRAPH_NONE */
	bool is_over;  /* it is written over another */
	struct devmem *mem;
};

struct reader {
	uint32_t task, next;
	double end_s; /* predicted */
};

struct wait {
	uint32_t from, to;
};

/* Groups of steps as tasks.  Groups are in a topological order. */
struct contraction {
	uint32_t n;
	struct fusion_group *group; /* (n) */
	uint32_t *group_of;         /* (n_steps) */
	struct sched_dag dag;       /* tensors: outputs that leave a group */
	uint32_t *tensor_out;       /* (dag.n_tensors) output of the graph */
	const double *rank;         /* (n) the timeliner's */
	const uint32_t *delayed_by; /* (n) see sched.h; NULL: no delays; the timeliner's */
	struct sched_costs costs;
	struct timeliner *timeliner;
	const struct timeline *tl; /* predicted; the timeliner's */
};

struct builder {
	struct planner *p;
	struct plan *plan;
	const uint16_t *step_dev; /* (n_steps) */
	enum fuse_mode fuse;      /* never FUSE_CUTS */
	struct contraction c;
	struct arena *a; /* gone when the plan is made */
	struct value *value;
	uint32_t n_values;
	uint32_t *at; /* (outputs, k) value that a device reads; GRAPH_NONE */
	struct reader *reader;
	size_t n_readers, cap_readers;
	struct wait *wait;
	size_t n_waits, cap_waits;
	size_t cap_tasks, cap_views, cap_host;
};

static inline struct device *dev_of(const struct builder *b, uint32_t d)
{
	return &b->p->devices->dev[d];
}

static inline bool is_host(const struct builder *b, uint32_t d)
{
	return dev_of(b, d)->class->host != NULL;
}

/* Is the tensor of copy c read where it is? */
static inline bool in_host(const struct builder *b, uint32_t c)
{
	return b->p->in_host && is_host(b, b->c.tl->copy[c].src) &&
	       is_host(b, b->c.tl->copy[c].dst);
}

static inline uint32_t n_devices(const struct builder *b)
{
	return b->p->devices->n;
}

/* What the plans of earlier requests take on device d. */
static inline uint64_t plan_others_bytes(const struct builder *b, uint32_t d)
{
	return b->p->others ? b->p->others[d] : 0;
}

static inline size_t out_bytes(const struct builder *b, uint32_t out)
{
	return (size_t)model_bytes(b->p->m, out);
}

/* The value of copy c of the predicted schedule. */
static inline uint32_t copy_value(const struct builder *b, uint32_t copy)
{
	return b->c.dag.n_tensors + copy;
}

/* Where device d finds output `out` of the graph. */
static inline uint32_t *value_at(const struct builder *b, uint32_t out, uint32_t d)
{
	return &b->at[(size_t)out * b->p->devices->n + d];
}

static inline void value_extend(struct value *v, double end_s)
{
	if (end_s > v->end_s)
		v->end_s = end_s;
}

/* plan_contract.c: groups, their graph and its predicted schedule into b->c. */
int plan_contract(struct builder *b, struct err *e) MUST_CHECK;
/* plan_fuse.c: groups of steps that devices fuse, given groups c with a schedule. */
int plan_fuse(struct builder *b, const struct contraction *c, struct contraction *out,
	      struct err *e) MUST_CHECK;

/* plan_task.c */
uint32_t plan_add_task(struct builder *b, struct plan_task t);
void plan_add_wait(struct builder *b, uint32_t from, uint32_t to);
/* Task reads value v: it waits for the writer, and later owners of its memory wait for it. */
void plan_add_reader(struct builder *b, uint32_t v, uint32_t task, double end_s);
/* Host memory that lives as long as the plan; NULL and an error when there is none. */
void *plan_host_memory(struct builder *b, size_t bytes, struct err *e);
/* Tasks of all groups and copies; the values of inputs of the model; waits for data. */
int plan_tasks(struct builder *b, struct err *e) MUST_CHECK;

/* plan_count.c */
/* Can the constants of each device fit at all?  Before anything is prepared. */
int plan_could_fit(struct builder *b, struct err *e) MUST_CHECK;
/* Add to mem_bytes what the prepared steps hold. */
void plan_count_steps(struct builder *b);
/* Add the tensors on device d to mem_bytes and compare with what there is. */
int plan_fits(struct builder *b, uint32_t d, uint64_t tensor_bytes, struct err *e) MUST_CHECK;

/* plan_memory.c: every value its place, waits for what lay there. */
int plan_memory(struct builder *b, struct err *e) MUST_CHECK;
/* The plan releases m, of device d. */
void plan_keep_view(struct builder *b, uint32_t d, struct devmem *m);

/* plan_bind.c: addresses into tasks; where results are; waits into rows. */
int plan_bind(struct builder *b, struct err *e) MUST_CHECK;

#endif
