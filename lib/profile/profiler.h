/* profiler.h - takes a profile: timed inferences on each device and on several, in rounds. */
#ifndef HSDAG_PROFILE_PROFILER_H
#define HSDAG_PROFILE_PROFILER_H

#include "profile/profile.h"
#include "measure/session.h"

/* Steps are timed inside inferences of the whole model on one device (sets that it cannot run
 * are on the first that can), so caches are as in real runs.  Two plans a device: in one, steps are
 * grouped within sets only, which gives set_s; in the other across sets as well, which gives
 * savings (savings.h).  On a device that queues its work every step is waited for, and the times
 * are then scaled down to the latency without waiting.  A device that compiles whole segments has
 * times of these, shared out by what the device says of their nodes (node_times); what their boundaries
 * take is in the links, estimates (device_class.boundary_s) that probes correct.
 *
 * These plans, and some on several devices (probes.h), are run in rounds for about four times
 * session.opt.max_s.  Who else uses the machine only ever adds time, now to one device, now to
 * another: a step's time is the median of its runs, all are then scaled to what inferences take beside
 * the fastest run of the fastest device,
 * and devices of one kind that are equally fast have the same times.  What the probes took then
 * corrects times, latencies and how devices slow each other (fit.h).  A device that fails has no
 * times and no links.  Memory from a.  -1: the output's reader has gone. */
int profile_take(struct session *s, struct arena *a, struct profile *out, struct err *e) MUST_CHECK;

#endif
