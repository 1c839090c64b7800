/* engine.h - the state of one simulated run; internal to lib/sched.
 *
 * Tasks are numbered by priority (position 0 is taken first), tensors by the position of their
 * task: ties are then comparisons of numbers.  A server carries one thing at a time: with k
 * devices, server d*k+d is device d and src*k+dst the link from src to dst.  A slot is a tensor on
 * a device: tensor*k + device.  All that a run changes is in one piece of memory, so that a
 * checkpoint is taken and restored by copying it. */
#ifndef HSDAG_SCHED_ENGINE_H
#define HSDAG_SCHED_ENGINE_H

#include "sched/checkpoints.h"
#include "sched/ready.h"
#include "sched/schedule.h"

/* Copies waiting for one link, in order.  Those behind `old` came at the current instant and
 * are still being put in order. */
struct copy_queue {
	uint32_t head, tail; /* slots; head SCHED_NONE: empty */
	uint32_t old;        /* the last of an earlier instant; SCHED_NONE: none left */
	uint32_t instant;    /* that `old` was noted at */
};

/* A list of tensors or positions.  The first two items are here, the others, an even number of
 * them, in the engine's `more`.  A list is filled up with the tensor behind all others, of no
 * bytes, or the position behind all others, which is on no device: what is done with these has no
 * effect, and most lists are walked without a branch. */
struct short_list {
	uint32_t first[2];
	uint32_t more, end; /* in engine's `more` */
};

struct sched_task {
	uint64_t out_bytes;
	struct short_list in;  /* tensors */
	uint32_t out, out_end; /* tensors */
};

struct sched_tensor {
	uint64_t bytes;
	struct short_list use; /* positions */
	uint32_t n_uses;
	uint32_t maker; /* position */
};

/* Times are not negative: as integers they are in the same order. */
#define NEVER INT64_C(0x7ff0000000000000) /* time_key(INFINITY) */

static inline int64_t time_key(double s)
{
	int64_t key;

	memcpy(&key, &s, sizeof(key));
	return key;
}

static inline double key_time(int64_t key)
{
	double s;

	memcpy(&s, &key, sizeof(s));
	return s;
}

enum {
	FEW_DEVICES = 8,        /* devices whose servers are the bits of one word */
	MAX_TABLED_DEVICES = 4, /* devices up to which times of copies are tabled */
	READY_WORDS = 64,
	/* Tasks of the common case at most: ready sets have two levels, and room for the position
	 * behind all others. */
	MAX_COMMON_TASKS = 64 * READY_WORDS - 1,
	AWAY = 1 << 15 /* more than a task of the common case waits for; see `missing` */
};

struct sched_event {
	double s;
	uint32_t what; /* a device, k + slot of a copy, or k + number of slots + a port */
};

/* Ports of links (sched.h): number dev * names + name is a way out of a device; as many numbers
 * further on is its way in.  When devices compute while they copy, a link that could start a copy
 * but for a port waits at this port; those at which anything changed are looked at. */
struct port_state {
	uint32_t n;          /* both ways; 0: there are none, or they do not count */
	uint32_t names, *of; /* (k*k) name of a link's ports; SCHED_NONE: none, or it is shared */
	double *bytes_per_s;
	bool *busy;
	uint64_t *waiting; /* (n, words) by the device at the link's other end */
	uint32_t words;
	uint32_t *look, n_look; /* links to look at before anything starts; a heap meanwhile */
	bool *listed;           /* (k*k) */
};

/* Copies that flow through shared links (struct sched_sharing): how fast, and which has gone through
 * next (flows.c).  Flows on one link are equally fast at any time.  So a link counts what each of
 * them has been served since one flowed there, and a flow ends when that is what it was at its
 * beginning and its bytes: a change of rates is work for each link, not for each flow. */
struct flow_link {
	double served;  /* bytes, up to since_s */
	double since_s; /* clock */
	double bytes_per_s, end_s;
	uint32_t n, head, tail; /* slots, by the bytes at which they end */
	bool decided;           /* scratch: its rate is */
};

struct flows {
	uint32_t n_links;              /* 0: no link is shared */
	struct flow_link *link;        /* (n_links) */
	uint32_t *active, n_active;    /* links on which something flows */
	uint32_t *next;                /* (slots) the slot behind it on its link */
	double *until;                 /* (slots) bytes served at which it ends */
	uint32_t *passed_ptr, *passed; /* (n_links + 1) what each link's flows share */
	/* What is shared: links by number, media, ports. */
	double *bytes_per_s, *left;
	uint32_t *users;              /* flows whose share is not decided */
	uint32_t *touched, n_touched; /* those that any active link's flows share */
	bool changed;                 /* since flows_share */
	double next_s;                /* INFINITY: nothing flows */
};

