/* gpnembed - joint embedding and partitioning: graph and features in, per step a
 * partition into groups with their embeddings Z' out.  One pass, or the first
 * stage of a training loop that waits for `episode` records on a FIFO. */
#include <stdio.h>
#include <string.h>

#include "base/msg.h"
#include "base/opt.h"
#include "record/episoderec.h"
#include "learn/net/named_field.h"
#include "learn/tape/tape.h"
#include "learn/train/paramblock.h"
#include "learn/train/learn_problem.h"
#include "learn/train/recipe.h"
#include "place/learned/learned_params.h"
#include "record/partrec.h"
#include "stream/filter.h"

struct options {
	const char *fifo, *params_file, *net_name;
	const struct net *net; /* of initial parameters */
	bool net_given;        /* parameters of another one are refused */
	bool no_params;        /* --params none: nothing that was learned before */
	bool costs;            /* scorers that see costs, where the stream has some */
	bool costs_given;      /* else parameters that are given say it */
	int recipe;
	bool recipe_given; /* else that of the parameters given counts */
	int64_t steps, threads;
	struct field_options hyper;
};

struct filter_state {
	const struct options *o;
	struct filter f;
	struct learn_problem problem;
	struct param_block block[N_BLOCKS]; /* policy: only passed on, from --params */
	struct learned_params *costs;       /* the same; NULL: none were given */
	bool has_cost;                      /* the stream has a cost record */
	bool begun;                         /* loop: parameters are downstream */
	struct pool *pool;
	struct net_work *work;
	void *hyper; /* for initial parameters, of o->net; owned */
};

/* ---- steps ---- */

