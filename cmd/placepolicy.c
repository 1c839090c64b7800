/* placepolicy - the policy: for each partition, placements drawn from the
 * probabilities of its groups (or the most probable one), or where costs are known
 * placements and moves by them (learn/act); and at the start of a training run one
 * placement per single device. */
#include <stdio.h>

#include "base/msg.h"
#include "base/opt.h"
#include "learn/act/act_costs.h"
#include "learn/act/act_groups.h"
#include "learn/act/act_known.h"
#include "learn/train/learn_problem.h"
#include "learn/train/paramblock.h"
#include "record/graphrec.h"
#include "record/grouprec.h"
#include "stream/filter.h"

struct options {
	const char *list;
	const struct net *net; /* whose parameters are expected; NULL: any */
	bool greedy, single_reference, keep;
	int64_t samples;
	bool samples_given;
};

/* Parts that follow each other, until another record comes: a network may draw for all at once. */
enum { MOST_WAITING = 16 };
enum { MOST_ROWS = 1 << 16 }; /* groups of all their samples */
struct waiting {
	uint32_t n;
	uint64_t rows;
	struct rec *rec[MOST_WAITING];
	struct part_rec part[MOST_WAITING];
	struct arena *arena; /* of what part points to */
};

struct filter_state {
	const struct options *o;
	struct filter f;
	struct arena *run_arena, *episode_arena, *arena; /* of the stream, an episode, a record */
	struct net_work *work;
	bool has_graph, has_devs, has_mask;
	bool references_out;   /* single-device references were written */
	uint32_t policy_d;     /* columns of z that the policy was checked for, and its params
	                                      told; 0: not yet */
	struct rec *graph_rec; /* until a network has read it, or is none that looks at it */
	struct ugraph sets;    /* what was read from it */
	struct devs devs;
	uint32_t *class; /* (n_sets) sets of equal class share a device; NULL: any may part */
	uint32_t n_classes;
	struct param_block block[N_BLOCKS];
	struct act act;
	struct act_costs costs;
	struct waiting waiting;
};

/* Samples of a part: as the command line says, else as reinforce asked; 0: it did not say. */
static uint32_t n_samples(const struct options *o, uint32_t asked)
{
	return o->greedy ? 1 : asked && !o->samples_given ? asked : (uint32_t)o->samples;
}

/* ---- parts ---- */

/* The policy's parameters: from upstream, else from the seed. */
static int init_policy(struct filter_state *s, uint32_t d, struct err *e)
{
	struct param_block *embed = &s->block[BLOCK_EMBED], *b = &s->block[BLOCK_POLICY];
	uint64_t seed = (uint64_t)s->f.common->seed;
	if (s->policy_d == d)
		return 0;
	if (!b->p && !embed->p)
		return err_set(e, ST_INPUT,
			       "no params before the first part; put gpnembed in front");
	if (!b->p) {
		*b = (struct param_block){.block = BLOCK_POLICY,
					  .net = embed->net,
					  .hyper = net_hyper_copy(embed->net, embed->hyper),
					  .recipe = embed->recipe,
					  .without_costs = embed->without_costs,
					  .seed = seed};
		param_block_init(b, d, s->devs.k);
	} else if (param_block_check(b, d, s->devs.k, e) < 0) {
		return -1;
	}
	if (s->policy_d)
		return err_set(e, ST_INPUT, "part: z has another width than before");
	s->policy_d = d;
	return param_block_encode(b, s->f.out, e);
}

/* The part as it came, without z where nobody downstream replays it. */
static int pass_part(struct filter_state *s, const struct rec *r, struct err *e)
{
	if (s->act.loop || s->o->keep)
		return filter_pass(&s->f, r, e);
	return part_encode_without_z(r, s->arena, s->f.out, e);
}

/* Sets that must share a device are in one group. */
static int check_together(const struct filter_state *s, const struct part_rec *p, struct err *e)
{
	uint32_t *group = ARENA_NEWN(s->arena, uint32_t, s->n_classes);
	for (uint32_t i = 0; s->class && i < s->act.n_sets; i++) {
		uint32_t *of = &group[s->class[i]];
		if (*of && *of != p->p.group[i] + 1)
			return err_set(e, ST_INPUT,
				       "part: set %u is not in the group of the sets with which it "
				       "shares a device; gpnembed needs the devs record, too",
				       i);
		*of = p->p.group[i] + 1;
	}
	return 0;
}

