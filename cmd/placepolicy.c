/* placepolicy - the policy: for each partition, placements drawn from the
 * probabilities of its groups (or the most probable one), or where costs are known
 * placements and moves by them (move_policy.h); and at the start of a training run one
 * placement per single device. */
#include <stdio.h>
#include <string.h>

#include "base/msg.h"
#include "base/opt.h"
#include "record/grouprec.h"
#include "learn/net/sampling.h"
#include "record/episoderec.h"
#include "learn/train/incumbent.h"
#include "learn/train/move_policy.h"
#include "learn/train/paramblock.h"
#include "learn/train/learn_problem.h"
#include "learn/train/rollout.h"
#include "record/graphrec.h"
#include "record/partrec.h"
#include "record/placerec.h"
#include "stream/filter.h"

struct options {
	const char *list;
	const struct net *net; /* whose parameters are expected; NULL: any */
	bool greedy, single_reference, keep;
	int64_t samples;
	bool samples_given;
};

struct filter_state {
	const struct options *o;
	struct filter f;
	struct arena *run_arena, *episode_arena, *arena; /* of the stream, an episode, a record */
	struct net_work *work;
	bool has_graph, has_devs, has_mask;
	bool loop;           /* episodes are numbered by reinforce */
	bool references_out; /* single-device references were written */
	uint32_t policy_d;   /* columns of z that the policy was checked for, and
	                                      its params told; 0: not yet */
	uint64_t graph;
	uint32_t n_sets;
	struct rec *graph_rec; /* until a network has read it, or is none that looks at it */
	struct ugraph sets;    /* what was read from it */
	struct devs devs;
	const uint8_t *mask; /* (n_sets,k) or NULL */
	uint32_t *class;     /* (n_sets) sets of equal class share a device; NULL: any
	                                      may part */
	uint32_t n_classes;
	struct incumbent incumbent; /* of the episode */
	uint32_t episode_samples;   /* of a step, as reinforce asked; 0: it did not say */
	uint32_t visits;            /* placements on the way to a sample, as it asked; 0: none */
	struct param_block block[N_BLOCKS];
	struct move_policy moves; /* what sees costs */
	uint16_t *shot;           /* (n_sets) its placement without an incumbent; NULL: none yet */
	uint32_t shot_episode;    /* in which that was */
};

/* ---- placements ---- */

/* The policy of a part. */
struct part_policy {
	const struct part_rec *part;
	uint8_t *mask;   /* (n_groups,k) or NULL */
	uint16_t *start; /* (n_groups) devices before the first choice; home, where there is one */
	uint16_t *home;  /* around the incumbent; NULL: there is none */
	double stay;
	float *bias;
};

/* device (n_sets) of the groups' devices */
static void spread(const struct filter_state *s, const struct part_policy *q,
		   const uint16_t *action, uint16_t *device)
{
	const struct part_rec *p = q->part;
	if (q->home)
		incumbent_apply(s->incumbent.device, p->n_sets, p->p.group, q->home, action,
				device);
	else
		for (uint32_t i = 0; i < p->n_sets; i++)
			device[i] = action[p->p.group[i]];
}

/* What there is behind some groups of a sample, for its run: visits.h. */
static int emit_on_the_way(struct filter_state *s, const struct part_policy *q, const char *source,
			   uint64_t number, const uint16_t *action, struct err *e)
{
	const struct part_rec *p = q->part;
	uint16_t *device = ARENA_NEWN(s->arena, uint16_t, p->n_sets);
	const struct place_rec out = {
		.id = {p->id.graph, p->id.episode, p->id.step, (uint32_t)number},
		.source = source,
		.k = s->devs.k,
		.n_sets = p->n_sets,
		.names = s->devs.names,
		.device = device};
	if (number > UINT32_MAX)
		return err_set(e, ST_RUNTIME, "too many samples of too many groups to number");
	spread(s, q, action, device);
	return place_encode(&out, s->f.out, e);
}

/* The way to a sample that is not what was emitted before. */
static int emit_way(struct filter_state *s, const struct part_policy *q, uint32_t sample,
		    const uint16_t *action, struct err *e)
{
	uint32_t g = q->part->p.n_groups;
	uint16_t *now = ARENA_NEWN(s->arena, uint16_t, g);
	bool changed = false;
	memcpy(now, q->start, g * sizeof *now);
	for (uint32_t v = 1; v < g; v++) {
		changed = changed || now[v - 1] != action[v - 1];
		now[v - 1] = action[v - 1];
		if (v % s->visits || !changed)
			continue;
		changed = false;
		if (emit_on_the_way(s, q, SOURCE_VISIT, (uint64_t)sample * g + v, now, e) < 0)
			return -1;
	}
	return 0;
}

