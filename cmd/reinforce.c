/* reinforce - the last stage of the training loop: gathers an episode, turns
 * latencies into an update of the parameters, asks for the next episode over a
 * FIFO, and in the end names the best placements that were run. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/msg.h"
#include "base/opt.h"
#include "learn/net/named_field.h"
#include "learn/tape/tape.h"
#include "learn/train/training.h"
#include "learn/train/update_rule.h"
#include "stream/filter.h"

struct options {
	const char *fifo, *checkpoint;
	bool resume, keep;
	int recipe, update;
	int64_t episodes, steps, samples, patience, candidates, threads;
	double seconds;
	struct field_options recipe_fields;
};

struct filter_state {
	const struct options *o;
	struct filter f;
	struct training t;
	size_t n_written; /* updates that were written */
	bool compared;    /* recipes */
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

/* ---- results ---- */

/* Updates that were not written yet: after a start from a checkpoint, those before it, too. */
static int write_updates(struct filter_state *s, struct err *e)
{
	const struct update_list *h = &s->t.l.updates;
	for (; s->n_written < h->n; s->n_written++)
		if (update_encode(&h->u[s->n_written], s->f.out, e) < 0)
			return -1;
	return 0;
}

/* What to try when nothing that was placed by groups could be run; "": nothing. */
static const char *smaller_groups(const struct filter_state *s)
{
	const struct update_list *h = &s->t.l.updates;
	const struct param_block *b = &s->t.l.block[BLOCK_EMBED];
	if (!h->n || s->t.l.moves.costs.params || h->u[h->n - 1].groups >= s->t.problem.n)
		return "";
	for (const struct named_field *f = b->net->fields; f->name; f++)
		if (strcmp(f->name, "colocate") == 0 && field_get(b->hyper, f) != 0 &&
		    !s->t.problem.has_group)
			return "; smaller groups may be placed where these cannot: daggroup "
			       "--memory, or gpnembed --colocate 0";
	return "; smaller groups may be placed where these cannot: daggroup --memory";
}

static int write_results(struct filter_state *s, struct err *e)
{
	uint32_t order[CANDIDATES_MAX];
	uint32_t n = candidates_rank(&s->t.l.cand, (uint32_t)s->o->candidates, order);
	if (write_updates(s, e) < 0)
		return -1;
	for (int b = 0; b < N_BLOCKS; b++)
		if (s->t.l.block[b].p && param_block_encode(&s->t.l.block[b], s->f.out, e) < 0)
			return -1;
	const struct learned_params *costs = s->t.l.moves.costs.params;
	if (costs && learned_params_encode(costs, costs->seed, s->f.out, e) < 0)
		return -1;
	if (n == 0)
		return err_set(e, ST_RUNTIME, "no placement could be run%s%s%s",
			       *s->t.failure ? ": " : "", s->t.failure, smaller_groups(s));
	if (candidates_write_best(&s->t.l.cand, n, order, s->t.problem.digest, &s->t.problem.devs,
				  s->f.out, e) < 0)
		return -1;
	const struct candidate *c = &s->t.l.cand.c[order[0]];
	msg_progress(NULL);
	if (msg_verbosity() >= 1 || isatty(STDERR_FILENO))
		msg_note(0,
			 "%u episodes, %llu placements run; best %.4g ms, %.3f of the best single "
			 "device (%s, episode %u, %u groups)",
			 s->t.l.episode, (unsigned long long)s->t.l.cand.n_seen, 1e3 * c->lat_s,
			 c->ratio, c->source, c->episode, c->n_groups);
	return filter_end(&s->f, e);
}

/* ---- progress ---- */

/* ", shares 49 51": of each device in the sets of a placement, in percent. */
static const char *shares_text(const struct filter_state *s, const struct candidate *c, char *dst,
			       size_t cap)
{
	uint32_t k = s->t.problem.devs.k, n = s->t.l.cand.n_sets;
	uint32_t *sets = MEM_NEWN(uint32_t, (size_t)k + 1);
	for (uint32_t i = 0; i < n; i++)
		sets[c->device[i]]++;
	*dst = '\0';
	for (uint32_t d = 0; n > 0 && d < k; d++)
		snprintf(dst + strlen(dst), cap - strlen(dst), "%s %.0f", d ? "" : ", shares",
			 100.0 * sets[d] / n);
	mem_free(sets);
	return dst;
}

