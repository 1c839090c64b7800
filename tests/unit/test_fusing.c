/* test_fusing.c - which operations are one kernel, what that makes of their costs, and peaks by type. */
#include "op/op.h"
#include "place/problem/placemodel.h"
#include "graphgen.h"
#include "tap.h"
#include "written_graph.h"

static const char *spec = "device a flops 1e3 bandwidth 1e3 overhead 1";
static double work_s[NODES];

/* Seconds of all nodes on a device that fuses `kinds`: 1000 FLOP/s, 1000 bytes/s, 1 s a kernel. */
static double total(const char *kinds)
{
	struct arena *a = arena_new();
	struct err e = ERR_INIT;
	struct spec s = {0};
	const char *text = arena_printf(a, "%s\nfuses a %s\n", spec, kinds), *names[] = {"a"};
	double sum = 0;

	graph_colocate(g, CONST_FOLD, false);
	if (spec_parse(text, strlen(text), "test", a, &s, &e) < 0 ||
	    place_spec_node_costs(g, &s, names, 1, work_s, &e) < 0)
		sum = -1;
	for (uint32_t v = 0; v < g->n && sum >= 0; v++)
		sum += work_s[v];
	err_clear(&e);
	arena_free(a);
	return sum;
}

static bool near(double x, double y)
{
	return x > y - 1e-9 && x < y + 1e-9;
}

static uint32_t input(const char *shape)
{
	return node("Parameter", "opset1", "", EL_F32, shape, "");
}

static uint32_t op(const char *type, const char *inputs, const char *shape)
{
	return node(type, "opset1", inputs, EL_F32, shape, "");
}

static void epilogues(void)
{
	graph_begin();
	input("10,10"), input("10,10"), input("10,10");
	op("MatMul", "0,1", "10,10");
	op("Add", "3,2", "10,10");
	op("ReLU", "4", "10,10");
	op("Result", "5", "-");
	/* 2000 FLOP and 1200 bytes; 100 and 1200; 100 and 800 */
	tap(near(total("none"), 3 + 2 + 1.2 + .8),
	    "three kernels: 2, 1.2 and .8 s, and three launches");
	/* 2200 FLOP; it reads three matrices and writes one */
	tap(near(total("epilogues"), 1 + 2.2), "one kernel: 2.2 s of computing, 1.6 of bytes");
	tap(near(work_s[3], 3) && near(work_s[4], .1) && near(work_s[5], .1),
	    "the product takes its own time, what is behind it what it adds");
	tap(near(total("pointwise"), 1 + 2 + 1 + 1.2),
	    "without epilogues the last two are one kernel");
	graph_free(g);

	graph_begin();
	input("10,10"), input("10,10");
	op("MatMul", "0,1", "10,10");
	op("ReLU", "2", "10,10");
	op("Result", "3", "-");
	op("Result", "2", "-");
	tap(near(total("all"), 1 + 2 + 1 + .8),
	    "a product that is a result, too, is written, and its reader a kernel");
	graph_free(g);
}

static void gates(void)
{
	graph_begin();
	input("10,10"), input("10,10");
	op("MatMul", "0,1", "10,10");
	op("Sigmoid", "2", "10,10");
	op("Multiply", "2,3", "10,10");
	op("Result", "4", "-");
	tap(near(total("epilogues"), 1 + 2 + .8 + .1), "x * sigmoid(x) is an epilogue");
	graph_free(g);

	graph_begin();
	input("10,10"), input("10,10");
	op("MatMul", "0,1", "10,10");
	op("Sigmoid", "2", "10,10");
	op("MatMul", "3,1", "10,10");
	op("Multiply", "2,4", "10,10");
	op("Result", "5", "-");
	/* Multiply is of the second product's kernel, which reads three matrices; the sigmoid is a kernel */
	tap(near(total("all"), 3 + 2 + .8 + 2.1),
	    "a gate with a product in it waits for the first product");
	graph_free(g);
}

