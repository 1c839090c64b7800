/* sched.h - list scheduling of a placed graph: tasks, tensors, what they cost, who goes first.
 * timeline.h makes the schedule: the predicted order and times, for devrun's plans and for the
 * simulator.
 *
 * The rules.  A device runs one task at a time and, when free, takes its ready
 * task of the highest priority (default: upward rank, HEFT, Topcuoglu et al.
 * 2002, section 4.1; equal ranks: lower task number).  Devices may take
 * turns: while one computes the other does not.  Of idle devices with ready tasks, the one whose
 * first task has the highest priority starts it; where it has to wait for a turn, those that take
 * turns with it start nothing either.  A tensor is copied once
 * per destination device that has a consumer, from the moment its task ends.
 * Copies on one directed link are first come, first served; copies that came at
 * the same instant: higher priority of the source, lower destination, lower
 * tensor number.  Links may share ports (struct sched_ports); copies on some links share their rate,
 * or do not wait at all (struct sched_sharing).  Everything that ends at one instant has ended before anything starts.
 * A delay: task v is not ready before task delayed_by[v] has ended, which is on the same device and
 * does not depend on v.
 *
 * The life of a value (a tensor at home, or a copy of one): a tensor from the
 * start of its task to the last of its task's end, its consumers' ends on that
 * device and its copies' ends; a copy from its start to the end of its last
 * consumer there; a tensor without consumers stays to the end.  What begins and ends within one
 * instant occupies nothing. */
#ifndef HSDAG_SCHED_SCHED_H
#define HSDAG_SCHED_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

#define SCHED_NONE UINT32_MAX

/* ---- what is scheduled ---- */

/* Tasks 0 .. n-1 in a topological order, the tensors that they make, and who
 * uses which.  A use is one (tensor, consuming task) pair. */
struct sched_dag {
	uint32_t n, n_tensors, n_uses;
	uint32_t *out_ptr;      /* (n+1) tensors of task v are out_ptr[v] .. out_ptr[v+1]-1 */
	uint64_t *tensor_bytes; /* (n_tensors); may be changed between runs */
	uint32_t *tensor_task;  /* (n_tensors) the task that makes it */
	uint32_t *use_ptr;      /* (n_tensors+1) uses of tensor t, consumers ascending */
	uint32_t *use_task;     /* (n_uses) the consumer */
	uint32_t *use_tensor;   /* (n_uses) */
	uint32_t *in_ptr;       /* (n+1) */
	uint32_t *in_use;       /* (n_uses) uses of task v: in_use[in_ptr[v]] .., ascending */
};

/* "src makes a tensor of this key and size, which dst reads."  Equal (src, key)
 * are one tensor (its size the largest named); dst SCHED_NONE names a tensor
 * without adding a consumer.  src < dst. */
struct sched_edge {
	uint32_t src, dst;
	uint64_t key, bytes;
};

/* Build d from edges in any order (the array is sorted in place).  Tensors of
 * one task are numbered by ascending key.  Memory from a. */
void sched_dag_build(struct sched_dag *d, uint32_t n, struct sched_edge *edges, size_t n_edges,
		     struct arena *a);

/* ---- priorities ---- */

/* Mean costs that ranks are made of.  cost_s (n,k): seconds of task v on device
 * d, negative where it cannot run; latency_s, s_per_byte (k,k): link from row to
 * column, latency negative: no link.  task_s (n): mean over devices that can;
 * use_s (n_uses): mean copy time over pairs of devices that both ends may use and
 * that can exchange data, a device with itself being 0. */
struct sched_links {
	uint32_t k;
	double *latency_s;               /* (k,k) negative: this pair cannot exchange data */
	double *bytes_per_s;             /* (k,k) INFINITY: bandwidth costs nothing */
	const struct sched_ports *ports; /* NULL: none */
	const struct sched_sharing
		*sharing; /* NULL: copies on any link are first come, first served */
};

/* How copies on a link that came before others matter to these, with contention. */
enum sched_contention {
	SCHED_FCFS,    /* one copy at a time, first come, first served */
	SCHED_NO_WAIT, /* any number at once, each at the link's rate */
	SCHED_SHARED   /* any number at once, which share the rate */
};

