/* llama_tensors.c - llama.cpp: --override-tensor (-ot), PATTERN=BUFFER,... by names of GGUF's tensors (common/arg.cpp; names:
 * gguf-py's tensor_mapping.py). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/runtimes/modules.h"

/* Ends of paths of modules within a layer, and what GGUF calls their tensors; experts are one tensor, so # is any number. */
static const struct {
	const char *module, *tensor;
} in_layer[] =
	{
		{"self_attn.q_proj", "attn_q"},
		{"self_attn.k_proj", "attn_k"},
		{"self_attn.v_proj", "attn_v"},
		{"self_attn.o_proj", "attn_output"},
		{"self_attn.qkv_proj", "attn_qkv"},
		{"self_attn.q_norm", "attn_q_norm"},
		{"self_attn.k_norm", "attn_k_norm"},
		{"input_layernorm", "attn_norm"},
		{"post_attention_layernorm", "ffn_norm"},
		{"mlp.gate_proj", "ffn_gate"},
		{"mlp.up_proj", "ffn_up"},
		{"mlp.down_proj", "ffn_down"},
		{"mlp.gate_up_proj", "ffn_up"},
		{"mlp.gate", "ffn_gate_inp"},
		{"mlp.experts.#.gate_proj", "ffn_gate_exps"},
		{"mlp.experts.#.up_proj", "ffn_up_exps"},
		{"mlp.experts.#.down_proj", "ffn_down_exps"},
		{"block_sparse_moe.gate", "ffn_gate_inp"},
		{"block_sparse_moe.experts.#.w1", "ffn_gate_exps"},
		{"block_sparse_moe.experts.#.w3", "ffn_up_exps"},
		{"block_sparse_moe.experts.#.w2", "ffn_down_exps"},
},
  outside[] = {
	  {"model.embed_tokens", "token_embd"},
	  {"model.norm", "output_norm"},
	  {"lm_head", "output"},
};
static const char LAYERS[] = "model.layers.";

/* Is path this, where # is any number? */
static bool is_path(const char *path, const char *pattern)
{
	for (; *pattern; pattern++) {
		size_t digits = strspn(path, "0123456789");
		if (*pattern == '#' ? digits == 0 : *path != *pattern)
			return false;
		path += *pattern == '#' ? digits : 1;
	}
	return *path == '\0';
}

/* A tensor of a layer (GRAPH_NONE: of none) and what of it is where. */
struct tensor {
	uint32_t layer;
	const char *name;
	double *work; /* (k) */
	uint32_t device;
};

struct tensors {
	struct tensor *x;
	uint32_t n;
	size_t cap;
	struct strtab known; /* "LAYER NAME" */
	uint32_t n_unknown;  /* modules without a tensor */
	uint32_t k;
	struct arena *a;
};

static void add(struct tensors *t, uint32_t layer, const char *name, const double *work)
{
	uint32_t before = t->known.n,
		 at = strtab_add(&t->known, arena_printf(t->a, "%u %s", layer, name));
	t->x = mem_grow(t->x, &t->cap, t->known.n, sizeof *t->x);
	if (at == before) {
		t->x[at] = (struct tensor){layer, name, ARENA_NEWN(t->a, double, t->k), 0};
		t->n = t->known.n;
	}
	for (uint32_t d = 0; d < t->k; d++)
		t->x[at].work[d] += work[d];
}

static bool take_layer(struct tensors *t, const char *path, const double *work)
{
	char *end;
	unsigned long layer = strtoul(path, &end, 10);
	if (end == path || *end != '.' || layer > 99999)
		return false;
	for (size_t i = 0; i < sizeof in_layer / sizeof *in_layer; i++)
		if (is_path(end + 1, in_layer[i].module)) {
			add(t, (uint32_t)layer, in_layer[i].tensor, work);
			return true;
		}
	return false;
}

static void take_module(struct tensors *t, const char *path, const double *work)
{
	bool is_layer = strncmp(path, LAYERS, sizeof LAYERS - 1) == 0;
	if (is_layer && take_layer(t, path + sizeof LAYERS - 1, work))
		return;
	for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
		if (strcmp(path, outside[i].module) == 0) {
			add(t, GRAPH_NONE, outside[i].tensor, work);
			return;
		}
	t->n_unknown++;
}

