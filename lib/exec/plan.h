/* plan.h - a placement made ready to run: tasks, what waits for what, and a
 * place in memory for every tensor.
 *
 * The order in which tasks run is not fixed here: a free device takes its ready
 * task of the highest rank.  Memory is planned for the schedule that the list
 * scheduler predicts, and where a buffer takes over the memory of earlier ones,
 * its task waits for their last readers: whatever order comes true, no tensor
 * is overwritten before it has been read.  These waits point forward in the
 * predicted schedule, as the data's own do, so they cannot form a circle.
 *
 * A task runs a group of steps (fusion.h).  A step that may write over its input
 * (device_class.in_place), when nothing else reads that, does.
 *
 * Between two devices that compute in host memory nothing is copied: the
 * reader reads where the tensor is (planner.in_host false: a memcpy by the reader's
 * worker).  Other copies are tasks of their own, one per tensor and
 * destination: from host to device memory an upload, from device memory a download
 * (both asynchronous), and between two devices' own memories a download and an upload. */
#ifndef HSDAG_EXEC_PLAN_H
#define HSDAG_EXEC_PLAN_H

#include "device/device.h"
#include "exec/fusion.h"
#include "exec/prepared.h"
#include "sched/timeline.h"

enum task_kind { TASK_STEP, TASK_MEMCPY, TASK_UPLOAD, TASK_DOWNLOAD };

struct plan_task {
	enum task_kind kind;
	uint32_t dev;        /* the device whose worker starts it */
	uint32_t copied, to; /* of a copy: the output of the graph, and the device that gets it;
	                      * of others copied is GRAPH_NONE */
	const struct fusion_group *group; /* TASK_STEP: the steps that it runs */
	const double *share; /* TASK_STEP: (group->n) of its time that is each step's */
	struct step *prepared;
	struct devmem **in, **out; /* TASK_STEP */
	struct devmem *mem;        /* uploads and downloads: the device's end */
	void *dst;                 /* host memory: memcpy, download */
	const void *src;           /* host memory: memcpy, upload */
	size_t bytes;
	double rank;                 /* higher first */
	uint32_t n_waits;            /* tasks before it */
	uint32_t next_ptr, next_end; /* tasks that wait for it: plan.next[next_ptr .. next_end-1] */
};

enum { PLAN_CASE_RUNS = 256 };
struct plan {
	uint32_t n_groups;
	struct fusion_group *group; /* (n_groups) */
	uint32_t n_splits;          /* segments more than their devices' connected pieces */
	uint32_t n_tasks;
	struct plan_task *task; /* (n_tasks) the first n_groups run the groups */
	uint32_t *next;
	uint32_t *n_dev_tasks; /* (k) tasks that each device's worker starts */
	const void **result;   /* (n_results) host memory, valid after a run */

	/* (k) peak: tensors, and what the steps there keep (constants, packed weights); of the first of several requests that
	 * of all. */
	uint64_t *mem_bytes;
	uint64_t *tensor_bytes; /* (k) of it, tensors */
	uint32_t n_copies;      /* tensors that cross devices, once per destination */
	uint64_t copy_bytes;
	uint32_t n_in_host; /* of them, those that are read where they are */
	double predicted_s; /* latency by the list scheduler */

	struct variables *variables; /* the request's; NULL: none */
	struct plan *
		next_request; /* the same for one more request (planner.in_flight); owned; NULL: none */
	/* The same for the model's next list of shapes (planner.next_case); owned; NULL: none.  weight: how much a run of
	 * this one counts.  case_s: what its last runs took, n_case_runs so far. */
	struct plan *next_case;
	double weight;
	double over;    /* of the first: what counts of all (graph/case_value.h) */
	double *case_s; /* (PLAN_CASE_RUNS) NULL: there are no cases */
	uint64_t n_case_runs;
	const struct planner *of; /* who made it: the steps that it runs are of its model */

	/* owned */
	struct arena *arena;
	struct device_list *devices;
	struct prepared **used; /* (n_groups) */
	struct mem_pool **pool; /* (k) what its tensors lie in; NULL: it has none there */
	uint32_t n_views;
	struct devmem **view;
	uint32_t *view_dev;
	uint32_t n_host;
	void **host; /* staging and downloaded results */
};

/* Memory for the tensors of plans.  Plans of one request run one at a time and keep nothing from run to run,
 * so that all of them lie in the same memory, as long as it is large enough. */
struct mem_pool {
	struct devmem *mem;
	uint64_t bytes;
	uint32_t users; /* plans, and the planner for its newest one */
};
/* A pool of at least `bytes` on d for one more plan: *newest, or a new one that takes its
 * place.  NULL: no memory (ST_RUNTIME). */
struct mem_pool *pool_take(struct mem_pool **newest, struct device *d, uint64_t bytes,
			   struct err *e);
void pool_drop(struct mem_pool *x, struct device *d); /* one user less; x may be NULL */

