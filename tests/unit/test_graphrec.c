/* The graph record: written and read back, and refused when anything in it is wrong. */
#include "record/graphrec.h"
#include "graphgen.h"
#include "stream/filter.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/test_graphrec.XXXXXX";

/* One stream with g in it, at path. */
static bool write_graph(struct graph *g, struct err *e)
{
	struct opt_common common = OPT_COMMON_INIT;
	struct filter f;
	common.output = path;
	if (filter_open(&f, NULL, &common, 0, NULL, e) < 0)
		return false;
	int rc = filter_begin(&f, e);
	if (rc == 0)
		rc = graph_encode(g, f.out, e);
	if (rc == 0)
		rc = filter_end(&f, e);
	return filter_close(&f, rc, e) == 0;
}

/* The graph of the stream at path, or NULL. */
static struct graph *read_graph(struct err *e)
{
	struct rec_reader *in = rec_reader_open(path, -1, e);
	struct graph *g = NULL;
	struct rec r;
	while (in && rec_next(in, &r, e) > 0)
		if (rec_is(&r, "graph") && !(g = graph_decode(&r, e)))
			break;
	rec_reader_close(in);
	return g;
}

#define SAME(n, x) (memcmp(g->x, h->x, (n) * sizeof *g->x) == 0)

static bool same_text(const char *const *a, const char *const *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(a[i], b[i]) != 0)
			return false;
	return true;
}

static bool same_columns(const struct graph *g, const struct graph *h)
{
	uint32_t n = g->n, n_in = g->in_ptr[n], n_out = g->out_ptr[n], n_attr = g->attr_ptr[n];
	bool ok = n == h->n && SAME(n, id) && same_text(g->node_name, h->node_name, n) &&
		  same_text(g->type, h->type, n) && same_text(g->opset, h->opset, n) &&
		  SAME(n + 1, attr_ptr) && same_text(g->attr_key, h->attr_key, n_attr) &&
		  same_text(g->attr_value, h->attr_value, n_attr) && SAME(n + 1, in_ptr) &&
		  SAME(n_in, in_node) && SAME(n_in, in_port) && SAME(n + 1, out_ptr) &&
		  SAME(n_out, out_elem) && SAME(n_out, out_rank) && SAME(n_out + 1, dim_ptr) &&
		  SAME(g->dim_ptr[n_out], dim) && same_text(g->out_names, h->out_names, n_out) &&
		  g->n_const == h->n_const && SAME(g->n_const, const_node) &&
		  SAME(g->n_const, const_offset) && SAME(g->n_const, const_bytes) &&
		  g->n_bodies == h->n_bodies;
	for (uint32_t b = 0; ok && b < g->n_bodies; b++) {
		const struct graph_body *x = &g->body[b], *y = &h->body[b];
		ok = x->node == y->node && strcmp(x->role, y->role) == 0 &&
		     x->n_maps == y->n_maps && x->n_back == y->n_back &&
		     same_columns(x->graph, y->graph) &&
		     memcmp(x->back_from, y->back_from, x->n_back * sizeof *x->back_from) == 0 &&
		     memcmp(x->back_to, y->back_to, x->n_back * sizeof *x->back_to) == 0;
		for (uint32_t i = 0; ok && i < x->n_maps; i++) {
			const struct port_map *p = &x->map[i], *q = &y->map[i];
			ok = p->output == q->output && p->external == q->external &&
			     p->internal == q->internal && p->has_axis == q->has_axis &&
			     p->condition == q->condition && p->counter == q->counter &&
			     (!p->has_axis ||
			      (p->axis == q->axis && p->start == q->start && p->end == q->end &&
			       p->stride == q->stride && p->part_size == q->part_size));
		}
	}
	for (uint32_t v = 1; ok && v < n; v++) /* interned */
		ok = (strcmp(h->type[v], h->type[0]) == 0) == (h->type[v] == h->type[0]);
	return ok;
}

/* Bodies within bodies, `depth` deep, on the last node of each graph. */
static void add_bodies(struct graph *g, int depth, struct arena *a)
{
	static struct port_map maps[] = {
		{.external = 0,
		 .internal = 0,
		 .has_axis = true,
		 .axis = 1,
		 .start = 7,
		 .end = 0,
		 .stride = -2,
		 .part_size = 3},
		{.output = true, .external = -1, .internal = 3, .condition = true},
		{.output = true, .external = 0, .internal = 4},
	};
	if (depth == 0)
		return;
	struct graph *inner = gen_graph((uint64_t)depth, 12, 4);
	g->n_bodies = 1;
	g->body = ARENA_NEWN(a, struct graph_body, 1);
	g->body[0] = (struct graph_body){.node = g->n - 1,
					 .role = "body",
					 .graph = inner,
					 .n_maps = 3,
					 .n_back = 2,
					 .map = maps,
					 .back_from = ARENA_NEWN(a, uint32_t, 2),
					 .back_to = ARENA_NEWN(a, uint32_t, 2)};
	g->body[0].back_from[1] = 5;
	add_bodies(inner, depth - 1, a);
}

