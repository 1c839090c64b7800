/* test_handover.c - what a draw hands over to a replay: the same bits with it and without, and none of it where it is of
 * something else. */
#include "tap.h"
#include "net_world.h"

#include "learn/net/handover.h"
#include "learn/net/sampling.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 2, STEPS = 3, ROOM = 1 << 20 };

struct world {
	struct net_world net;
	struct replayer *r;
	/* what was drawn */
	struct rng_addr rng[STEPS], draw_rng[STEPS][SAMPLES];
	struct partition part[STEPS];
	struct to_place q[STEPS];
	uint16_t action[STEPS][SAMPLES * N];
	float drawn_logp[STEPS][SAMPLES * N * K];
};

/* What a replay answers. */
struct answer {
	float *grad;
	double logp[STEPS][SAMPLES], entropy[STEPS];
};

static void die(const struct err *e)
{
	printf("Bail out! %s\n", e->msg);
	fflush(stdout);
	_Exit(1);
}

static void world_of(struct world *s, const struct net *net, const void *h, struct pool *pool)
{
	static uint32_t group[STEPS][N];
	struct err e = ERR_INIT;
	memset(s, 0, sizeof *s);
	net_world_init(&s->net, net, h);
	s->r = replayer_new(pool);
	for (uint32_t i = 0; i < STEPS;
	     i++) { /* sequences of three lengths, the longest in the middle */
		uint32_t n = i == 1 ? 30 : 5 + i;
		for (uint32_t v = 0; v < N; v++)
			group[i][v] = v % n;
		const struct grouping given = {n, group[i]};
		struct partition *p = &s->part[i];
		s->rng[i] = (struct rng_addr){.seed = 3, .step = i};
		if (net_embed(s->net.w, &s->net.m, s->net.x, &s->rng[i], &given, NULL, 0, p, &e) <
		    0)
			die(&e);
		p->group =
			memcpy(ARENA_NEWN(s->net.a, uint32_t, N), p->group, N * sizeof *p->group);
		p->z = memcpy(ARENA_NEWN(s->net.a, float, n *D), p->z, n * D * sizeof *p->z);
		if (p->label)
			p->label = memcpy(ARENA_NEWN(s->net.a, uint32_t, n), p->label,
					  n * sizeof *p->label);
		s->q[i] = (struct to_place){.z = p->z, .n_groups = p->n_groups, .group = p->group};
		for (uint32_t k = 0; k < SAMPLES; k++)
			s->draw_rng[i][k] =
				(struct rng_addr){.seed = 2, .step = i, .stream = RNG_ACTION + k};
	}
}

static void world_release(struct world *s)
{
	replayer_free(s->r);
	net_world_release(&s->net);
}

/* Draws all steps, and hands over what it computed (NULL: nothing). */
static void draw_all(struct world *s, const uint16_t *home, struct handover *h)
{
	struct err e = ERR_INIT;
	struct draw draw[STEPS];
	struct drawn drawn[STEPS];
	for (uint32_t i = 0; i < STEPS; i++)
		draw[i] = (struct draw){SAMPLES, false, s->draw_rng[i], i == 0 ? home : NULL, h};
	if (net_draw_steps(s->net.w, &s->net.m, STEPS, s->q, draw, drawn, &e) < 0)
		die(&e);
	for (uint32_t i = 0; i < STEPS; i++) {
		size_t g = s->q[i].n_groups;
		memcpy(s->action[i], drawn[i].action, SAMPLES * g * sizeof **s->action);
		for (uint32_t k = 0; k < SAMPLES; k++)
			memcpy(s->drawn_logp[i] + k * g * K, drawn[i].logp + k * drawn[i].stride,
			       g * K * sizeof **s->drawn_logp);
	}
}

static size_t n_grad(const struct world *s)
{
	return s->net.embed->n + s->net.policy->n;
}

