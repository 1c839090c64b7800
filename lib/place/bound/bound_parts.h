/* bound_parts.h - what the lower bounds of bounds.h compute, one by one, and what they share. */
#ifndef HSDAG_PLACE_BOUND_BOUND_PARTS_H
#define HSDAG_PLACE_BOUND_BOUND_PARTS_H

#include "base/clock.h"
#include "place/simulate/units.h"

/* A problem as bounds see it: least costs. */
struct bound_view {
	const struct place_units *u;
	const struct place_model *m;
	const struct sched_dag *d;
	uint32_t n, k;     /* tasks, devices */
	uint32_t *unit_of; /* (n) */
	/* Seconds, less all that neighbours could save; INFINITY: the task, or another task of its
	 * unit, cannot run there, or they have no room. */
	double *task_s; /* (n,k) */
	double *unit_s; /* (units,k) */
	/* (units,k) with all that neighbours could add (savings below 0) and nothing saved */
	double *unit_most_s;
	uint64_t *limit; /* (k) bytes; UINT64_MAX: not limited */
	/* What load_s leaves for others: shares of devices, sum 1, without regard to memory; where devices take turns
	 * the sums of bound_turns.c, which may be more. */
	double *share; /* (k) */
	/* of clock_s: rounds that would only raise a bound end then; 0: there is none */
	double deadline_s;
};

static inline bool bound_is_late(double deadline_s)
{
	return deadline_s > 0 && clock_s() > deadline_s;
}

/* Memory from a. */
void bound_view_init(struct bound_view *v, const struct place_units *u, struct arena *a);

struct reach;

/* ---- one by one ---- */

/* Of the largest load of a device: the linear relaxation of unrelated parallel machines with memory
 * limits (Lenstra, Shmoys, Tardos 1990), from its dual (bound_dual.h).  Fills v->share with
 * multipliers of devices. */
double bound_load_s(struct bound_view *v);

/* Of a period: the same with transfers between two sides, see bound_cut.c. */
double bound_cut_s(const struct bound_view *v);

/* The same for whole units: no device can fill its time with units that do not fit together.  For
 * multipliers w_j >= 0 of units and a load T, sum_j w_j <= sum_i max {w(S): p_i(S) <= T, m(S) <=
 * M_i} or T is too small (the Lagrangian dual of Gilmore and Gomory's patterns, Operations
 * Research 9(6), 1961; knapsacks over costs that are rounded down).  At least least_s. */
double bound_pattern_s(const struct bound_view *v, double least_s);

/* Of a schedule's length: the longest path, where every task has the best device for what it
 * reads and who reads it, copies included.  head_s, tail_s (n): before a task can start and
 * after it has ended. */
double bound_path_s(const struct bound_view *v, double *head_s, double *tail_s);

/* Its two halves.  end (n,k): before task t can have ended on d, for tasks from `first` on,
 * where the rows of earlier ones are given; unit_dev (units; NULL: all open): where units have
 * to be, UINT16_MAX anywhere. rest (n,k): what comes after task t has ended on d; with (n,k):
 * rest and the task itself. INFINITY: not possible. */
void bound_path_forwards(const struct bound_view *v, uint32_t first, const uint16_t *unit_dev,
			 double *end);
void bound_path_backwards(const struct bound_view *v, double *rest, double *with);

/* Of a schedule's length: tasks that cannot start before h and must end t before the end share the
 * devices for the rest of it: h + load + t, over all pairs of h and t (energetic reasoning with
 * shares of devices: those of bound_load_s, and the best ones of the window).  s > 0, at most 1: instead of (1 - s) times its
 * length and s times the busy seconds of all devices (bound_slowed.c). */
double bound_window_s(const struct bound_view *v, double s, const double *head_s,
		      const double *tail_s);

/* The same of blocks of tasks one after the other, between tasks that everything passes (bound_series.c); 0: there are none. */
double bound_series_s(const struct bound_view *v, double s);
/* The devices (n tasks) of a row that is short, after a search of so many nodes; tasks behind the deadline are where the last one before
 * it is.  false: there is none, or a block is too large to search.  *least_s: what bound_series_s is with as many nodes, where there is
 * one; 0 where the deadline came. */
bool bound_series_place(const struct bound_view *v, double s, uint64_t nodes, uint16_t *task_dev,
			double *least_s);

/* Of a latency when one device computes, and others have at most what is free there; INFINITY: none can. */
double bound_alone_s(const struct bound_view *v);

/* Of a latency where devices slow each other, whose makespan is at least makespan_s; heads and tails of bound_path_s. */
double bound_slowed_s(const struct bound_view *v, double makespan_s, const double *head_s,
		      const double *tail_s);

/* Of dnnpart-latency: the longest path over CPUs and pieces of accelerators, see bound_piece.c; the
 * best row of pieces along the separators (separators.h). */
double bound_piece_s(const struct reach *g);
double bound_separators_s(const struct reach *g);

/* Joules that unit i adds on device d at least: what it draws while it computes, less what would be
 * drawn anyway; INFINITY: it cannot run there. */
double bound_unit_j(const struct bound_view *v, uint32_t i, uint32_t d);

/* Of the energy of a placement whose latency is at least lat_s; of the largest peak. */
double bound_energy_j(const struct bound_view *v, double lat_s);
double bound_memory_bytes(const struct bound_view *v);

#endif
