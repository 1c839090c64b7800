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
	unsigned all = (1u << FEAT_COSTS) - 1;
	tap(kinds_of("all") == all && kinds_of("type") == 1u << FEAT_TYPE &&
		    kinds_of("all,-type,-shape") == (all & ~3u) &&
		    kinds_of("-type") == (all & ~1u) &&
		    kinds_of("none,fractal") == 1u << FEAT_FRACTAL && kinds_of("paper") == 0x3f &&
		    kinds_of("paper,-fractal,depth_sink") ==
			    ((0x3f & ~(1u << FEAT_FRACTAL)) | 1u << FEAT_DEPTH_SINK) &&
		    kinds_of("all,costs") == (all | 1u << FEAT_COSTS) &&
		    kinds_of("costs,-all") == 1u << FEAT_COSTS,
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

/* ---- costs ---- */

/* 0 -> 1, 2 -> 3 with tensors of 4, 2, 1, 1 bytes, on two devices in this order or the other: means
 * 3, 4, 1, 2; a copy takes 1 + bytes seconds in the mean. */
static void known_costs(bool reversed, double scale, float *out)
{
	static const double cost_s[4][2] = {{2, 4}, {6, 2}, {1, -1}, {2, 2}};
	static const uint32_t from[] = {0, 0, 1, 2}, bytes[] = {4, 2, 1, 1};
	const char *const names[] = {"one", "other"};
	double set_s[8], latency_s[4] = {0, 0.5 * scale, 1.5 * scale, 0};
	double bytes_per_s[4] = {INFINITY, 1 / (1.5 * scale), 1 / (0.5 * scale), INFINITY};
	uint64_t limit[2] = {9, 0};
	struct graph *g = gen_tensors(4, 2);
	struct place_model m;
	struct err e = ERR_INIT;

	g->in_ptr[1] = 0;
	g->in_ptr[2] = 1;
	g->in_ptr[3] = 2;
	g->in_ptr[4] = 4;
	for (uint32_t v = 0; v < 4; v++) {
		g->in_node[v] = from[v];
		g->dim[v] = bytes[v];
		for (uint32_t d = 0; d < 2; d++)
			set_s[2 * v + (reversed ? 1 - d : d)] = cost_s[v][d] * scale;
	}
	graph_finish(g);
	if (reversed) {
		latency_s[1] = 1.5 * scale;
		latency_s[2] = 0.5 * scale;
		bytes_per_s[1] = 1 / (0.5 * scale);
		bytes_per_s[2] = 1 / (1.5 * scale);
		limit[0] = 0;
		limit[1] = 9;
	}
	struct place_setup s = {
		.k = 2,
		.names = names,
		.set_s = set_s,
		.links = {.k = 2, .latency_s = latency_s, .bytes_per_s = bytes_per_s},
		.mem_limit = limit};
	if (place_model_init(&m, g, &s, g->arena, &e) < 0)
		err_clear(&e);
	struct feat_costs costs = {&m, true};
	struct feat_opts o = {.kinds = kinds_of("costs"), .costs = &costs};
	struct features x;

	feat_compute(g, &o, g->arena, &x);
	memset(out, 0, 48 * sizeof(*out));
	if (x.n == 4 && x.d == 12)
		memcpy(out, x.x, 48 * sizeof(*out));
	graph_free(g);
}

static void test_costs(void)
{
	/* Copies of 5, 3 and 2 s.  Upward ranks 17, 9, 5, 2; downward 0, 8, 8, 15; slack 4 of set 2;
	 * least times and no copies: 6, 4, 3, 2.  Nobody reads what the last one makes. */
	static const double want[4][12] = {
		{3 / 5.5, 2 / 5., 4 / 7., 1 / 4., 1, 5 / 8., 1, 0, 0, 6 / 17., 4 / 6., 4 / 13.},
		{4 / 6.5, 2 / 6., 6 / 10., 2 / 6., 1, 3 / 7., 9 / 17., 8 / 17., 0, 4 / 17., 2 / 4.,
		 2 / 11.},
		{1 / 3.5, 1 / 2., 1 / 2., 0, 0.5, 2 / 3., 5 / 17., 8 / 17., 4 / 17., 3 / 17.,
		 1 / 3., 1 / 10.},
		{2 / 4.5, 1 / 2., 1 / 2., 0, 1, 0, 2 / 17., 15 / 17., 0, 2 / 17., 1 / 3., 1 / 10.}};
	float x[48], y[48];
	double worst = 0;

	known_costs(false, 1, x);
	for (int i = 0; i < 48; i++)
		worst = fmax(worst, fabs(x[i] - want[i / 12][i % 12]));
	tap(worst < 1e-6, "costs of four sets, by hand (off by %g)", worst);
	known_costs(true, 1, y);
	tap(memcmp(x, y, sizeof(x)) == 0, "the order of devices does not matter");
	known_costs(false, 0x1p-20, y);
	tap(memcmp(x, y, sizeof(x)) == 0, "the unit of time does not matter");
}

int main(void)
{
	test_list();
	test_scales();
	test_unplaced_shape();
	test_costs();
	return tap_end();
}
