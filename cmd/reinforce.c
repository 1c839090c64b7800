/* reinforce - the last stage of the training loop: gathers an episode, turns
 * latencies into an update of the parameters, asks for the next episode over a
 * FIFO, and in the end names the best placements that were run. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/blas.h"
#include "base/mem.h"
#include "base/msg.h"
#include "base/opt.h"
#include "learn/budget.h"
#include "learn/checkpoint.h"
#include "learn/feedback.h"
#include "learn/field.h"
#include "learn/problem.h"
#include "learn/train.h"
#include "stream/filter.h"

struct options {
	const char *fifo, *checkpoint;
	bool resume, keep;
	int recipe;
	int64_t episodes, steps, patience, candidates, threads;
	double seconds;
	struct field_options recipe_fields;
};

struct stage {
	const struct options *o;
	struct recipe recipe;
	struct filter f;
	struct problem problem;
	struct trainer trainer;
	struct learner l;
	struct rollout rollout;
	struct feedback loop;
	struct incumbent incumbent;         /* of the episode to ask for */
	uint16_t *incumbent_device;
	uint32_t first_episode;             /* done when this program started */
	struct arena *arena;
	struct checkpoint_key resumed_key;
	bool resumed, settled, checked, in_episode, told_history, anchors_again;
	char failure[300];                  /* why the first infeasible placement failed */
	struct budget budget;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

/* ---- the FIFO ---- */

/* The next episode is around the best placement so far.  Where latencies are measured it
 * may be the luckiest rather than the best: it is run a second time before it counts. */
static void choose_incumbent(struct stage *s)
{
	const struct candidates *all = &s->l.cand;
	uint32_t order[CANDIDATES_MAX];
	mem_free(s->incumbent_device);
	s->incumbent = (struct incumbent){0};
	s->incumbent_device = NULL;
	if (s->recipe.leaves == 0 || candidates_rank(all, 1, order) == 0)
		return;
	const struct candidate *c = &all->c[order[0]];
	s->incumbent_device = mem_copy(c->device, all->n_sets, sizeof *c->device);
	s->incumbent = (struct incumbent){
		.device = s->incumbent_device, .leaves = s->recipe.leaves, .ratio = c->ratio,
		.again = s->l.noisy && c->runs == 1 && strcmp(c->source, "single") != 0};
}

/* Ask for the next episode, with parameters where there are some, or end the loop.  The
 * first time beside the main thread, which may be adding candidates already. */
static int ask(void *stage, struct err *e)
{
	struct stage *s = stage;
	struct rec_writer *w = s->loop.w;
	uint32_t steps = interrupted ? 0 : budget_steps(&s->budget, s->l.episode, s->l.best_episode);
	if (steps == 0)
		return feedback_end(&s->loop, e);
	for (int b = 0; b < N_BLOCKS; b++)
		if (s->l.block[b].p && paramrec_write(&s->l.block[b], w, e) < 0)
			return -1;
	const struct episode x = {.episode = s->l.episode + 1, .steps = steps,
				  .anchors = s->l.episode == s->first_episode,
				  .incumbent = s->incumbent};
	return episode_encode(&x, x.incumbent.device ? s->l.cand.n_sets : 0, w, e);
}

/* ---- results ---- */

/* What a run before the checkpoint had written already. */
static int tell_history(struct stage *s, struct err *e)
{
	for (size_t i = 0; !s->told_history && i < s->l.hist.n; i++)
		if (update_write(&s->l.hist.u[i], s->f.out, e) < 0)
			return -1;
	s->told_history = true;
	return 0;
}