/* softmax(Q K^T * scale + mask) V with 2 heads of 10 x 10, K as it comes from a projection. */
static void attention(void)
{
	graph_begin();
	input("2,10,10"), input("10,2,10"), input("2,10,10"), input("10,10"), input("1");
	node("Const", "opset1", "", EL_I64, "3", "");
	g->const_node[g->n_const++] = 5;
	op("Transpose", "1,5", "2,10,10");
	op("MatMul", "0,6", "2,10,10");
	op("Multiply", "7,4", "2,10,10");
	op("Add", "8,3", "2,10,10");
	op("Softmax", "9", "2,10,10");
	op("MatMul", "10,2", "2,10,10");
	op("Result", "11", "-");
	spec = "device a flops 1e12 bandwidth 1e3 overhead 1";
	tap(near(total("attention,epilogues"), 1 + (4 * (4 * 200 + 100 + 1) + 24) / 1e3),
	    "attention is one kernel: Q, K, V and the mask in, the result out; K is read by "
	    "strides");
	/* scores are written by QK, read and written by the softmax, and read again */
	tap(near(total("epilogues"), 3 + (4 * (4 * 200 + 100 + 1 + 4 * 200) + 24) / 1e3),
	    "without it the scores are written");
	spec = "device a flops 1e3 bandwidth 1e3 overhead 1";
	graph_free(g);
}

static void norms(void)
{
	graph_begin();
	input("10,10"), input("10"), input("10,1");
	op("Multiply", "0,0", "10,10");
	node("Const", "opset1", "", EL_I64, "1", "");
	g->const_node[g->n_const++] = 4;
	op("ReduceMean", "3,4", "10,1");
	op("Add", "5,2", "10,1");
	op("Sqrt", "6", "10,1");
	op("Divide", "0,7", "10,10");
	op("Multiply", "8,1", "10,10");
	op("Result", "9", "-");
	spec = "device a flops 1e12 bandwidth 1e3 overhead 1";
	tap(near(total("pointwise"), 1 + (4 * (100 + 1 * 10 + 10 + 100) + 8) / 1e3),
	    "a norm reads its rows once");
	spec = "device a flops 1e3 bandwidth 1e3 overhead 1";
	graph_free(g);
}

static void caches(void)
{
	graph_begin();
	input("1,90,4"), input("1,1,4");
	op("Concat", "0,1", "1,91,4");
	op("Result", "2", "-");
	op("ReLU", "2", "1,91,4");
	op("Result", "4", "-");
	tap(near(total("caches"), 1 + .032 + 1 + 2 * 91 * 16 / 1e3),
	    "what is appended to a cache is read and written, the cache stays");
	tap(near(total("none"), 2 + 4 * 91 * 16 / 1e3), "without it the cache is copied");
	graph_free(g);

	graph_begin();
	input("1,90,4"), input("1,1,4");
	op("Concat", "0,1", "1,91,4");
	op("ReLU", "2", "1,91,4");
	op("Result", "3", "-");
	tap(near(total("caches"), 2 + 4 * 91 * 16 / 1e3),
	    "a join that does not become a result is no cache");
	graph_free(g);

	/* Rows of a cache in another order: the beam's. */
	graph_begin();
	input("2,90,4"), input("2,1,4"), node("Parameter", "opset1", "", EL_I64, "2", "");
	node("Const", "opset1", "", EL_I64, "", "");
	g->const_node[g->n_const++] = 3;
	op("Gather", "0,2,3", "2,90,4");
	op("Concat", "4,1", "2,91,4");
	op("Result", "5", "-");
	tap(near(total("caches"), 1 + 2 * .032), "the Gather of a cache costs nothing");
	graph_free(g);
}