static void report_progress(struct filter_state *s, const struct update_rec *u)
{
	char left[40] = "";
	double seconds = budget_left(&s->t.budget, u->episode);
	if (seconds >= 1)
		snprintf(left, sizeof left, ", %d:%02d left", (int)(seconds / 60),
			 (int)seconds % 60);
	msg_progress("episode %u of %llu: best %.3f of the best single device, mean %.4g ms, "
		     "%.0f groups, entropy %.3g%s",
		     u->episode, (unsigned long long)s->t.budget.episodes, u->best_ratio,
		     1e3 * u->mean_s, u->groups, u->entropy, left);
	if (msg_verbosity() < 2)
		return;
	uint32_t order[CANDIDATES_MAX];
	candidates_rank(&s->t.l.cand, 1, order);
	const struct candidate *best = s->t.l.cand.n ? &s->t.l.cand.c[order[0]] : NULL;
	char times[40] = "", handed[40] = "", shares[400] = "";
	/* The ratio is to the best single device, where one can run the model. */
	if (best && best->ref_s > 0 && best->ratio > 0)
		snprintf(times, sizeof times, " (%.2fx)", 1 / best->ratio);
	if (best)
		shares_text(s, best, shares, sizeof shares);
	if (s->t.trainer.n_handed > 0)
		snprintf(handed, sizeof handed, ", %u steps handed over", s->t.trainer.n_handed);
	/* pipelines/phases.sh shows what stands between the colon and "mean". */
	msg_note(2,
		 "episode %u: %llu placements, best %.4g ms%s%s, mean %.4g ms, %u failed, "
		 "%.1f groups, entropy %.4g, gradient %.3g%s",
		 u->episode, (unsigned long long)s->t.l.cand.n_seen, best ? 1e3 * best->lat_s : 0,
		 times, shares, 1e3 * u->mean_s, u->failed, u->groups, u->entropy, u->grad_norm,
		 handed);
}

/* gpnembed has an option of the same name. */
static void compare_recipes(struct filter_state *s)
{
	const char *theirs = s->t.l.block[BLOCK_EMBED].recipe, *ours = recipe_names[s->o->recipe];
	if (!s->compared && theirs && strcmp(theirs, ours) != 0)
		msg_warn(
			"the recipe is '%s' here and '%s' at gpnembed; give both the same --recipe",
			ours, theirs);
	s->compared = true;
}

/* ---- the filter ---- */

static int handle(struct filter_state *s, const struct rec *r, struct err *e)
{
	struct update_rec u;
	if (rec_is(r, "episode") && write_updates(s, e) < 0)
		return -1;
	int k = training_take(&s->t, r, &u, e);
	if (k < 0)
		return -1;
	if (k == TRAINING_LEARNED) {
		compare_recipes(s);
		report_progress(s, &u);
		if (write_updates(s, e) < 0)
			return -1;
	}
	bool pass = k == TRAINING_OTHER || (k == TRAINING_PROBLEM && !rec_is(r, "feat"));
	bool keep = s->o->keep && !rec_is(r, "handover"); /* it is nobody else's */
	return pass || keep ? filter_pass(&s->f, r, e) : 0;
}

static int filter(struct filter_state *s, struct err *e)
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
		if (!s->o->fifo && stages_check(&s->f.stages, NEEDS_RUNS, e) < 0)
			return -1;
		if (training_finish(&s->t, e) < 0 || write_results(s, e) < 0)
			return -1;
		finished = true;
	}
	/* A stage that died of the interrupt that we are answering takes nothing away. */
	if (k < 0 && interrupted && s->t.ready && s->t.l.cand.n) {
		err_clear(e);
		return write_results(s, e);
	}
	return k;
}

static void handle_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART | (int)SA_RESETHAND};
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

