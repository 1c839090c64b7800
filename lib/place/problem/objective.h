/* objective.h - what a placement is judged by: one number, to be made small, out of five
 * metrics of one inference.
 *
 *   latency     seconds from the first operation's start to the last one's end
 *   throughput  seconds per sample when samples follow each other through the placement as a
 *               pipeline: the largest load over devices and links (traffic_period_s)
 *   energy      joules of devices, busy and idle, and of copies, over one inference
 *   memory      bytes: the peak of the device that needs most
 *   price       dollars of one inference: what the devices in use are paid for by the hour, for its latency, or beside
 *               throughput for its share of a pipeline (place_usd)
 *
 * Throughput may have a limit of latency: the value is then seconds a request with as many in flight as keep the limit, where
 * the latency of one does, else the latency.  n of them that wait for the busiest device take n periods: the most are limit / period,
 * whole, and n of them end every latency, or one every period, whichever is longer.  That is no more than the latency, so that what
 * keeps the limit is better than what does not, and of placements that do not the one with the least latency is the best. */
#ifndef HSDAG_PLACE_PROBLEM_OBJECTIVE_H
#define HSDAG_PLACE_PROBLEM_OBJECTIVE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* Weights, at least 0; all of them 0 means latency alone. */
struct place_objective {
	double latency, throughput, energy, memory, price;
	double limit_s; /* of the latency, with a throughput of 1 and nothing else; 0: none */
};

/* From "energy", a mixture like "latency=1,energy=0.02" (a name without a weight has 1), or "throughput,latency<=50ms"
 * (s, ms or us).  ST_USAGE: no such name, a name twice, a weight below 0 or not finite, all weights 0; a limit that is no
 * time above 0, or is beside anything else than throughput. */
int place_objective_parse(const char *text, struct place_objective *out, struct err *e) MUST_CHECK;

/* Is the value the latency itself? */
static inline bool place_objective_is_latency(const struct place_objective *o)
{
	return o->throughput == 0 && o->energy == 0 && o->memory == 0 && o->price == 0 &&
	       (o->latency == 0 || o->latency == 1);
}

/* Does the value depend on the latency? */
static inline bool place_objective_has_latency(const struct place_objective *o)
{
	return o->latency > 0 || o->limit_s > 0 || place_objective_is_latency(o);
}

/* The sum of weight x metric, or as the limit has it; but for the price. */
static inline double place_objective_value(const struct place_objective *o, double lat_s,
					   double period_s, double energy_j, uint64_t peak_bytes)
{
	if (place_objective_is_latency(o))
		return lat_s;
	if (o->limit_s > 0 && lat_s <= o->limit_s)
		return fmax(period_s, lat_s / fmax(floor(o->limit_s / period_s), 1));
	if (o->limit_s > 0)
		return lat_s;
	return o->latency * lat_s + o->throughput * period_s + o->energy * energy_j +
	       o->memory * (double)peak_bytes;
}

#endif
