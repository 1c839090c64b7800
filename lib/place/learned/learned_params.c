/* learned_params.c - parameters of learned methods. */
#include <string.h>

#include "place/learned/learned_features.h"
#include "place/learned/learned_params.h"

static struct learned_params *empty(void)
{
	struct learned_params *x = MEM_NEW(struct learned_params);

	x->block = BLOCK_COSTS;
	x->p = params_new();
	x->edges = scorer_add(x->p, "edges", PARSE_FEATURES, SCORER_SMALL);
	x->policy = scorer_add(x->p, "policy", DECODE_FEATURES, SCORER_SMALL);
	x->moves = scorer_add(x->p, "moves", PATCH_FEATURES, SCORER_LARGE);
	params_alloc(x->p);
	return x;
}

struct learned_params *learned_params_new(uint64_t seed)
{
	struct learned_params *x = empty();

	x->seed = seed;
	params_init(x->p, seed, 0);
	return x;
}

static uint64_t features_off(const char *kinds, unsigned without)
{
	uint64_t off = 0;

	for (uint32_t i = 0; kinds[i]; i++)
		if ((kinds[i] == 'c' && without & WITHOUT_COSTS) ||
		    (kinds[i] == 's' && without & WITHOUT_STRUCTURE))
			off |= (uint64_t)1 << i;
	return off;
}

void learned_params_leave_out(struct learned_params *x, unsigned without)
{
	x->without = without;
	x->edges.off = features_off(parse_feature_kinds, without);
	x->policy.off = features_off(decode_feature_kinds, without);
	x->moves.off = features_off(patch_feature_kinds, without);
}

void learned_params_free(struct learned_params *x)
{
	if (!x)
		return;
	params_free(x->p);
	mem_free(x);
}

int learned_params_decode(const struct rec *r, struct learned_params **x, struct err *e)
{
	struct arena *a = arena_new();
	struct learned_params *y = empty();
	struct params_rec in;
	uint64_t version, without = 0;
	int rc = params_decode(r, a, &in, e);

	if (rc == 0)
		rc = get_uint(in.hyper_map, "version", 0, UINT64_MAX, &version, e);
	if (rc == 0 && version != LEARNED_VERSION)
		rc = err_set(e, ST_INPUT,
			     "parameters of version %llu, where this program has %d; make pretrain "
			     "makes new ones",
			     (unsigned long long)version, LEARNED_VERSION);
	if (rc == 0 && val_get(in.hyper_map, "without"))
		rc = get_uint(in.hyper_map, "without", 0, 2 * WITHOUT_PARSING - 1, &without, e);
	if (rc == 0)
		rc = params_match(y->p, in.n, in.names, in.rows, in.cols, e);
	if (rc == 0) {
		memcpy(y->p->data, in.data, y->p->n * sizeof(*y->p->data));
		learned_params_leave_out(y, (unsigned)without);
	}
	y->seed = in.seed;
	y->episode = in.episode;
	y->block = in.block;
	arena_free(a);
	if (rc < 0) {
		learned_params_free(y);
		return err_prefix(e, "params");
	}
	learned_params_free(*x);
	*x = y;
	return 0;
}

int learned_params_encode(const struct learned_params *x, uint64_t seed, struct rec_writer *w,
			  struct err *e)
{
	const struct params *p = x->p;
	const struct params_hyper hyper[] = {{"version", LEARNED_VERSION, false},
					     {"without", x->without, false}};
	struct arena *a = arena_new();
	const char **names = ARENA_NEWN(a, const char *, p->n_mats);
	uint32_t *shape = ARENA_NEWN(a, uint32_t, 2 * (size_t)p->n_mats);
	struct params_rec out = {.net = "costs",
				 .block = x->block,
				 .seed = seed,
				 .episode = x->episode,
				 .n_hyper = x->without ? 2 : 1,
				 .hyper = hyper,
				 .n = p->n_mats,
				 .names = names,
				 .rows = shape,
				 .cols = shape + p->n_mats,
				 .n_data = p->n,
				 .data = p->data};

	for (uint32_t i = 0; i < p->n_mats; i++) {
		names[i] = p->mat[i].name;
		shape[i] = p->mat[i].rows;
		shape[p->n_mats + i] = p->mat[i].cols;
	}
	int rc = params_encode(&out, w, e);

	arena_free(a);
	return rc;
}

struct learned_params *learned_params_read(const char *path, struct err *e)
{
	struct rec_reader *in = rec_reader_open(path, -1, e);
	struct learned_params *x = NULL;
	enum params_block b;
	struct rec r;
	int k = in ? 1 : -1;

	while (k > 0 && (k = rec_next(in, &r, e)) > 0) {
		if (!rec_is(&r, "params"))
			continue;
		if (params_decode_block(&r, &b, e) < 0 ||
		    (b == BLOCK_COSTS && learned_params_decode(&r, &x, e) < 0))
			k = -1;
	}
	rec_reader_close(in);
	if (k == 0 && !x)
		k = err_set(e, ST_INPUT, "no params of block 'costs'");
	if (k < 0) {
		learned_params_free(x);
		err_prefix(e, "'%s'", path);
		return NULL;
	}
	return x;
}