static int check_part(const struct filter_state *s, const struct part_rec *p, struct err *e)
{
	if (!s->has_graph)
		return err_set(e, ST_INPUT, "part: no graph before it");
	if (p->id.graph != s->act.graph || p->n_sets != s->act.n_sets)
		return err_set(e, ST_INPUT,
			       "part: of another graph; placepolicy handles one in a stream");
	if (!p->d)
		return err_set(e, ST_INPUT, "part: no embeddings z; gpnembed writes them");
	return check_together(s, p, e);
}

static int load_graph(struct filter_state *s, struct err *e)
{
	uint64_t digest;
	int rc = s->graph_rec ? learn_graph(s->graph_rec, s->run_arena, &s->sets, &digest, e) : 0;
	rec_drop(s->graph_rec);
	s->graph_rec = NULL;
	return rc;
}

static int pass_waiting(void *arg, uint32_t i, struct err *e)
{
	struct filter_state *s = arg;
	return pass_part(s, s->waiting.rec[i], e);
}

static void drop_waiting(struct waiting *w)
{
	for (uint32_t i = 0; i < w->n; i++)
		rec_drop(w->rec[i]);
	w->n = 0;
	w->rows = 0;
	arena_reset(w->arena);
}

/* Placements by the policy that draws a device for each group. */
static int place_groups(struct filter_state *s, const struct act_parts *parts, struct err *e)
{
	const struct param_block *b = &s->block[BLOCK_POLICY];
	const struct net_model m = {.net = b->net,
				    .hyper = b->hyper,
				    .graph = &s->sets,
				    .d = parts->part->d,
				    .k = s->devs.k,
				    .policy = b->p};
	if (!m.net->policy && load_graph(s, e) < 0)
		return -1;
	return act_groups(&s->act, s->work, &m, b->seed, parts, e);
}

static int place_waiting(struct filter_state *s, struct err *e)
{
	struct waiting *w = &s->waiting;
	const struct act_parts parts = {w->part, w->n, pass_waiting, s};
	if (w->n > 0 && place_groups(s, &parts, e) < 0)
		return -1;
	drop_waiting(w);
	return 0;
}

/* A part that waits for those behind it. */
static int keep_part(struct filter_state *s, const struct rec *r, struct err *e)
{
	struct waiting *w = &s->waiting;
	struct part_rec *p = &w->part[w->n];
	struct rec *kept = rec_keep(r);
	if (!kept)
		return err_set(e, ST_RUNTIME, "no memory for a part");
	w->rec[w->n++] = kept;
	if (part_decode(kept, w->arena, p, e) < 0)
		return -1;
	w->rows += (uint64_t)p->p.n_groups * s->act.samples;
	bool more = s->block[BLOCK_POLICY].net->side_by_side && w->n < MOST_WAITING &&
		    w->rows < MOST_ROWS;
	return more ? 0 : place_waiting(s, e);
}

static int take_part(struct filter_state *s, const struct rec *r, struct err *e)
{
	struct part_rec p;
	if (part_decode(r, s->arena, &p, e) < 0 || check_part(s, &p, e) < 0)
		return -1;
	if (s->o->single_reference && !s->act.loop && !s->references_out) {
		s->references_out = true;
		if (act_single_devices(&s->act, 0, e) < 0)
			return -1;
	}
	if (init_policy(s, p.d, e) < 0)
		return -1;
	if (!move_policy_knows(&s->costs.moves))
		return keep_part(s, r, e);
	if (pass_part(s, r, e) < 0)
		return -1;
	int rc = act_costs_place(&s->costs, &s->act, &p, s->run_arena, e);
	const struct act_parts one = {&p, 1, NULL, NULL};
	return rc != 0 ? (rc < 0 ? -1 : 0) : place_groups(s, &one, e);
}

/* ---- other records ---- */

static int take_params(struct filter_state *s, const struct rec *r, struct err *e)
{
	enum params_block b;
	if (params_decode_block(r, &b, e) < 0)
		return -1;
	if (b >= N_BLOCKS) { /* the first come from gpnembed, later ones from reinforce */
		bool first = b == BLOCK_COSTS && !s->costs.moves.params;
		if (move_policy_params(&s->costs.moves, r, e) < 0)
			return -1;
		return first ? filter_pass(&s->f, r, e) : 0;
	}
	if (param_block_decode(&s->block[b], r, e) < 0 ||
	    param_blocks_match(s->block, s->o->net, e) < 0)
		return -1;
	if (s->block[b].net->policy) { /* it does not look at the graph */
		rec_drop(s->graph_rec);
		s->graph_rec = NULL;
	}
	/* The policy's are told once, when first used; later ones come from reinforce. */
	return b == BLOCK_EMBED ? filter_pass(&s->f, r, e) : 0;
}

