/* training.c - the state of a training between the records of its loop. */
#include "learn/train/training.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void training_init(struct training *t, struct pool *pool)
{
	*t = (struct training){.arena = arena_new()};
	trainer_init(&t->trainer, pool);
	learn_problem_init(&t->problem);
}

void training_release(struct training *t)
{
	feedback_stop(&t->loop);
	mem_free(t->incumbent_device);
	rollout_release(&t->rollout);
	learner_release(&t->l);
	learn_problem_release(&t->problem);
	trainer_release(&t->trainer);
	arena_free(t->arena);
}

/* ---- the FIFO ---- */

/* Of the next episode's moves. */
static double adapted_share(const struct training *t)
{
	const struct recipe *r = &t->recipe;
	double grown = (double)t->l.episode / (double)r->adapt_episodes;
	return t->l.moves.fresh ? 0 : r->adapt * fmin(1, grown);
}

/* The next episode is around the best placement so far, or where moves are run around that of the
 * walk.  Where latencies are measured it
 * may be the luckiest rather than the best: it is run a second time before it counts. */
static void choose_incumbent(struct training *t)
{
	const struct candidates *all = &t->l.cand;
	uint32_t order[CANDIDATES_MAX];
	mem_free(t->incumbent_device);
	t->incumbent = (struct incumbent){0};
	t->incumbent_device = NULL;
	if (t->recipe.leaves == 0)
		return;
	if (t->l.moves.costs.params && t->l.walk.device) {
		const struct walk *w = &t->l.walk;
		t->incumbent_device = mem_copy(w->device, w->n_sets, sizeof *w->device);
		t->incumbent = (struct incumbent){.device = t->incumbent_device,
						  .leaves = t->recipe.leaves,
						  .ratio = w->ratio,
						  .again = w->again,
						  .adapted = adapted_share(t),
						  .n_tried = w->n_tried,
						  .tried = w->tried};
		return;
	}
	if (candidates_rank(all, 1, order) == 0)
		return;
	const struct candidate *c = &all->c[order[0]];
	t->incumbent_device = mem_copy(c->device, all->n_sets, sizeof *c->device);
	t->incumbent = (struct incumbent){.device = t->incumbent_device,
					  .leaves = t->recipe.leaves,
					  .ratio = c->ratio,
					  .again = t->l.noisy && c->runs == 1 &&
						   strcmp(c->source, "single") != 0};
}

/* Ask for the next episode, with parameters where there are some, or end the loop.  The
 * first time beside the main thread, which may be adding candidates and the stream's
 * parameters already: then there are those of a checkpoint, or none. */
static int ask_episode(void *training, struct err *e)
{
	struct training *t = training;
	struct rec_writer *w = t->loop.w;
	uint32_t steps = budget_steps(&t->budget, t->l.episode, t->l.best_episode);
	if (*t->interrupted)
		steps = 0;
	if (steps == 0)
		return feedback_end(&t->loop, e);
	for (int b = 0; t->send_net && b < N_BLOCKS; b++)
		if (param_block_encode(&t->l.block[b], w, e) < 0)
			return -1;
	const struct learned_params *const moves[] = {t->l.moves.costs.params,
						      t->l.moves.adapt.params};
	for (int i = 0; t->send_moves && i < 2; i++)
		if (moves[i] && learned_params_encode(moves[i], moves[i]->seed, w, e) < 0)
			return -1;
	const struct episode_rec x = {.episode = t->l.episode + 1,
				      .steps = steps,
				      .samples = t->budget.samples,
				      .visits = (uint32_t)t->recipe.visits,
				      .single_reference = t->l.episode == t->first_episode,
				      .incumbent = t->incumbent};
	return episode_encode(&x, x.incumbent.device ? t->l.cand.n_sets : 0, w, e);
}

static int resume(struct training *t, struct err *e)
{
	if (!t->resume || access(t->checkpoint, F_OK) != 0)
		return 0;
	t->resumed = t->references_again = true;
	if (checkpoint_read(t->checkpoint, &t->recipe, &t->l, &t->resumed_key, t->arena, e) < 0)
		return -1;
	t->send_net = true;
	t->send_moves = t->l.moves.costs.params != NULL;
	if (t->send_moves)
		budget_moves(&t->budget);
	return 0;
}

