/* pretrain - learn what learned placement begins with, from made-up problems. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/msg.h"
#include "base/opt.h"
#include "learn/pretrain/pretrain.h"
#include "stream/filter.h"

struct options {
	const char *from, *checkpoint;
	bool resume, without_costs, without_structure, without_parsing;
	int64_t most_tasks, moves, policy, threads;
	double lr;
};

/* Means of the rounds since the last line.  Lines come after 2 s, twice as long apart each time, and
 * at the end of a part; between them a terminal shows the round. */
struct progress {
	double loss, score;
	uint32_t n;
	double last_s, apart_s;
};

enum { APART_MOST = 30, CHECKPOINT_S = 30 }; /* seconds */

static void tell(void *arg, const struct pretrain_told *t)
{
	struct progress *p = arg;
	double now = clock_s();

	p->loss += t->loss;
	p->score += t->score;
	p->n++;
	if (now - p->last_s < p->apart_s && t->round + 1 < t->n_rounds) {
		msg_progress("%s, round %u of %u", t->what, t->round + 1, t->n_rounds);
		return;
	}
	msg_note(0, "%s, round %u of %u: cross-entropy %.4f, %s %.4f", t->what, t->round + 1,
		 t->n_rounds, p->loss / p->n, t->score_is, p->score / p->n);
	*p = (struct progress){.last_s = now, .apart_s = fmin(2 * p->apart_s, APART_MOST)};
}

static int learn(const struct options *o, const struct pretrain_plan *plan, struct filter *f,
		 struct err *e)
{
	struct learned_params *x =
		o->from ? learned_params_read(o->from, e) : learned_params_new(plan->seed);
	struct progress p = {.last_s = clock_s(), .apart_s = 2};

	if (!x)
		return -1;
	struct pool *pool = pool_new((int)o->threads, NULL);
	unsigned without = (o->without_costs ? WITHOUT_COSTS : 0) |
			   (o->without_structure ? WITHOUT_STRUCTURE : 0) |
			   (o->without_parsing ? WITHOUT_PARSING : 0);

	if (without)
		learned_params_leave_out(x, without);
	int rc = pretrain_run(&x, plan, pool, tell, &p, e);

	pool_free(pool);
	if (rc == 0 &&
	    (filter_begin(f, e) < 0 || learned_params_encode(x, plan->seed, f->out, e) < 0 ||
	     filter_end(f, e) < 0))
		rc = -1;
	learned_params_free(x);
	return rc;
}

static int run(const struct options *o, const struct opt_common *common, int argc, char **argv,
	       struct err *e)
{
	struct filter f;
	struct pretrain_plan plan = {.seed = (uint64_t)common->seed,
				     .most_tasks = (uint32_t)o->most_tasks,
				     .move_rounds = (uint32_t)o->moves,
				     .policy_rounds = (uint32_t)o->policy,
				     .lr = o->lr,
				     .checkpoint = o->checkpoint,
				     .checkpoint_s = CHECKPOINT_S,
				     .f = &f};

	if (o->resume && !o->checkpoint)
		return err_set(e, ST_USAGE, "--resume needs --checkpoint FILE");
	if (o->checkpoint && (!*o->checkpoint || strcmp(o->checkpoint, "-") == 0))
		return err_set(e, ST_USAGE, "--checkpoint needs the name of a file");
	plan.resume = o->resume && access(o->checkpoint, F_OK) == 0;
	if (o->resume && !plan.resume)
		msg_warn("--resume: there is no checkpoint '%s'; it begins anew", o->checkpoint);
	if (filter_open(&f, NULL, common, argc, argv, e) < 0)
		return -1;
	return filter_close(&f, learn(o, &plan, &f, e), e);
}

int main(int argc, char **argv)
{
	struct options o = {.most_tasks = 2000,
			    .moves = 1600,
			    .policy = 2200,
			    .threads = pool_n_cpus(),
			    .lr = 2e-3};
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	const struct opt opts[] = {
		{"params", 0, OPT_TEXT, &o.from, "FILE", "go on from these", 0, 0, NULL, NULL},
		{"tasks", 0, OPT_INT, &o.most_tasks, "N", "tasks of the largest problem", 16, 1e6,
		 NULL, NULL},
		{"moves", 0, OPT_INT, &o.moves, "N", "updates of the network that ranks moves", 0,
		 1e9, NULL, NULL},
		{"policy", 0, OPT_INT, &o.policy, "N",
		 "updates of the networks that place and group", 0, 1e9, NULL, NULL},
		{"lr", 0, OPT_REAL, &o.lr, "X", "learning rate", 0, 1, NULL, NULL},
		{"checkpoint", 0, OPT_TEXT, &o.checkpoint, "FILE",
		 "keep the whole state there, each half a minute", 0, 0, NULL, NULL},
		{"resume", 0, OPT_FLAG, &o.resume, NULL,
		 "go on from the checkpoint, if there is one", 0, 0, NULL, NULL},
		{"without-costs", 0, OPT_FLAG, &o.without_costs, NULL,
		 "ablation: features of costs are not looked at", 0, 0, NULL, NULL},
		{"without-structure", 0, OPT_FLAG, &o.without_structure, NULL,
		 "ablation: nor those of structure (neighbours, degrees, likeness)", 0, 0, NULL,
		 NULL},
		{"without-parsing", 0, OPT_FLAG, &o.without_parsing, NULL,
		 "ablation: graphs are not parsed into groups", 0, 0, NULL, NULL},
		{"threads", 't', OPT_INT, &o.threads, "N", "threads; results do not depend on it",
		 1, 256, NULL, NULL},
		{0}};
	const struct opt_program program = {
		.name = "pretrain",
		.summary = "learn what learned placement begins with, from made-up problems",
		.args = "",
		.has_seed = true,
		.opts = opts,
		.details =
			"Reads nothing: it makes up its problems. Writes a stream "
			"with one params record, of block costs: what "
			"gpnembed --params, placebase learned-moves:FILE and learned-policy:FILE "
			"take. The programs have such parameters built in (share/pretrained.mp, "
			"make pretrain). The same options give the same parameters.",
		.example = "pretrain --seed 2 -o mine.mp\n"
			   "  placebase learned-moves:mine.mp --evals 100 problem.mp | devsim"};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);

	if (rc > 0)
		rc = run(&o, &common, argc, argv, &e);
	return opt_finish(rc, &e);
}
