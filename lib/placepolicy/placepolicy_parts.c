/* placepolicy_parts.c - partitions: what is checked of them, which wait for others so that a network draws
 * for all at once, and by which parameters they are placed.  How: learn/act. */
#include "learn/act/act_known.h"
#include "placepolicy/placepolicy_impl.h"

/* The policy's parameters: from upstream, else from the seed. */
static int init_policy(struct placepolicy *s, uint32_t d, struct err *e)
{
	struct param_block *embed = &s->block[BLOCK_EMBED], *b = &s->block[BLOCK_POLICY];
	uint64_t seed = s->seed;
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
	return param_block_encode(b, s->f->out, e);
}

/* The part as it came, without z where nobody downstream replays it. */
static int pass_part(struct placepolicy *s, const struct rec *r, struct err *e)
{
	if (s->act.loop || s->o->keep)
		return filter_pass(s->f, r, e);
	return part_encode_without_z(r, s->arena, s->f->out, e);
}

/* Sets that must share a device are in one group. */
static int check_together(const struct placepolicy *s, const struct part_rec *p, struct err *e)
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

static int check_part(const struct placepolicy *s, const struct part_rec *p, struct err *e)
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

static int load_graph(struct placepolicy *s, struct err *e)
{
	uint64_t digest;
	int rc = s->graph_rec ? learn_graph(s->graph_rec, s->run_arena, &s->sets, &digest, e) : 0;
	rec_drop(s->graph_rec);
	s->graph_rec = NULL;
	return rc;
}

static int pass_waiting(void *arg, uint32_t i, struct err *e)
{
	struct placepolicy *s = arg;
	return pass_part(s, s->waiting.rec[i], e);
}

void placepolicy_drop_waiting(struct placepolicy *s)
{
	struct waiting *w = &s->waiting;
	for (uint32_t i = 0; i < w->n; i++)
		rec_drop(w->rec[i]);
	w->n = 0;
	w->rows = 0;
	arena_reset(w->arena);
}

/* Placements by the policy that draws a device for each group. */
static int place_groups(struct placepolicy *s, const struct act_parts *parts, struct err *e)
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

int placepolicy_place_waiting(struct placepolicy *s, struct err *e)
{
	struct waiting *w = &s->waiting;
	const struct act_parts parts = {w->part, w->n, pass_waiting, s};
	if (w->n > 0 && place_groups(s, &parts, e) < 0)
		return -1;
	placepolicy_drop_waiting(s);
	return 0;
}

/* A part that waits for those behind it. */
static int keep_part(struct placepolicy *s, const struct rec *r, struct err *e)
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
	return more ? 0 : placepolicy_place_waiting(s, e);
}

int placepolicy_take_part(struct placepolicy *s, const struct rec *r, struct err *e)
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