int training_start(struct training *t, struct err *e)
{
	if (resume(t, e) < 0)
		return -1;
	t->first_episode = t->l.episode;
	choose_incumbent(t);
	return t->fifo ? feedback_start(&t->loop, t->fifo, t->f, ask_episode, t, e) : 0;
}

/* ---- one episode ---- */

/* Devices and features are known: nothing of the problem comes after this. */
static int begin_problem(struct training *t, struct err *e)
{
	struct learn_problem *p = &t->problem;
	if (t->ready)
		return 0;
	if (learn_problem_check(p, t->fifo != NULL, true, e) < 0)
		return -1;
	const struct checkpoint_key key = {p->digest, p->n, p->devs.k, p->devs.names};
	if (t->resumed) {
		if (checkpoint_fits(&t->resumed_key, &key, e) < 0)
			return -1;
	} else {
		candidates_init(&t->l.cand, p->n);
	}
	rollout_init(&t->rollout, p->digest, p->n, t->fifo ? p->d : 0);
	for (uint32_t i = 0; i < p->devs.k; i++)
		t->rollout.memory += (double)p->devs.mem_bytes[i];
	struct trainer *x = &t->trainer;
	x->recipe = &t->recipe;
	x->graph = &p->graph;
	x->together = p->together;
	x->n = p->n;
	x->d = p->d;
	x->k = p->devs.k;
	x->x = p->x;
	x->mask = p->mask;
	t->ready = true;
	return 0;
}

static int take_episode(struct training *t, const struct rec *r, struct err *e)
{
	if (feedback_join(&t->loop, e) < 0 || begin_problem(t, e) < 0)
		return -1;
	if (!t->fifo)
		return err_set(e, ST_INPUT, "an episode without --params-to");
	if (t->in_episode)
		return err_set(e, ST_INPUT, "an episode inside another");
	if (rollout_begin(&t->rollout, r, t->problem.devs.k, e) < 0)
		return -1;
	if (t->rollout.episode != t->l.episode + 1)
		return err_set(e, ST_INPUT, "episode %u is not the one that was asked for",
			       t->rollout.episode);
	t->in_episode = true;
	budget_episode_begin(&t->budget);
	return 0;
}

/* Parameters of every block are there, and fit the problem. */
static int check_blocks(struct training *t, struct err *e)
{
	if (t->checked)
		return 0;
	for (int b = 0; b < N_BLOCKS; b++) {
		if (!t->l.block[b].p)
			return err_set(
				e, ST_INPUT, "no params of block '%s' in the stream; %s sends them",
				block_names[b], b == BLOCK_POLICY ? "placepolicy" : "gpnembed");
		if (param_block_check(&t->l.block[b], t->problem.d, t->problem.devs.k, e) < 0)
			return -1;
	}
	t->checked = true;
	return param_blocks_match(t->l.block, NULL, e);
}

static int take_episode_end(struct training *t, const struct rec *r, struct update_rec *u,
			    struct err *e)
{
	uint32_t episode;
	if (episode_end_decode(r, &episode, e) < 0)
		return -1;
	if (!t->in_episode || episode != t->rollout.episode)
		return err_set(e, ST_INPUT, "the end of an episode that did not begin");
	t->in_episode = false;
	if (rollout_complete(&t->rollout, e) < 0 || check_blocks(t, e) < 0 ||
	    train_episode(&t->trainer, &t->l, &t->rollout, u, e) < 0)
		return -1;
	t->send_net = t->trainer.net_changed;
	t->send_moves = t->trainer.moves_changed;
	if (t->l.moves.costs.params) {
		budget_moves(&t->budget);
		walk_step(&t->l.walk, &t->rollout, &t->l.cand,
			  t->recipe.heat * (1 - budget_spent(&t->budget, episode)), t->l.noisy);
	}
	update_list_add(&t->l.updates, u);
	budget_episode_end(&t->budget, t->rollout.n_steps);
	const struct learn_problem *p = &t->problem;
	const struct checkpoint_key key = {p->digest, p->n, p->devs.k, p->devs.names};
	if (t->checkpoint && checkpoint_write(t->checkpoint, &key, &t->recipe, &t->l, t->f, e) < 0)
		return -1;
	t->references_again = false;
	choose_incumbent(t);
	return t->loop.ended ? 0 : ask_episode(t, e);
}

