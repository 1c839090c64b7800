/* placetext.h - a placement as text for other tools and for people.  Device names
 * are the caller's, so that they can be those of another runtime. */
#ifndef HSDAG_REPORT_PLACETEXT_H
#define HSDAG_REPORT_PLACETEXT_H

#include <stdio.h>

#include "report/answer.h"
#include "graph/placed.h"
#include "report/format.h"
#include "record/devrec.h"

struct screen; /* screen.h */

/* A friendly name that operations on different devices share. */
struct name_clash {
	const char *name;
	uint32_t device, other;
};

/* {"friendly name": "device", ...}, one operation a line, all of the model's operations.  A
 * name that occurs twice gets the device of its first operation.  Returns the number of
 * names with different devices and describes the first max_clashes. */
uint32_t placetext_affinity(FILE *out, const struct graph *g, const struct placed *p,
			    const char *const *names, struct name_clash *clash,
			    uint32_t max_clashes);

/* The same of other names: those of operations that there are.  Returns how many are not told, as there is no such operation. */
uint32_t placetext_affinity_of(FILE *out, const struct graph *g, const struct placed *p,
			       const char *const *names, const struct other_names *other);

/* One operation a line after a line of column names; tab, newline and backslash in names
 * are escaped.  flops[n]. */
void placetext_tsv(FILE *out, const struct graph *g, const struct placed *p,
		   const char *const *names, const double *flops);

/* For people: totals, devices, then one line for each set. */
void placetext_table(FILE *out, const struct answer *x, const struct placed *p,
		     const char *const *names, const double *flops);

/* The measurements: single devices, best random placement, this placement; search time
 * (search_s < 0: not told) and the verdict in a sentence.  devs: what devices hold; NULL: not
 * told; screen: a table too wide for it goes without its last columns; NULL: for none. */
void placetext_report(FILE *out, const struct answer *x, const struct placed *p,
		      const char *const *names, const struct devs *devs, const char *what,
		      double search_s, const struct screen *screen);

/* What the model is called: its file's name, else the graph's. */
const char *placetext_model(const struct graph *g);

/* Single sentences of it, without a line end: the verdict, and who proposed a placement, from the
 * source of its record. */
/* objective: what was made small, NULL: the latency. */
void placetext_verdict(FILE *out, const struct answer *x, const char *const *names,
		       const char *objective);
/* The name under which the reference is printed. */
const char *placetext_reference(const struct answer *x, const char *const *names);
/* The same of any of its devices. */
const char *placetext_device(const struct answer *x, const char *device, const char *const *names);
/* Is the answer that device itself? */
bool placetext_is_reference(const struct answer *x);
/* Did other programs take the cores while an answer was measured? */
bool placetext_is_busy(const struct answer *x);
/* The machine's load while the answer was measured, between two texts, where it was above the number of cores; else nothing. */
void placetext_load(FILE *out, const struct answer *x, const char *before, const char *after);
/* How many replicas of the model there are, and where, between two texts; nothing of one. */
void placetext_replicas(FILE *out, const struct answer *x, const char *const *names,
			const char *before, const char *after);
/* Does a device of the answer compute in less than f32? */
bool placetext_is_reduced(const struct answer *x);
/* How far its outputs are from those in f32, between two texts, where there is a limit of that; else nothing. */
void placetext_error(FILE *out, const struct answer *x, const char *const *names,
		     const char *before, const char *after);
/* Requests in flight, their rate and latencies, between two texts, where the answer was measured so; else nothing. */
void placetext_flight(FILE *out, const struct answer *x, const char *before, const char *after);
/* What speed-ups are, where they are not quotients of the latencies beside them; NULL: they are. */
const char *placetext_no_quotient(const struct answer *x);
const char *placetext_finder(const char *source);
/* The speedup over the best single device; 0: not known.  Of a final answer only what was compared in
 * its rounds has one. */
double placetext_speedup(const struct answer *x, const struct measured *m);
/* What goes before m's reason: it cannot run, or was not run, for want of time or because it had lost
 * an earlier race. */
const char *placetext_why(const struct measured *m);
/* A value of another objective than latency, with its unit where it has one, into dst[cap]; returns dst. */
const char *placetext_value(const char *objective, double value, char *dst, size_t cap);
/* The best single device's; 0: none is known. */
double placetext_best_value(const struct answer *x);
/* Has the latency an interval that says something?  That of one run reaches down to 0, and a simulation has none. */
bool placetext_has_range(const struct measured *m);
/* What device d of the placement holds at most; 0: not known, or devs is NULL. */
uint64_t placetext_limit(const struct answer *x, const struct devs *devs, uint32_t d);

#endif
