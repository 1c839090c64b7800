/* graphrec_write.c - a graph as one `graph` record: columns, strings once each. */
#include "record/graphrec.h"
#include "graph/strtab.h"

/* A column of n strings as a list of distinct ones and numbers into it. */
static void put_indexed(struct rec_writer *w, const char *list_key, const char *key,
			const char *const *s, uint32_t n)
{
	struct strtab t = {0};
	uint32_t *index = MEM_NEWN(uint32_t, n);
	for (uint32_t i = 0; i < n; i++)
		index[i] = strtab_add(&t, s[i]);
	put_texts(w, list_key, t.s, t.n);
	put_vector(w, key, TT_U32, n, index);
	mem_free(index);
	strtab_release(&t);
}

/* Keys and values of attributes share one list. */
static void put_attrs(struct rec_writer *w, const struct graph *g)
{
	uint32_t n = g->attr_ptr[g->n];
	struct strtab t = {0};
	uint32_t *key = MEM_NEWN(uint32_t, n), *value = MEM_NEWN(uint32_t, n);
	for (uint32_t i = 0; i < n; i++) {
		key[i] = strtab_add(&t, g->attr_key[i]);
		value[i] = strtab_add(&t, g->attr_value[i]);
	}
	put_vector(w, "attr_ptr", TT_U32, (uint64_t)g->n + 1, g->attr_ptr);
	put_texts(w, "attr_strings", t.s, t.n);
	put_vector(w, "attr_key", TT_U32, n, key);
	put_vector(w, "attr_value", TT_U32, n, value);
	mem_free(key);
	mem_free(value);
	strtab_release(&t);
}

static void put_outputs(struct rec_writer *w, const struct graph *g)
{
	uint32_t n_out = g->out_ptr[g->n];
	uint8_t *elem = MEM_NEWN(uint8_t, n_out), number[EL_COUNT] = {0};
	const char *elems[EL_COUNT];
	size_t n_elems = 0;
	for (uint32_t o = 0; o < n_out; o++)
		number[g->out_elem[o]] = 1;
	for (int t = 0; t < EL_COUNT; t++)
		if (number[t]) {
			number[t] = (uint8_t)n_elems;
			elems[n_elems++] = elem_name((enum elem)t);
		}
	for (uint32_t o = 0; o < n_out; o++)
		elem[o] = number[g->out_elem[o]];
	put_vector(w, "out_ptr", TT_U32, (uint64_t)g->n + 1, g->out_ptr);
	put_texts(w, "elems", elems, n_elems);
	put_vector(w, "out_elem", TT_U8, n_out, elem);
	put_vector(w, "out_rank", TT_U8, n_out, g->out_rank);
	put_vector(w, "dim_ptr", TT_U32, (uint64_t)n_out + 1, g->dim_ptr);
	put_vector(w, "dim", TT_I64, g->dim_ptr[n_out], g->dim);
	put_texts(w, "out_names", g->out_names, n_out);
	mem_free(elem);
}

static void put_map(struct rec_writer *w, const struct port_map *m)
{
	put_map_begin(w, NULL);
	put_bool(w, "output", m->output);
	put_int(w, "external", m->external);
	put_uint(w, "internal", m->internal);
	if (m->has_axis) {
		put_int(w, "axis", m->axis);
		put_int(w, "start", m->start);
		put_int(w, "end", m->end);
		put_int(w, "stride", m->stride);
		put_int(w, "part_size", m->part_size);
	}
	put_bool(w, "condition", m->condition);
	put_bool(w, "counter", m->counter);
	put_map_end(w);
}

static void put_columns(struct rec_writer *w, const struct graph *g);

static void put_body(struct rec_writer *w, const struct graph_body *b)
{
	put_map_begin(w, NULL);
	put_uint(w, "node", b->node);
	put_text(w, "role", b->role);
	if (b->times > 0)
		put_real(w, "times", b->times);
	put_map_begin(w, "graph");
	put_columns(w, b->graph);
	put_map_end(w);
	put_list_begin(w, "maps", b->n_maps);
	for (uint32_t i = 0; i < b->n_maps; i++)
		put_map(w, &b->map[i]);
	put_vector(w, "back_from", TT_U32, b->n_back, b->back_from);
	put_vector(w, "back_to", TT_U32, b->n_back, b->back_to);
	put_map_end(w);
}

