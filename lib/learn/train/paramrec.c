/* paramrec.c - parameter blocks to and from records. */
#include "learn/train/paramrec.h"
#include "learn/train/recipe.h"

#include <string.h>

const char *const block_names[] = {"embed", "policy", NULL};

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

static void put_hyper(struct rec_writer *w, const struct net *net, const void *hyper)
{
	put_map_begin(w, "hyper");
	for (const struct named_field *f = net->fields; f->name; f++)
		if (f->is_real)
			put_real(w, f->name, field_get(hyper, f));
		else
			put_int(w, f->name, (int64_t)field_get(hyper, f));
	put_map_end(w);
}

int paramrec_write(const struct param_block *b, struct rec_writer *w, struct err *e)
{
	uint32_t n = b->p->n_mats;
	const char **names = MEM_NEWN(const char *, n);
	uint32_t *shape = MEM_NEWN(uint32_t, 2 * (size_t)n);
	for (uint32_t i = 0; i < n; i++) {
		names[i] = b->p->mat[i].name;
		shape[i] = b->p->mat[i].rows;
		shape[n + i] = b->p->mat[i].cols;
	}
	rec_begin(w, "params");
	put_text(w, "net", b->net->name);
	put_text(w, "block", block_names[b->block]);
	if (b->recipe)
		put_text(w, "recipe", b->recipe);
	put_hyper(w, b->net, b->hyper);
	put_uint(w, "seed", b->seed);
	put_uint(w, "episode", b->episode);
	put_texts(w, "names", names, n);
	put_vector(w, "rows", TT_U32, n, shape);
	put_vector(w, "cols", TT_U32, n, shape + n);
	put_vector(w, "data", TT_F32, b->p->n, b->p->data);
	mem_free(names);
	mem_free(shape);
	return rec_end(w, e);
}

/* *out, for mem_free, also after a failure: hyperparameters of the network. */
static int get_hyper(const struct val *map, const struct net *net, void **out, struct err *e)
{
	*out = net_hyper_new(net, RECIPE_DEFAULT);
	for (const struct named_field *f = net->fields; f->name; f++) {
		double v;
		if (get_real(map, f->name, &v, e) < 0 || field_check(f, v, "hyperparameter", e) < 0)
			return err_prefix(e, "hyper");
		field_set(*out, f, v);
	}
	return 0;
}

static int get_net(const struct val *m, struct arena *a, const struct net **out, struct err *e)
{
	char quoted[80];
	const char *name;
	if (get_text(m, "net", a, &name, e) < 0)
		return -1;
	*out = net_find(name);
	return *out ? 0
		    : err_set(e, ST_INPUT, "unknown network '%s'",
			      err_escape(quoted, sizeof quoted, name, strlen(name)));
}

/* The recipe's name, when it is there and one that we know. */
static int get_recipe(const struct val *m, struct arena *a, const char **out, struct err *e)
{
	const char *name;
	if (!val_get(m, "recipe"))
		return 0;
	if (get_text(m, "recipe", a, &name, e) < 0)
		return -1;
	for (int i = 0; recipe_names[i]; i++)
		if (strcmp(recipe_names[i], name) == 0)
			*out = recipe_names[i];
	return 0;
}

int paramrec_block(const struct rec *r, enum block *out, struct err *e)
{
	const struct val *v = val_get(r->map, "block");
	const char *s;
	size_t n;
	if (v && val_bytes(v, &s, &n))
		for (int b = 0; b < N_BLOCKS; b++)
			if (n == strlen(block_names[b]) && memcmp(s, block_names[b], n) == 0) {
				*out = (enum block)b;
				return 0;
			}
	return err_set(e, ST_INPUT, "params: block is neither 'embed' nor 'policy'");
}

/* What a record says about its matrices. */
struct matrices {
	size_t n;
	const char **names;    /* (n) */
	uint32_t *rows, *cols; /* (n) */
	uint64_t floats;
	float *data; /* (floats) */
};

static int get_matrices(const struct val *m, struct arena *a, struct matrices *x, struct err *e)
{
	uint64_t shape[1], need = 0;
	*x = (struct matrices){.n = SIZE_MAX, .floats = UINT64_MAX};
	if (get_texts(m, "names", a, &x->n, &x->names, e) < 0)
		return -1;
	shape[0] = x->n;
	if (get_tensor(m, "rows", TT_U32, 1, shape, a, &x->rows, e) < 0 ||
	    get_tensor(m, "cols", TT_U32, 1, shape, a, &x->cols, e) < 0 ||
	    get_tensor(m, "data", TT_F32, 1, &x->floats, a, &x->data, e) < 0)
		return -1;
	for (size_t i = 0; i < x->n && need <= x->floats; i++)
		need += (uint64_t)x->rows[i] * x->cols[i];
	if (need != x->floats)
		return err_set(e, ST_INPUT, "data has %llu floats where its matrices have %s",
			       (unsigned long long)x->floats, need > x->floats ? "more" : "fewer");
	return 0;
}

/* Into *p: new, or the one that is there, whose matrices must be these. */
static int set_matrices(const struct matrices *x, struct params **p, struct err *e)
{
	if (!*p) {
		*p = params_new();
		for (size_t i = 0; i < x->n; i++)
			params_add(*p, x->names[i], x->rows[i], x->cols[i], PARAM_ZERO, 0);
		params_alloc(*p);
	} else if (params_match(*p, x->n, x->names, x->rows, x->cols, e) < 0) {
		return err_prefix(e, "other matrices than before");
	}
	if (x->floats)
		memcpy((*p)->data, x->data, x->floats * sizeof *x->data);
	return 0;
}

int paramrec_read(struct param_block *out, const struct rec *r, struct err *e)
{
	struct param_block b = {.p = out->p};
	struct matrices x;
	struct arena *a = arena_new();
	const struct val *hyper;
	uint64_t episode;
	int rc = -1;
	if (paramrec_block(r, &b.block, e) < 0 || get_net(r->map, a, &b.net, e) < 0 ||
	    get_uint(r->map, "seed", 0, UINT64_MAX, &b.seed, e) < 0 ||
	    get_uint(r->map, "episode", 0, UINT32_MAX, &episode, e) < 0 ||
	    get_recipe(r->map, a, &b.recipe, e) < 0 || get_map(r->map, "hyper", &hyper, e) < 0 ||
	    get_hyper(hyper, b.net, &b.hyper, e) < 0 || get_matrices(r->map, a, &x, e) < 0)
		goto out;
	b.episode = (uint32_t)episode;
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
	const struct params *p = b->p;
	const char **names = MEM_NEWN(const char *, p->n_mats);
	uint32_t *shape = MEM_NEWN(uint32_t, 2 * (size_t)p->n_mats);
	for (uint32_t i = 0; i < p->n_mats; i++) {
		names[i] = p->mat[i].name;
		shape[i] = p->mat[i].rows;
		shape[p->n_mats + i] = p->mat[i].cols;
	}
	int rc = params_match(want, p->n_mats, names, shape, shape + p->n_mats, e);
	if (rc < 0)
		err_prefix(e, "params of block '%s' do not fit %u features and %u devices",
			   block_names[b->block], d, k);
	mem_free(names);
	mem_free(shape);
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
