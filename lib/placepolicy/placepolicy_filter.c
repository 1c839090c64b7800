/* placepolicy_filter.c - what placepolicy does at which record of a stream.  Parts: placepolicy_parts.c. */
#include "placepolicy/placepolicy_filter.h"

#include "learn/act/act_known.h"
#include "learn/tape/tape.h"
#include "placepolicy/placepolicy_impl.h"
#include "record/graphrec.h"
#include "record/grouprec.h"

/* Samples of a part: as the command line says, else as reinforce asked; 0: it did not say. */
static uint32_t n_samples(const struct placepolicy_options *o, uint32_t asked)
{
	return o->greedy ? 1 : asked && !o->samples_given ? asked : (uint32_t)o->samples;
}

static int take_params(struct placepolicy *s, const struct rec *r, struct err *e)
{
	enum params_block b;
	if (params_decode_block(r, &b, e) < 0)
		return -1;
	if (b >= N_BLOCKS) { /* the first come from gpnembed, later ones from reinforce */
		bool first = b == BLOCK_COSTS && !s->costs.moves.params;
		if (move_policy_params(&s->costs.moves, r, e) < 0)
			return -1;
		return first ? filter_pass(s->f, r, e) : 0;
	}
	if (param_block_decode(&s->block[b], r, e) < 0 ||
	    param_blocks_match(s->block, s->o->net, e) < 0)
		return -1;
	if (s->block[b].net->policy) { /* it does not look at the graph */
		rec_drop(s->graph_rec);
		s->graph_rec = NULL;
	}
	/* The policy's are told once, when first used; later ones come from reinforce. */
	return b == BLOCK_EMBED ? filter_pass(s->f, r, e) : 0;
}

static int take_episode(struct placepolicy *s, const struct rec *r, struct err *e)
{
	struct episode_rec x;
	if (!s->act.loop)
		filter_absorb_interrupt();
	s->act.loop = true;
	if (!s->has_graph || !s->has_devs)
		return err_set(e, ST_INPUT, "episode: no graph or no devices before it");
	arena_reset(s->episode_arena);
	if (episode_decode(r, s->act.n_sets, s->devs.k, s->episode_arena, &x, e) < 0 ||
	    filter_pass(s->f, r, e) < 0)
		return -1;
	s->act.samples = n_samples(s->o, x.samples);
	s->act.visits = x.visits;
	s->act.incumbent = x.incumbent;
	s->act.giver = s->o->hand_over ? &s->giver : NULL;
	handover_begin(&s->giver);
	if (move_policy_around(&s->costs.moves, &x.incumbent, s->seed) &&
	    learned_params_encode(s->costs.moves.adapt, s->costs.moves.adapt->seed, s->f->out, e) <
		    0)
		return -1;
	if (x.single_reference) {
		s->references_out = true;
		if (act_single_devices(&s->act, x.episode, e) < 0)
			return -1;
	}
	return x.incumbent.again ? act_incumbent(&s->act, x.episode, e) : 0;
}

static int take_graph(struct placepolicy *s, const struct rec *r, struct err *e)
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
	return filter_pass(s->f, r, e);
}

static int take_devs(struct placepolicy *s, const struct rec *r, struct err *e)
{
	if (s->o->list)
		return err_set(e, ST_USAGE, "the stream has devs already; leave out -D");
	if (s->has_devs)
		return err_set(e, ST_INPUT, "two devs records in one stream");
	s->has_devs = true;
	if (devs_decode(r, s->run_arena, &s->devs, e) < 0)
		return -1;
	return filter_pass(s->f, r, e);
}

/* Before the first record that needs devices: they are known, by record or by -D, and
 * their mask fits the graph. */
static int init_devices(struct placepolicy *s, struct err *e)
{
	if (!s->has_devs && !s->o->list)
		return err_set(e, ST_INPUT,
			       "no devs in the stream; give -D LIST, or put devrun --probe in "
			       "front of gpnembed");
	if (!s->has_devs) {
		s->has_devs = true;
		if (devs_from_list(s->o->list, s->run_arena, &s->devs, e) < 0 ||
		    devs_encode(&s->devs, s->f->out, e) < 0)
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

static int handle(struct placepolicy *s, const struct rec *r, struct err *e)
{
	arena_reset(s->arena);
	if (!rec_is(r, "part") && placepolicy_place_waiting(s, e) < 0)
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
	return part      ? placepolicy_take_part(s, r, e)
	       : episode ? take_episode(s, r, e)
	       : params  ? take_params(s, r, e)
			 : filter_pass(s->f, r, e);
}

static void forget_stream(struct placepolicy *s)
{
	arena_reset(s->run_arena);
	for (int b = 0; b < N_BLOCKS; b++)
		param_block_release(&s->block[b]);
	s->has_graph = s->has_devs = s->has_mask = s->references_out = false;
	act_costs_reset(&s->costs);
	placepolicy_drop_waiting(s);
	s->policy_d = 0;
	s->class = NULL;
	rec_drop(s->graph_rec);
	s->graph_rec = NULL;
}

static void begin_stream(struct placepolicy *s)
{
	forget_stream(s);
	s->act = (struct act){.out = s->f->out,
			      .arena = s->arena,
			      .devs = &s->devs,
			      .seed = s->seed,
			      .greedy = s->o->greedy,
			      .several = s->o->samples > 1,
			      .samples = n_samples(s->o, 0)};
}

int placepolicy_run(struct placepolicy *s, struct filter *f, struct err *e)
{
	struct rec r;
	int k;
	s->f = f;
	begin_stream(s);
	while ((k = filter_next(s->f, &r, e)) > 0) {
		if (k == FILTER_RECORD) {
			if (handle(s, &r, e) < 0)
				return -1;
			continue;
		}
		arena_reset(s->arena);
		if (stages_check(&f->stages, NEEDS_PARTS, e) < 0 ||
		    placepolicy_place_waiting(s, e) < 0)
			return -1;
		/* -D is told even where nothing had to be placed: a loop that was resumed at its
		 * end. */
		if (s->has_graph && s->o->list && !s->has_devs && init_devices(s, e) < 0)
			return -1;
		if (filter_end(s->f, e) < 0)
			return -1;
		begin_stream(s);
	}
	return k;
}

struct placepolicy *placepolicy_new(const struct placepolicy_options *o, uint64_t seed,
				    struct err *e)
{
	struct placepolicy *s = MEM_NEW(struct placepolicy);
	*s = (struct placepolicy){.o = o,
				  .seed = seed,
				  .run_arena = arena_new(),
				  .episode_arena = arena_new(),
				  .arena = arena_new(),
				  .waiting = {.arena = arena_new()}};
	act_costs_init(&s->costs);
	if (tape_choose_products(e) < 0 ||
	    (o->list && devs_from_list(o->list, s->run_arena, &s->devs, e) < 0)) {
		placepolicy_free(s);
		return NULL;
	}
	s->work = net_work_new(NULL);
	return s;
}

void placepolicy_free(struct placepolicy *s)
{
	if (!s)
		return;
	forget_stream(s);
	net_work_free(s->work);
	handover_giver_release(&s->giver);
	act_costs_release(&s->costs);
	arena_free(s->waiting.arena);
	arena_free(s->arena);
	arena_free(s->episode_arena);
	arena_free(s->run_arena);
	mem_free(s);
}