/* Every run is a candidate for the answer; on resuming, the single-device references have been. */
static int take_run(struct training *t, const struct rec *r, struct err *e)
{
	const struct sample *x;
	if (rollout_run(&t->rollout, r, &x, e) < 0)
		return -1;
	if (x->run.has_clock)
		budget_played(&t->budget, x->run.began_s, x->run.clock_s);
	bool reference = !sample_is_drawn(x) && !sample_is_measured(x);
	if (!x->run.ok && (!*t->failure || (t->failed_reference && !reference))) {
		err_escape(t->failure, sizeof t->failure, x->run.reason, strlen(x->run.reason));
		t->failed_reference = reference;
	}
	t->l.noisy = t->l.noisy || x->run.noisy;
	if (!x->run.ok ||
	    (t->references_again && reference && candidates_find(&t->l.cand, x->place.device)))
		return 0;
	struct candidate c = {.device = (uint16_t *)x->place.device,
			      .episode = x->place.id.episode,
			      .step = x->place.id.step,
			      .sample = x->place.id.sample,
			      .n_groups = rollout_groups(&t->rollout, x),
			      .lat_s = x->run.lat_s,
			      .ref_s = x->run.ref_s,
			      .has_value = x->run.has_value,
			      .value = x->run.value,
			      .ref_value = x->run.ref_value};
	snprintf(c.source, sizeof c.source, "%s", x->place.source);
	candidates_add(&t->l.cand, &c);
	return 0;
}

/* A record of the rollout.  Outside a loop nothing is replayed: placements and their
 * runs are ranked. */
static int take_rollout(struct training *t, const struct rec *r, struct err *e)
{
	/* Before the first episode: placements by others, as candidates. */
	if (t->fifo && !t->in_episode && (t->rollout.begun || rec_is(r, "part")))
		return err_set(e, ST_INPUT, "%s: outside of an episode", r->kind);
	if (begin_problem(t, e) < 0)
		return -1;
	if (rec_is(r, "part"))
		return t->fifo ? rollout_part(&t->rollout, r, e) : 0;
	if (rec_is(r, "handover"))
		return t->fifo ? rollout_handover(&t->rollout, r, e) : 0;
	if (rec_is(r, "place"))
		return rollout_place(&t->rollout, r, t->problem.devs.names, t->problem.devs.k, e);
	return take_run(t, r, e);
}

int training_take(struct training *t, const struct rec *r, struct update_rec *u, struct err *e)
{
	int rc = learn_problem_take(&t->problem, r, e);
	if (*t->interrupted && !t->loop.opening && feedback_end(&t->loop, e) < 0)
		return -1;
	if (rc != 0)
		return rc < 0 ? -1 : TRAINING_PROBLEM;
	if (rec_is(r, "params"))
		return learner_params(&t->l, r, e);
	if (rec_is(r, "episode"))
		return take_episode(t, r, e);
	if (rec_is(r, "episode_end"))
		return take_episode_end(t, r, u, e) < 0 ? -1 : TRAINING_LEARNED;
	if (rec_is(r, "part") || rec_is(r, "place") || rec_is(r, "run") || rec_is(r, "handover"))
		return take_rollout(t, r, e);
	return TRAINING_OTHER;
}

int training_finish(struct training *t, struct err *e)
{
	if (feedback_join(&t->loop, e) < 0)
		return -1;
	if (t->fifo && !t->loop.ended)
		return err_set(e, ST_INPUT,
			       "the input ended before the training; is gpnembed "
			       "--params-from in front?");
	return begin_problem(t, e);
}
