/* plan_build.h - shared by the files that make a plan: plan.c (values and the whole), plan_task.c
 * (steps, copies, waits), plan_memory.c (offsets), plan_bind.c (addresses).  Not for others. */
#ifndef HSDAG_DEVICE_PLAN_BUILD_H
#define HSDAG_DEVICE_PLAN_BUILD_H

#include "device/plan.h"

/* A tensor somewhere: at home (the device of its step), a copy, or an input of
 * the model that was brought to a device.  Values of one placement are
 * numbered: tensors, then copies, then inputs on devices. */
struct value {
	uint32_t out;           /* the output of the graph */
	uint32_t dev;
	uint32_t writer;        /* task that writes it; GRAPH_NONE: an input wrapped in place */
	uint32_t n_readers, first_reader;   /* tasks that read it: a list in readers[] */
	double begin_s, end_s;  /* predicted */
	bool to_end;            /* a result: kept to the end */
	struct devmem *mem;
};

struct reader {
	uint32_t task, next;
};

struct wait {
	uint32_t from, to;
};

struct builder {
	struct planner *p;
	struct plan *plan;
	const uint16_t *step_dev;
	const struct timeline *tl;
	struct arena *a;             /* gone when the plan is made */
	struct value *value;
	uint32_t n_values;
	uint32_t *copy_of;           /* (n_uses) value that a use reads */
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

static inline uint32_t n_devices(const struct builder *b)
{
	return b->p->devices->n;
}

static inline size_t out_bytes(const struct builder *b, uint32_t out)
{
	return (size_t)tensor_bytes(&b->p->m->values.value[out]);
}

/* The value of copy c of the predicted schedule. */
static inline uint32_t copy_value(const struct builder *b, uint32_t copy)
{
	return b->p->dag.n_tensors + copy;
}

static inline void value_extend(struct value *v, double end_s)
{
	if (end_s > v->end_s)
		v->end_s = end_s;
}

/* plan_task.c */
uint32_t plan_add_task(struct builder *b, struct task t);
void plan_add_wait(struct builder *b, uint32_t from, uint32_t to);
/* Task reads value v: it waits for the writer, and later owners of its memory wait for it. */
void plan_add_reader(struct builder *b, uint32_t v, uint32_t task);
/* Host memory that lives as long as the plan; NULL and an error when there is none. */
void *plan_host_memory(struct builder *b, size_t bytes, struct err *e);
/* Tasks of all steps and copies, and the values that each input port of each step reads:
 * step_in[s][i], i over the ports that are not constant. */
int plan_tasks(struct builder *b, uint32_t **step_in, struct err *e) MUST_CHECK;

/* plan_memory.c: constants counted, every value its place, waits for what lay there. */
int plan_memory(struct builder *b, struct err *e) MUST_CHECK;

/* plan_bind.c: addresses into tasks; where results are; waits into rows. */
int plan_bind(struct builder *b, uint32_t *const *step_in, struct err *e) MUST_CHECK;

#endif