static void free_bodies(struct graph *g)
{
	if (g->n_bodies)
		free_bodies(g->body[0].graph);
	graph_free(g);
}

static void test_round_trip(void)
{
	bool ok = true, digest = true;
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct err e = ERR_INIT;
		struct graph *g = gen_graph(seed, 20 + 30 * (uint32_t)seed, 5), *h;
		graph_colocate(g, (enum const_mode)(seed % 3), true);
		g->xml = "/a/model.xml";
		g->weights_bytes = 1u << 20;
		ok &= write_graph(g, &e) && (h = read_graph(&e)) != NULL;
		if (!ok) {
			printf("# %s\n", e.msg);
			break;
		}
		ok &= same_columns(g, h) && g->n_sets == h->n_sets && SAME(g->n, set) &&
		      strcmp(h->xml, g->xml) == 0 && h->weights_bytes == g->weights_bytes &&
		      h->ir_version == 11 && strcmp(h->name, g->name) == 0;
		digest &= h->digest == g->digest && h->digest != 0;
		uint64_t before = g->digest;
		g->xml = "/b/model.xml";
		digest &= write_graph(g, &e) && g->digest == before;
		g->in_port[0] ^= 1;
		digest &= write_graph(g, &e) && g->digest != before;
		graph_free(g);
		graph_free(h);
	}
	tap(ok, "a graph that is written is read back");
	tap(digest, "the digest names the content, not where the model lies");
}

static void test_tail(void)
{
	struct err e = ERR_INIT;
	struct graph *g = gen_graph(1, 30, 5), *h;
	bool ok = write_graph(g, &e);
	uint64_t before = g->digest;
	g->tail_at = 3 * GRAPH_TAIL_ALIGN;
	g->tail_bytes = 4;
	g->tail = (const uint8_t *)"tail";
	ok = ok && write_graph(g, &e) && g->digest != before && (h = read_graph(&e)) != NULL;
	tap(ok && h->tail_at == g->tail_at && h->tail_bytes == 4 && memcmp(h->tail, "tail", 4) == 0,
	    "constants of the record: %s", e.msg);
	if (ok)
		graph_free(h);
	graph_free(g);
}

static void test_bodies(void)
{
	struct err e = ERR_INIT;
	struct graph *g = gen_graph(1, 30, 5), *h;
	add_bodies(g, GRAPH_MAX_DEPTH, g->arena);
	bool ok = write_graph(g, &e) && (h = read_graph(&e)) != NULL;
	tap(ok && same_columns(g, h), "bodies within bodies %s", e.msg);
	if (ok)
		graph_free(h);
	free_bodies(g);
	g = gen_graph(1, 30, 5);
	add_bodies(g, GRAPH_MAX_DEPTH + 1, g->arena);
	err_clear(&e);
	ok = write_graph(g, &e) && !read_graph(&e);
	tap(ok && e.code == ST_INPUT && strstr(e.msg, "nested deeper than"),
	    "bodies nested too deep: %s", e.msg);
	free_bodies(g);
}

/* ---- what must be refused ---- */