/* Replays the first n steps. */
static struct answer replay(struct world *s, uint32_t n, struct handover *h)
{
	static const double coef[] = {0.7, -0.4};
	struct err e = ERR_INIT;
	struct answer a = {.grad = ARENA_NEWN(s->net.a, float, n_grad(s))};
	struct replay_step step[STEPS];
	for (uint32_t i = 0; i < n; i++)
		step[i] = (struct replay_step){.x = s->net.x,
					       .rng = &s->rng[i],
					       .part = &s->part[i],
					       .n_samples = SAMPLES,
					       .action = s->action[i],
					       .coef_logp = coef,
					       .coef_entropy = 0.01,
					       .handover = h,
					       .logp = a.logp[i]};
	if (h)
		h->used = false;
	if (replayer_run(s->r, &s->net.m, step, n, a.grad, a.grad + s->net.embed->n, &e) < 0)
		die(&e);
	for (uint32_t i = 0; i < n; i++)
		a.entropy[i] = step[i].entropy;
	return a;
}

static bool same(const struct world *s, const struct answer *a, const struct answer *b)
{
	return memcmp(a->grad, b->grad, n_grad(s) * sizeof *a->grad) == 0 &&
	       memcmp(a->logp, b->logp, sizeof a->logp) == 0 &&
	       memcmp(a->entropy, b->entropy, sizeof a->entropy) == 0;
}

static struct handover room(struct world *s, size_t n)
{
	float *v = arena_raw(s->net.a, n + 16, sizeof *v);
	v += 16 - (uintptr_t)v / sizeof *v % 16;
	return (struct handover){.v = v, .room = n};
}

/* Same bits with and without, whatever the sizes and the number of threads. */
static void same_bits(struct world *s, const char *name)
{
	static uint16_t action[STEPS][SAMPLES * N];
	static float logp[STEPS][SAMPLES * N * K];
	draw_all(s, NULL, NULL);
	memcpy(action, s->action, sizeof action);
	memcpy(logp, s->drawn_logp, sizeof logp);
	const struct answer plain = replay(s, STEPS, NULL);
	struct handover h = room(s, ROOM);
	draw_all(s, NULL, &h);
	tap(memcmp(action, s->action, sizeof action) == 0 &&
		    memcmp(logp, s->drawn_logp, sizeof logp) == 0,
	    "%s: the draw is the same", name);
	const struct answer handed = replay(s, STEPS, &h);
	tap(h.n > 0 && h.used && same(s, &plain, &handed), "%s: the replay has the same bits",
	    name);
	size_t reads = 0, probes = 0;
	for (size_t i = 0; i < h.n; i += h.n / 13) {
		float right = h.v[i];
		h.v[i] = right + 1;
		const struct answer other = replay(s, STEPS, &h);
		h.v[i] = right;
		reads += !same(s, &plain, &other);
		probes++;
	}
	tap(reads > probes / 2, "%s: and reads what it was given (%zu of %zu)", name, reads,
	    probes);

	/* what is of something else */
	float *parameter = &s->net.policy->data[s->net.policy->n / 2], was = *parameter;
	*parameter += 0.25f;
	const struct answer moved = replay(s, STEPS, NULL), stale = replay(s, STEPS, &h);
	tap(!h.used && same(s, &moved, &stale), "%s: not with other parameters", name);
	*parameter = was;
	uint16_t *last = &s->action[1][SAMPLES * s->q[1].n_groups - 1];
	*last = (uint16_t)((*last + 1) % K);
	const struct answer changed = replay(s, STEPS, NULL), not = replay(s, STEPS, &h);
	tap(!h.used && same(s, &changed, &not ), "%s: not with other devices", name);
	*last = (uint16_t)((*last + K - 1) % K);
	const struct answer few = replay(s, STEPS - 1, NULL), too_few = replay(s, STEPS - 1, &h);
	tap(!h.used && same(s, &few, &too_few), "%s: not with fewer steps", name);

	/* a sample that is drawn again */
	draw_all(s, action[0], &h);
	bool again = memcmp(action[0], s->action[0], s->q[0].n_groups * sizeof **action) != 0;
	const struct answer late = replay(s, STEPS, NULL), late_handed = replay(s, STEPS, &h);
	tap(again && h.used && same(s, &late, &late_handed), "%s: of the last try", name);

	struct handover small = room(s, h.n - 1);
	draw_all(s, NULL, &small);
	const struct answer none = replay(s, STEPS, &small);
	tap(small.n == 0 && !small.used && same(s, &plain, &none), "%s: not where there is no room",
	    name);
}

