/* devsim_filter.h - what devsim does to a stream: a graph and placements pass, and behind every placement
 * goes what it would take, by a model of the devices that it names.
 *
 * With `probe`, the graph gets `devs` and `cost` behind it, and no placement is predicted; with `refit` costs
 * that fit what the stream's placements took go behind the stream; with `fit`, the model is one that fits what another
 * stream's took; with `machine.spec` a machine is played, and `run` and `best` records are as devrun's. */
#ifndef HSDAG_DEVSIM_DEVSIM_FILTER_H
#define HSDAG_DEVSIM_DEVSIM_FILTER_H

#include "machine/machine_stage.h"
#include "place/problem/sim_options.h"
#include "stream/filter.h"

struct devsim_options {
	struct place_options sim; /* costs, links and what a placement is worth */
	const char *devices;      /* with probe: names; NULL: all that the specification has */
	bool probe, refit;        /* neither: placements are predicted */
	bool fixed;               /* no model: a latency drawn from seed and placement */
	bool schedule;            /* tell when each set and copy is */
	int64_t requests;         /* in flight at once; 1: one inference after another */
	double noise, op_noise;   /* standard deviations of logarithms: of a run, of each set */
	int64_t draw;    /* with refit: which draw from all that fit; 0: the most likely ones */
	const char *fit; /* a file whose placements have run; NULL: none */
	int64_t draws;   /* with fit: the mean over so many draws; 0: the most likely ones */
	bool predict;    /* with fit: placements get predicted_s, no run records */
	struct machine_options machine;
	bool has_clock; /* machine.clock_s was given */
};

struct devsim;

/* Reads the specifications and the stream to fit that o names; o stays the caller's and must outlive it.  Costs and
 * links come from o->sim.spec, else from the stream, with probe from the preset `paper`.  NULL on an error. */
struct devsim *devsim_new(struct devsim_options *o, uint64_t seed, struct err *e) MUST_CHECK;
void devsim_free(struct devsim *s);

/* All streams of f, which the caller has opened and closes with what is returned. */
int devsim_run(struct devsim *s, struct filter *f, struct err *e) MUST_CHECK;

#endif