static int write_results(struct stage *s, struct err *e)
{
	uint32_t order[CANDIDATES_MAX];
	uint32_t n = candidates_rank(&s->l.cand, (uint32_t)s->o->candidates, order);
	if (tell_history(s, e) < 0)
		return -1;
	for (int b = 0; b < N_BLOCKS; b++)
		if (s->l.block[b].p && paramrec_write(&s->l.block[b], s->f.out, e) < 0)
			return -1;
	if (n == 0)
		return err_set(e, ST_RUNTIME, "no placement could be run%s%s", *s->failure ? ": " : "",
			       s->failure);
	if (candidates_tell(&s->l.cand, n, order, s->problem.digest, &s->problem.devs, s->f.out, e) < 0)
		return -1;
	const struct candidate *c = &s->l.cand.c[order[0]];
	msg_progress(NULL);
	if (msg_verbosity() >= 1 || isatty(STDERR_FILENO))
		msg_note(0, "%u episodes, %llu placements run; best %.4g ms, %.3f of the best single device "
			 "(%s, episode %u, %u groups)", s->l.episode,
			 (unsigned long long)s->l.cand.n_seen, 1e3 * c->lat_s, c->ratio, c->source,
			 c->episode, c->n_groups);
	return filter_end(&s->f, e);
}

/* ---- one episode ---- */

/* Devices and features are known: nothing of the problem comes after this. */
static int settle(struct stage *s, struct err *e)
{
	struct problem *p = &s->problem;
	if (s->settled)
		return 0;
	if (problem_check(p, s->o->fifo != NULL, true, e) < 0)
		return -1;
	const struct checkpoint_key key = {p->digest, p->n, p->devs.k, p->devs.names};
	if (s->resumed) {
		if (checkpoint_fits(&s->resumed_key, &key, e) < 0)
			return -1;
	} else {
		candidates_init(&s->l.cand, p->n);
	}
	rollout_init(&s->rollout, p->digest, p->n, s->o->fifo ? p->d : 0);
	struct trainer *t = &s->trainer;
	t->recipe = &s->recipe;
	t->graph = &p->graph;
	t->n = p->n;
	t->d = p->d;
	t->k = p->devs.k;
	t->x = p->x;
	t->mask = p->mask;
	s->settled = true;
	return 0;
}

static int take_episode(struct stage *s, const struct rec *r, struct err *e)
{
	if (feedback_join(&s->loop, e) < 0 || settle(s, e) < 0 || tell_history(s, e) < 0)
		return -1;
	if (!s->o->fifo)
		return err_set(e, ST_INPUT, "an episode without --params-to");
	if (s->in_episode)
		return err_set(e, ST_INPUT, "an episode inside another");
	if (rollout_begin(&s->rollout, r, s->problem.devs.k, e) < 0)
		return -1;
	if (s->rollout.episode != s->l.episode + 1)
		return err_set(e, ST_INPUT, "episode %u is not the one that was asked for",
			       s->rollout.episode);
	s->in_episode = true;
	budget_episode_begin(&s->budget);
	return 0;
}

static void tell_progress(struct stage *s, const struct update *u)
{
	char left[40] = "";
	double seconds = budget_left(&s->budget, u->episode);
	if (seconds >= 1)
		snprintf(left, sizeof left, ", %d:%02d left", (int)(seconds / 60), (int)seconds % 60);
	msg_progress("episode %u of %lld: best %.3f of the best single device, mean %.4g ms, "
		     "%.0f groups, entropy %.3g%s", u->episode, (long long)s->o->episodes, u->best_ratio,
		     1e3 * u->mean_s, u->groups, u->entropy, left);
	msg_note(2, "episode %u: best ratio %.4f, mean %.4g ms, %u failed, %.1f groups, entropy %.4g, "
		 "gradient %.3g", u->episode, u->best_ratio, 1e3 * u->mean_s, u->failed, u->groups,
		 u->entropy, u->grad_norm);
}

/* gpnembed has an option of the same name. */
static void compare_recipes(const struct stage *s)
{
	const char *theirs = s->l.block[BLOCK_EMBED].recipe, *ours = recipe_names[s->o->recipe];
	if (theirs && strcmp(theirs, ours) != 0)
		msg_warn("the recipe is '%s' here and '%s' at gpnembed; give both the same --recipe",
			 ours, theirs);
}

