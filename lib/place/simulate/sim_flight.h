/* sim_flight.h - run records of placements with several requests in flight (closed_loop.h): how many there are, what their memory is,
 * and how long they take. */
#ifndef HSDAG_PLACE_SIMULATE_SIM_FLIGHT_H
#define HSDAG_PLACE_SIMULATE_SIM_FLIGHT_H

#include "place/simulate/evaluate.h"
#include "record/runrec.h"

struct sim_flight;

/* For up to so many requests, > 1, by placements that `ev` evaluates, whose model is one of PLACE_SCHEDULE; borrowed. */
struct sim_flight *sim_flight_new(struct evaluator *ev, uint32_t requests);
void sim_flight_free(struct sim_flight *x);

/* Of which placements the next answers are: device (rows, n_sets), replicas, each of which is legal; rows <= requests.  Borrowed. */
void sim_flight_rows(struct sim_flight *x, const uint16_t *device, uint32_t rows);
/* ... and then the order that a single row brings; borrowed. */
void sim_flight_order(struct sim_flight *x, const struct kept_order *order);

/* What the placements take: into out seconds a request, and `flight`.  out->lat_s is what one by itself takes, peak (k) what that
 * needs; busy_s (k), or NULL: seconds a request.  As many requests are in flight as there may be; where the objective has a
 * limit of latency, the most with which 95 % of them keep it and for which there is memory, and where none do, one for each row.
 * False: there is too little memory, and *reason says so.  Afterwards the last result of ev is that of the last row. */
bool sim_flight_run(struct sim_flight *x, struct run_rec *out, uint64_t *peak, double *busy_s,
		    char *reason, size_t cap);
/* Then the share of all requests that run by placement `row`. */
double sim_flight_share(const struct sim_flight *x, uint32_t row);

#endif
