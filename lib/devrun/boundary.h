/* boundary.h - the tensors that cross from one device to another under a placement, to look at
 * them: as further Results of the graph.
 *
 * A tensor that crosses leaves its step anyway, so Results at these places change neither the
 * segments nor how steps are fused, only how long the tensors stay in memory. */
#ifndef HSDAG_DEVRUN_BOUNDARY_H
#define HSDAG_DEVRUN_BOUNDARY_H

#include "measure/session.h"

struct boundaries {
	uint32_t n;
	uint32_t *out; /* (n) outputs of the graph that a step on another device reads, ascending */
	const char **from; /* (n) the device that makes each */
	const char *dir; /* where boundary_run writes: DIR/N.npy, and DIR/index.tsv with file, layer
	                              * name, type and shape, layer id, output, device */
};

/* Fill out and from for a placement of sets; memory from a. */
void boundary_list(const struct session *s, const uint16_t *device, struct arena *a,
		   struct boundaries *b);

/* The devices of a session once more, not open, for boundary_run after session_close. */
int boundary_devices(const struct session *s, struct device_list *l, struct err *e) MUST_CHECK;
/* Run a placement of g's sets with these Results and write what crosses.  The devices are taken
 * over as in session_open, whose arguments the others are. */
int boundary_run(const struct boundaries *b, const struct graph *g, const uint16_t *device,
		 struct device_list *l, const char *weights, const char *inputs, uint64_t seed,
		 const struct measure_options *o, struct err *e) MUST_CHECK;

#endif
