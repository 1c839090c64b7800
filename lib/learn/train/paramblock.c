/* paramblock.c - parameter blocks to and from records. */
#include "learn/train/paramblock.h"
#include "learn/train/recipe.h"

#include <string.h>

void param_block_release(struct param_block *b)
{
	params_free(b->p);
	mem_free(b->hyper);
	b->p = NULL;
	b->hyper = NULL;
}

static struct params *initial(const struct param_block *b, uint32_t d, uint32_t k)
{
	return b->block == BLOCK_EMBED ? b->net->embed_init(b->hyper, d, b->seed)
				       : b->net->policy_init(b->hyper, d, k, b->seed);
}

void param_block_init(struct param_block *b, uint32_t d, uint32_t k)
{
	b->p = initial(b, d, k);
}

/* The block's hyperparameters as a record has them; from a. */
static struct params_hyper *list_hyper(const struct param_block *b, struct arena *a, uint32_t *n)
{
	const struct named_field *f = b->net->fields;
	for (*n = 0; f[*n].name; (*n)++)
		;
	struct params_hyper *x = ARENA_NEWN(a, struct params_hyper, *n);
	for (uint32_t i = 0; i < *n; i++)
		x[i] = (struct params_hyper){f[i].name, field_get(b->hyper, &f[i]), f[i].is_real};
	return x;
}

/* Names and sizes of matrices as a record has them; from a. */
static void list_matrices(const struct params *p, struct arena *a, struct params_rec *x)
{
	const char **names = ARENA_NEWN(a, const char *, p->n_mats);
	uint32_t *shape = ARENA_NEWN(a, uint32_t, 2 * (size_t)p->n_mats);
	for (uint32_t i = 0; i < p->n_mats; i++) {
		names[i] = p->mat[i].name;
		shape[i] = p->mat[i].rows;
		shape[p->n_mats + i] = p->mat[i].cols;
	}
	x->n = p->n_mats;
	x->names = names;
	x->rows = shape;
	x->cols = shape + p->n_mats;
}

int param_block_encode(const struct param_block *b, struct rec_writer *w, struct err *e)
{
	struct arena *a = arena_new();
	struct params_rec x = {.net = b->net->name,
			       .block = b->block,
			       .recipe = b->recipe,
			       .without_costs = b->without_costs,
			       .seed = b->seed,
			       .episode = b->episode,
			       .n_data = b->p->n,
			       .data = b->p->data};
	x.hyper = list_hyper(b, a, &x.n_hyper);
	list_matrices(b->p, a, &x);
	int rc = params_encode(&x, w, e);
	arena_free(a);
	return rc;
}

/* *out, for mem_free, also after a failure: hyperparameters of the network.  What a record of an older version lacks has
 * the value by which that worked, the default one. */
static int set_hyper(const struct val *map, const struct net *net, void **out, struct err *e)
{
	*out = net_hyper_new(net, RECIPE_DEFAULT);
	for (const struct named_field *f = net->fields; f->name; f++) {
		double v;
		if (f->later && !val_get(map, f->name))
			continue;
		if (get_real(map, f->name, &v, e) < 0 || field_check(f, v, "hyperparameter", e) < 0)
			return err_prefix(e, "hyper");
		field_set(*out, f, v);
	}
	return 0;
}

static int find_net(const char *name, const struct net **out, struct err *e)
{
	char quoted[80];
	*out = net_find(name);
	return *out ? 0
		    : err_set(e, ST_INPUT, "unknown network '%s'",
			      err_escape(quoted, sizeof quoted, name, strlen(name)));
}

/* NULL unless we know it. */
static const char *find_recipe(const char *name)
{
	for (int i = 0; name && recipe_names[i]; i++)
		if (strcmp(recipe_names[i], name) == 0)
			return recipe_names[i];
	return NULL;
}

/* Into *p: new, or the one that is there, whose matrices must be these. */
static int set_matrices(const struct params_rec *x, struct params **p, struct err *e)
{
	if (!*p) {
		*p = params_new();
		for (size_t i = 0; i < x->n; i++)
			params_add(*p, x->names[i], x->rows[i], x->cols[i], PARAM_ZERO, 0);
		params_alloc(*p);
	} else if (params_match(*p, x->n, x->names, x->rows, x->cols, e) < 0) {
		return err_prefix(e, "other matrices than before");
	}
	if (x->n_data)
		memcpy((*p)->data, x->data, x->n_data * sizeof *x->data);
	return 0;
}

int param_block_decode(struct param_block *out, const struct rec *r, struct err *e)
{
	struct param_block b = {.p = out->p};
	struct params_rec x;
	struct arena *a = arena_new();
	int rc = -1;
	if (params_decode(r, a, &x, e) < 0 || find_net(x.net, &b.net, e) < 0 ||
	    set_hyper(x.hyper_map, b.net, &b.hyper, e) < 0)
		goto out;
	b.block = x.block;
	b.recipe = find_recipe(x.recipe);
	b.without_costs = x.without_costs;
	b.seed = x.seed;
	b.episode = x.episode;
	if (out->p && b.net != out->net)
		err_set(e, ST_INPUT, "of network '%s' after some of '%s'", b.net->name,
			out->net->name);
	else
		rc = set_matrices(&x, &b.p, e);
out:
	if (rc == 0) {
		mem_free(out->hyper);
		*out = b;
	} else {
		mem_free(b.hyper);
	}
	arena_free(a);
	return rc < 0 ? err_prefix(e, "params") : 0;
}

int param_block_check(const struct param_block *b, uint32_t d, uint32_t k, struct err *e)
{
	struct params *want = initial(b, d, k);
	struct arena *a = arena_new();
	struct params_rec x = {0};
	list_matrices(b->p, a, &x);
	int rc = params_match(want, x.n, x.names, x.rows, x.cols, e);
	if (rc < 0)
		err_prefix(e, "params of block '%s' do not fit %u features and %u devices",
			   block_names[b->block], d, k);
	arena_free(a);
	params_free(want);
	return rc;
}

int param_blocks_match(const struct param_block b[N_BLOCKS], const struct net *net, struct err *e)
{
	for (int i = 0; i < N_BLOCKS; i++) {
		if (!b[i].p)
			continue;
		if (net && b[i].net != net)
			return err_set(e, ST_INPUT,
				       "params of block '%s' are of network '%s', not '%s'",
				       block_names[b[i].block], b[i].net->name, net->name);
		net = b[i].net;
	}
	return 0;
}