static int take_episode(struct filter_state *s, const struct rec *r, struct err *e)
{
	struct episode_rec x;
	if (!s->act.loop)
		filter_absorb_interrupt();
	s->act.loop = true;
	if (!s->has_graph || !s->has_devs)
		return err_set(e, ST_INPUT, "episode: no graph or no devices before it");
	arena_reset(s->episode_arena);
	if (episode_decode(r, s->act.n_sets, s->devs.k, s->episode_arena, &x, e) < 0 ||
	    filter_pass(&s->f, r, e) < 0)
		return -1;
	s->act.samples = n_samples(s->o, x.samples);
	s->act.visits = x.visits;
	s->act.incumbent = x.incumbent;
	if (move_policy_around(&s->costs.moves, &x.incumbent, (uint64_t)s->f.common->seed) &&
	    learned_params_encode(s->costs.moves.adapt, s->costs.moves.adapt->seed, s->f.out, e) <
		    0)
		return -1;
	if (x.single_reference) {
		s->references_out = true;
		if (act_single_devices(&s->act, x.episode, e) < 0)
			return -1;
	}
	return x.incumbent.again ? act_incumbent(&s->act, x.episode, e) : 0;
}

static int take_graph(struct filter_state *s, const struct rec *r, struct err *e)
{
	if (s->has_graph)
		return err_set(e, ST_INPUT,
			       "two graphs in one stream; give each a stream of its own");
	s->has_graph = true;
	if (graph_decode_size(r, &s->act.graph, &s->act.n_sets, e) < 0)
		return -1;
	rec_drop(s->graph_rec);
	s->graph_rec = rec_keep(r);
	if (!s->graph_rec)
		return err_set(e, ST_RUNTIME, "no memory for the graph");
	return filter_pass(&s->f, r, e);
}

static int take_devs(struct filter_state *s, const struct rec *r, struct err *e)
{
	if (s->o->list)
		return err_set(e, ST_USAGE, "the stream has devs already; leave out -D");
	if (s->has_devs)
		return err_set(e, ST_INPUT, "two devs records in one stream");
	s->has_devs = true;
	if (devs_decode(r, s->run_arena, &s->devs, e) < 0)
		return -1;
	return filter_pass(&s->f, r, e);
}

/* Before the first record that needs devices: they are known, by record or by -D, and
 * their mask fits the graph. */
static int init_devices(struct filter_state *s, struct err *e)
{
	if (!s->has_devs && !s->o->list)
		return err_set(e, ST_INPUT,
			       "no devs in the stream; give -D LIST, or put devrun --probe in "
			       "front of gpnembed");
	if (!s->has_devs) {
		s->has_devs = true;
		if (devs_from_list(s->o->list, s->run_arena, &s->devs, e) < 0 ||
		    devs_encode(&s->devs, s->f.out, e) < 0)
			return -1;
	}
	if (!s->devs.mask || s->has_mask)
		return 0;
	s->has_mask = true;
	if (learn_mask(&s->devs, s->act.graph, s->act.n_sets, &s->act.mask, e) < 0)
		return -1;
	if (s->devs.together) {
		s->class = s->devs.together;
		s->n_classes = group_number(s->class, s->act.n_sets);
	}
	return 0;
}

static int handle(struct filter_state *s, const struct rec *r, struct err *e)
{
	arena_reset(s->arena);
	if (!rec_is(r, "part") && place_waiting(s, e) < 0)
		return -1;
	if (move_policy_note(&s->costs.moves, r, e) < 0)
		return -1;
	if (rec_is(r, "graph"))
		return take_graph(s, r, e);
	if (rec_is(r, "devs"))
		return take_devs(s, r, e);
	bool part = rec_is(r, "part"), episode = rec_is(r, "episode"), params = rec_is(r, "params");
	if ((part || episode || params) && init_devices(s, e) < 0)
		return -1;
	return part      ? take_part(s, r, e)
	       : episode ? take_episode(s, r, e)
	       : params  ? take_params(s, r, e)
			 : filter_pass(&s->f, r, e);
}

/* Forget one stream. */
static void reset(struct filter_state *s)
{
	arena_reset(s->run_arena);
	for (int b = 0; b < N_BLOCKS; b++)
		param_block_release(&s->block[b]);
	s->has_graph = s->has_devs = s->has_mask = s->references_out = false;
	act_costs_reset(&s->costs);
	drop_waiting(&s->waiting);
	s->policy_d = 0;
	s->class = NULL;
	s->act = (struct act){.out = s->f.out,
			      .arena = s->arena,
			      .devs = &s->devs,
			      .seed = (uint64_t)s->f.common->seed,
			      .greedy = s->o->greedy,
			      .several = s->o->samples > 1,
			      .samples = n_samples(s->o, 0)};
	rec_drop(s->graph_rec);
	s->graph_rec = NULL;
}