/* How long a training is where nothing is said. */
static const struct {
	int64_t episodes, steps, samples;
} usual[N_RECIPES] = {[RECIPE_DEFAULT] = {200, 4},
		      [RECIPE_PAPER] = {100, 20},
		      [RECIPE_RNN] = {200, 2, 5},
		      [RECIPE_HIERARCHICAL] = {200, 5, 2},
		      [RECIPE_PLACETO] = {300, 2}};

static int filter_files(const struct options *o, const struct recipe *recipe,
			const struct opt_common *common, int argc, char **argv, const char *input,
			struct err *e)
{
	enum { USUAL_MOVES = 800, COMPARED = 4 };
	const uint64_t move_steps = recipe->update->compares ? COMPARED : 1;
	if (tape_choose_products(e) < 0)
		return -1;
	struct filter_state s = {.o = o};
	struct pool *pool = pool_new((int)o->threads, NULL);
	int k = -1;
	training_init(&s.t, pool);
	s.t.recipe = *recipe;
	s.t.budget = (struct budget){
		.episodes = (uint64_t)(o->episodes ? o->episodes : usual[o->recipe].episodes),
		.steps = (uint64_t)(o->steps ? o->steps : usual[o->recipe].steps),
		.samples = (uint32_t)(o->samples ? o->samples : usual[o->recipe].samples),
		.move_episodes = o->episodes ? 0 : USUAL_MOVES / move_steps,
		.move_steps = o->steps ? 0 : move_steps,
		.patience = (uint64_t)o->patience,
		.seconds = o->seconds};
	s.t.fifo = o->fifo;
	s.t.checkpoint = o->checkpoint;
	s.t.resume = o->resume;
	s.t.interrupted = &interrupted;
	s.t.f = &s.f;
	budget_start(&s.t.budget);
	handle_signals();
	bool open = filter_open(&s.f, input, common, argc, argv, e) == 0;
	if (open) {
		s.f.threads = pool_size(pool);
		k = training_start(&s.t, e);
		if (k == 0 && o->resume && !s.t.resumed)
			msg_warn("--resume: there is no checkpoint '%s'; the training begins anew",
				 o->checkpoint);
		if (k == 0)
			k = filter(&s, e);
	}
	training_release(&s.t);
	pool_free(pool);
	return open ? filter_close(&s.f, k, e) : -1;
}

/* ---- options ---- */

static int check_options(const struct options *o, const struct recipe *recipe, struct err *e)
{
	if (o->resume && !o->checkpoint)
		return err_set(e, ST_USAGE, "--resume needs --checkpoint FILE");
	if (o->checkpoint && (!*o->checkpoint || strcmp(o->checkpoint, "-") == 0))
		return err_set(e, ST_USAGE, "--checkpoint needs the name of a file");
	if (o->checkpoint && !o->fifo)
		return err_set(e, ST_USAGE, "--checkpoint needs a loop, --params-to FIFO");
	if (recipe->update->compares && o->steps == 1 &&
	    (o->samples ? o->samples : usual[o->recipe].samples) <= 1)
		return err_set(
			e, ST_USAGE,
			"--update %s compares the placements of an episode, and --steps 1 has "
			"one; give more --steps or --samples",
			recipe->update->name);
	return recipe_check_update(recipe, e);
}

static const char details[] =
	"Defaults are those of the default recipe; --recipe paper has its own.\n"
	"\n"
	"With --leaves above 0 and --log-reward 1, as by default, every episode but the first is "
	"around an incumbent: a sample that gains d > least of log latency over it has the "
	"advantage min(1, d / gain), any other -blame (idle + min(1, max(0, -d) / loss)); "
	"--baseline and --normalise then act in the first episode only. Otherwise the options "
	"marked `incumbent` have no effect.\n"
	"\n"
	"Where the samples are moves (the stream has costs), the options marked `moves` count, and "
	"those "
	"of advantages around an incumbent; --lr and --embed-lr change nothing then.\n"
	"\n"
	"What is made small is the latency, or the `value` of the runs where they have one "
	"(devsim --objective): rewards, ratios and the ranking go by it.\n"
	"\n"
	"Writes graph, devs, an `update` per episode, the final params, and the best placements "
	"as `best`, rank 0 first, single devices included. An interrupt (SIGINT, SIGTERM) ends "
	"the loop in order after the episode at hand; a second one ends the program. Without "
	"--params-to nothing is learned: the placements that were run are ranked.";

