/* pretrain - learn the parameters that learned methods begin with, from made-up problems. */
#include <stdio.h>

#include "base/msg.h"
#include "base/opt.h"
#include "learn/pretrain/pretrain.h"
#include "stream/filter.h"

struct options {
	const char *from;
	int64_t most_tasks, moves, policy, threads;
	double lr;
};

static void tell(void *arg, const struct pretrain_told *t)
{
	static double loss, score;
	static uint32_t n;

	(void)arg;
	loss += t->loss;
	score += t->score;
	n++;
	if ((t->round + 1) % 50 && t->round + 1 < t->n_rounds)
		return;
	msg_note(0, "%s %u of %u: loss %.4f, score %.4f", t->what, t->round + 1, t->n_rounds,
		 loss / n, score / n);
	loss = score = n = 0;
}

int main(int argc, char **argv)
{
	struct options o = {.most_tasks = 400,
			    .moves = 1500,
			    .policy = 1500,
			    .threads = pool_n_cpus(),
			    .lr = 2e-3};
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	const struct opt opts[] = {
		{"params", 0, OPT_TEXT, &o.from, "FILE", "go on from these", 0, 0, NULL, NULL},
		{"tasks", 0, OPT_INT, &o.most_tasks, "N", "the largest problem", 16, 1e6, NULL,
		 NULL},
		{"moves", 0, OPT_INT, &o.moves, "N", "updates of the moves' network", 0, 1e9, NULL,
		 NULL},
		{"policy", 0, OPT_INT, &o.policy, "N", "updates of the policy's network", 0, 1e9,
		 NULL, NULL},
		{"lr", 0, OPT_REAL, &o.lr, "X", "learning rate", 0, 1, NULL, NULL},
		{"threads", 't', OPT_INT, &o.threads, "N", "threads; results do not depend on it",
		 1, 256, NULL, NULL},
		{0}};
	const struct opt_program program = {
		.name = "pretrain",
		.summary = "learn from made-up problems what learned methods begin with",
		.args = "",
		.has_seed = true,
		.opts = opts,
		.details = "Writes a stream with one params record."};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);

	if (rc <= 0)
		return opt_finish(rc, &e);
	struct learned_params *x = o.from ? learned_params_read(o.from, &e)
					  : learned_params_new((uint64_t)common.seed);
	if (!x)
		return opt_finish(-1, &e);
	struct pretrain_plan plan = {(uint64_t)common.seed, (uint32_t)o.most_tasks,
				     (uint32_t)o.moves, (uint32_t)o.policy, o.lr};
	struct pool *pool = pool_new((int)o.threads, NULL);

	pretrain_run(x, &plan, pool, tell, NULL);
	pool_free(pool);
	struct filter f;

	rc = filter_open(&f, NULL, &common, argc, argv, &e);
	if (rc == 0) {
		if (filter_begin(&f, &e) < 0 ||
		    learned_params_encode(x, (uint64_t)common.seed, f.out, &e) < 0 ||
		    filter_end(&f, &e) < 0)
			rc = -1;
		rc = filter_close(&f, rc, &e);
	}
	learned_params_free(x);
	return opt_finish(rc, &e);
}
