/* event_loop.c - the list scheduler with a virtual clock.
 *
 * run_events, at the end, is the loop: start all that can start, find the next end, move the clock
 * there, end all that ends there.  README.md walks through it.
 *
 * One text serves all rules; it is compiled six times: for two devices, for a few devices and for a
 * few devices that take turns with the common rules (copies on a link wait for each other, devices
 * compute meanwhile, tasks by rank), for any rules, for those with ports, and for those with shared
 * links.  All make the same schedule where their rules are the same. */
#include "base/simd.h"
#include "sched/event_loop.h"
#include "sched/run_end.h"
#include "sched/run_start.h"

/* ---- an instant, a checkpoint ---- */

/* An instant is over: what begins and ends within one occupies nothing. */
INLINE void close_instant(struct run_state *x, struct run_rules r)
{
	x->now.instant++;
	for (uint32_t i = 0; i < r.k; i++)
		x->peak[i] = x->live[i] > x->peak[i] ? x->live[i] : x->peak[i];
}

/* Copy the state into the next checkpoint. */
INLINE void save_checkpoint(struct run_state *x, struct run_rules r)
{
	struct engine *e = x->e;

	store_state(x, r);
	e->checkpoints.sync_before_state[e->checkpoints.n] = e->checkpoints.n_sync;
	memcpy(e->checkpoints.state + e->checkpoints.n++ * e->state_bytes, e->state,
	       e->state_bytes);
}

/* ---- sync points ---- */

/* A sync point: the clock begins anew at s, when the only running task, on dev, ends.  True: the
 * rerun is over, the rest is that of the base. */
INLINE bool restart_clock(struct run_state *x, struct run_rules r, uint32_t dev, double s)
{
	struct engine *e = x->e;

	if (r.mode != ENGINE_PLAIN && e->checkpoints.max) {
		uint32_t p = x->doing[device_server(r, dev)];

		store_state(x, r);
		if (r.mode == ENGINE_CHECKPOINT)
			syncpoints_add(e, p, s);
		else if (syncpoints_rejoin(e, p, s))
			return true;
		reload_peaks(x, r);
	}
	x->now.base_s += s;
	x->limit_s = e->checkpoints.limit_s - x->now.base_s;
	if (r.scan)
		x->end[device_server(r, dev)] = 0;
	else
		e->heap[0].s = 0;
	return false;
}

/* Until nothing is running. */
INLINE void run_events(struct run_state *x, struct run_rules r)
{
	struct checkpoints *cp = &x->e->checkpoints;

	x->limit_s = cp->limit_s - x->now.base_s;
	for (;;) {
		if (r.mode == ENGINE_CHECKPOINT && x->now.n_ended >= cp->n * cp->interval)
			save_checkpoint(x, r);
		start_all(x, r);
		if (r.mode == ENGINE_LIMIT && cp->above)
			break;
		if (r.sharing)
			flows_share(&x->e->flows, x->now.now_s);
		int64_t s = next_end(x, r);
		if (s == NEVER) {
			x->e->clean = !r.small;
			break;
		}
		if (s > time_key(x->now.now_s)) {
			uint32_t dev = only_running_task(x, r);

			close_instant(x, r);
			if (dev < r.k) {
				if (restart_clock(x, r, dev, key_time(s)))
					return;
				s = 0;
			}
		}
		x->now.now_s = key_time(s);
		end_all(x, r);
	}
	store_state(x, r);
}

INLINE void two_devices(struct engine *e, enum engine_mode mode)
{
	const struct run_rules r = {
		.k = 2, .scan = true, .serial = true, .overlap = true, .small = true, .mode = mode};
	struct run_state x = run_state_of(e);
	int64_t end[4];
	double begun_s[2];
	uint64_t live[2], peak[2], top[2];
	struct copy_queue queue[4];
	uint32_t doing[4];

	for (uint32_t i = 0; i < 4; i++) {
		end[i] = e->end[i];
		queue[i] = e->queue[i];
		doing[i] = e->doing[i];
	}
	for (uint32_t i = 0; i < 2; i++) {
		begun_s[i] = e->begun_s[i];
		live[i] = e->live[i];
		peak[i] = e->peak[i];
		top[i] = e->top[i];
	}
	x.end = end;
	x.begun_s = begun_s;
	x.queue = queue;
	x.doing = doing;
	x.live = live;
	x.peak = peak;
	x.top = top;
	run_events(&x, r);
}