static int emit_sample(struct filter_state *s, const struct part_policy *q,
		       const struct drawn *drawn, uint32_t sample, struct err *e)
{
	const struct part_rec *p = q->part;
	const struct rollout_id id = {p->id.graph, p->id.episode, p->id.step, sample};
	uint32_t g = p->p.n_groups, k = s->devs.k;
	const uint16_t *action = drawn->action + (size_t)sample * g;
	const float *logp = drawn->logp + sample * drawn->stride;
	uint16_t *device = ARENA_NEWN(s->arena, uint16_t, p->n_sets);
	if (s->visits && emit_way(s, q, sample, action, e) < 0)
		return -1;
	spread(s, q, action, device);
	const struct place_rec out = {.id = id,
				      .source = "policy",
				      .k = k,
				      .n_sets = p->n_sets,
				      .n_groups = g,
				      .names = s->devs.names,
				      .device = device,
				      .action = action,
				      .logp = net_logp(logp, g, k, action),
				      .entropy = net_entropy(logp, g, k),
				      .has_stay = q->home != NULL,
				      .stay = q->stay};
	return place_encode(&out, s->f.out, e);
}

/* A placement without an incumbent, or a move of one: 1; 0: there is none left. */
static int emit_by_costs(struct filter_state *s, const struct part_rec *p, uint32_t sample,
			 struct err *e)
{
	const uint16_t *from = s->incumbent.device        ? s->incumbent.device
			       : s->o->greedy && !s->loop ? NULL
							  : s->shot;
	uint16_t *device = ARENA_NEWN(s->arena, uint16_t, p->n_sets);
	bool draw = !s->o->greedy && s->o->samples > 1;
	struct place_rec out = {.id = {p->id.graph, p->id.episode, p->id.step, sample},
				.source = from ? "moves" : "policy",
				.k = s->devs.k,
				.n_sets = p->n_sets,
				.n_groups = p->p.n_groups,
				.names = s->devs.names,
				.device = device};
	int rc =
		from ? move_policy_choose(&s->moves, s->devs.names, s->devs.k,
					  (uint64_t)s->f.common->seed, &out.id, p->p.group, from,
					  draw, device, &out, e)
		     : move_policy_shot(&s->moves, s->devs.names, s->devs.k, p->p.group, device, e);
	if (rc <= 0)
		return rc;
	if (!s->loop)
		out.moves = NULL; /* nobody learns from it */
	if (!from) {
		s->shot = ARENA_NEWN(s->run_arena, uint16_t, p->n_sets);
		memcpy(s->shot, device, p->n_sets * sizeof *device);
		s->shot_episode = p->id.episode;
	}
	return place_encode(&out, s->f.out, e) < 0 ? -1 : 1;
}

static uint32_t n_samples(const struct filter_state *s)
{
	if (s->o->greedy)
		return 1;
	return s->episode_samples && !s->o->samples_given ? s->episode_samples
							  : (uint32_t)s->o->samples;
}

/* The samples of a part: 1; 0: they are the other policy's, which draws groups.  A loop without
 * incumbents has one placement that costs suggest, and none besides in that episode. */
static int emit_samples_by_costs(struct filter_state *s, const struct part_rec *p, struct err *e)
{
	if (!move_policy_knows(&s->moves))
		return 0;
	if (s->loop && s->shot && !s->incumbent.device)
		return p->id.episode == s->shot_episode;
	for (uint32_t i = 0; i < n_samples(s); i++) {
		int rc = emit_by_costs(s, p, i, e);
		if (rc <= 0)
			return rc < 0 ? -1 : i > 0;
		if (s->loop && !s->incumbent.device)
			break;
	}
	return 1;
}

/* One placement per device that can run every set. */
static int emit_references(struct filter_state *s, uint32_t episode, struct err *e)
{
	uint16_t *device = ARENA_NEWN(s->arena, uint16_t, s->n_sets);
	s->references_out = true;
	for (uint32_t i = 0; i < s->devs.k; i++) {
		bool legal = true;
		for (uint32_t v = 0; v < s->n_sets; v++) {
			device[v] = (uint16_t)i;
			legal = legal && (!s->mask || s->mask[(size_t)v * s->devs.k + i]);
		}
		const struct place_rec out = {.id = {s->graph, episode, 0, i},
					      .source = "single",
					      .k = s->devs.k,
					      .n_sets = s->n_sets,
					      .names = s->devs.names,
					      .device = device};
		if (legal && place_encode(&out, s->f.out, e) < 0)
			return -1;
	}
	return 0;
}

