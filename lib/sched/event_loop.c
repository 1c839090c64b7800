/* event_loop.c - the list scheduler with a virtual clock.
 *
 * run_events, at the end, is the loop: start all that can start, find the next end, move the clock
 * there, end all that ends there.  README.md walks through it.
 *
 * One text serves all rules; it is compiled four times: for two devices, for a few devices and for a
 * few devices that take turns with the common rules (copies on a link wait for each other, devices
 * compute meanwhile, tasks by rank), and for any rules.  All make the same schedule. */
#include "base/simd.h"
#include "sched/event_loop.h"
#include "sched/run_deliver.h"

/* ---- copies begin ---- */

INLINE void start_copy(struct run_state *x, struct run_rules r, uint32_t server)
{
	struct copy_queue *q = &x->queue[server];
	uint32_t slot = q->head, t = slot / r.k, src = server / r.k, dst = server % r.k;
	double end;

	q->head = x->next[slot];
	if (q->old == slot)
		q->old = SCHED_NONE;
	set_waiting(x, r, server, q->head != SCHED_NONE);
	x->live[dst] += x->tensor[t].bytes;
	end = x->now.now_s +
	      (r.k == 2 || x->e->copy_s
		       ? x->e->copy_s[(size_t)t * r.k * r.k + server]
		       : sched_copy_s(&x->e->c->links, src, dst, x->tensor[t].bytes));
	if (r.serial)
		set_idle(x, r, server, false);
	if (!r.overlap) {
		set_idle(x, r, device_server(r, src), false);
		set_idle(x, r, device_server(r, dst), false);
	}
	if (r.scan) {
		x->end[server] = time_key(end);
		x->doing[server] = slot;
	} else {
		event_push(x->e, end, r.k + slot);
	}
	if (r.with_schedule) {
		x->e->t->copy_start_s[x->e->copy_of[slot]] = x->now.base_s + x->now.now_s;
		x->e->t->copy_end_s[x->e->copy_of[slot]] = x->now.base_s + end;
	}
}

/* A link of two devices starts its next copy as soon as it can: all that may wait for it at one
 * instant is of one task, and in order. */
INLINE void start_next(struct run_state *x, struct run_rules r, uint32_t server)
{
	if (is_two(r) && ((x->end[server] == NEVER) & (x->queue[server].head != SCHED_NONE)))
		start_copy(x, r, server);
}

/* ---- ends ---- */

/* Tensor t has one reader less on dev. */
INLINE void release_tensor(struct run_state *x, struct run_rules r, uint32_t t, uint32_t dev)
{
	uint32_t left = --x->refs[(size_t)t * r.k + dev];

	/* A branch would often be mispredicted. */
	x->live[dev] -= x->tensor[t].bytes & -(uint64_t)(left == 0);
}

INLINE void end_task(struct run_state *x, struct run_rules r, uint32_t dev)
{
	uint32_t s = device_server(r, dev), p = x->doing[s];
	const struct sched_task *task = &x->task[p];

	x->end[s] = NEVER;
	x->now.makespan_s = x->now.now_s;
	if (r.mode != ENGINE_PLAIN && x->e->checkpoints.max)
		x->now.ended_marks += x->e->checkpoints.mark[p];
	if (r.mode == ENGINE_CHECKPOINT) {
		x->e->checkpoints.before_end[p] = x->e->checkpoints.n - 1;
		x->e->checkpoints.sync_before_end[p] = x->e->checkpoints.n_sync;
		x->now.n_ended++;
	}
	release_tensor(x, r, task->in.first[0], dev);
	release_tensor(x, r, task->in.first[1], dev);
	for (uint32_t i = task->in.more; i < task->in.end; i += 2) {
		release_tensor(x, r, x->more[i], dev);
		release_tensor(x, r, x->more[i + 1], dev);
	}
	if (task->out < task->out_end)
		distribute(x, r, task->out, dev);
	if (__builtin_expect(task->out + 1 < task->out_end, 0))
		distribute_others(x, r, task, dev);
	start_next(x, r, 1 + dev);
	for (uint32_t q = x->e->delayed_by ? x->e->first_delayed[p] : SCHED_NONE; q != SCHED_NONE;
	     q = x->e->next_delayed[q])
		(void)arrived(x, r, q, dev);
	set_idle(x, r, s, true);
	set_waiting(x, r, s, any_ready(x, r, dev));
}

