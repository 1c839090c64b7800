/* judge_report.h - the judgement of a calibration as text. */
#ifndef HSDAG_CALIBRATE_JUDGE_REPORT_H
#define HSDAG_CALIBRATE_JUDGE_REPORT_H

#include <stdio.h>

#include "calibrate/judge.h"

enum report_format { REPORT_TEXT, REPORT_TSV, REPORT_MARKDOWN };

struct report_options {
	int format;                /* enum report_format */
	const char *title;         /* "": none */
	const char *const *device; /* (n_devices) names, for the busiest one */
	uint32_t n_devices;
};

/* A table of figures with 95 % intervals and what is wanted of them, then the placements with the
 * largest errors. */
void judge_report(struct judge_input *in, const struct report_options *o, FILE *out);

#endif