/* The incumbent as it is, to be run once more. */
static int emit_incumbent(struct filter_state *s, uint32_t episode, struct err *e)
{
	const struct place_rec out = {.id = {s->graph, episode, 0, 0},
				      .source = "incumbent",
				      .k = s->devs.k,
				      .n_sets = s->n_sets,
				      .names = s->devs.names,
				      .device = s->incumbent.device};
	return place_encode(&out, s->f.out, e);
}

/* ---- records ---- */

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
	if (s->loop || s->o->keep)
		return filter_pass(&s->f, r, e);
	return part_encode_without_z(r, s->arena, s->f.out, e);
}

/* Sets that must share a device are in one group. */
static int check_together(const struct filter_state *s, const struct part_rec *p, struct err *e)
{
	uint32_t *group = ARENA_NEWN(s->arena, uint32_t, s->n_classes);
	for (uint32_t i = 0; s->class && i < s->n_sets; i++) {
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
	if (p->id.graph != s->graph || p->n_sets != s->n_sets)
		return err_set(e, ST_INPUT,
			       "part: of another graph; placepolicy handles one in a stream");
	if (!p->d)
		return err_set(e, ST_INPUT, "part: no embeddings z; gpnembed writes them");
	return check_together(s, p, e);
}

static struct to_place to_place(const struct part_policy *q)
{
	const struct partition *p = &q->part->p;
	return (struct to_place){p->z, p->n_groups, p->group, q->mask, q->bias, q->start};
}

/* The groups' homes, and what keeps the policy near them. */
static int around_incumbent(struct filter_state *s, const struct net_model *m,
			    struct part_policy *q, struct err *e)
{
	const struct part_rec *p = q->part;
	uint32_t g = p->p.n_groups, k = s->devs.k;
	const float *logp;
	float *bias = ARENA_NEWN(s->arena, float, (size_t)g *k);
	uint16_t *home = ARENA_NEWN(s->arena, uint16_t, g);
	incumbent_home(s->incumbent.device, p->n_sets, p->p.group, g, k, q->mask, home);
	q->home = q->start = home;
	const struct to_place what = to_place(q);
	if (net_policy_prior(s->work, m, &what, home, &logp, e) < 0)
		return -1;
	q->stay = incumbent_stay(logp, g, k, home, s->incumbent.leaves);
	incumbent_bias(home, g, k, q->stay, bias);
	q->bias = bias;
	return 0;
}

static int init_part_policy(struct filter_state *s, const struct net_model *m,
			    const struct part_rec *p, struct part_policy *q, struct err *e)
{
	uint32_t g = p->p.n_groups, k = s->devs.k;
	*q = (struct part_policy){.part = p};
	if (s->mask) {
		q->mask = ARENA_NEWN(s->arena, uint8_t, (size_t)g * k);
		if (net_group_mask(s->mask, s->n_sets, k, p->p.group, g, q->mask, e) < 0)
			return -1;
	}
	q->start = ARENA_NEWN(s->arena, uint16_t, g);
	net_start(q->mask, g, k, q->start);
	if (s->incumbent.device && around_incumbent(s, m, q, e) < 0)
		return -1;
	if (s->loop)
		q->bias = net_noise(m, s->block[BLOCK_POLICY].seed, p->id.episode, p->id.step, g,
				    q->bias, s->arena);
	return 0;
}

static int load_graph(struct filter_state *s, struct err *e)
{
	uint64_t digest;
	int rc = s->graph_rec ? learn_graph(s->graph_rec, s->run_arena, &s->sets, &digest, e) : 0;
	rec_drop(s->graph_rec);
	s->graph_rec = NULL;
	return rc;
}

/* The samples of the policy that draws a device for each group. */
static int emit_samples(struct filter_state *s, const struct part_rec *p, struct err *e)
{
	const struct param_block *b = &s->block[BLOCK_POLICY];
	const struct net_model m = {.net = b->net,
				    .hyper = b->hyper,
				    .graph = &s->sets,
				    .d = p->d,
				    .k = s->devs.k,
				    .policy = b->p};
	struct part_policy q;
	struct drawn drawn;
	if (!m.net->policy && load_graph(s, e) < 0)
		return -1;
	if (init_part_policy(s, &m, p, &q, e) < 0)
		return -1;
	uint32_t n = n_samples(s);
	struct rng_addr *rng = ARENA_NEWN(s->arena, struct rng_addr, n);
	for (uint32_t i = 0; i < n; i++)
		rng[i] = (struct rng_addr){.seed = (uint64_t)s->f.common->seed,
					   .episode = p->id.episode,
					   .step = p->id.step,
					   .stream = RNG_ACTION + i};
	const struct draw draw = {n, s->o->greedy, rng, q.home};
	const struct to_place what = to_place(&q);
	if (net_draw(s->work, &m, &what, &draw, &drawn, e) < 0)
		return -1;
	if (s->visits && emit_on_the_way(s, &q, SOURCE_START, 0, q.start, e) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (emit_sample(s, &q, &drawn, i, e) < 0)
			return -1;
	return 0;
}

static int take_part(struct filter_state *s, const struct rec *r, struct err *e)
{
	struct part_rec p;
	if (part_decode(r, s->arena, &p, e) < 0 || check_part(s, &p, e) < 0)
		return -1;
	if (s->o->single_reference && !s->loop && !s->references_out &&
	    emit_references(s, 0, e) < 0)
		return -1;
	if (init_policy(s, p.d, e) < 0 || pass_part(s, r, e) < 0)
		return -1;
	int rc = emit_samples_by_costs(s, &p, e);
	return rc != 0 ? (rc < 0 ? -1 : 0) : emit_samples(s, &p, e);
}

static int take_params(struct filter_state *s, const struct rec *r, struct err *e)
{
	enum params_block b;
	if (params_decode_block(r, &b, e) < 0)
		return -1;
	if (b >= N_BLOCKS) { /* the first come from gpnembed, later ones from reinforce */
		bool first = b == BLOCK_COSTS && !s->moves.params;
		if (move_policy_params(&s->moves, r, e) < 0)
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
	if (!s->loop)
		filter_absorb_interrupt();
	s->loop = true;
	if (!s->has_graph || !s->has_devs)
		return err_set(e, ST_INPUT, "episode: no graph or no devices before it");
	arena_reset(s->episode_arena);
	if (episode_decode(r, s->n_sets, s->devs.k, s->episode_arena, &x, e) < 0 ||
	    filter_pass(&s->f, r, e) < 0)
		return -1;
	s->episode_samples = x.samples;
	s->visits = x.visits;
	s->incumbent = x.incumbent;
	if (move_policy_around(&s->moves, &x.incumbent, (uint64_t)s->f.common->seed) &&
	    learned_params_encode(s->moves.adapt, s->moves.adapt->seed, s->f.out, e) < 0)
		return -1;
	if (x.single_reference && emit_references(s, x.episode, e) < 0)
		return -1;
	return x.incumbent.again ? emit_incumbent(s, x.episode, e) : 0;
}

static int take_graph(struct filter_state *s, const struct rec *r, struct err *e)
{
	if (s->has_graph)
		return err_set(e, ST_INPUT,
			       "two graphs in one stream; give each a stream of its own");
	s->has_graph = true;
	if (graph_decode_size(r, &s->graph, &s->n_sets, e) < 0)
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
	if (learn_mask(&s->devs, s->graph, s->n_sets, &s->mask, e) < 0)
		return -1;
	if (s->devs.together) {
		s->class = s->devs.together;
		s->n_classes = group_number(s->class, s->n_sets);
	}
	return 0;
}

static int handle(struct filter_state *s, const struct rec *r, struct err *e)
{
	arena_reset(s->arena);
	if (move_policy_note(&s->moves, r, e) < 0)
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
	s->has_graph = s->has_devs = s->has_mask = s->loop = s->references_out = false;
	move_policy_reset(&s->moves);
	s->shot = NULL;
	s->policy_d = 0;
	s->mask = NULL;
	s->class = NULL;
	s->episode_samples = s->visits = 0;
	s->incumbent = (struct incumbent){0};
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
				 .arena = arena_new()};
	int k = -1;
	move_policy_init(&s.moves);
	if (o->list && devs_from_list(o->list, s.run_arena, &s.devs, e) < 0)
		goto out;
	s.work = net_work_new(NULL);
	if (filter_open(&s.f, input, common, argc, argv, e) == 0)
		k = filter_close(&s.f, filter(&s, e), e);
	reset(&s);
	net_work_free(s.work);
out:
	move_policy_release(&s.moves);
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
		return opt_finish(rc, &e);
	return opt_finish(
		filter_files(&o, &common, argc, argv, first < argc ? argv[first] : "-", &e), &e);
}
