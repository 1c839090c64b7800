/* checkpoint.c - the state of a training run to and from a file. */
#include "learn/train/checkpoint.h"

#include <string.h>

#include "learn/params/moments.h"

static int write_head(struct rec_writer *w, const struct checkpoint_key *key,
		      const struct recipe *recipe, const struct learner *l, struct err *e)
{
	rec_begin(w, "checkpoint");
	put_uint(w, "graph", key->graph);
	put_uint(w, "n_sets", key->n_sets);
	put_texts(w, "devices", key->devices, key->k);
	recipe_put(recipe, w);
	put_uint(w, "episode", l->episode);
	put_uint(w, "best_episode", l->best_episode);
	put_real(w, "best_ratio", l->best_ratio);
	put_bool(w, "noisy", l->noisy);
	put_bool(w, "has_reward", l->reward.begun);
	put_real(w, "reward_mean", l->reward.mean);
	put_real(w, "reward_var", l->reward.var);
	if (l->reward.visits.n) {
		put_uint(w, "visit_window", l->reward.visits.window);
		put_vector(w, "visit_means", TT_F64,
			   (uint64_t)l->reward.visits.n * l->reward.visits.window,
			   l->reward.visits.mean);
		put_vector(w, "visit_counts", TT_U32, l->reward.visits.n, l->reward.visits.count);
	}
	if (l->reward.visits.begun)
		put_real(w, "visit_square", l->reward.visits.square);
	if (l->walk.device) {
		put_vector(w, "incumbent", TT_U16, l->walk.n_sets, l->walk.device);
		put_real(w, "incumbent_ratio", l->walk.ratio);
		put_bool(w, "incumbent_again", l->walk.again);
		put_vector(w, "tried", TT_U64, l->walk.n_tried, l->walk.tried);
	}
	return rec_end(w, e);
}

/* A learned value, and Adam's moments. */
static int write_critic(struct rec_writer *w, const struct critic *c, struct err *e)
{
	rec_begin(w, "critic");
	put_uint(w, "width", c->score.n_features);
	put_vector(w, "data", TT_F32, c->p->n, c->p->data);
	moments_put(w, &c->adam);
	return rec_end(w, e);
}

static int write_moments(struct rec_writer *w, enum params_block b, const struct adam *a,
			 const struct move_learner *moves, struct err *e)
{
	rec_begin(w, "moments");
	put_text(w, "block", block_names[b]);
	if (moves)
		put_bool(w, "fresh", moves->fresh);
	moments_put(w, a);
	return rec_end(w, e);
}

int checkpoint_write(const char *path, const struct checkpoint_key *key,
		     const struct recipe *recipe, const struct learner *l, const struct filter *f,
		     struct err *e)
{
	const struct move_scorer *const moves[] = {&l->moves.costs, &l->moves.adapt};
	struct rec_writer *w = rec_writer_open(path, NULL, e);
	if (!w)
		return err_prefix(e, "checkpoint");
	int rc = rec_write_hdr(w, NULL, f, e);
	if (rc == 0)
		rc = write_head(w, key, recipe, l, e);
	for (int b = 0; b < N_BLOCKS && rc == 0; b++)
		rc = param_block_encode(&l->block[b], w, e) < 0 ||
				     write_moments(w, (enum params_block)b, &l->adam[b], NULL, e) <
					     0
			     ? -1
			     : 0;
	for (int i = 0; i < 2 && rc == 0; i++) {
		const struct learned_params *x = moves[i]->params;
		if (x)
			rc = learned_params_encode(x, x->seed, w, e) < 0 ||
					     write_moments(w, x->block, &moves[i]->adam, &l->moves,
							   e) < 0
				     ? -1
				     : 0;
	}
	if (rc == 0 && l->reward.critic.p)
		rc = write_critic(w, &l->reward.critic, e);
	for (size_t i = 0; i < l->updates.n && rc == 0; i++)
		rc = update_encode(&l->updates.u[i], w, e);
	if (rc == 0)
		rc = candidates_write(&l->cand, w, e);
	if (rc == 0)
		rc = rec_write_end(w, e);
	if (rec_writer_close(w, rc == 0, e) < 0)
		rc = -1;
	return rc < 0 ? err_prefix(e, "checkpoint '%s'", path) : 0;
}

