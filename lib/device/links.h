/* links.h - what a copy between two devices costs, measured. */
#ifndef HSDAG_DEVICE_LINKS_H
#define HSDAG_DEVICE_LINKS_H

#include "device/executor.h"

struct link_cost {
	double latency_s, bytes_per_s;   /* a copy of b bytes: latency_s + b / bytes_per_s */
};

/* Copies of several sizes to and fro between devices a and b of the executor's list l, as plans
 * copy tensors: by the devices' workers, who hand over to each other, which is part of
 * the latency.  The cost is the mean of both directions.  ST_RUNTIME: a device failed. */
int link_measure(struct executor *x, struct device_list *l, uint32_t a, uint32_t b,
		 struct link_cost *out, struct err *e) MUST_CHECK;

#endif