static void put_columns(struct rec_writer *w, const struct graph *g)
{
	put_vector(w, "id", TT_I64, g->n, g->id);
	put_texts(w, "node_name", g->node_name, g->n);
	put_indexed(w, "types", "type", g->type, g->n);
	put_indexed(w, "opsets", "opset", g->opset, g->n);
	put_attrs(w, g);
	put_vector(w, "in_ptr", TT_U32, (uint64_t)g->n + 1, g->in_ptr);
	put_vector(w, "in_node", TT_U32, g->in_ptr[g->n], g->in_node);
	put_vector(w, "in_port", TT_U32, g->in_ptr[g->n], g->in_port);
	put_outputs(w, g);
	put_vector(w, "const_node", TT_U32, g->n_const, g->const_node);
	put_vector(w, "const_offset", TT_U64, g->n_const, g->const_offset);
	put_vector(w, "const_bytes", TT_U64, g->n_const, g->const_bytes);
	put_list_begin(w, "bodies", g->n_bodies);
	for (uint32_t b = 0; b < g->n_bodies; b++)
		put_body(w, &g->body[b]);
}

/* What a digest is of. */
static void put_model(struct rec_writer *w, const struct graph *g)
{
	put_text(w, "name", g->name);
	put_uint(w, "ir_version", g->ir_version);
	put_columns(w, g);
	if (g->tail_bytes > 0) {
		put_uint(w, "tail_at", g->tail_at);
		put_vector(w, "tail", TT_U8, g->tail_bytes, g->tail);
	}
	put_uint(w, "n_sets", g->n_sets);
	put_vector(w, "set", TT_U32, g->n, g->set);
}

static void put_cases(struct rec_writer *w, const struct graph *g)
{
	put_list_begin(w, "cases", g->n_cases);
	for (uint32_t i = 0; i < g->n_cases; i++) {
		put_map_begin(w, NULL);
		put_text(w, "name", g->cases[i].name);
		put_real(w, "weight", g->cases[i].weight);
		if (g->cases[i].tokens)
			put_uint(w, "tokens", g->cases[i].tokens);
		if (g->cases[i].n_between) {
			put_uint(w, "n_between", g->cases[i].n_between);
			put_real(w, "between", g->cases[i].between);
		}
		if (i > 0)
			put_columns(w, g->cases[i].graph);
		put_map_end(w);
	}
}

static void put_files(struct rec_writer *w, const struct graph *g)
{
	put_text(w, "xml", g->xml);
	put_text(w, "weights", g->weights);
	put_uint(w, "weights_bytes", g->weights_bytes);
}

int graph_encode(struct graph *g, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "graph");
	put_model(w, g);
	if (g->n_cases)
		put_cases(w, g);
	if (g->n_cases && g->over > 0)
		put_real(w, "over", g->over);
	g->digest = put_digest(w, "digest");
	put_files(w, g);
	if (g->whole) {
		put_map_begin(w, "whole");
		put_model(w, g->whole);
		put_uint(w, "digest", g->whole->digest);
		put_files(w, g->whole);
		put_map_end(w);
		put_vector(w, "part_of", TT_U32, g->n, g->part_of);
		if (g->part)
			put_vector(w, "part", TT_U32, g->n, g->part);
		if (g->cut) {
			put_map_begin(w, "cut");
			put_vector(w, "axis", TT_I8, g->whole->n, g->cut->axis);
			put_vector(w, "share", TT_U32, g->cut->rows * g->cut->ways, g->cut->share);
			put_vector(w, "group", TT_U8, g->cut->ways, g->cut->group);
			if (g->cut->share_of)
				put_vector(w, "share_of", TT_U8, g->whole->n, g->cut->share_of);
			put_bool(w, "again", g->cut->again);
			put_bool(w, "apart", g->cut->apart);
			put_map_end(w);
		}
	}
	return rec_end(w, e);
}