static int learn(struct stage *s, struct err *e)
{
	struct update u;
	for (int b = 0; b < N_BLOCKS && !s->checked; b++) {
		if (!s->l.block[b].p)
			return err_set(e, ST_INPUT, "no params of block '%s' in the stream", block_names[b]);
		if (param_block_check(&s->l.block[b], s->problem.d, s->problem.devs.k, e) < 0)
			return -1;
	}
	if (!s->checked)
		compare_recipes(s);
	s->checked = true;
	if (train_episode(&s->trainer, &s->l, &s->rollout, &u, e) < 0)
		return -1;
	history_add(&s->l.hist, &u);
	budget_episode_end(&s->budget, s->rollout.n_steps);
	tell_progress(s, &u);
	return update_write(&u, s->f.out, e);
}

static int take_episode_end(struct stage *s, const struct rec *r, struct err *e)
{
	uint32_t episode;
	if (episode_end_decode(r, &episode, e) < 0)
		return -1;
	if (!s->in_episode || episode != s->rollout.episode)
		return err_set(e, ST_INPUT, "the end of an episode that did not begin");
	s->in_episode = false;
	if (rollout_complete(&s->rollout, e) < 0 || learn(s, e) < 0)
		return -1;
	const struct problem *p = &s->problem;
	const struct checkpoint_key key = {p->digest, p->n, p->devs.k, p->devs.names};
	if (s->o->checkpoint &&
	    checkpoint_write(s->o->checkpoint, &key, &s->recipe, &s->l, &s->f, e) < 0)
		return -1;
	s->anchors_again = false;
	choose_incumbent(s);
	return s->loop.ended ? 0 : ask(s, e);
}

/* Every run is a candidate for the answer; on resuming, the anchors have been. */
static int take_run(struct stage *s, const struct rec *r, struct err *e)
{
	const struct sample *x;
	if (rollout_run(&s->rollout, r, &x, e) < 0)
		return -1;
	if (!x->run.ok && !*s->failure)
		err_escape(s->failure, sizeof s->failure, x->run.reason, strlen(x->run.reason));
	s->l.noisy = s->l.noisy || x->run.noisy;
	if (!x->run.ok ||
	    (s->anchors_again && !x->place.action && candidates_has(&s->l.cand, x->place.device)))
		return 0;
	struct candidate c = {.device = (uint16_t *)x->place.device, .episode = x->place.id.episode,
			      .step = x->place.id.step, .sample = x->place.id.sample,
			      .n_groups = x->place.action ? x->place.n_groups : 1,
			      .lat_s = x->run.lat_s, .ref_s = x->run.ref_s,
			      .has_value = x->run.has_value, .value = x->run.value,
			      .ref_value = x->run.ref_value};
	snprintf(c.source, sizeof c.source, "%s", x->place.source);
	candidates_add(&s->l.cand, &c);
	return 0;
}

/* ---- the filter ---- */

/* A record of the rollout.  Outside a loop nothing is replayed: placements and their
 * runs are ranked. */
static int take_rollout(struct stage *s, const struct rec *r, struct err *e)
{
	/* Before the first episode: placements by others, as candidates. */
	if (s->o->fifo && !s->in_episode && (s->rollout.begun || rec_is(r, "part")))
		return err_set(e, ST_INPUT, "%s: outside of an episode", r->kind);
	if (settle(s, e) < 0)
		return -1;
	if (rec_is(r, "part"))
		return s->o->fifo ? rollout_part(&s->rollout, r, e) : 0;
	if (rec_is(r, "place"))
		return rollout_place(&s->rollout, r, s->problem.devs.names, s->problem.devs.k, e);
	return take_run(s, r, e);
}