static void networks(void)
{
	static const char *const name[] = {"rnn", "hierarchical"};
	struct pool *pool = pool_new(2, NULL);
	for (int i = 0; i < 2; i++)
		for (int hidden = 13; hidden <= 32; hidden += 19) {
			const struct net *net = net_find(name[i]);
			void *h = net_hyper_new(net, RECIPE_PAPER);
			for (const struct named_field *f = net->fields; f->name; f++)
				if (strcmp(f->name, "hidden") == 0)
					field_set(h, f, hidden);
			struct world s;
			char title[80];
			snprintf(title, sizeof title, "%s, %d wide", net->name, hidden);
			world_of(&s, net, h, hidden == 32 ? pool : NULL);
			same_bits(&s, title);
			world_release(&s);
			mem_free(h);
		}
	pool_free(pool);
}

/* A network that hands nothing over says so. */
static void others(void)
{
	const struct net *net = net_find("placeto");
	void *h = net_hyper_new(net, RECIPE_PAPER);
	struct world s;
	world_of(&s, net, h, NULL);
	struct handover given = room(&s, ROOM);
	draw_all(&s, NULL, &given);
	const struct answer plain = replay(&s, STEPS, NULL), handed = replay(&s, STEPS, &given);
	tap(given.n == 0 && !given.used && same(&s, &plain, &handed), "placeto hands nothing over");
	world_release(&s);
	mem_free(h);
}

static struct handover_rec give(struct handover_giver *g, size_t n, uint64_t key)
{
	const struct rollout_id id = {.episode = 1};
	struct handover h = handover_next(g);
	if (h.room == 0)
		return (struct handover_rec){0};
	for (size_t i = 0; i < n; i++)
		h.v[i] = (float)key;
	h.n = n;
	h.steps = 1;
	h.key = key;
	return handover_give(g, &h, &id);
}

/* The memory between programs; this one is both. */
static void memory(void)
{
	struct handover_giver g = {0};
	struct handover_taker t = {0};
	struct handover h;
	handover_begin(&g);
	const struct handover_rec one = give(&g, 1000, 7), two = give(&g, 33, 8);
	if (!one.n) {
		tap(true, "no memory that programs can share # SKIP");
		return;
	}
	bool first = handover_take(&t, &one, &h) && h.n == 1000 && h.v[0] == 7 && h.v[999] == 7;
	tap(first && handover_take(&t, &two, &h) && h.n == 33 && h.v[0] == 8 && h.v[32] == 8 &&
		    (uintptr_t)h.v % 64 == 0,
	    "what is given is taken");
	struct handover_rec bad = one;
	bad.key++;
	bool refused = !handover_take(&t, &bad, &h);
	bad = one;
	bad.n -= 4;
	refused = refused && !handover_take(&t, &bad, &h);
	bad = one;
	bad.at += 64;
	refused = refused && !handover_take(&t, &bad, &h);
	bad.at = UINT64_MAX - 63;
	refused = refused && !handover_take(&t, &bad, &h);
	bad = one;
	bad.n = UINT64_MAX - 3;
	refused = refused && !handover_take(&t, &bad, &h);
	bad.n = 0;
	refused = refused && !handover_take(&t, &bad, &h);
	tap(refused, "another key, size or place is refused");
	handover_begin(&g);
	struct handover next = handover_next(&g);
	tap(next.room > 1000 && !handover_take(&t, &one, &h),
	    "of an episode that is over nothing is left");

	bad = two;
	bad.fd = (uint32_t)open("/dev/zero", O_RDONLY);
	refused = !handover_take(&t, &bad, &h);
	bad.fd = 1 << 20;
	refused = refused && !handover_take(&t, &bad, &h);
	bad.pid = 0;
	refused = refused && !handover_take(&t, &bad, &h);
	tap(refused, "another file, or none, is refused");
	tap(!handover_take(&t, &one, &h) && handover_take(&t, &two, &h),
	    "and then memory is found again");
	handover_giver_release(&g);
	tap(h.v[0] == 8, "what is taken stays when its program has ended");
	handover_taker_release(&t);
	tap(!handover_take(&t, &two, &h), "but is not found any more");
	handover_taker_release(&t);
}

int main(void)
{
	networks();
	others();
	memory();
	return tap_end();
}
