/* placed_model.c - a placed model as one IR, and a device for each of its operations. */
#include "ir/placed_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/newfile.h"
#include "graph/segment.h"
#include "graph/strtab.h"
#include "ir/new_bin.h"
#include "ir/split.h"
#include "ir/write.h"
#include "text/markup.h"

struct placed_writer {
	const struct graph *g;
	struct graph shown; /* g with names of its own: what is written */
	const bool *constant;
	const uint16_t *device; /* (n) of what is not constant */
	const struct tensor *value;
	const char *const *names;
	struct ir_writer *w;
	const struct ir_bin *bin;
	struct strtab taken; /* names of operations */
	uint32_t *layer;     /* (n) of what is not constant */
	struct pairmap copy; /* constant node and owner_of -> layer */
	uint64_t *
		value_at; /* (n) of a constant node: where its value is in the .bin; UINT64_MAX: not there */
	uint64_t n_copies;
	uint32_t *todo; /* constants that wait to be written */
	size_t n_todo, cap_todo;
	FILE *affinity;
	bool any; /* there is one in it */
	struct arena *a;
};

/* ---- names ---- */

/* `name`, or if it is taken or empty one like it that is not. */
static const char *new_name(struct placed_writer *x, const char *name, const char *type,
			    const char *more)
{
	const char *base = arena_printf(x->a, "%s%s", *name ? name : type, more), *s = base;
	for (uint32_t k = 1, n = x->taken.n; strtab_add(&x->taken, s) < n; k++)
		s = arena_printf(x->a, "%s_%u", base, k);
	return s;
}

/* The first operation of a name keeps it, wherever others are. */
static void name_nodes(struct placed_writer *x)
{
	const struct graph *g = x->g;
	bool *keeps = ARENA_NEWN(x->a, bool, g->n);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t n = x->taken.n;
		keeps[v] = *g->node_name[v] && strtab_add(&x->taken, g->node_name[v]) == n;
	}
	for (uint32_t v = 0; v < g->n; v++)
		x->shown.node_name[v] =
			keeps[v] ? g->node_name[v] : new_name(x, g->node_name[v], g->type[v], "");
}

/* Version 10 has no names of tensors: OpenVINO calls inputs and outputs after what makes them. */
static void name_tensors(struct placed_writer *x)
{
	const struct graph *g = x->g;
	for (uint32_t v = 0; v < g->n; v++) {
		bool result = g->kind[v] == OP_RESULT;
		if (!result && g->kind[v] != OP_PARAMETER)
			continue;
		uint32_t o = result ? graph_slot_output(g, g->in_ptr[v]) : g->out_ptr[v],
			 u = graph_node_of(g, o);
		char *item = ir_list_item(g->node_name[u]);
		bool several = g->out_ptr[u + 1] - g->out_ptr[u] > 1;
		x->shown.out_names[o] =
			several ? arena_printf(x->a, "%s.%u", item, o - g->out_ptr[u])
				: arena_printf(x->a, "%s", item);
		mem_free(item);
	}
}

/* ---- operations ---- */

static void put_affinity(struct placed_writer *x, const char *name, uint32_t d)
{
	fputs(x->any ? ",\n" : "\n", x->affinity);
	x->any = true;
	markup_json(x->affinity, name, strlen(name), false);
	fputs(": ", x->affinity);
	markup_json(x->affinity, x->names[d], strlen(x->names[d]), false);
}

/* The value that stands for constant node v; NULL: none is known. */
static const struct tensor *value_of(const struct placed_writer *x, uint32_t v)
{
	const struct graph *g = x->g;
	const struct tensor *t = &x->value[g->out_ptr[v]];
	bool one = g->out_ptr[v + 1] - g->out_ptr[v] == 1;
	return one && t->data && graph_const(g, v) < 0 ? t : NULL;
}

/* Node v, which is not constant, on device d. */
struct reader {
	uint32_t v, d;
	bool alone; /* what is computed for it is not shared */
};

/* Whose a copy of constant node u is: of all that read it on a device, or of one reader alone.  HETERO keeps what
 * is computed in a submodel with its readers, so readers that shared it would be in one submodel, too, and where
 * that closes a circle, it cuts. */
static uint64_t owner_of(const struct placed_writer *x, uint32_t u, struct reader r)
{
	bool shared = !r.alone || graph_const(x->g, u) >= 0 || value_of(x, u);
	return shared ? r.d : (uint64_t)r.v << 16 | UINT64_C(0xffff);
}

static const uint64_t *find_copy(const struct placed_writer *x, uint32_t u, struct reader r)
{
	return pairmap_get(&x->copy, u, owner_of(x, u, r));
}

static struct ir_value value_on(const struct placed_writer *x, uint32_t i, struct reader r)
{
	uint32_t u = x->g->in_node[i];
	if (u == GRAPH_NONE)
		return IR_NO_VALUE;
	uint32_t layer = x->constant[u] ? (uint32_t)*find_copy(x, u, r) : x->layer[u];
	return (struct ir_value){layer, x->g->in_port[i]};
}

