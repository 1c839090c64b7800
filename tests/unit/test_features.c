/* The feature matrix: columns, scales, renumbering, odd graphs.  Values on real models are
 * tests/cli/dagfeat.bats' part. */
#include "feature/features.h"
#include "graphgen.h"
#include "tap.h"

#include <math.h>

static unsigned kinds_of(const char *list)
{
	struct err e = ERR_INIT;
	unsigned kinds;
	return feat_parse(list, &kinds, &e) == 0 ? kinds : 0;
}

static void test_list(void)
{
	unsigned all = (1u << FEAT_COUNT) - 1;
	tap(kinds_of("all") == all && kinds_of("type") == 1u << FEAT_TYPE &&
		    kinds_of("all,-type,-shape") == (all & ~3u) &&
		    kinds_of("-type") == (all & ~1u) &&
		    kinds_of("none,fractal") == 1u << FEAT_FRACTAL && kinds_of("paper") == 0x3f &&
		    kinds_of("paper,-fractal,depth_sink") ==
			    ((0x3f & ~(1u << FEAT_FRACTAL)) | 1u << FEAT_DEPTH_SINK),
	    "lists of features");
	bool refused = true;
	const char *bad[] = {"", ",", "type,", "typ", "type shape", "-", "-all", "Type", "none"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		refused &= kinds_of(bad[i]) == 0;
	tap(refused, "lists that are refused");
}

static bool all_finite(const struct features *x, float limit)
{
	for (size_t i = 0; i < (size_t)x->n * x->d; i++)
		if (!isfinite(x->x[i]) || fabsf(x->x[i]) > limit)
			return false;
	return true;
}

static void test_scales(void)
{
	bool ok = true, names = true;
	uint32_t d = 0;
	for (uint64_t seed = 0; seed < 12; seed++) {
		struct graph *g = gen_graph(seed, 1 + 40 * (uint32_t)seed, 5);
		struct feat_opts o = {.kinds = kinds_of("all"), .d_pos = 8};
		struct features x;
		for (int mode = CONST_KEEP; mode <= CONST_FOLD; mode++) {
			graph_colocate(g, (enum const_mode)mode, true);
			if (g->n_sets == 0)
				continue;
			feat_compute(g, &o, g->arena, &x);
			ok &= all_finite(&x, 2.5f) && x.n == g->n_sets && (d == 0 || x.d == d);
			d = x.d;
			o.paper = true;
			feat_compute(g, &o, g->arena, &x);
			ok &= all_finite(&x, 1e6f);
			for (uint32_t i = 0; i < x.d; i++)
				for (uint32_t j = 0; j < i; j++)
					names &= strcmp(x.column[i], x.column[j]) != 0;
			o.paper = false;
		}
		graph_free(g);
	}
	tap(ok, "finite, small, as wide for every graph (%u columns)", d);
	tap(names, "no two columns have one name");
}

/* A constant of a higher rank than any placed output, straight into a Result. */
static void test_unplaced_shape(void)
{
	struct graph *g = gen_graph(2, 6, 5);
	struct feat_opts o = {.kinds = kinds_of("shape"), .paper = true};
	struct features x;
	g->n_const = 1;
	g->const_node[0] = 0;
	g->dim = (int64_t[]){9, 8, 7, 6, 5};
	for (uint32_t k = 0; k < g->out_ptr[g->n]; k++) {
		g->dim_ptr[k + 1] = 5;
		g->out_rank[k] = k ? 0 : 5;
	}
	graph_colocate(g, CONST_DROP, true);
	for (uint32_t v = 1; v < g->n; v++)
		g->out_ptr[v + 1] = g->out_ptr[1]; /* nobody else has outputs */
	for (uint32_t i = 0; i < g->in_ptr[g->n]; i++) {
		g->in_node[i] = 0;
		g->in_port[i] = 0;
	}
	feat_compute(g, &o, g->arena, &x);
	tap(x.d == 5 && x.x[0] == 9 && x.x[4] == 5, "a Result shows the shape of its input");
	graph_free(g);
}

int main(void)
{
	test_list();
	test_scales();
	test_unplaced_shape();
	return tap_end();
}