INLINE void end_copy(struct run_state *x, struct run_rules r, uint32_t slot, uint32_t src,
		     uint32_t dst)
{
	uint32_t s = src * r.k + dst, t = slot / r.k;

	x->end[s] = NEVER;
	(void)arrived_all(x, r, t, dst);
	release_tensor(x, r, t, src);
	start_next(x, r, s);
	set_idle(x, r, s, true);
	if (!r.overlap) {
		set_idle(x, r, device_server(r, src), true);
		set_idle(x, r, device_server(r, dst), true);
	}
	set_waiting(x, r, device_server(r, dst), any_ready(x, r, dst));
}

/* End all that ends now. */
INLINE void end_all(struct run_state *x, struct run_rules r)
{
	int64_t now = time_key(x->now.now_s);

	if (is_two(r)) {
		/* What starts here and takes no time ends in the next round of the loop. */
		bool first = x->end[0] == now, second = x->end[3] == now;
		bool there = x->end[1] == now, back = x->end[2] == now;

		if (first)
			end_task(x, r, 0);
		if (second)
			end_task(x, r, 1);
		if (there)
			end_copy(x, r, x->doing[1], 0, 1);
		if (back)
			end_copy(x, r, x->doing[2], 1, 0);
		return;
	}
	for (uint64_t busy = r.scan ? ~x->e->idle[0] : 0; busy; busy &= busy - 1) {
		uint32_t s = (uint32_t)__builtin_ctzll(busy);

		if (x->end[s] != now)
			continue;
		if (s % (r.k + 1) == 0)
			end_task(x, r, s / (r.k + 1));
		else
			end_copy(x, r, x->doing[s], s / r.k, s % r.k);
	}
	while (!r.scan && x->e->n_events && x->e->heap[0].s == x->now.now_s) {
		uint32_t what = event_pop(x->e).what;

		if (what < r.k)
			end_task(x, r, what);
		else
			end_copy(x, r, what - r.k, x->e->dev[x->tensor[(what - r.k) / r.k].maker],
				 (what - r.k) % r.k);
	}
}

/* ---- starts ---- */

INLINE void start_task(struct run_state *x, struct run_rules r, uint32_t dev)
{
	uint32_t s = device_server(r, dev), p = take_ready(x, r, dev);
	double end = x->now.now_s + x->cost_s[p];

	if (r.mode != ENGINE_PLAIN) {
		struct checkpoints *cp = &x->e->checkpoints;
		double left_s = x->e->t->busy_s[dev] - x->begun_s[dev];

		x->begun_s[dev] += x->cost_s[p];
		if (r.mode == ENGINE_CHECKPOINT)
			cp->before_start[p] = cp->n - 1;
		if (r.mode == ENGINE_LIMIT)
			cp->above |= (x->now.now_s + left_s > x->limit_s) |
				     (end + cp->tail_s[(size_t)p * r.k + dev] > x->limit_s);
	}
	set_waiting(x, r, s, any_ready(x, r, dev));
	set_idle(x, r, s, false);
	x->live[dev] += x->task[p].out_bytes;
	x->doing[s] = p;
	x->end[s] = time_key(end);
	if (!r.scan)
		event_push(x->e, end, dev);
	if (r.with_schedule) {
		x->e->t->start_s[x->e->ready.task_at[p]] = x->now.base_s + x->now.now_s;
		x->e->t->end_s[x->e->ready.task_at[p]] = x->now.base_s + end;
	}
}

/* Does the copy of slot a go before that of slot b, on any links? */
static bool copy_before(const struct engine *e, uint32_t a, uint32_t b)
{
	uint32_t from_a = e->tensor[a / e->k].maker, from_b = e->tensor[b / e->k].maker;

	if (e->needed_at[a] != e->needed_at[b])
		return e->needed_at[a] < e->needed_at[b];
	if (from_a != from_b)
		return from_a < from_b;
	return a % e->k != b % e->k ? a % e->k < b % e->k : a < b;
}

/* The link of the copy that has waited longest, of those whose devices are idle; false: none. */
static bool longest_waiting(const struct engine *e, uint32_t *server)
{
	bool found = false;

	for (uint32_t w = 0; w < e->n_words; w++)
		for (uint64_t links = e->waiting[w] & e->idle[w]; links; links &= links - 1) {
			uint32_t s = w * 64 + (uint32_t)__builtin_ctzll(links);
			uint32_t src = s / e->k, dst = s % e->k;

			if (src == dst || !set_has(e->idle, src * (e->k + 1)) ||
			    !set_has(e->idle, dst * (e->k + 1)))
				continue;
			if (!found || copy_before(e, e->queue[s].head, e->queue[*server].head))
				*server = s;
			found = true;
		}
	return found;
}