static int handle(struct stage *s, const struct rec *r, struct err *e)
{
	int rc = problem_take(&s->problem, r, e);
	bool pass = s->o->keep;
	if (interrupted && !s->loop.opening && feedback_end(&s->loop, e) < 0)
		return -1;
	if (rc < 0)
		return -1;
	if (rc > 0)
		pass = pass || !rec_is(r, "feat");
	else if (rec_is(r, "params"))
		rc = learner_params(&s->l, r, e);
	else if (rec_is(r, "episode"))
		rc = take_episode(s, r, e);
	else if (rec_is(r, "episode_end"))
		rc = take_episode_end(s, r, e);
	else if (rec_is(r, "part") || rec_is(r, "place") || rec_is(r, "run"))
		rc = take_rollout(s, r, e);
	else
		pass = true;
	if (rc < 0)
		return -1;
	return pass ? filter_pass(&s->f, r, e) : 0;
}

/* The end of the input: in a loop, an answer to the end of ours. */
static int finish(struct stage *s, struct err *e)
{
	if (feedback_join(&s->loop, e) < 0)
		return -1;
	if (s->o->fifo && !s->loop.ended)
		return err_set(e, ST_INPUT, "the input ended before the training; is gpnembed "
			       "--params-from in front?");
	return settle(s, e) < 0 ? -1 : write_results(s, e);
}

static int filter(struct stage *s, struct err *e)
{
	struct rec r;
	int k;
	bool finished = false;
	while ((k = filter_next(&s->f, &r, e)) > 0) {
		if (finished)
			return err_set(e, ST_INPUT, "a second stream; reinforce handles one graph");
		if (k == FILTER_RECORD) {
			if (handle(s, &r, e) < 0)
				return -1;
			continue;
		}
		if (finish(s, e) < 0)
			return -1;
		finished = true;
	}
	/* A stage that died of the interrupt that we are answering takes nothing away. */
	if (k < 0 && interrupted && s->settled && s->l.cand.n) {
		err_clear(e);
		return write_results(s, e);
	}
	return k;
}

static int resume(struct stage *s, struct err *e)
{
	if (!s->o->resume || access(s->o->checkpoint, F_OK) != 0)
		return 0;
	s->resumed = s->anchors_again = true;
	return checkpoint_read(s->o->checkpoint, &s->recipe, &s->l, &s->resumed_key, s->arena, e);
}

static void handle_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

static int run(const struct options *o, const struct recipe *recipe, const struct opt_common *common,
	       int argc, char **argv, const char *input, struct err *e)
{
	struct stage s = {.o = o, .recipe = *recipe, .arena = arena_new()};
	struct pool *pool = pool_new((int)o->threads, NULL);
	int k = -1;
	s.budget = (struct budget){.episodes = (uint64_t)o->episodes, .steps = (uint64_t)o->steps,
				   .patience = (uint64_t)o->patience, .seconds = o->seconds};
	budget_start(&s.budget);
	blas_init();
	handle_signals();
	trainer_init(&s.trainer, pool);
	problem_init(&s.problem);
	if (filter_open(&s.f, input, common, argc, argv, e) == 0) {
		s.f.threads = pool_size(pool);
		k = resume(&s, e);
		s.first_episode = s.l.episode;
		choose_incumbent(&s);
		if (k == 0 && o->fifo)
			k = feedback_start(&s.loop, o->fifo, &s.f, ask, &s, e);
		if (k == 0)
			k = filter(&s, e);
		feedback_stop(&s.loop);
		k = filter_close(&s.f, k, e);
	}
	mem_free(s.incumbent_device);
	rollout_release(&s.rollout);
	learner_release(&s.l);
	problem_release(&s.problem);
	trainer_release(&s.trainer);
	pool_free(pool);
	arena_free(s.arena);
	return k;
}

/* ---- options ---- */