/* What a checkpoint is read into. */
struct target {
	struct learner *l;
	struct checkpoint_key *key;
	const struct recipe *recipe;
	struct arena *a;
	bool head; /* its first record has come */
};

static int read_walk(const struct rec *r, struct walk *w, uint32_t n_sets, size_t k,
		     struct arena *a, struct err *e)
{
	uint64_t shape[1] = {n_sets}, n_tried[1] = {UINT64_MAX}, *tried;
	uint16_t *device;
	double ratio;
	bool again;
	if (!val_get(r->map, "incumbent"))
		return 0;
	if (get_tensor(r->map, "incumbent", TT_U16, 1, shape, a, &device, e) < 0 ||
	    get_real(r->map, "incumbent_ratio", &ratio, e) < 0 ||
	    get_bool(r->map, "incumbent_again", &again, e) < 0 ||
	    get_tensor(r->map, "tried", TT_U64, 1, n_tried, a, &tried, e) < 0)
		return -1;
	for (uint32_t i = 0; i < n_sets; i++)
		if (device[i] >= k)
			return err_set(e, ST_INPUT, "device %u of %zu in the incumbent", device[i],
				       k);
	walk_set(w, device, n_sets, ratio);
	w->again = again;
	for (uint64_t i = 0; i < n_tried[0]; i++)
		walk_add_tried(w, tried[i]);
	return 0;
}

static int read_visits(const struct rec *r, struct visit_baseline *b, struct arena *a,
		       struct err *e)
{
	uint64_t window, n[1] = {UINT64_MAX}, size[1];
	uint32_t *count;
	double *mean;
	b->begun = val_get(r->map, "visit_square") != NULL;
	if (b->begun && get_real(r->map, "visit_square", &b->square, e) < 0)
		return -1;
	if (!val_get(r->map, "visit_window"))
		return 0;
	if (get_uint(r->map, "visit_window", 0, 10000, &window, e) < 0 ||
	    get_tensor(r->map, "visit_counts", TT_U32, 1, n, a, &count, e) < 0)
		return -1;
	if (n[0] > UINT32_MAX)
		return err_set(e, ST_INPUT, "'visit_counts' is too long");
	size[0] = n[0] * window;
	if (get_tensor(r->map, "visit_means", TT_F64, 1, size, a, &mean, e) < 0)
		return -1;
	visit_baseline_grow(b, (uint32_t)window, (uint32_t)n[0]);
	for (uint64_t i = 0; i < size[0]; i++)
		b->mean[i] = mean[i];
	for (uint64_t i = 0; i < n[0]; i++)
		b->count[i] = count[i];
	return 0;
}

static int read_head(const struct rec *r, struct target *t, struct err *e)
{
	struct learner *l = t->l;
	const struct val *recipe;
	const char **devices;
	size_t k = SIZE_MAX;
	uint64_t n_sets, episode, best_episode;
	if (get_uint(r->map, "graph", 0, UINT64_MAX, &t->key->graph, e) < 0 ||
	    get_uint(r->map, "n_sets", 0, UINT32_MAX, &n_sets, e) < 0 ||
	    get_texts(r->map, "devices", t->a, &k, &devices, e) < 0 ||
	    get_map(r->map, "recipe", &recipe, e) < 0 || recipe_check(t->recipe, recipe, e) < 0 ||
	    get_uint(r->map, "episode", 0, UINT32_MAX, &episode, e) < 0 ||
	    get_uint(r->map, "best_episode", 0, UINT32_MAX, &best_episode, e) < 0 ||
	    get_real(r->map, "best_ratio", &l->best_ratio, e) < 0 ||
	    get_bool(r->map, "noisy", &l->noisy, e) < 0 ||
	    get_bool(r->map, "has_reward", &l->reward.begun, e) < 0 ||
	    get_real(r->map, "reward_mean", &l->reward.mean, e) < 0 ||
	    get_real(r->map, "reward_var", &l->reward.var, e) < 0)
		return -1;
	t->key->n_sets = (uint32_t)n_sets;
	t->key->k = (uint32_t)k;
	t->key->devices = devices;
	l->episode = (uint32_t)episode;
	l->best_episode = (uint32_t)best_episode;
	candidates_init(&l->cand, t->key->n_sets);
	t->head = true;
	if (read_visits(r, &l->reward.visits, t->a, e) < 0)
		return -1;
	return read_walk(r, &l->walk, t->key->n_sets, k, t->a, e);
}