static uint32_t put_node(struct placed_writer *x, uint32_t v, struct reader r)
{
	const struct graph *g = x->g;
	uint32_t n = g->in_ptr[v + 1] - g->in_ptr[v];
	struct ir_value *in = MEM_NEWN(struct ir_value, (size_t)n + 1);
	for (uint32_t k = 0; k < n; k++)
		in[k] = value_on(x, g->in_ptr[v] + k, r);
	put_affinity(x, x->shown.node_name[v], r.d);
	uint32_t layer = ir_write_node(x->w, &x->shown, v, in);
	mem_free(in);
	return layer;
}

/* Constant v for r: a copy has no names of tensors, which are one tensor's. */
static void put_constant(struct placed_writer *x, uint32_t v, struct reader r)
{
	const struct graph *g = x->g;
	bool first = x->layer[v] == UINT32_MAX;
	const char *name = x->shown.node_name[v];
	if (!first) {
		x->n_copies++;
		x->shown.node_name[v] =
			new_name(x, name, g->type[v], arena_printf(x->a, "/%s", x->names[r.d]));
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1]; o++)
			x->shown.out_names[o] = "";
	}
	const struct tensor *t = value_of(x, v);
	if (t) {
		struct ir_tensor shown = {t->elem, (uint8_t)t->rank, t->dim,
					  x->shown.out_names[g->out_ptr[v]]};
		uint64_t bytes = (uint64_t)tensor_bytes(t), *at = &x->value_at[v];
		if (*at == UINT64_MAX)
			*at = x->bin->append(x->bin->arg, t->data, bytes);
		put_affinity(x, x->shown.node_name[v], r.d);
		x->layer[v] = ir_write_constant(x->w, x->shown.node_name[v], &shown, *at, bytes);
	} else {
		x->layer[v] = put_node(x, v, r);
	}
	pairmap_put(&x->copy, v, owner_of(x, v, r), x->layer[v]);
	x->shown.node_name[v] = name;
}

static void want(struct placed_writer *x, uint32_t u)
{
	x->todo = mem_grow(x->todo, &x->cap_todo, x->n_todo + 1, sizeof *x->todo);
	x->todo[x->n_todo++] = u;
}

/* Constants that node v reads for r and that are not there yet; how many. */
static size_t want_constants(struct placed_writer *x, uint32_t v, struct reader r)
{
	const struct graph *g = x->g;
	size_t before = x->n_todo;
	if (x->constant[v] && value_of(x, v))
		return 0;
	for (uint32_t i = g->in_ptr[v + 1]; i-- > g->in_ptr[v];) {
		uint32_t u = g->in_node[i];
		if (u != GRAPH_NONE && x->constant[u] && !find_copy(x, u, r))
			want(x, u);
	}
	return x->n_todo - before;
}

static void put_constants(struct placed_writer *x, uint32_t v, struct reader r)
{
	want_constants(x, v, r);
	while (x->n_todo > 0) {
		uint32_t u = x->todo[x->n_todo - 1];
		if (find_copy(x, u, r)) { /* another reader wanted it, too */
			x->n_todo--;
		} else if (want_constants(x, u, r) == 0) {
			put_constant(x, u, r);
			x->n_todo--;
		}
	}
}

static void put_nodes(struct placed_writer *x)
{
	const struct graph *g = x->g;
	const uint64_t max_copies = 10000 + 4 * (uint64_t)g->n; /* beyond, they are shared */
	for (uint32_t v = 0; v < g->n; v++) {
		struct reader r = {v, x->device[v], x->n_copies < max_copies};
		if (x->constant[v])
			continue;
		put_constants(x, v, r);
		x->layer[v] = put_node(x, v, r);
	}
}

/* ---- files ---- */

/* model.xml and affinity.json, constants into bin. */
static int write_model(struct placed_writer *x, const char *dir, struct err *e)
{
	char *json = NULL;
	size_t n_json = 0, n;
	x->affinity = open_memstream(&json, &n_json);
	if (!x->affinity)
		return err_sys(e, ST_RUNTIME, "no memory for the devices of operations");
	fputc('{', x->affinity);
	x->w = ir_writer_new(x->g->name, x->bin);
	ir_writer_variables(x->w, graph_fixed_variables(x->g, x->a));
	put_nodes(x);
	fputs("\n}\n", x->affinity);
	int rc = 0;
	if (fclose(x->affinity) != 0)
		rc = err_sys(e, ST_RUNTIME, "no memory for the devices of operations");
	const char *text = ir_writer_text(x->w, &n);
	if (rc == 0)
		rc = newfile_write(arena_printf(x->a, "%s/model.xml", dir), text, n, e);
	if (rc == 0)
		rc = newfile_write(arena_printf(x->a, "%s/affinity.json", dir), json, n_json, e);
	ir_writer_free(x->w);
	free(json);
	return rc;
}

