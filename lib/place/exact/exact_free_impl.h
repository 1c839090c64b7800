/* exact_free_impl.h - what exact_free.c, exact_free_side.c, exact_free_links.c,
 * exact_free_bound.c and exact_free_table.c share; not for others. */
#ifndef HSDAG_PLACE_EXACT_EXACT_FREE_IMPL_H
#define HSDAG_PLACE_EXACT_EXACT_FREE_IMPL_H

#include "place/exact/exact_free.h"

/* A reader of what a task makes, or who makes what it reads. */
struct free_edge {
	uint32_t task;
	double bytes;
};

/* The problem forwards or backwards in time.  Tasks 0 .. n-1 are in a topological order of it. */
struct free_side {
	uint32_t n, k;
	double *s;                      /* (n,k) seconds; INFINITY: cannot run there */
	double *least_s;                /* (n) */
	double *latency_s, *s_per_byte; /* (k,k) latency INFINITY: no link */
	double least_latency_s, least_s_per_byte;
	uint32_t *in_at, *out_at; /* (n+1) */
	struct free_edge *in, *out;
	const uint32_t *equivalent; /* (k) */
	uint32_t *cluster;    /* (n) tasks of equal ones share a device (exact_free_links.c) */
	uint64_t *below;      /* (n) bits: tasks that depend on it */
	double *tail_s;       /* (n,k) what follows the end of a task on a device, at least */
	double *least_tail_s; /* (n) */
	uint32_t *by_tail;    /* (n) by descending least_tail_s */
	/* With one task that all others lead to: (n) what follows at least where that is on another
	 * device than the task; by_apart (n): tasks by descending apart_s, that one last. */
	bool one_sink;
	double *apart_s;
	uint32_t *by_apart;
	uint32_t *twin; /* (n) an earlier task that differs by number alone; SCHED_NONE: none */
};

/* A state that was searched: whatever is left takes as long in another with the same. */
struct free_key {
	uint64_t a, b;
};
struct free_table;

/* A partial schedule, in the order of starts. */
struct free_search {
	const struct free_side *g;
	uint64_t done;
	uint32_t n_done;
	uint32_t *waits;       /* (n) tasks before it that are not scheduled */
	double *arrival_s;     /* (n,k) of what it reads from those that are */
	double *free_s;        /* (k) */
	uint32_t *used;        /* (k) tasks there */
	uint32_t *n_placed;    /* (n) scheduled tasks of a cluster */
	uint16_t *cluster_dev; /* (n) where they are */
	uint16_t *dev;         /* (n) */
	double *start_s;       /* (n) */
	double now_s;          /* the last start */
	uint32_t last;         /* the task that did; SCHED_NONE: none has */
	double quantum_s;      /* all times are multiples of it; 0: nothing is known */
	double best_s;         /* what is to be beaten */
	uint16_t *best_dev;    /* (n) */
	uint32_t *sequence;    /* (n) tasks as they were scheduled */
	uint32_t *best_sequence;
	/* found something, in this turn or at all; the nodes or the time ended */
	bool better, found, out;
	uint64_t nodes, limit;
	double deadline_s;
	struct free_table *table;
	/* The devices that differ, and how many are like each: empty ones of a kind are one. */
	uint32_t n_kinds, kind[FREE_MOST_DEVICES], of_kind[FREE_MOST_DEVICES];
	double *earliest_s; /* (n,k) of the bound at hand */
	double *head_s;     /* (n) */
	struct free_undo {
		double *cell, was;
	} * undo; /* a stack */
	size_t n_undo;
	struct free_option {
		uint32_t task;
		uint16_t dev;
		double start_s, rest_s;
	} * option; /* (n+1, n k) rows of each depth */
};

/* exact_free_side.c.  Memory from a; free_side_bounds: what depends on clusters, anew. */
void free_side_init(struct free_side *g, const struct bound_view *v, bool backwards,
		    struct arena *a);
void free_side_bounds(struct free_side *g);

/* exact_free_links.c, of the two directions of a problem.  free_link: joins into clusters what shares a
 * device in every schedule that ends at limit_s or before; true: there is none.  Clusters that there
 * are stay; free_unlink: none is any more. */
bool free_link(struct free_side side[2], double limit_s);
void free_unlink(struct free_side side[2]);

static inline double free_copy_s(const struct free_side *g, uint32_t from, uint32_t to,
				 double bytes)
{
	size_t pair = (size_t)from * g->k + to;

	return from == to ? 0 : g->latency_s[pair] + bytes * g->s_per_byte[pair];
}

/* exact_free_bound.c: the devices that differ; is it certain that no schedule that begins so ends at
 * limit_s or before? */
void free_find_kinds(struct free_search *x);
bool free_is_hopeless(struct free_search *x, double limit_s);

/* exact_free_table.c: tables of so many tasks; empty again; was such a state searched before?  It counts
 * as searched from then on. */
struct free_table *free_table_new(uint32_t n_tasks);
void free_table_free(struct free_table *t);
void free_table_clear(struct free_table *t);
bool free_table_seen(struct free_table *t, const struct free_search *x);

#endif