/* Each case spoils a good graph in one way; the message names the column. */
#define CASES(CASE) \
	CASE("in_node", g->in_node[0] = g->n) \
	CASE("in_node", g->in_node[g->in_ptr[9]] = 9) \
	CASE("in_node", g->in_node[g->in_ptr[9]] = 20) \
	CASE("in_port", g->in_port[0] = 2) \
	CASE("in_port", g->in_port[0] = UINT32_MAX) \
	CASE("in_ptr", g->in_ptr[5] = g->in_ptr[4] - 1) \
	CASE("in_ptr", g->in_ptr[0] = 1) \
	CASE("out_ptr", g->out_ptr[5] = g->out_ptr[6] + 1) \
	CASE("out_rank", g->out_rank[3] = 200) \
	CASE("out_rank", g->out_rank[with_rank(g, 2)] = RANK_DYNAMIC) \
	CASE("dim_ptr", g->dim_ptr[2] = UINT32_MAX) \
	CASE("dim", g->dim[0] = -2) \
	CASE("dim", huge(g)) \
	CASE("const_node", g->const_node[0] = g->n) \
	CASE("const_node", g->const_node[1] = g->const_node[0]) \
	CASE("const_offset", g->const_offset[2] = UINT64_MAX) \
	CASE("tail_at", g->tail = (const uint8_t *)"x"; g->tail_bytes = 1; g->tail_at = 5) \
	CASE("attr_ptr", g->attr_ptr[3] = 1000) \
	CASE("set", g->set[4] = g->n_sets) \
	CASE("sets must be in a topological order", g->set[g->n - 1] = 0) \
	CASE("set", g->set[g->n - 1] = GRAPH_NONE) \
	CASE("n_sets", g->n_sets++) \
	CASE("n_sets", g->n_sets = 0) \
	CASE("n_sets", memset(g->set, 0, g->n * sizeof *g->set)) \
	CASE("node", add_bodies(g, 1, g->arena); g->body[0].node = g->n) \
	CASE("role", add_bodies(g, 1, g->arena); g->body[0].role = "other") \
	CASE("internal", add_bodies(g, 1, g->arena); g->body[0].map = one_map(g, 12, 0)) \
	CASE("maps", add_bodies(g, 1, g->arena); g->body[0].map = one_map(g, 1, 3)) \
	CASE("external", add_bodies(g, 1, g->arena); g->body[0].map = one_map(g, 1, -2)) \
	CASE("back_from", add_bodies(g, 1, g->arena); g->body[0].back_to[0] = 12) \
	CASE("bodies", add_bodies(g, 2, g->arena); g->body[0].graph->in_node[0] = 11)

static uint32_t with_rank(const struct graph *g, uint8_t rank)
{
	uint32_t o = 0;
	while (g->out_rank[o] != rank)
		o++;
	return o;
}

static void huge(struct graph *g)
{
	uint32_t o = with_rank(g, 3);
	for (int k = 0; k < 3; k++)
		g->dim[g->dim_ptr[o] + (uint32_t)k] = 1 << 30;
}

static struct port_map *one_map(struct graph *g, uint32_t internal, int64_t external)
{
	struct port_map *m = ARENA_NEWN(g->arena, struct port_map, 1);
	m->internal = internal;
	m->external = external;
	g->body[0].n_maps = 1;
	return m;
}

static void expect_refused(struct graph *g, const char *column, const char *what)
{
	struct err e = ERR_INIT;
	if (!write_graph(g, &e)) {
		tap(false, "cannot write: %s", e.msg);
		return;
	}
	struct graph *h = read_graph(&e);
	tap(!h && e.code == ST_INPUT && strstr(e.msg, column), "refused: %s (%s)", what, e.msg);
	graph_free(h);
}

static void test_refused(void)
{
#define CASE(column, code) \
	{ \
		struct graph *g = gen_graph(4, 40, 5); \
		code; \
		expect_refused(g, column, #code); \
		free_bodies(g); \
	}
	CASES(CASE)
}

/* Damaged bytes: whatever is read must be a graph that passes, and nothing crashes. */
static void test_damage(void)
{
	struct err e = ERR_INIT;
	struct graph *g = gen_graph(7, 25, 4);
	add_bodies(g, 2, g->arena);
	bool ok = write_graph(g, &e);
	free_bodies(g);
	FILE *f = fopen(path, "rb");
	static uint8_t good[1 << 16], bad[1 << 16];
	size_t n = f ? fread(good, 1, sizeof good, f) : 0;
	if (f)
		fclose(f);
	const uint8_t *graph = memmem(good, n, "graph", 5); /* hdr before it is not in the digest */
	uint32_t from = graph ? (uint32_t)(graph - good) : 0;
	struct gen r = gen_new(3);
	uint32_t refused = 0, tries = 1000;
	for (uint32_t t = 0; ok && t < tries; t++) {
		memcpy(bad, good, n);
		size_t len = t % 3 ? n : gen_below(&r, (uint32_t)n);
		for (uint32_t k = 0; k < t % 3; k++)
			bad[from + gen_below(&r, (uint32_t)n - from)] ^=
				(uint8_t)(1u << gen_below(&r, 8));
		f = fopen(path, "wb");
		ok &= f && fwrite(bad, 1, len, f) == len;
		if (f)
			fclose(f);
		err_clear(&e);
		g = read_graph(&e);
		struct err again = ERR_INIT;
		ok &= !g || graph_check(g, &again) == 0;
		ok &= e.code == ST_INPUT; /* the digest of the stream at the latest */
		refused += e.code == ST_INPUT;
		graph_free(g);
	}
	tap(ok && n > 1000 && n < sizeof good, "%u of %u damaged streams are refused", refused,
	    tries);
}

int main(void)
{
	int fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	test_round_trip();
	test_bodies();
	test_tail();
	test_refused();
	test_damage();
	unlink(path);
	return tap_end();
}
