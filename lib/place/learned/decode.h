/* decode.h - list schedules by rules that look ahead, and by a learned policy.
 *
 * Tasks go by descending upward rank, each to the device that a rule names.  Copies wait for each
 * other on links where the model has contention.  The learned rule scores every device by features
 * of the schedule so far (decode_features.c) with one small network for all devices. */
#ifndef HSDAG_PLACE_LEARNED_DECODE_H
#define HSDAG_PLACE_LEARNED_DECODE_H

#include "learn/params/scorer.h"
#include "place/learned/costview.h"
#include "place/learned/learned_features.h"
#include "place/search/random_stream.h"

enum decode_rule {
	DECODE_EARLIEST,   /* the earliest finish */
	DECODE_LOOKAHEAD,  /* the look-ahead rank: decode.c */
	DECODE_OPTIMISTIC, /* the earliest finish with optimistic costs of what follows */
	DECODE_POLICY      /* the highest score */
};

struct decode {
	enum decode_rule rule;
	const uint32_t
		*group;    /* (n_sets) sets of equal value go to one device; NULL: any may part */
	bool links;        /* copies wait for each other, where the model says so */
	double deadline_s; /* on clock_s; tasks that come later go where they end first; 0: none */
	double end_s; /* those that come after this one go to one device (listsched.h); 0: none */
	/* DECODE_POLICY */
	const struct scorer *scorer;
	const struct params *params;
	struct random_stream *draw; /* draw from the softmax of scores; NULL: the highest */
	double temperature;         /* of the draws */
	/* learning: the devices to go to (n_sets), the gradient of the mean negative log-likelihood
	 * of them is added to grad, times weight; NULL: not learning */
	const uint16_t *follow;
	float *grad;
	double weight;
	/* answers */
	double makespan_s;       /* of its own schedule */
	double loss;             /* learning: sum over choices of -log p */
	uint32_t n_choices;      /* tasks with more than one device to choose from */
	uint32_t n_late, n_last; /* tasks that came after the deadline, and after the end */
};

/* device (n_sets).  -1 (ST_RUNTIME): a task has no device left. */
int decode_run(struct decode *x, const struct cost_view *view, uint16_t *device,
	       struct err *e) MUST_CHECK;

#endif