INLINE void few_devices(struct engine *e, bool turns, enum engine_mode mode)
{
	struct run_state x = run_state_of(e);

	run_events(&x, (struct run_rules){.k = e->k,
					  .scan = true,
					  .serial = true,
					  .overlap = true,
					  .small = true,
					  .turns = turns,
					  .mode = mode});
}

static VECTOR_CLONES void two_plain(struct engine *e)
{
	two_devices(e, ENGINE_PLAIN);
}

static VECTOR_CLONES void two_checkpoint(struct engine *e)
{
	two_devices(e, ENGINE_CHECKPOINT);
}

static VECTOR_CLONES void two_limit(struct engine *e)
{
	two_devices(e, ENGINE_LIMIT);
}

static void few_plain(struct engine *e)
{
	few_devices(e, false, ENGINE_PLAIN);
}

static void few_checkpoint(struct engine *e)
{
	few_devices(e, false, ENGINE_CHECKPOINT);
}

static void few_limit(struct engine *e)
{
	few_devices(e, false, ENGINE_LIMIT);
}

static void turns_plain(struct engine *e)
{
	few_devices(e, true, ENGINE_PLAIN);
}

static void turns_checkpoint(struct engine *e)
{
	few_devices(e, true, ENGINE_CHECKPOINT);
}

static void turns_limit(struct engine *e)
{
	few_devices(e, true, ENGINE_LIMIT);
}

INLINE void any_rules(struct engine *e, bool ports, bool sharing, enum engine_mode mode)
{
	bool overlap = e->c->overlap, serial = e->c->contention || !overlap;
	struct run_state x = run_state_of(e);

	run_events(&x, (struct run_rules){.k = e->k,
					  .scan = e->few && serial && !ports,
					  .serial = serial,
					  .overlap = overlap,
					  .with_schedule = e->with_schedule,
					  .turns = e->c->turns != NULL,
					  .ports = ports,
					  .sharing = sharing,
					  .mode = mode});
}

static void any_plain(struct engine *e)
{
	any_rules(e, false, false, ENGINE_PLAIN);
}

static void any_limit(struct engine *e)
{
	any_rules(e, false, false, ENGINE_LIMIT);
}

static void ports_plain(struct engine *e)
{
	any_rules(e, true, false, ENGINE_PLAIN);
}

static void ports_limit(struct engine *e)
{
	any_rules(e, true, false, ENGINE_LIMIT);
}

static void sharing_plain(struct engine *e)
{
	any_rules(e, true, true, ENGINE_PLAIN);
}

static void sharing_limit(struct engine *e)
{
	any_rules(e, true, true, ENGINE_LIMIT);
}

void engine_continue(struct engine *e, enum engine_mode mode)
{
	static void (*const two[])(struct engine *) = {two_plain, two_checkpoint, two_limit};
	static void (*const few[])(struct engine *) = {few_plain, few_checkpoint, few_limit};
	static void (*const turns[])(struct engine *) = {turns_plain, turns_checkpoint,
							 turns_limit};

	if (e->sharing)
		(mode == ENGINE_LIMIT ? sharing_limit : sharing_plain)(e);
	else if (e->ports.n)
		(mode == ENGINE_LIMIT ? ports_limit : ports_plain)(e);
	else if (!e->common)
		(mode == ENGINE_LIMIT ? any_limit : any_plain)(e);
	else
		(e->c->turns ? turns : e->k == 2 ? two : few)[mode](e);
}
