/* bench_placer.c - seconds of one update of the Hierarchical Planner as its recipe has it, on one thread or THREADS:
 * embeddings and groups of every step, placements drawn, replay of forward and backward pass, Adam.
 *
 *   bench_placer STREAM [REPEATS [NET [THREADS [hand-over]]]]
 *
 * With the last word the replay finds in shared memory what the draw computed, as behind placepolicy --hand-over;
 * this process is both then, and opens its own memory as reinforce does.  Its key is in what is timed.
 *
 * A stream has a graph and its features: ir2dag M.xml | dagfeat -o STREAM.  tests/bench/placer.py has the
 * same network in PyTorch and compares. */
#include "base/clock.h"
#include "learn/net/handover.h"
#include "learn/net/sampling.h"
#include "learn/tape/tape.h"
#include "read_problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 5, SAMPLES = 2, DEVICES = 2 };

/* What is timed: draw is embedding, grouping, drawing; learn is replay; adam is the rest. */
struct timing {
	double draw, learn, adam, groups;
};

struct world {
	struct net_model m;
	struct params *block[2];
	struct adam adam[2];
	float *grad[2];
	struct net_work *w;
	struct replayer *r;
	const float *x;
	bool hand_over;
	struct handover_giver giver;
	struct handover_taker taker;
};

/* A partition that outlives the next call. */
static void keep_partition(struct arena *a, struct partition *p, uint32_t n, uint32_t d)
{
	size_t size = (size_t)p->n_groups * d;
	p->group = memcpy(arena_raw(a, n, sizeof *p->group), p->group, n * sizeof *p->group);
	p->z = memcpy(arena_raw(a, size, sizeof *p->z), p->z, size * sizeof *p->z);
	if (p->label)
		p->label = memcpy(arena_raw(a, p->n_groups, 4), p->label, p->n_groups * 4);
	struct parse_round *round = arena_raw(a, p->n_rounds, sizeof *round);
	for (uint32_t q = 0; q < p->n_rounds; q++) {
		uint32_t kept = p->round[q].n_kept;
		round[q] = p->round[q];
		round[q].kept = memcpy(arena_raw(a, kept, 4), p->round[q].kept, kept * 4);
	}
	p->round = round;
}

static void one_update(struct world *s, uint32_t episode, struct timing *t)
{
	struct err e = ERR_INIT;
	struct arena *a = arena_new();
	struct partition part[STEPS];
	struct rng_addr rng[STEPS], draw_rng[STEPS][SAMPLES];
	struct replay_step step[STEPS];
	double coef[SAMPLES], logp[STEPS][SAMPLES], groups = 0;
	uint32_t n = s->m.graph->n;
	struct draw draw[STEPS];
	struct to_place q[STEPS];
	struct drawn drawn[STEPS];
	struct handover given = {0}, taken;
	bool handed = false;
	for (uint32_t i = 0; i < STEPS; i++)
		rng[i] = (struct rng_addr){.seed = 1, .episode = episode, .step = i};
	double t0 = clock_s();
	handover_begin(&s->giver);
	if (s->hand_over)
		given = handover_next(&s->giver);
	check(net_embed_steps(s->w, &s->m, s->x, STEPS, rng, NULL, NULL, 0, part, &e), &e);
	for (uint32_t i = 0; i < STEPS; i++) {
		keep_partition(a, &part[i], n, s->m.d);
		for (uint32_t k = 0; k < SAMPLES; k++)
			draw_rng[i][k] = (struct rng_addr){
				.seed = 1, .episode = episode, .step = i, .stream = RNG_ACTION + k};
		draw[i] = (struct draw){SAMPLES, false, draw_rng[i], NULL,
					given.room ? &given : NULL};
		q[i] = (struct to_place){
			.z = part[i].z, .n_groups = part[i].n_groups, .group = part[i].group};
	}
	check(net_draw_steps(s->w, &s->m, STEPS, q, draw, drawn, &e), &e);
	if (given.n > 0) {
		const struct rollout_id id = {0};
		const struct handover_rec told = handover_give(&s->giver, &given, &id);
		handed = handover_take(&s->taker, &told, &taken);
	}
	for (uint32_t i = 0; i < STEPS; i++) {
		size_t size = (size_t)SAMPLES * part[i].n_groups;
		step[i] = (struct replay_step){
			.x = s->x,
			.rng = &rng[i],
			.part = &part[i],
			.n_samples = SAMPLES,
			.action = memcpy(arena_raw(a, size, 2), drawn[i].action, size * 2),
			.coef_logp = coef,
			.handover = handed ? &taken : NULL,
			.logp = logp[i]};
		groups += (double)part[i].n_groups / STEPS;
	}
	for (int i = 0; i < SAMPLES; i++)
		coef[i] = i ? -0.1 : 0.1;
	double t1 = clock_s();
	for (int b = 0; b < 2; b++)
		memset(s->grad[b], 0, s->block[b]->n * sizeof **s->grad);
	check(replayer_run(s->r, &s->m, step, STEPS, s->grad[0], s->grad[1], &e), &e);
	double t2 = clock_s();
	double norm = sqrt(params_norm2(s->grad[0], s->block[0]->n) +
			   params_norm2(s->grad[1], s->block[1]->n));
	for (int b = 0; b < 2; b++)
		adam_step(&s->adam[b], s->block[b]->data, s->grad[b], params_clip(norm, 1));
	double t3 = clock_s();
	*t = (struct timing){t1 - t0, t2 - t1, t3 - t2, groups};
	arena_free(a);
}