/* A shared link: copies begin at once.  When the latency is over a copy flows: it shares, with all
 * that flow at this time, the rate of its link, of the link's media and of its ports.  Shares are
 * max-min fair: none can become larger but at the cost of one that is not larger (Bertsekas,
 * Gallager, "Data networks", 1992, section 6.5.2).  Of the links of one port either all are shared
 * or none is. */
struct sched_sharing {
	struct sched_carriage {
		enum sched_contention contention;
		uint32_t n_media;
		const uint32_t *medium; /* (n_media) */
	} * of;                         /* (k,k) */
	uint32_t n_media;
	const double *bytes_per_s; /* (n_media) */
};
/* All links first come, first served; memory from a. */
struct sched_sharing *sched_sharing_new(uint32_t k, uint32_t n_media, const double *bytes_per_s,
					struct arena *a);
static inline bool sched_is_shared(const struct sched_links *l, size_t pair)
{
	return l->sharing && l->sharing->of[pair].contention == SCHED_SHARED;
}

/* A device has an out port of a name, which its outgoing links of this name share, and an in port,
 * which the incoming ones share.  With contention a copy starts as soon as its link and both its
 * ports are free.  It occupies the link until it ends, but a port for bytes / rate only: latency
 * is no time of a port, as in LogGP (Alexandrov et al. 1995), where G is the gap per byte.  Of
 * copies that can start, on any links, the first goes first (as on one link, above); one that waits
 * for a port does not hold up others. */
struct sched_ports {
	uint32_t n;   /* names */
	uint32_t *of; /* (k,k) the name of a link's ports; SCHED_NONE: it has none */
	/* (k,n) rates that were told; 0: that of the fastest of the port's links */
	double *out_bytes_per_s, *in_bytes_per_s;
};
/* No link has any, no rate is told; memory from a. */
struct sched_ports *sched_ports_new(uint32_t k, uint32_t n, struct arena *a);
/* Bytes per second of a port of device `dev`, its in port or its out port. */
double sched_port_rate(const struct sched_links *l, uint32_t dev, uint32_t name, bool in);
/* Links become no faster than what was told of their ports and media; so a port is free no later
 * than the link of its copy. */
void sched_links_limit(struct sched_links *l);

double sched_copy_s(const struct sched_links *l, uint32_t src, uint32_t dst, uint64_t bytes);
/* Mean over the pairs of different devices that are linked: HEFT's c bar, equation 3; no such pair:
 * 0.  (sched_mean_costs also counts copies that stay on a device, as 0.) */
struct sched_mean_link {
	double latency_s, s_per_byte;
};
struct sched_mean_link sched_mean_link(const struct sched_links *l);
static inline double sched_mean_copy_s(const struct sched_mean_link *l, uint64_t bytes)
{
	return l->latency_s + (double)bytes * l->s_per_byte;
}
/* The least latency and the highest rate of all links: no copy of so many bytes between two devices takes less. */
struct sched_least_link {
	double latency_s, bytes_per_s;
};
struct sched_least_link sched_least_link(const struct sched_links *l);
static inline double sched_least_copy_s(const struct sched_least_link *l, uint64_t bytes)
{
	/* A hair less, for rounding. */
	return l->bytes_per_s > 0 ? (l->latency_s + (double)bytes / l->bytes_per_s) * (1 - 1e-12)
				  : 0;
}
void sched_mean_costs(const struct sched_dag *d, const double *cost_s, const struct sched_links *l,
		      double *task_s, double *use_s);

/* rank[v] = task_s[v] + max over uses of its tensors (use_s + rank of the consumer). */
void sched_upward_rank(const struct sched_dag *d, const double *task_s, const double *use_s,
		       double *rank);

/* ---- the rules ---- */

enum sched_policy {
	SCHED_RANK,     /* the ready task of the highest rank */
	SCHED_FIFO,     /* the task that became ready first, then rank */
	SCHED_IMPROVED, /* by rank, unless a better order is found (improve.h): as devrun's plans */
	SCHED_FREE /* the same where a placement brings no order of its own: orders are searched */
};

struct sched_copy {
	uint32_t tensor;
	uint16_t src, dst; /* devices */
};

#endif