static void report_groups(const struct part_rec *p)
{
	char text[200] = "";
	size_t n = 0;
	if (msg_verbosity() < 1)
		return;
	for (uint32_t i = 0; i < p->p.n_rounds && n + 32 < sizeof text; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%u -> ", p->p.round[i].n);
	msg_note(1, "episode %u step %u: %s%u groups%s", p->id.episode, p->id.step, text,
		 p->p.n_groups, p->p.given ? " (given)" : "");
}

/* Steps whose partitions are in memory together. */
enum { STEPS_AT_ONCE = 16, FLOATS_AT_ONCE = 8 << 20 };

static uint32_t steps_at_once(const struct learn_problem *p)
{
	size_t fit = FLOATS_AT_ONCE / ((size_t)p->n * p->d + 1);
	return fit < 1 ? 1 : fit < STEPS_AT_ONCE ? (uint32_t)fit : STEPS_AT_ONCE;
}

/* All steps of one episode: each restarts from the input features. */
static int emit_steps(struct filter_state *s, uint32_t episode, uint32_t steps, bool dropout,
		      struct err *e)
{
	const struct learn_problem *pr = &s->problem;
	const struct param_block *b = &s->block[BLOCK_EMBED];
	const struct net_model m = {.net = b->net,
				    .hyper = b->hyper,
				    .graph = &pr->graph,
				    .d = pr->d,
				    .together = pr->together,
				    .embed = b->p};
	/* The state of an episode; a single step, and a steady network, read the features themselves. */
	bool keeps = steps > 1 && !b->net->steady;
	float *state = keeps ? mem_copy(pr->x, (size_t)pr->n * pr->d, sizeof *state) : NULL;
	uint32_t most = b->net->steady ? steps_at_once(pr) : 1;
	int rc = 0;
	for (uint32_t t = 0, n; t < steps && rc == 0; t += n) {
		struct partition part[STEPS_AT_ONCE];
		struct rng_addr rng[STEPS_AT_ONCE];
		n = steps - t < most ? steps - t : most;
		for (uint32_t i = 0; i < n; i++)
			rng[i] = (struct rng_addr){
				.seed = b->seed, .episode = episode, .step = t + i};
		rc = net_embed_steps(s->work, &m, state ? state : pr->x, n, dropout ? rng : NULL,
				     pr->has_group ? &pr->given : NULL, pr->mask, pr->devs.k, part,
				     e);
		for (uint32_t i = 0; i < n && rc == 0; i++) {
			const struct part_rec p = {.id = {pr->digest, episode, t + i, 0},
						   .n_sets = pr->n,
						   .d = pr->d,
						   .p = part[i]};
			report_groups(&p);
			rc = part_encode(&p, s->f.out, e);
		}
		if (rc == 0 && state && t + n < steps)
			net_advance(b->net, state, pr->n, pr->d, part[0].group, part[0].z);
	}
	mem_free(state);
	return rc;
}

/* Does the policy see costs?  Parameters that were trained by a recipe without scorers, or with --no-costs,
 * place by themselves. */
static bool sees_costs(const struct filter_state *s)
{
	const char *recipe = s->block[BLOCK_EMBED].recipe;
	if (s->o->recipe_given || !recipe)
		recipe = recipe_names[s->o->recipe];
	return s->has_cost && !s->block[BLOCK_EMBED].without_costs &&
	       recipe == recipe_names[RECIPE_DEFAULT];
}

/* The scorers that see costs: those that were given, else pretrained ones, or with --params none
 * from the seed. */
static int first_costs(struct filter_state *s, struct err *e)
{
	uint64_t seed = (uint64_t)s->f.common->seed;
	const struct learned_params *x;
	if (!sees_costs(s))
		return 0;
	if (!s->costs && s->o->no_params)
		s->costs = learned_params_new(seed);
	x = s->costs ? s->costs : learned_params_default(e);
	return x ? learned_params_encode(x, x->seed, s->f.out, e) : -1;
}

/* Parameters from the seed where none were given; their records go downstream. */
static int first_params(struct filter_state *s, struct err *e)
{
	struct param_block *b = &s->block[BLOCK_EMBED];
	if (!b->p) {
		*b = (struct param_block){.block = BLOCK_EMBED,
					  .net = s->o->net,
					  .hyper = net_hyper_copy(s->o->net, s->hyper),
					  .recipe = recipe_names[s->o->recipe],
					  .seed = (uint64_t)s->f.common->seed};
		param_block_init(b, s->problem.d, 0);
	} else if (param_block_check(b, s->problem.d, 0, e) < 0) {
		return -1;
	}
	if (s->o->costs_given)
		for (int i = 0; i < N_BLOCKS; i++)
			s->block[i].without_costs = !s->o->costs;
	if (param_block_encode(b, s->f.out, e) < 0)
		return -1;
	b = &s->block[BLOCK_POLICY];
	if (b->p && param_block_encode(b, s->f.out, e) < 0)
		return -1;
	return first_costs(s, e);
}

/* Take parameters that were made before: *out is the block that they are of. */
static int take_params(struct filter_state *s, const struct rec *r, enum params_block *out,
		       struct err *e)
{
	if (params_decode_block(r, out, e) < 0)
		return -1;
	if (*out == BLOCK_ADAPT)
		return 0; /* of a training of one graph */
	if (*out == BLOCK_COSTS)
		return learned_params_decode(r, &s->costs, e);
	if (param_block_decode(&s->block[*out], r, e) < 0)
		return -1;
	return param_blocks_match(s->block, s->o->net_given ? s->o->net : NULL, e);
}

/* ---- one pass ---- */

static int one_pass(struct filter_state *s, struct err *e)
{
	if (first_params(s, e) < 0)
		return -1;
	return emit_steps(s, 0, (uint32_t)s->o->steps, false, e);
}

/* The last parameters of each block in a file. */
static int load_params(struct filter_state *s, const char *path, struct err *e)
{
	struct rec_reader *in = rec_reader_open(path, -1, e);
	struct rec r;
	enum params_block b;
	int k = in ? 1 : -1;
	while (k > 0 && (k = rec_next(in, &r, e)) > 0)
		if (rec_is(&r, "params") && take_params(s, &r, &b, e) < 0)
			k = -1;
	rec_reader_close(in);
	if (k == 0 && !s->block[BLOCK_EMBED].p && !s->costs)
		k = err_set(e, ST_INPUT, "no params of block 'embed' or 'costs'");
	return k < 0 ? err_prefix(e, "--params '%s'", path) : 0;
}

/* ---- the loop ---- */

static int start_episode(struct filter_state *s, const struct rec *r, struct err *e)
{
	struct episode_rec x;
	if (episode_decode(r, 0, 0, NULL, &x, e) < 0)
		return -1;
	if (!s->begun && first_params(s, e) < 0)
		return -1;
	s->begun = true;
	if (filter_pass(&s->f, r, e) < 0 || emit_steps(s, x.episode, x.steps, true, e) < 0)
		return -1;
	return episode_end_encode(x.episode, s->f.out, e);
}

/* One record of the FIFO. */
static int loop_record(struct filter_state *s, const struct rec *r, struct err *e)
{
	enum params_block b;
	if (rec_is(r, "hdr"))
		return 0;
	if (rec_is(r, "episode"))
		return start_episode(s, r, e);
	if (!rec_is(r, "params"))
		return filter_pass(&s->f, r, e);
	if (params_decode_block(r, &b, e) < 0)
		return -1;
	if (b != BLOCK_EMBED)
		return filter_pass(&s->f, r, e);
	bool first = !s->begun;
	s->begun = true;
	if (take_params(s, r, &b, e) < 0)
		return -1;
	return first ? param_block_check(&s->block[b], s->problem.d, 0, e) : 0;
}

static int loop(struct filter_state *s, struct err *e)
{
	struct rec_reader *fifo = rec_reader_open(s->o->fifo, rec_writer_fd(s->f.out), e);
	struct rec r;
	int k = fifo ? 1 : -1;
	filter_absorb_interrupt();
	while (k > 0 && (k = rec_next(fifo, &r, e)) > 0) {
		if (rec_is(&r, "end"))
			break;
		if (loop_record(s, &r, e) < 0)
			k = -1;
	}
	rec_reader_close(fifo);
	return k < 0 ? err_prefix(e, "--params-from '%s'", s->o->fifo) : 0;
}

/* ---- the filter ---- */

static int handle(struct filter_state *s, const struct rec *r, struct err *e)
{
	enum params_block b;
	int took = learn_problem_take(&s->problem, r, e);
	s->has_cost = s->has_cost || rec_is(r, "cost");
	if (took < 0)
		return -1;
	if (took || !rec_is(r, "params"))
		return filter_pass(&s->f, r, e);
	if (s->o->fifo)
		return err_set(e, ST_INPUT,
			       "params in the input of a loop; its parameters come from "
			       "--params-from");
	return take_params(s, r, &b, e);
}

static int filter(struct filter_state *s, struct err *e)
{
	struct rec r;
	int k;
	bool looped = false;
	while ((k = filter_next(&s->f, &r, e)) > 0) {
		if (looped)
			return err_set(e, ST_INPUT,
				       "a second stream after a loop; a loop handles one graph");
		if (k == FILTER_RECORD) {
			if (handle(s, &r, e) < 0)
				return -1;
			continue;
		}
		if (learn_problem_check(&s->problem, true, false, e) < 0)
			return -1;
		looped = s->o->fifo != NULL;
		if ((looped ? loop(s, e) : one_pass(s, e)) < 0 || filter_end(&s->f, e) < 0)
			return -1;
		learn_problem_reset(&s->problem);
		s->has_cost = false;
	}
	return k;
}

static int filter_files(const struct options *o, const struct opt_common *common, int argc,
			char **argv, const char *input, struct err *e)
{
	struct filter_state s = {.o = o,
				 .hyper = net_hyper_new(o->net, (enum recipe_kind)o->recipe)};
	int k = -1;
	if (tape_choose_products(e) < 0 ||
	    field_options_apply(&o->hyper, o->net->fields, s.hyper, e) < 0) {
		mem_free(s.hyper);
		return -1;
	}
	s.pool = pool_new((int)o->threads, NULL);
	s.work = net_work_new(s.pool);
	learn_problem_init(&s.problem);
	if (filter_open(&s.f, input, common, argc, argv, e) == 0) {
		s.f.threads = pool_size(s.pool);
		k = o->params_file && !o->no_params ? load_params(&s, o->params_file, e) : 0;
		if (k == 0)
			k = filter(&s, e);
		k = filter_close(&s.f, k, e);
	}
	learn_problem_release(&s.problem);
	for (int b = 0; b < N_BLOCKS; b++)
		param_block_release(&s.block[b]);
	learned_params_free(s.costs);
	mem_free(s.hyper);
	net_work_free(s.work);
	pool_free(s.pool);
	return k;
}

/* ---- options ---- */

/* Which options there are depends on the network, so its name is looked for before they are parsed. */
static int choose_net(struct options *o, int argc, char **argv, struct err *e)
{
	const char *name = opt_peek(argc, argv, "net");
	msg_program("gpnembed");
	o->net = nets[0];
	o->net_name = nets[0]->name;
	return name ? net_option(name, stdout, &o->net, e) : 1;
}

static int check_options(const struct options *o, struct err *e)
{
	if (strcmp(o->net_name, o->net->name) != 0)
		return err_set(e, ST_USAGE, "write --net out in full");
	return 0;
}

static void print_networks(void)
{
	net_list(stdout);
}

int main(int argc, char **argv)
{
	struct options o = {.steps = 1, .threads = pool_n_cpus(), .costs = true};
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	int first, rc = choose_net(&o, argc, argv, &e);
	if (rc <= 0)
		return filter_finish(rc, &common, &e);
	struct opt opts[FIELDS_MAX + 9] = {
		{"params-from", 0, OPT_TEXT, &o.fifo, "FIFO",
		 "loop: parameters and episodes come from there", 0, 0, NULL, NULL},
		{"params", 0, OPT_TEXT, &o.params_file, "FILE",
		 "begin with the parameters in that stream; none: with nothing learned (a file\n"
		 "of that name is ./none)",
		 0, 0, NULL, NULL},
		{"steps", 0, OPT_INT, &o.steps, "N", "one pass: steps", 1, 1e6, NULL, NULL},
		{"recipe", 0, OPT_CHOICE, &o.recipe, "NAME",
		 "network and parsing; of parameters that are given, their own counts", 0, 0,
		 recipe_names, &o.recipe_given},
		{"net", 0, OPT_TEXT, &o.net_name, "NAME",
		 "network; `list` has the names; parameters of another are refused", 0, 0, NULL,
		 &o.net_given},
		{"costs", 0, OPT_FLAG, &o.costs, NULL,
		 "default recipe: where the stream has costs, the policy sees them; parameters\n"
		 "that were made with --no-costs keep to it",
		 0, 0, NULL, &o.costs_given},
		{"threads", 0, OPT_INT, &o.threads, "N", "threads; results do not depend on it", 1,
		 256, NULL, NULL}};
	field_options_add(&o.hyper, o.net->fields, o.net->defaults[RECIPE_DEFAULT], opts, 7);
	const struct opt_program program = {
		.name = "gpnembed",
		.summary = "embed a graph and partition it into groups",
		.args = "[FILE]",
		.max_args = 1,
		.has_seed = true,
		.opts = opts,
		.print_details = print_networks,
		.details =
			"The options after --threads are those of the network: --net NAME "
			"--help-all "
			"has them. Defaults are those of the default recipe; --recipe paper has "
			"its own. With a `cost` record in the stream, the default recipe also "
			"sends on "
			"the parameters of the scorers that see costs (block `costs`): those of "
			"--params, else the pretrained ones. A `group` record in the stream is "
			"honoured instead of parsing. "
			"In one pass dropout is off; in a loop (--params-from) the program emits "
			"the steps of an episode for each `episode` record of the FIFO and "
			"finishes at its `end`. -v reports the groups after each round.",
		.example = "ir2dag model.xml | dagfeat | gpnembed --params result.mp |\n"
			   "  placepolicy -D cpu:0,cl:0.0:1 --greedy"};
	rc = opt_parse(&program, &common, argc, argv, &first, &e);
	if (rc <= 0)
		return filter_finish(rc, &common, &e);
	o.no_params = o.params_file && strcmp(o.params_file, "none") == 0;
	rc = check_options(&o, &e);
	if (rc == 0)
		rc = filter_files(&o, &common, argc, argv, first < argc ? argv[first] : "-", &e);
	return filter_finish(rc, &common, &e);
}