int main(int argc, char **argv)
{
	int repeats = argc > 2 ? atoi(argv[2]) : 10;
	const struct net *net = net_find(argc > 3 ? argv[3] : "hierarchical");
	int threads = argc > 4 ? atoi(argv[4]) : 1;
	bool hand_over = argc > 5 && strcmp(argv[5], "hand-over") == 0;
	if (argc < 2 || repeats < 1 || !net || threads < 1 || (argc > 5 && !hand_over)) {
		fprintf(stderr,
			"usage: bench_placer STREAM [REPEATS [NET [THREADS [hand-over]]]]\n");
		return 2;
	}
	struct learn_problem p;
	struct timing best = {INFINITY, INFINITY, INFINITY, 0}, t;
	double whole = INFINITY;
	struct err e = ERR_INIT;
	check(tape_choose_products(&e), &e);
	read_problem(&p, argv[1]);
	enum recipe_kind recipe = RECIPE_PAPER;
	const void *h = net_defaults(net, recipe);
	struct world s = {.x = p.x, .hand_over = hand_over};
	s.block[0] = net->embed_init(h, p.d, 1);
	s.block[1] = net->policy_init(h, p.d, DEVICES, 1);
	s.m = (struct net_model){net, h, &p.graph, NULL, p.d, DEVICES, s.block[0], s.block[1]};
	struct pool *pool = threads > 1 ? pool_new(threads, NULL) : NULL;
	s.w = net_work_new(NULL); /* as placepolicy has it */
	s.r = replayer_new(pool);
	for (int b = 0; b < 2; b++) {
		s.grad[b] = MEM_NEWN(float, s.block[b]->n);
		adam_init(&s.adam[b], s.block[b]->n, 1e-4);
	}
	for (int i = 0; i <= repeats; i++) {
		one_update(&s, (uint32_t)i + 1, &t);
		if (i == 0)
			continue; /* memory is new */
		whole = fmin(whole, t.draw + t.learn + t.adam);
		best.draw = fmin(best.draw, t.draw);
		best.learn = fmin(best.learn, t.learn);
		best.adam = fmin(best.adam, t.adam);
		best.groups += t.groups / repeats;
	}
	printf("%s %.6f draw %.6f learn %.6f adam %.6f groups %.1f parameters %zu\n", net->name,
	       whole, best.draw, best.learn, best.adam, best.groups, s.block[0]->n + s.block[1]->n);
	for (int b = 0; b < 2; b++) {
		mem_free(s.grad[b]);
		adam_release(&s.adam[b]);
		params_free(s.block[b]);
	}
	handover_giver_release(&s.giver);
	handover_taker_release(&s.taker);
	replayer_free(s.r);
	net_work_free(s.w);
	pool_free(pool);
	learn_problem_release(&p);
	return 0;
}