static int filter(struct filter_state *s, struct err *e)
{
	struct rec r;
	int k;
	while ((k = filter_next(&s->f, &r, e)) > 0) {
		if (k == FILTER_RECORD) {
			if (handle(s, &r, e) < 0)
				return -1;
			continue;
		}
		arena_reset(s->arena);
		if (place_waiting(s, e) < 0)
			return -1;
		/* -D is told even where nothing had to be placed: a loop that was resumed at its
		 * end. */
		if (s->has_graph && s->o->list && !s->has_devs && init_devices(s, e) < 0)
			return -1;
		if (filter_end(&s->f, e) < 0)
			return -1;
		reset(s);
	}
	return k;
}

static int filter_files(const struct options *o, const struct opt_common *common, int argc,
			char **argv, const char *input, struct err *e)
{
	struct filter_state s = {.o = o,
				 .run_arena = arena_new(),
				 .episode_arena = arena_new(),
				 .arena = arena_new(),
				 .waiting = {.arena = arena_new()}};
	int k = -1;
	act_costs_init(&s.costs);
	if (o->list && devs_from_list(o->list, s.run_arena, &s.devs, e) < 0)
		goto out;
	s.work = net_work_new(NULL);
	if (filter_open(&s.f, input, common, argc, argv, e) == 0) {
		reset(&s);
		k = filter_close(&s.f, filter(&s, e), e);
	}
	reset(&s);
	net_work_free(s.work);
out:
	act_costs_release(&s.costs);
	arena_free(s.waiting.arena);
	arena_free(s.arena);
	arena_free(s.episode_arena);
	arena_free(s.run_arena);
	return k;
}

int main(int argc, char **argv)
{
	struct options o = {.samples = 1};
	const char *net = NULL;
	struct opt_common common = OPT_COMMON_INIT;
	struct err e = ERR_INIT;
	const struct opt opts[] = {
		{"devices", 'D', OPT_TEXT, &o.list, "LIST",
		 "devices, where no devs record names them: cpu:0,cl:0.0:1", 0, 0, NULL, NULL},
		{"net", 0, OPT_TEXT, &net, "NAME",
		 "refuse parameters of another network; `list` has the names\n"
		 "(default: the network that the parameters name)",
		 0, 0, NULL, NULL},
		{"greedy", 'g', OPT_FLAG, &o.greedy, NULL,
		 "the most probable placement instead of a draw; with costs their first one", 0, 0,
		 NULL, NULL},
		{"samples", 'n', OPT_INT, &o.samples, "N",
		 "placements drawn per partition; in a loop reinforce may ask for another number",
		 1, 65536, NULL, &o.samples_given},
		{"anchors", 'a', OPT_FLAG, &o.single_reference, NULL,
		 "one pass: first a placement on every single device", 0, 0, NULL, NULL},
		{"keep", 'k', OPT_FLAG, &o.keep, NULL, "one pass: keep the groups' embeddings", 0,
		 0, NULL, NULL},
		{0},
	};
	const struct opt_program program = {
		.name = "placepolicy",
		.summary = "choose a device for every group of a partition",
		.args = "[FILE]",
		.max_args = 1,
		.has_seed = true,
		.opts = opts,
		.details =
			"Random numbers are addressed by seed, episode, step and sample. "
			"Devices whose mask\n"
			"excludes a set of a group are never chosen for it. In a loop the "
			"anchors are placed when\n"
			"reinforce asks for them.\n"
			"\n"
			"With a cost record and params of block `costs` (gpnembed sends them) the "
			"policy sees costs: the\n"
			"first placement is the best of several list schedules as predicted, and "
			"others are moves around\n"
			"it, or around the incumbent of a loop: 64 are drawn, and one is chosen, "
			"the best by its score,\n"
			"or where --samples asks for several each by the softmax of the scores.",
		.example =
			"... gpnembed --params result.mp | placepolicy -D cpu:0,cpu:1 --greedy |\n"
			"  placeout"};
	int first, rc = opt_parse(&program, &common, argc, argv, &first, &e);
	if (rc > 0 && net)
		rc = net_option(net, stdout, &o.net, &e);
	if (rc <= 0)
		return filter_finish(rc, &common, &e);
	return filter_finish(
		filter_files(&o, &common, argc, argv, first < argc ? argv[first] : "-", &e),
		&common, &e);
}