/* What a kernel reads is counted once, however kernels lie between each other. */
static void shared_inputs(void)
{
	double of[2];

	spec = "device a flops 1e12 bandwidth 1e3 overhead 1";
	for (int order = 0; order < 2; order++) {
		graph_begin();
		input("10,10"), input("10,10"), input("10,10");
		op("MatMul", "0,1", "10,10");
		op(order ? "MatMul" : "Add", order ? "0,2" : "3,0", "10,10");
		op(order ? "Add" : "MatMul", order ? "3,0" : "0,2", "10,10");
		op("Add", order ? "4,0" : "5,0", "10,10");
		op("Result", order ? "5" : "4", "-");
		op("Result", "6", "-");
		of[order] = total("all");
		graph_free(g);
	}
	tap(near(of[0], 2 + 6 * .4) && near(of[1], of[0]),
	    "two kernels that read one tensor, one behind the other or mixed");

	/* x, its two halves, joined, and x added: x is read once */
	graph_begin();
	input("10,10");
	for (int i = 0; i < 4; i++) {
		node("Const", "opset1", "", EL_I64, "1", "");
		g->const_node[g->n_const++] = (uint32_t)(1 + i);
	}
	op("Slice", "0,1,2,3,4", "10,5");
	op("Slice", "0,2,3,3,4", "10,5");
	op("Negative", "6", "10,5");
	node("Concat", "opset1", "7,5", EL_F32, "10,10", "axis=1");
	op("Add", "8,0", "10,10");
	op("Result", "9", "-");
	tap(near(total("pointwise"), 1 + .8 + 4 * 8 / 1e3),
	    "halves and the whole of a tensor are the whole");
	graph_free(g);

	/* A Split of which a second kernel reads one output. */
	graph_begin();
	input("10,10"), input("5,10");
	node("Const", "opset1", "", EL_I64, "", "");
	g->const_node[g->n_const++] = 2;
	op("ReLU", "0", "10,10");
	op("Slice", "3,2,2,2,2", "5,10");
	op("MatMul", "4,1", "5,5");
	op("Sigmoid", "3", "10,10");
	op("Result", "5", "-");
	op("Result", "6", "-");
	/* ReLU reads 400; Slice writes 200; Sigmoid 400: ReLU's result stays inside; the product reads 200 + 200, writes 100 */
	tap(near(total("pointwise"), 2 + (400 + 8 * 4 - 8 * 3 + 200 + 400 + 400 + 100) / 1e3),
	    "each output is written if somebody outside reads it");
	graph_free(g);
	spec = "device a flops 1e3 bandwidth 1e3 overhead 1";
}

/* Products and softmaxes in turns: attention is two products, and no kernel has more than 64 operations. */
static void chains(void)
{
	graph_begin();
	input("10,10");
	for (uint32_t i = 0; i < 10; i++) {
		char in[20];

		snprintf(in, sizeof in, "%u,0", i == 0 ? 0 : 2 * i);
		op("MatMul", in, "10,10");
		snprintf(in, sizeof in, "%u", 2 * i + 1);
		op("Softmax", in, "10,10");
	}
	op("Result", "20", "-");
	double launches = 0;
	spec = "device a flops 1e12 bandwidth 1e12 overhead 1";
	launches = total("attention");
	tap(launches > 9.9 && launches < 10.1,
	    "five kernels of two products and a softmax, and five others");
	graph_free(g);

	/* the softmax is the right operand of a product with a constant: no attention */
	graph_begin();
	input("10,10"), input("10,10");
	node("Const", "opset1", "", EL_F32, "10,10", "");
	g->const_node[g->n_const++] = 2;
	op("MatMul", "0,1", "10,10");
	op("Softmax", "3", "10,10");
	op("MatMul", "2,4", "10,10");
	op("Result", "5", "-");
	launches = total("attention");
	tap(launches > 2.9 && launches < 3.1, "scores that are multiplied from the left are none");
	graph_free(g);
	spec = "device a flops 1e3 bandwidth 1e3 overhead 1";
}

/* A reshape to a shape that is found while the model runs waits for what finds it. */
static void shapes_at_run_time(void)
{
	graph_begin();
	input("10,10"), input("10,10");
	op("ReLU", "0", "10,10");
	op("MatMul", "2,1", "10,10");
	node("ShapeOf", "opset1", "3", EL_I64, "2", "");
	op("Reshape", "0,4", "10,10");
	op("Add", "2,5", "10,10");
	op("Result", "3", "-");
	op("Result", "6", "-");
	struct arena *a = arena_new();
	struct fusing f;
	bool runs[NODES] = {[2] = true, [3] = true, [4] = true, [6] = true};
	fusing_find(g, runs, KERNELS_ALL, a, &f);
	tap(f.kernel[2] != f.kernel[6], "a kernel does not wait for a shape that waits for itself");
	arena_free(a);
	graph_free(g);
}

