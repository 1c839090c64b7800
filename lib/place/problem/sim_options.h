/* sim_options.h - the options that say how placements are simulated and judged, the same for
 * every program that does. */
#ifndef HSDAG_PLACE_PROBLEM_SIM_OPTIONS_H
#define HSDAG_PLACE_PROBLEM_SIM_OPTIONS_H

#include "base/opt.h"
#include "place/problem/placeinputs.h"

struct place_options {
	const char *spec, *objective, *watts, *headroom;
	int rules; /* enum place_rules */
	int order; /* enum place_order */
	int64_t only_case;
	bool contention, overlap;
};
#define PLACE_OPTIONS_INIT \
	{ \
		.contention = true, .overlap = true \
	}

/* Rows of a program's table of options; o is a struct place_options. */
#define PLACE_OPTIONS(o) \
	{"spec", \
	 's', \
	 OPT_TEXT, \
	 &(o).spec, \
	 "LIST", \
	 "costs, links and memory from a device specification: files or presets,\n" \
	 "joined with commas (devsim --help-all has their form)", \
	 0, \
	 0, \
	 NULL, \
	 NULL}, \
		{"objective", \
		 'O', \
		 OPT_TEXT, \
		 &(o).objective, \
		 "WHAT", \
		 "latency, throughput (seconds per sample of a pipeline), energy (joules\n" \
		 "per inference), memory (bytes on the fullest device), price (dollars per\n" \
		 "inference), or a mixture, as in\n" \
		 "latency=1,energy=0.02; throughput,latency<=50ms: the most a second within\n" \
		 "that latency (default: latency)", \
		 0, \
		 0, \
		 NULL, \
		 NULL}, \
		{"watts", \
		 0, \
		 OPT_TEXT, \
		 &(o).watts, \
		 "LIST", \
		 "what devices draw, computing and idle: cpu=65/10,cl:0.0=25/1 (a name\n" \
		 "stands for NAME:X, too); else from --spec or the stream", \
		 0, \
		 0, \
		 NULL, \
		 NULL}, \
		{"headroom", 0, \
		 OPT_TEXT,   &(o).headroom, \
		 "LIST",     "stays free of devices' memory: 10%, 2G, gpu=512M", \
		 0,          0, \
		 NULL,       NULL}, \
		{"order", \
		 0, \
		 OPT_CHOICE, \
		 &(o).order, \
		 "HOW", \
		 "which ready operation a device takes: that of the highest upward rank, the\n" \
		 "one that became ready first (fifo), what devrun's plans do (improved: an\n" \
		 "order found for this placement), an order that is searched with the\n" \
		 "placement and stays with it (free), or what the costs were recorded for,\n" \
		 "else rank; a placement that brings an order keeps it", \
		 0, \
		 0, \
		 place_order_names, \
		 NULL}, \
		{"case", \
		 0, \
		 OPT_INT, \
		 &(o).only_case, \
		 "N", \
		 "of several lists of shapes (ir2dag --case) the N-th alone counts; 0: all", \
		 0, \
		 16, \
		 NULL, \
		 NULL}, \
		{"model", \
		 0, \
		 OPT_CHOICE, \
		 &(o).rules, \
		 "MODEL", \
		 "the list schedule, or the latency or time per sample of dnn-partitioning\n" \
		 "(Tarnawski et al. 2020; json2dag reads its instances)", \
		 0, \
		 0, \
		 place_rules_names, \
		 NULL}, \
		{"contention", \
		 0, \
		 OPT_FLAG, \
		 &(o).contention, \
		 NULL, \
		 "copies on one link wait for each other", \
		 0, \
		 0, \
		 NULL, \
		 NULL}, \
	{ \
		"overlap", 0, OPT_FLAG, &(o).overlap, NULL, "devices compute while they copy", 0, \
			0, NULL, NULL \
	}

/* Begin the gathering of inputs with these options (place_inputs_init), and with default_spec
 * (may be NULL) where --spec was not given.  ST_USAGE: the objective is none, or does not go
 * with the rules. */
int place_options_inputs(const struct place_options *o, const char *default_spec,
			 struct place_inputs *x, struct err *e) MUST_CHECK;

#endif
