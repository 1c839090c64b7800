/* support.c - operators by devices. */
#include "exec/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/graphrec.h"
#include "ir/ir.h"

static struct support_row *row_of(struct support *s, const struct graph *g, uint32_t v,
				  struct arena *a)
{
	for (uint32_t i = 0; i < s->n_rows; i++)
		if (s->row[i].type == g->type[v] && /* equal types are equal pointers */
		    strcmp(s->row[i].opset, g->opset[v]) == 0)
			return &s->row[i];
	struct support_row *r = &s->row[s->n_rows++];
	*r = (struct support_row){.type = g->type[v],
				  .opset = g->opset[v],
				  .n_can = ARENA_NEWN(a, uint32_t, s->k),
				  .why = ARENA_NEWN(a, const char *, s->k),
				  .layer = ARENA_NEWN(a, uint32_t, s->k)};
	return r;
}

static int by_type(const void *pa, const void *pb)
{
	const struct support_row *a = pa, *b = pb;
	int c = strcmp(a->type, b->type);
	return c ? c : strcmp(a->opset, b->opset);
}

int support_ask(struct model *m, const struct device_list *l, struct arena *a, struct support *out,
		struct err *e)
{
	char why[200];
	*out = (struct support){.k = l->n, .n_layers = m->n_steps};
	out->row = ARENA_NEWN(a, struct support_row, (size_t)m->n_steps + 1);
	for (uint32_t s = 0; s < m->n_steps; s++) {
		uint32_t v = m->step_node[s], able = 0;
		struct support_row *r = row_of(out, m->g, v, a);
		r->n_layers++;
		for (uint32_t d = 0; d < l->n; d++) {
			int can = model_supports(m, s, &l->dev[d], why, sizeof why, e);
			if (can < 0)
				return -1;
			r->n_can[d] += (uint32_t)can;
			able += (uint32_t)can;
			if (!can && !r->why[d]) {
				r->why[d] = arena_printf(a, "%s", why);
				r->layer[d] = v;
			}
		}
		r->n_nowhere += able == 0;
		out->n_nowhere += able == 0;
	}
	qsort(out->row, out->n_rows, sizeof *out->row, by_type);
	return 0;
}

/* ---- the table ---- */

/* Lines in one growing text. */
struct text {
	char *s;
	size_t n, cap;
};

static void put(struct text *t, const char *s)
{
	size_t n = strlen(s);
	t->s = mem_grow(t->s, &t->cap, t->n + n + 1, 1);
	memcpy(t->s + t->n, s, n + 1);
	t->n += n;
}

static int column(const struct device *d)
{
	size_t n = strlen(d->name);
	return n < 7 ? 7 : (int)n;
}

static void put_row(struct text *t, const struct support_row *r, const struct model *m,
		    const struct device_list *l)
{
	char line[400], name[200], layer[300];
	snprintf(name, sizeof name, "%s-%s", r->type, r->opset);
	snprintf(line, sizeof line, "%-40s %6u", name, r->n_layers);
	put(t, line);
	for (uint32_t d = 0; d < l->n; d++) {
		if (r->n_can[d] == r->n_layers || r->n_can[d] == 0)
			snprintf(name, sizeof name, "%s", r->n_can[d] ? "yes" : "no");
		else
			snprintf(name, sizeof name, "%u", r->n_can[d]);
		snprintf(line, sizeof line, "  %*s", column(&l->dev[d]), name);
		put(t, line);
	}
	put(t, "\n");
	for (uint32_t d = 0; d < l->n; d++) {
		if (!r->why[d])
			continue;
		snprintf(line, sizeof line, "    not on %s: ", l->dev[d].name);
		put(t, line);
		put(t, r->why[d]);
		put(t, ", ");
		put(t, model_layer(m, r->layer[d], layer, sizeof layer));
		put(t, "\n");
	}
}

char *support_table(const struct support *s, const struct model *m, const struct device_list *l,
		    struct arena *a)
{
	struct text t = {0};
	char line[200];
	snprintf(line, sizeof line, "%-40s %6s", "operator", "layers");
	put(&t, line);
	for (uint32_t d = 0; d < l->n; d++) {
		put(&t, "  ");
		snprintf(line, sizeof line, "%*s", column(&l->dev[d]), l->dev[d].name);
		put(&t, line);
	}
	put(&t, "\n");
	for (uint32_t i = 0; i < s->n_rows; i++)
		put_row(&t, &s->row[i], m, l);
	snprintf(line, sizeof line,
		 "%u layers to run (of %u; the rest are inputs, constants, "
		 "views and results), %u run nowhere\n",
		 s->n_layers, m->g->n, s->n_nowhere);
	put(&t, line);
	char *text = arena_strndup(a, t.s, t.n);
	mem_free(t.s);
	return text;
}

/* ---- what is asked ---- */

struct graph *support_graph(const char *path, struct err *e)
{
	size_t n = strlen(path);
	if (n > 4 && strcmp(path + n - 4, ".xml") == 0) {
		struct graph *x =
			ir_read(path, &(struct ir_options){.any_operator = true}, NULL, e);
		if (x)
			graph_colocate(x, CONST_KEEP, true);
		return x;
	}
	struct rec_reader *in = rec_reader_open(path, -1, e);
	struct graph *g = NULL;
	struct rec r;
	int k = in ? 1 : -1;
	while (!g && k > 0 && (k = rec_next(in, &r, e)) > 0)
		if (rec_is(&r, "graph") && !(g = graph_decode(&r, e)))
			k = -1;
	if (k == 0)
		(void)err_set(e, ST_INPUT, "no graph in the input; ir2dag makes one");
	if (in)
		rec_reader_close(in);
	return g;
}