/* Kernels of random graphs, where many things are read by many. */
static void circles(void)
{
	static const char *const types[] = {"Add",    "ReLU",      "Multiply",
					    "MatMul", "Transpose", "Softmax"};
	bool acyclic = true, several = false, counted = true;

	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct gen r = gen_new(seed);
		struct graph *x = gen_tensors(60, 2);
		struct arena *a = arena_new();
		uint32_t m = 0, order[60], kernel[60], number[60], n = 0;
		bool runs[60];
		struct fusing f;
		struct digraph nodes, q;

		for (uint32_t v = 0; v < 60; v++) {
			x->type[v] = v == 0 ? "Parameter" : types[gen_below(&r, 6)];
			for (uint32_t i = 0, k = v ? 1 + gen_below(&r, 2) : 0; i < k; i++)
				x->in_node[m++] = v - 1 - gen_below(&r, v < 6 ? v : 6);
			x->in_ptr[v + 1] = m;
			x->dim[v] = 4;
			runs[v] = v > 0;
		}
		graph_finish(x);
		graph_colocate(x, CONST_KEEP, false);
		fusing_find(x, runs, KERNELS_ALL, a, &f);
		for (uint32_t v = 0; v < 60; v++) {
			double sum = 0;
			uint32_t nodes_of = 0;

			for (uint32_t w = 0; w < 60 && f.kernel[v] == v; w++)
				if (f.kernel[w] == v) {
					nodes_of++;
					sum += f.launches[w];
				}
			counted &= f.kernel[v] != v || (sum == 1 && nodes_of == f.size[v]);
			if (f.kernel[v] == v)
				number[v] = n++;
			kernel[v] = number[f.kernel[v]];
			several |= f.size[f.kernel[v]] > 3;
		}
		graph_set_quotient(x, a, &nodes);
		digraph_quotient(&nodes, kernel, n, a, &q);
		acyclic &= digraph_toposort(&q, a, order);
		arena_free(a);
		graph_free(x);
	}
	tap(counted, "each kernel has as many nodes as it says, and one launch");
	tap(acyclic && several,
	    "kernels of 400 random graphs do not wait for each other in circles");
}

static void words(void)
{
	static const char *const bad[] = {
		"device a flops 1 bandwidth 1 fuses norms\n",
		"device a flops 1 bandwidth 1 peaks bf16\n",
		"device a flops 1 bandwidth 1 peaks bf17=3\n",
		"device a flops 1 bandwidth 1 peaks bf16=-3\n",
		"device a flops 1 bandwidth 1\nfuses b all\n",
		"device a flops 1 bandwidth 1\nfuses a\n",
	};
	struct arena *a = arena_new();
	struct err e = ERR_INIT;
	bool refused = true;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct spec s = {0};

		refused &= spec_parse(bad[i], strlen(bad[i]), "test", a, &s, &e) < 0 &&
			   e.code == ST_INPUT;
		err_clear(&e);
	}
	tap(refused, "kinds, types and devices that there are not are refused");
	struct spec s = {0};
	const char text[] = "device a*2 flops 100 efficiency 0.5 bandwidth 1e3 peaks "
			    "f32=300,f16=1000 fuses all\n"
			    "device b flops 100 bandwidth 1e3\nfuses * caches,epilogues\n";
	int rc = spec_parse(text, strlen(text), "test", a, &s, &e);

	tap(rc == 0 && s.n_devs == 3 && spec_product_flops(&s.dev[1], EL_F32) == 150 &&
		    spec_product_flops(&s.dev[1], EL_F16) == 500 &&
		    spec_product_flops(&s.dev[1], EL_BF16) == 50 &&
		    spec_product_flops(&s.dev[2], EL_F32) == 100,
	    "peaks by type, with the efficiency in them");
	tap(rc == 0 && s.dev[0].fuses == (KERNELS_CACHES | KERNELS_EPILOGUES) &&
		    s.dev[2].fuses == s.dev[0].fuses,
	    "a line about all devices");
	graph_begin();
	input("10,10"), input("10,10");
	op("MatMul", "0,1", "10,10");
	op("ReLU", "2", "10,10");
	graph_colocate(g, CONST_FOLD, false);
	rc = place_spec_node_costs(g, &s, (const char *const[]){"a:0"}, 1, work_s, &e);
	tap(rc == 0 && near(work_s[2], 2000. / 150) && near(work_s[3], 100. / 50),
	    "products run at the peak of their type, other operations at flops");
	graph_free(g);
	arena_free(a);
}

int main(void)
{
	epilogues();
	gates();
	attention();
	norms();
	caches();
	shared_inputs();
	chains();
	shapes_at_run_time();
	circles();
	words();
	return tap_end();
}