int main(int argc, char **argv)
{
	struct options o = {.candidates = 5, .threads = pool_n_cpus()};
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	struct opt opts[FIELDS_MAX + 17] = {
		{"params-to", 0, OPT_TEXT, &o.fifo, "FIFO",
		 "train: parameters and episodes go there", 0, 0, NULL, NULL},
		{"recipe", 0, OPT_CHOICE, &o.recipe, "NAME", "how rewards become updates", 0, 0,
		 recipe_names, NULL},
		{"update", 0, OPT_CHOICE, &o.update, "RULE",
		 "how advantages become a gradient: reinforce; ppo and grpo by clipped ratios,\n"
		 "grpo over the episode's mean; self-label towards its best placement;\n"
		 "actor-critic over a learned value",
		 0, 0, update_names, NULL},
		{"episodes", 0, OPT_INT, &o.episodes, "N",
		 "train so many; 0: 100 of the paper, 300 of placeto, 800 moves, else 200", 0, 4e9,
		 NULL, NULL},
		{"steps", 0, OPT_INT, &o.steps, "N",
		 "steps of an episode; 0: 20 of the paper, 2 of rnn and placeto, 5 of\n"
		 "hierarchical, 1 of moves (4 with --update grpo and self-label), else 4",
		 0, 1e6, NULL, NULL},
		{"samples", 0, OPT_INT, &o.samples, "N",
		 "placements drawn in a step, unless placepolicy says; 0: 5 of rnn,\n2 of "
		 "hierarchical, else 1",
		 0, 65536, NULL, NULL},
		{"seconds", 0, OPT_REAL, &o.seconds, "S",
		 "train no longer than this (a machine that is played: its seconds): the first\n"
		 "episode then has one step, later ones those that there is time for; 0: no limit",
		 0, 1e9, NULL, NULL},
		{"patience", 0, OPT_INT, &o.patience, "N",
		 "stop after N episodes without a better placement; 0: never", 0, 4e9, NULL, NULL},
		{"candidates", 0, OPT_INT, &o.candidates, "N", "best placements to write", 1,
		 CANDIDATES_MAX - 1, NULL, NULL},
		{"checkpoint", 0, OPT_TEXT, &o.checkpoint, "FILE",
		 "keep the whole state there, each episode", 0, 0, NULL, NULL},
		{"resume", 0, OPT_FLAG, &o.resume, NULL,
		 "go on from the checkpoint, if there is one", 0, 0, NULL, NULL},
		{"keep", 'k', OPT_FLAG, &o.keep, NULL, "write every record that was read, too", 0,
		 0, NULL, NULL},
		{"threads", 0, OPT_INT, &o.threads, "N", "threads; results do not depend on it", 1,
		 256, NULL, NULL}};
	field_options_add(&o.recipe_fields, recipe_fields, &recipes[RECIPE_DEFAULT], opts, 13);
	const struct opt_program program = {
		.name = "reinforce",
		.summary = "learn placements from measured latencies",
		.args = "[FILE]",
		.max_args = 1,
		.opts = opts,
		.details = details,
		.example = "mkfifo loop\n"
			   "  ir2dag m.xml | dagfeat | devrun --probe -D cpu:0,cpu:1 |\n"
			   "  gpnembed --params-from loop | placepolicy | devrun |\n"
			   "  reinforce --params-to loop --checkpoint m.ck > result.mp"};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);
	if (rc <= 0)
		return filter_finish(rc, &common, &e);
	struct recipe recipe = recipes[o.recipe];
	recipe_set_update(&recipe, &update_rules[o.update]);
	rc = field_options_apply(&o.recipe_fields, recipe_fields, &recipe, &e);
	if (rc == 0)
		rc = check_options(&o, &recipe, &e);
	if (rc == 0)
		rc = filter_files(&o, &recipe, &common, argc, argv,
				  first < argc ? argv[first] : "-", &e);
	return filter_finish(rc, &common, &e);
}
