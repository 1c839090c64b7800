/* links.h - what it costs that a tensor is needed on another device, measured. */
#ifndef HSDAG_PROFILE_LINKS_H
#define HSDAG_PROFILE_LINKS_H

#include "exec/executor.h"
#include "measure/measure.h"

/* A tensor of b bytes: latency_s + b / bytes_per_s. */
struct link_cost {
	struct interval latency_s, bytes_per_s;
};

/* From a to b of the executor's list l (out[0]) and from b to a (out[1]), as plans hand tensors
 * over: by the devices' workers, whose waking up is in the latency.  Between two devices in
 * host memory nothing is copied; what is measured there is how much longer it takes to write
 * and to read a tensor on two cores than on one.  Otherwise uploads and downloads, one after the other
 * between two devices with memory of their own.
 *
 * Sizes from 1 KiB to 4 MiB in equal ratios; least squares of the relative errors of
 * the least seconds of each trip; the intervals are those of the repetitions' medians.  There are up to nine repetitions
 * each way, fewer when most_s are over, but five, or one where that took so long.  ST_RUNTIME: a device failed. */
int link_measure(struct executor *x, struct device_list *l, uint32_t a, uint32_t b, double most_s,
		 struct link_cost out[2], struct err *e) MUST_CHECK;

/* The link, when a tensor takes latency_s more, and byte_s for each byte. */
struct link_cost link_longer(struct link_cost c, double latency_s, double byte_s);

#endif