static int write_segments(const struct placed_writer *x, const char *dir, uint32_t n_names,
			  const struct weights *weights, struct new_bin *bin, struct err *e)
{
	const struct graph *g = x->g;
	struct segments s;
	struct segment_parted *parted;
	struct split_report rep;
	uint16_t *device = arena_raw(x->a, g->n, sizeof *device);
	for (uint32_t v = 0; v < g->n; v++) {
		bool boundary = g->kind[v] == OP_PARAMETER || g->kind[v] == OP_RESULT;
		device[v] = x->constant[v] || boundary ? SEGMENT_NOWHERE : x->device[v];
	}
	segments_of_graph(g, device, false, x->a, &s);
	if (segments_parted(g, &s, x->a, &parted) > 0) {
		char name[100];
		return err_set(e, ST_INPUT,
			       "variable '%s' is used in several segments, which OpenVINO cannot "
			       "run; ir2dag without --split-variables keeps them together",
			       err_escape(name, sizeof name, parted->id, strlen(parted->id)));
	}
	return split_write(arena_printf(x->a, "%s/segments", dir), g, &s, x->constant, x->names,
			   n_names, weights, bin, &rep, e);
}

static void init(struct placed_writer *x)
{
	const struct graph *g = x->g;
	uint32_t n_out = g->out_ptr[g->n];
	x->shown = *g;
	x->shown.node_name = arena_raw(x->a, g->n, sizeof *x->shown.node_name);
	x->shown.out_names = arena_raw(x->a, (size_t)n_out + 1, sizeof *x->shown.out_names);
	memcpy(x->shown.out_names, g->out_names, n_out * sizeof *x->shown.out_names);
	x->layer = arena_raw(x->a, g->n, sizeof *x->layer);
	memset(x->layer, 0xff, g->n * sizeof *x->layer);
	name_nodes(x);
	if (g->ir_version < 11)
		name_tensors(x);
}

static void release(struct placed_writer *x)
{
	pairmap_release(&x->copy);
	strtab_release(&x->taken);
	mem_free(x->todo);
	arena_free(x->a);
}

/* One placement into `dir`, with its constants in bin. */
static int write_placement(const struct placed_writer *of_all, const struct placed_by *by,
			   const char *dir, const struct weights *weights, struct new_bin *bin,
			   struct err *e)
{
	struct placed_writer x = *of_all;
	x.device = by->device;
	x.names = by->names;
	x.bin = &bin->to;
	x.a = arena_new();
	init(&x);
	int rc = write_model(&x, dir, e);
	if (rc == 0)
		rc = write_segments(&x, dir, by->n_names, weights, bin, e);
	release(&x);
	return rc;
}

/* The directory of placement i, from 0. */
static const char *placement_dir(const char *dir, uint32_t i, struct arena *a)
{
	return i ? arena_printf(a, "%s/placement.%u", dir, i + 1) : dir;
}

/* All files into the empty directory `dir`. */
static int write_files(struct placed_writer *x, const char *dir, const struct placed_by *by,
		       uint32_t n_by, const struct weights *weights, uint64_t *bytes, struct err *e)
{
	struct new_bin bin;
	const char *path = arena_printf(x->a, "%s/model.bin", dir);
	int rc = 0;
	if (new_bin_open(&bin, path, weights, e) < 0)
		return -1;
	for (uint32_t i = 0; i < n_by && rc == 0; i++) {
		const char *of = placement_dir(dir, i, x->a);
		bool made;
		rc = i ? split_make_directory(of, &made, e) : 0;
		if (rc == 0)
			rc = write_placement(x, &by[i], of, weights, &bin, e);
	}
	if (rc < 0) {
		new_bin_abandon(&bin);
		return -1;
	}
	*bytes = bin.bytes;
	return new_bin_commit(&bin, path, x->g, e);
}

int placed_model_write(const char *dir, const struct graph *g, const struct placed_by *by,
		       uint32_t n_by, const bool *constant, const struct tensor *value,
		       const struct weights *weights, uint64_t *bytes, struct err *e)
{
	struct placed_writer x = {.g = g, .constant = constant, .value = value, .a = arena_new()};
	bool made = false;
	int rc = 0;
	if (g->ir_version == 0)
		rc = err_set(e, ST_INPUT, "'%s' does not come from OpenVINO IR", g->name);
	if (rc == 0)
		rc = split_make_directory(dir, &made, e);
	if (rc == 0) {
		x.value_at = arena_raw(x.a, g->n, sizeof *x.value_at);
		memset(x.value_at, 0xff, g->n * sizeof *x.value_at);
		rc = write_files(&x, dir, by, n_by, weights, bytes, e);
	}
	for (uint32_t i = n_by; rc < 0 && made && i-- > 0;) {
		const char *of = placement_dir(dir, i, x.a);
		unlink(arena_printf(x.a, "%s/model.xml", of));
		unlink(arena_printf(x.a, "%s/affinity.json", of));
		rmdir(of);
	}
	arena_free(x.a);
	return rc;
}