struct engine {
	const struct sched_dag *d;
	const struct sched_costs *c;
	uint32_t k, n_words; /* words of a bit per server */
	bool few;            /* k <= FEW_DEVICES: events are found by looking at all servers */
	bool common;         /* engine_can_rerun, few devices, and at most MAX_COMMON_TASKS tasks */

	/* The graph by position. */
	struct ready ready;
	struct sched_task *task;     /* (n) */
	struct sched_tensor *tensor; /* (n_tensors) */
	uint32_t *more;              /* rests of lists */
	uint32_t *n_in;              /* (n) inputs, and a delay */
	uint32_t *number;            /* (n_tensors) in the dag */
	uint32_t *root, n_roots;     /* (n_roots) positions that wait for nothing */
	double *copy_s;              /* (n_tensors, k*k); NULL: too many */
	uint64_t
		*turns; /* (k) servers of the devices that a device takes turns with; NULL: none do,
			  * or too many devices for one word */
	const uint32_t *delayed_by;             /* (n) delays, tasks of d (sched.h); NULL: none */
	uint32_t *first_delayed, *next_delayed; /* (n) lists of the positions that one delays */

	/* A placement by position. */
	uint16_t *dev;  /* (n) */
	double *cost_s; /* (n) */
	double *sum_s;  /* (4,k) scratch */
	bool missing_links;
	bool *held; /* (k) scratch: devices that start nothing, as others wait for their turn */

	/* The state of a run. */
	void *state;
	size_t state_bytes;
	struct run_progress *now;
	int64_t *end;             /* (k*k) time_key of what a server does; NEVER: nothing */
	uint64_t *idle, *waiting; /* (n_words) servers that are free; that something waits for */
	/* A bit for each word of waiting that may not be 0: there are a million servers with 1,024 devices. */
	uint64_t *waiting_words;
	double *begun_s;       /* (k) seconds of the tasks that have started; not in plain runs */
	uint64_t *live, *peak; /* (k) bytes */
	uint64_t *top;         /* (k) words of ready bits that are not 0 */
	struct copy_queue *queue; /* (k*k) */
	uint32_t *doing;          /* (k*k) position or slot */
	/* The common case: (n+1,k) how many inputs have not arrived at a task on its device, its
	 * delay included.  On other devices, and of the position behind all others, it is AWAY or
	 * more: it never becomes 0. */
	uint16_t *missing;
	uint64_t *pending;    /* else: (n+1) that << 32 | the task's device, the last's is none */
	uint32_t *refs;       /* (n_tensors+1, k) readers there that have not ended, copies away */
	uint32_t *next;       /* (slots) the slot behind it in a queue */
	uint32_t *needed_at;  /* (slots) instant at which a copy was needed; no overlap, ports */
	uint64_t *ready_bits; /* (k, READY_WORDS) ready positions; the common case */

	/* Events by time, with more than FEW_DEVICES devices, links that carry several copies, or
	 * ports. */
	struct sched_event *heap;
	uint32_t n_events;
	struct port_state ports;
	const struct sched_sharing
		*sharing; /* NULL: links are first come, first served, or it does not count */
	struct flows flows;
	bool clean; /* the state of a run is as at its beginning, as every run that came to its end leaves it;
	             * not in the common case */

	struct timeline *t;
	bool with_schedule; /* starts and ends are recorded, in t */
	uint32_t *copy_of;  /* (slots) number of a copy; with_schedule only */
	struct checkpoints checkpoints;
};

/* Memory for d and c; t has room for results. */
void engine_init(struct engine *e, const struct sched_dag *d, const struct sched_costs *c,
		 struct timeline *t, bool with_schedule);
void engine_release(struct engine *e);

/* Tasks by descending rank from the next run on; delayed_by (n): delays (sched.h), or NULL. */
void engine_order(struct engine *e, const double *rank, const uint32_t *delayed_by);

/* Do the rules allow checkpoints and a limit (checkpoints.h)?  Copies wait for each other, devices
 * compute meanwhile, tasks go by rank, and no schedule is recorded. */
bool engine_can_rerun(const struct engine *e);

/* ---- flows.c ---- */

/* Flows on the shared links of l, numbered src * k + dst; slots number copies.  *f stays zero where
 * no link is shared. */
void flows_init(struct flows *f, const struct sched_links *l, size_t n_slots);
void flows_release(struct flows *f);
/* Nothing flows. */
void flows_clear(struct flows *f);

/* At now_s a copy of so many bytes begins to flow. */
void flows_begin(struct flows *f, uint32_t link, uint32_t slot, uint64_t bytes, double now_s);
/* All that begins and ends at now_s has: rates, and next_s. */
void flows_share(struct flows *f, double now_s);
/* A copy that has gone through at next_s, which is now, is taken out; SCHED_NONE: none is left. */
uint32_t flows_end(struct flows *f, uint32_t *link);

static inline uint32_t short_list_item(const struct engine *e, const struct short_list *l,
				       uint32_t i)
{
	return i < 2 ? l->first[i] : e->more[l->more + i - 2];
}

#endif