/* What plans of one request have to themselves. */
struct planner_request {
	struct mem_pool **pool;    /* (k) the memory that the next plan's tensors lie in */
	struct devmem **param_mem; /* (n_params, k) wrapped inputs; NULL: not yet */
};

/* What all placements of a model on a list of devices share. */
struct planner {
	struct model *m;
	struct device_list *devices;
	struct sched_dag dag; /* tasks: the model's steps; tensors: their outputs */
	uint32_t *tensor_out; /* (n_tensors) output of the graph */
	uint32_t *out_tensor; /* (n_out) or GRAPH_NONE */
	double *step_s;       /* (n_steps, k) planned seconds; negative: cannot run there */
	struct sched_costs costs;
	bool copies_told; /* costs.overlap and copy_holds are a profile's */
	/* (n_requests) of each request in flight; which one the next plan is for */
	struct planner_request *request;
	uint32_t n_requests, at_request;
	uint32_t
		in_flight; /* requests that a plan is made for (plan.next_request); 1 after planner_open */
	const uint64_t *
		others; /* (k) while a plan is made: what the earlier requests take; NULL: it is the first */
	/* Of the next plan. */
	enum fuse_mode fuse; /* FUSE_ALL after planner_open */
	bool in_host;        /* true after planner_open */
	bool tight; /* as little memory as possible, as where it is short; false after it */
	/* Sets in the order in which devices run them, as in struct place_rec; borrowed.  Plans of
	 * several devices keep to it.  NULL after planner_open: an order is found for each. */
	const uint32_t *order;
	uint32_t n_order;
	/* Rows of set_device (plan_make) behind the first one: requests in flight take rows in turns.  0 after planner_open. */
	uint32_t n_more;
	bool *is_result; /* (n_tensors) */
	/* Of the graph that dagsplit cut, on the same devices: plans of one device alone are this one's, as parts that
	 * are not apart gain nothing.  Its results are in the same order.  NULL: there is none. */
	struct planner *whole;
	/* Of the model with its next list of shapes, on the same devices: a plan brings one of each (plan.next_case).  NULL:
	 * there is none. */
	struct planner *next_case;
	double weight, over;
	struct prepared_cache prepared;
	/* While a plan is made; as it was afterwards. */
	uint32_t *local; /* (n_steps) place in a group, GRAPH_NONE */
	uint8_t *mark;   /* (outputs of the graph) zeros */
	struct arena *arena;
};

int planner_open(struct planner *p, struct model *m, struct device_list *l,
		 struct err *e) MUST_CHECK;
void planner_close(struct planner *p);

/* The next plans are of request i, 0 at first: they share steps with those of others, but for steps that keep values, and
 * have inputs, variables and memory of their own, so that they run beside them (executor_load).  The model is at this request,
 * too (model_request). */
int planner_request(struct planner *p, uint32_t i, struct err *e) MUST_CHECK;

/* costs.overlap and copy_holds as they may be for these devices, from a; how many.  The first is what
 * planner_open takes.  A device with a memory of its own copies and computes in one queue, so that
 * copies occupy it, not the other end: unless threads that feed it keep that from computing, or
 * what copies take is mostly waiting; which of these is so, a profile finds out.  Where such a
 * device is made of cores of this machine there is no choice: they do the copying. */
struct copy_rule {
	bool overlap;
	const uint8_t *holds;
};
enum { COPY_RULES = 3 };
uint32_t planner_copy_rules(const struct device_list *l, struct arena *a,
			    struct copy_rule out[COPY_RULES]);

/* Device of every step for a placement of sets; steps outside all sets go with
 * their first consumer. */
void planner_steps(const struct planner *p, const uint16_t *set_device, uint16_t *step_device);
/* The set that each step's time belongs to (n_steps): its own, or its first consumer's; GRAPH_NONE. */
void planner_step_sets(const struct planner *p, uint32_t *set);

/* Plan a placement of sets (1 + planner.n_more, g->n_sets), for planner.in_flight requests.  0, or -1 when it cannot run, with the reason:
 * ST_INPUT an operator that its device does not support, ST_RUNTIME memory. */
int plan_make(struct planner *p, const uint16_t *set_device, struct plan *out,
	      struct err *e) MUST_CHECK;
void plan_release(struct plan *p);

/* What the steps of a plan of p keep in memory on device d all the time (constants, packed weights,
 * constants that were computed on the host): fn for each piece, with a step that needs it.  Pieces
 * of one key are one piece.  by_step: of a device of compiled segments the constants of each step,
 * instead of one piece for a segment. */
typedef void piece_fn(void *arg, uint32_t step, const void *key, uint64_t bytes);
void plan_pieces(struct planner *p, const struct plan *plan, uint32_t d, bool by_step, piece_fn *fn,
		 void *arg);

/* Before several plans are kept at once: memory for the largest of them, tensor_bytes (k), so
 * that they share it. */
int planner_reserve(struct planner *p, const uint64_t *tensor_bytes, struct err *e) MUST_CHECK;

#endif