static int check_options(const struct options *o, struct err *e)
{
	if (o->resume && !o->checkpoint)
		return err_set(e, ST_USAGE, "--resume needs --checkpoint FILE");
	if (o->checkpoint && !o->fifo)
		return err_set(e, ST_USAGE, "--checkpoint needs a loop, --params-to FIFO");
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = {.candidates = 5, .threads = pool_n_cpus()};
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	struct opt opts[FIELDS_MAX + 16] = {
		{"params-to", 0, OPT_TEXT, &o.fifo, "FIFO",
		 "train: parameters and episodes go there", 0, 0, NULL, NULL},
		{"recipe", 0, OPT_CHOICE, &o.recipe, "NAME", "how rewards become updates", 0, 0, recipe_names,
		 NULL},
		{"episodes", 0, OPT_INT, &o.episodes, "N",
		 "train so many; 0: 100 of the paper, 200 by default", 0, 4e9, NULL, NULL},
		{"steps", 0, OPT_INT, &o.steps, "N",
		 "steps of an episode; 0: 20 of the paper, 4 by default", 0, 1e6, NULL, NULL},
		{"seconds", 0, OPT_REAL, &o.seconds, "S",
		 "train no longer than this; 0: no limit", 0, 1e9, NULL, NULL},
		{"patience", 0, OPT_INT, &o.patience, "N",
		 "stop after N episodes without a better placement; 0: never", 0, 4e9, NULL, NULL},
		{"candidates", 0, OPT_INT, &o.candidates, "N", "best placements to write", 1,
		 CANDIDATES_MAX - 1, NULL, NULL},
		{"checkpoint", 0, OPT_TEXT, &o.checkpoint, "FILE", "keep the whole state there, each episode", 0,
		 0, NULL, NULL},
		{"resume", 0, OPT_FLAG, &o.resume, NULL, "go on from the checkpoint, if there is one", 0, 0,
		 NULL, NULL},
		{"keep", 'k', OPT_FLAG, &o.keep, NULL, "write every record that was read, too", 0, 0, NULL,
		 NULL},
		{"threads", 0, OPT_INT, &o.threads, "N", "threads; results do not depend on it", 1, 256,
		 NULL, NULL}};
	field_options_add(&o.recipe_fields, recipe_fields, &recipes[RECIPE_DEFAULT], NULL, opts, 11);
	const struct opt_program program = {
		.name = "reinforce", .summary = "learn placements from measured latencies",
		.args = "[FILE]", .max_args = 1, .opts = opts,
		.details = "Defaults are those of the default recipe; --recipe paper has its own.\n\n"
			   "With --leaves above 0 and --log-reward 1, as by default, every episode but the first is\n"
			   "around an incumbent: a sample that gains d > least of log latency over it has the\n"
			   "advantage min(1, d / gain), any other -blame (idle + min(1, max(0, -d) / loss));\n"
			   "--baseline and --normalise then act in the first episode only. Otherwise the options\n"
			   "marked `incumbent` have no effect.\n\n"
			   "What is made small is the latency, or the `value` of the runs where they have one\n"
			   "(devsim --objective): rewards, ratios and the ranking go by it.\n\n"
			   "Writes graph, devs, an `update` per episode, the final params, and the best placements as\n"
			   "`best`, rank 0 first, single devices included. An interrupt (SIGINT, SIGTERM) ends the\n"
			   "loop in order after the episode at hand; a second one ends the program. Without\n"
			   "--params-to nothing is learned: the placements that were run are ranked.",
		.example = "mkfifo loop\n"
			   "  ir2dag m.xml | dagfeat | devrun --probe -D cpu:0,cpu:1 |\n"
			   "  gpnembed --params-from loop | placepolicy | devrun |\n"
			   "  reinforce --params-to loop --checkpoint m.ck > result.mp"};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);
	if (rc <= 0)
		return opt_finish(rc, &e);
	rc = check_options(&o, &e);
	struct recipe recipe = recipes[o.recipe];
	field_options_apply(&o.recipe_fields, recipe_fields, &recipe);
	if (o.steps == 0)
		o.steps = o.recipe == RECIPE_PAPER ? 20 : 4;
	if (o.episodes == 0)
		o.episodes = o.recipe == RECIPE_PAPER ? 100 : 200;
	if (rc == 0)
		rc = run(&o, &recipe, &common, argc, argv, first < argc ? argv[first] : "-", &e);
	return opt_finish(rc, &e);
}
