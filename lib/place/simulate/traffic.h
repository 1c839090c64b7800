/* traffic.h - what a placement moves over each directed link, and what follows from that and
 * from what devices compute: the time per sample of a pipeline, and energy. */
#ifndef HSDAG_PLACE_SIMULATE_TRAFFIC_H
#define HSDAG_PLACE_SIMULATE_TRAFFIC_H

#include "place/problem/placemodel.h"

struct place_traffic {
	uint32_t k;
	uint32_t *copies; /* (k,k) from row to column */
	uint64_t *bytes;  /* (k,k) */
	double *busy_s;   /* (k,k) latencies included */
	uint32_t *seen;   /* (k) */
	uint64_t *to;     /* (n_tensors) devices on which one is read; up to 64 devices */
};

void traffic_init(struct place_traffic *x, uint32_t k, uint32_t n_tensors);
void traffic_release(struct place_traffic *x);

/* device (tasks): each tensor goes once to each other device that has a consumer. */
void traffic_count(struct place_traffic *x, const struct place_model *m, const uint16_t *device);

/* Seconds per sample when samples follow each other closely, each through the same placement: the
 * largest load of a device, or of devices that take turns (busy_s (k); and its copies, when it does not compute meanwhile) or of
 * a link or port (when copies on one wait for each other). */
double traffic_period_s(const struct place_traffic *x, const struct place_model *m,
			const double *busy_s);

/* Joules of one inference: of each device its watts while busy and its idle watts for the rest of
 * lat_s, and j_per_byte of what is copied. */
double traffic_energy_j(const struct place_traffic *x, const struct place_model *m,
			const double *busy_s, double lat_s);

#endif
