/* resize_taps.h - Interpolate-1, -4 and -11, axis by axis: which input positions an output
 * position is made of.  One table of rules for all devices. */
#ifndef HSDAG_OP_RESIZE_TAPS_H
#define HSDAG_OP_RESIZE_TAPS_H

#include "op/op.h"

struct resize_tap {
	int64_t at[4]; /* positions of the input */
	float weight[4];
	int n;
};

/* Of output position o along an axis of n_in, resized by `scale` to n_out. */
struct resize_tap resize_tap(const struct op_resize *r, int64_t o, double scale, int64_t n_in,
			     int64_t n_out);
/* Whether positions have more taps than that: the modes of Pillow.  Then resize_span.  antialias
 * of the other modes changes nothing, as in OpenVINO's CPU plugin. */
bool resize_wide(const struct op_resize *r);
/* Weights of the n (returned, 1 .. n_in) consecutive input positions from *first on, into
 * weight[n_in].  Source: OpenVINO's specification of Interpolate-11. */
int64_t resize_span(const struct op_resize *r, int64_t o, double scale, int64_t n_in,
		    int64_t *first, float *weight);
/* Scales of all axes of the padded input: given by a constant input, or the ratio of the sizes.
 * -1 (ST_INPUT): axes that make no sense. */
int resize_scales(const struct op *op, const struct tensor *in, const struct tensor *out,
		  double *scale, struct err *e) MUST_CHECK;

#endif