/* Are all that dev takes turns with idle? */
INLINE bool has_turn(const struct run_state *x, struct run_rules r, uint32_t dev)
{
	const struct engine *e = x->e;

	if (r.scan)
		return (e->turns[dev] & ~e->idle[0]) == 0;
	for (uint32_t i = 0; i < r.k; i++)
		if (e->c->turns[(size_t)dev * r.k + i] && !set_has(e->idle, i * (r.k + 1)))
			return false;
	return true;
}

/* Of devices that are idle, the one whose first task goes before those of the others; k: none has
 * one, or is not held up. */
INLINE uint32_t next_in_turn(struct run_state *x, struct run_rules r, const bool *held)
{
	uint64_t first = UINT64_MAX;
	uint32_t found = r.k;

	for (uint32_t i = 0; i < r.k; i++) {
		if (held[i] || !set_has(x->e->idle, i * (r.k + 1)) || !any_ready(x, r, i))
			continue;
		uint64_t at = first_ready(x, r, i);

		if (at < first) {
			first = at;
			found = i;
		}
	}
	return found;
}

/* Tasks of devices some of which take turns. */
INLINE void start_in_turns(struct run_state *x, struct run_rules r)
{
	bool *held = x->e->held;
	uint32_t dev;

	memset(held, 0, r.k * sizeof(*held));
	while ((dev = next_in_turn(x, r, held)) < r.k) {
		held[dev] = true;
		if (has_turn(x, r, dev)) {
			start_task(x, r, dev);
			continue;
		}
		for (uint32_t i = 0; i < r.k; i++)
			held[i] |= x->e->c->turns[(size_t)dev * r.k + i];
	}
}

/* Start all that can start now. */
INLINE void start_all(struct run_state *x, struct run_rules r)
{
	struct engine *e = x->e;
	uint32_t link;

	if (is_two(r)) {
		if ((x->end[0] == NEVER) & (x->top[0] != 0))
			start_task(x, r, 0);
		if ((x->end[3] == NEVER) & (x->top[1] != 0))
			start_task(x, r, 1);
		return;
	}
	while (!r.overlap && longest_waiting(e, &link))
		start_copy(x, r, link);
	for (uint32_t w = 0; w < (r.scan ? 1 : e->n_words); w++)
		for (uint64_t can = e->waiting[w] & e->idle[w]; can; can &= can - 1) {
			uint32_t s = w * 64 + (uint32_t)__builtin_ctzll(can);

			if (s % (r.k + 1) == 0) {
				if (!r.turns)
					start_task(x, r, s / (r.k + 1));
			} else {
				/* Again and again where a link carries several copies. */
				while (r.overlap && set_has(e->waiting, s) && set_has(e->idle, s))
					start_copy(x, r, s);
			}
		}
	if (r.turns)
		start_in_turns(x, r);
}

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
		int64_t s = next_end(x, r);
		if (s == NEVER)
			break;
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

INLINE void any_rules(struct engine *e, enum engine_mode mode)
{
	bool overlap = e->c->overlap, serial = e->c->contention || !overlap;
	struct run_state x = run_state_of(e);

	run_events(&x, (struct run_rules){.k = e->k,
					  .scan = e->few && serial,
					  .serial = serial,
					  .overlap = overlap,
					  .with_schedule = e->with_schedule,
					  .turns = e->c->turns != NULL,
					  .mode = mode});
}

static void any_plain(struct engine *e)
{
	any_rules(e, ENGINE_PLAIN);
}

static void any_limit(struct engine *e)
{
	any_rules(e, ENGINE_LIMIT);
}

void engine_continue(struct engine *e, enum engine_mode mode)
{
	static void (*const two[])(struct engine *) = {two_plain, two_checkpoint, two_limit};
	static void (*const few[])(struct engine *) = {few_plain, few_checkpoint, few_limit};
	static void (*const turns[])(struct engine *) = {turns_plain, turns_checkpoint,
							 turns_limit};

	if (!e->common)
		(mode == ENGINE_LIMIT ? any_limit : any_plain)(e);
	else
		(e->c->turns ? turns : e->k == 2 ? two : few)[mode](e);
}
