/* llama_fit.c - llama.cpp's assignment of layers to devices (b11549; get_layer_buft_list in src/llama-model.cpp, common/fit.cpp).
 * The input layer stays on the CPU, as there is little benefit elsewhere.  Repeated layers and, as one more, the output are divided
 * among devices in proportion to their free memory (--tensor-split's default): layer i of n goes to the first device at which the
 * sum of shares is above i / n.  Where that is too much for one (--fit, on by default), devices are filled with whole layers from
 * the last layer and the last device on; what is left, the first layers, is on the CPU.
 * Not here: a smaller context; the margin of 1 GiB for each device, instead of which the simulator says what fits (rule.h); experts,
 * which are overflown to the CPU before dense layers are.
 * Layers are those of numbered modules ("layers.0", "l0", "encoder_layer_0"): before the first of them is the input, behind the
 * last the output.  Without numbers each module is a layer, and there is no input. */
#include <math.h>
#include <string.h>

#include "graph/module_name.h"
#include "graph/strtab.h"
#include "place/runtimes/rule.h"

struct llama_layers {
	uint32_t n;
	uint32_t *of_unit; /* (units) GRAPH_NONE: the input */
	double *bytes;     /* (n) */
};

static void find_layers(const struct runtime_rule *x, struct llama_layers *y)
{
	struct strtab names = {0};
	uint32_t first = x->u.n, last = 0, now = GRAPH_NONE;

	y->of_unit = MEM_NEWN(uint32_t, x->u.n);
	for (uint32_t i = 0; i < x->u.n; i++)
		if (module_layer(x->path[i])) {
			first = first < i ? first : i;
			last = i;
		}
	bool numbered = first < x->u.n;

	for (uint32_t i = 0; i < x->u.n; i++) {
		const char *path = x->path[i];
		size_t n = numbered ? module_layer(path) : strlen(path);

		if (n || !numbered)
			now = strtab_add(&names, arena_strndup(x->r->a, path, n));
		else if (i > last)
			now = strtab_add(&names, "output");
		y->of_unit[i] = now;
	}
	y->n = names.n;
	strtab_release(&names);
	y->bytes = MEM_NEWN(double, y->n);
	for (uint32_t i = 0; i < x->u.n; i++)
		if (y->of_unit[i] != GRAPH_NONE)
			y->bytes[y->of_unit[i]] += x->weights[i];
}

/* By shares of memory into of_layer (n), numbers of accelerators; false: one has too much. */
static bool divide_by_memory(const struct runtime_rule *x, const struct llama_layers *y,
			     uint32_t *of_layer)
{
	double sum = 0, *held = MEM_NEWN(double, x->n_acc);
	bool any = false, fits = true;

	for (uint32_t j = 0; j < x->n_acc; j++)
		any |= x->room[x->acc[j]] == INFINITY;
	for (uint32_t j = 0; j < x->n_acc; j++)
		sum += any ? 1 : x->room[x->acc[j]];
	for (uint32_t i = 0; i < y->n; i++) {
		uint32_t j = 0;
		double upto = any ? 1 : x->room[x->acc[0]];

		while (j + 1 < x->n_acc && upto / sum <= (double)i / y->n) {
			j++;
			upto += any ? 1 : x->room[x->acc[j]];
		}
		of_layer[i] = j;
		held[j] += y->bytes[i];
		fits &= held[j] <= x->room[x->acc[j]];
	}
	mem_free(held);
	return fits;
}

/* Whole layers from the last on; UINT32_MAX: the host. */
static void fill_backwards(const struct runtime_rule *x, const struct llama_layers *y,
			   uint32_t *of_layer)
{
	uint32_t i = y->n;

	for (uint32_t j = x->n_acc; j-- > 0;)
		for (double held = 0; i > 0 && held + y->bytes[i - 1] <= x->room[x->acc[j]];) {
			held += y->bytes[--i];
			of_layer[i] = j;
		}
	while (i > 0)
		of_layer[--i] = UINT32_MAX;
}

static void assign_layers(struct runtime_rule *x)
{
	struct llama_layers y;

	find_layers(x, &y);
	uint32_t *of_layer = MEM_NEWN(uint32_t, y.n);

	if (x->n_acc == 0 || !divide_by_memory(x, &y, of_layer))
		fill_backwards(x, &y, of_layer);
	for (uint32_t i = 0; i < x->u.n; i++) {
		uint32_t j = y.of_unit[i] == GRAPH_NONE ? UINT32_MAX : of_layer[y.of_unit[i]];

		runtime_rule_put(x, i, j == UINT32_MAX ? x->host : x->acc[j]);
	}
	mem_free(of_layer);
	mem_free(y.bytes);
	mem_free(y.of_unit);
}

static int run_llama_fit(struct method_run *r, struct err *e)
{
	struct runtime_rule x;

	runtime_rule_init(&x, r);
	return runtime_rule_answer(&x, assign_layers, e);
}

const struct place_method method_llama_fit = {
	.name = "llama-fit",
	.needs_costs = true,
	.about = "as llama.cpp: layers by free memory, the first ones on the CPU",
	.source = "llama.cpp b11549, llama-model.cpp, common/fit.cpp",
	.run = run_llama_fit,
	.is_heuristic = true,
};