int checkpoint_fits(const struct checkpoint_key *have, const struct checkpoint_key *want,
		    struct err *e)
{
	if (have->graph != want->graph || have->n_sets != want->n_sets)
		return err_set(e, ST_INPUT, "the checkpoint is about another graph");
	bool same = have->k == want->k;
	for (uint32_t i = 0; same && i < have->k; i++)
		same = strcmp(have->devices[i], want->devices[i]) == 0;
	return same ? 0 : err_set(e, ST_INPUT, "the checkpoint is about other devices");
}

static int read_moments(const struct rec *r, struct learner *l, struct err *e)
{
	enum params_block b;
	if (params_decode_block(r, &b, e) < 0)
		return -1;
	struct move_scorer *x = b == BLOCK_ADAPT ? &l->moves.adapt : &l->moves.costs;
	struct params *p = b < N_BLOCKS ? l->block[b].p : x->params ? x->params->p : NULL;
	if (!p)
		return err_set(e, ST_INPUT, "moments before their parameters");
	if (b == BLOCK_COSTS && get_bool(r->map, "fresh", &l->moves.fresh, e) < 0)
		return -1;
	struct adam *to = b < N_BLOCKS ? &l->adam[b] : &x->adam;
	adam_release(to);
	adam_init(to, p->n, 0);
	return moments_get(r->map, to, e);
}

static int read_critic(const struct rec *r, struct critic *c, struct arena *a, struct err *e)
{
	enum { WIDEST = 1 << 20 };
	uint64_t width, shape[1];
	float *data;
	if (get_uint(r->map, "width", 1, WIDEST, &width, e) < 0)
		return -1;
	critic_release(c);
	critic_begin(c, (uint32_t)width);
	shape[0] = c->p->n;
	if (get_tensor(r->map, "data", TT_F32, 1, shape, a, &data, e) < 0)
		return -1;
	memcpy(c->p->data, data, c->p->n * sizeof *data);
	return moments_get(r->map, &c->adam, e);
}

static int read_record(const struct rec *r, struct target *t, struct err *e)
{
	struct learner *l = t->l;
	enum params_block b;
	struct update_rec u;
	if (rec_is(r, "hdr") || rec_is(r, "end"))
		return 0;
	if (!t->head)
		return rec_is(r, "checkpoint") ? read_head(r, t, e)
					       : err_set(e, ST_INPUT, "it is not a checkpoint");
	if (rec_is(r, "params")) {
		if (params_decode_block(r, &b, e) < 0)
			return -1;
		return b >= N_BLOCKS ? move_learner_params(&l->moves, r, true, e)
				     : param_block_decode(&l->block[b], r, e);
	}
	if (rec_is(r, "moments"))
		return read_moments(r, l, e);
	if (rec_is(r, "critic"))
		return read_critic(r, &l->reward.critic, t->a, e);
	if (rec_is(r, "candidate"))
		return candidates_read(&l->cand, r, t->key->k, e);
	if (!rec_is(r, "update"))
		return 0;
	if (update_decode(r, &u, e) < 0)
		return -1;
	update_list_add(&l->updates, &u);
	return 0;
}

int checkpoint_read(const char *path, const struct recipe *recipe, struct learner *l,
		    struct checkpoint_key *key, struct arena *a, struct err *e)
{
	struct target t = {.l = l, .key = key, .recipe = recipe, .a = a};
	struct rec_reader *in = rec_reader_open(path, -1, e);
	struct rec r;
	int k = in ? 1 : -1;
	*l = (struct learner){0};
	while (k > 0 && (k = rec_next(in, &r, e)) > 0)
		if (read_record(&r, &t, e) < 0)
			k = -1;
	rec_reader_close(in);
	if (k == 0 &&
	    (!l->adam[BLOCK_EMBED].m || !l->adam[BLOCK_POLICY].m || l->updates.n != l->episode))
		k = err_set(e, ST_INPUT, "it is not complete");
	return k < 0 ? err_prefix(e, "checkpoint '%s'", path) : 0;
}