static int by_layer(const void *pa, const void *pb)
{
	const struct tensor *a = pa, *b = pb;
	if (a->layer != b->layer)
		return a->layer < b->layer ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Tensors x[i] .. are those of a layer: how many, and whether all are at one place. */
static uint32_t layer_length(const struct tensors *t, uint32_t i, const char *const *names,
			     bool *same)
{
	uint32_t n = 0;
	*same = true;
	for (; i + n < t->n && t->x[i + n].layer == t->x[i].layer; n++)
		*same &= strcmp(names[t->x[i + n].device], names[t->x[i].device]) == 0;
	return n;
}

/* Layers that are all on device d, in one pattern. */
static bool write_layers(FILE *out, const struct tensors *t, const char *const *names, uint32_t d,
			 bool any)
{
	bool begun = false, same;
	for (uint32_t i = 0, n; i < t->n && t->x[i].layer != GRAPH_NONE; i += n) {
		n = layer_length(t, i, names, &same);
		if (!same || strcmp(names[t->x[i].device], names[d]) != 0)
			continue;
		fprintf(out, "%s%u", begun ? "|" : any ? ",^blk\\.(" : "^blk\\.(", t->x[i].layer);
		begun = true;
	}
	if (begun)
		fprintf(out, ")\\.=%s", names[d]);
	return any || begun;
}

static void write_patterns(FILE *out, const struct tensors *t, const char *const *names)
{
	bool any = false, same;
	for (uint32_t d = 0; d < t->k; d++) {
		bool seen = false;
		for (uint32_t b = 0; b < d; b++)
			seen |= strcmp(names[b], names[d]) == 0;
		any = seen ? any : write_layers(out, t, names, d, any);
	}
	for (uint32_t i = 0, n; i < t->n; i += n) {
		const struct tensor *x = &t->x[i];
		bool layer = x->layer != GRAPH_NONE;
		n = layer ? layer_length(t, i, names, &same) : 1;
		for (uint32_t j = i; j < i + n && !(layer && same); j++) {
			fputs(any ? ",^" : "^", out);
			if (layer)
				fprintf(out, "blk\\.%u\\.", x->layer);
			fprintf(out, "%s\\.=%s", t->x[j].name, names[t->x[j].device]);
			any = true;
		}
	}
	fputc('\n', out);
}

static void tell(const struct report_input *in, const struct tensors *t)
{
	char text[200];
	in->warn("buffers of weights are told; operations follow their weights, and what has none, "
		 "and the cache, is where llama.cpp puts the layer");
	if (t->n_unknown) {
		snprintf(text, sizeof text,
			 "%u modules have no tensor that is known by name: not told", t->n_unknown);
		in->warn(text);
	}
}

static int write_llama(FILE *out, const struct report_input *in, struct err *e)
{
	struct arena *a = in->x->arena;
	struct placed_ops ops;
	struct modules m;
	struct tensors t = {.k = in->p->k, .a = a};
	struct runtime_names names;
	placed_ops_list(in, a, &ops);
	modules_find(&ops, in->p->k, a, &m);
	int rc = modules_check(&m, e);
	for (uint32_t i = 0; rc == 0 && i < m.path.n; i++)
		take_module(&t, m.path.s[i], m.use[i].work);
	if (rc == 0 && t.n == 0)
		rc = err_set(e, ST_INPUT,
			     "no module is one of a language model with 'model.layers.N', whose "
			     "tensors are known by name");
	if (rc == 0) {
		runtime_names(in, "CPU", "CUDA", a, &names);
		rc = runtime_names_check(&names, t.k,
					 ",=", "a ',' or '=', which no buffer's name can have", e);
	}
	if (rc == 0) {
		for (uint32_t i = 0; i < t.n; i++)
			t.x[i].device = modules_most(t.x[i].work, t.k);
		qsort(t.x, t.n, sizeof *t.x, by_layer);
		tell(in, &t);
		write_patterns(out, &t, names.name);
	}
	strtab_release(&t.known);
	mem_free(t.x);
	modules_release(&m);
	return rc;
}

const struct report_format format_llama_ot = {
	.name = "llama-ot",
	.about = "one line for llama.cpp's --override-tensor (-ot): regular\n"
		 "expressions of GGUF's names of tensors, and CPU, CUDA0, CUDA1, ...\n"
		 "or --map's. Of models with model.layers.N (Llama, Qwen, Mistral,\n"
		 "Phi, mixtures). Not told: operations without weights, the cache.\n"
		 "Experts are one tensor: where most of them is",
	.write = write_llama,
};
