/* placetext.c - a placement operation by operation: affinity JSON, TSV, table.
 * What was measured is placereport.c. */
#include "report/placetext.h"
#include "report/format.h"
#include "graph/strtab.h"
#include "text/markup.h"

#include <inttypes.h>
#include <string.h>

/* ---- affinity ---- */

uint32_t placetext_affinity(FILE *out, const struct graph *g, const struct placed *p,
			    const char *const *names, struct name_clash *clash,
			    uint32_t max_clashes)
{
	struct strtab seen = {0};
	uint32_t *device = MEM_NEWN(uint32_t, g->n), n_clashes = 0;
	bool *clashed = MEM_NEWN(bool, g->n);
	fputs("{", out);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t before = seen.n, d = p->node_device[v],
			 i = strtab_add(&seen, g->node_name[v]);
		if (i < before) {
			if (device[i] == d || clashed[i])
				continue;
			clashed[i] = true;
			if (n_clashes < max_clashes)
				clash[n_clashes] =
					(struct name_clash){g->node_name[v], device[i], d};
			n_clashes++;
			continue;
		}
		device[i] = d;
		fputs(i ? ",\n" : "\n", out);
		markup_json(out, g->node_name[v], strlen(g->node_name[v]), false);
		fputs(": ", out);
		markup_json(out, names[d], strlen(names[d]), false);
	}
	fputs("\n}\n", out);
	mem_free(device);
	mem_free(clashed);
	strtab_release(&seen);
	return n_clashes;
}

uint32_t placetext_affinity_of(FILE *out, const struct graph *g, const struct placed *p,
			       const char *const *names, const struct other_names *other)
{
	struct strtab here = {0}, seen = {0};
	uint32_t *node = MEM_NEWN(uint32_t, 2 * (size_t)g->n), n = 0, n_left = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		/* Of an operation in parts the first one. */
		bool part = g->whole && g->part_of && g->part_of[v] != GRAPH_NONE;
		const char *called[2] = {g->node_name[v],
					 part ? g->whole->node_name[g->part_of[v]] : NULL};
		for (int i = 0; i < 2 && called[i]; i++) {
			uint32_t before = here.n, at = strtab_add(&here, called[i]);
			if (at == before)
				node[at] = v;
		}
	}
	fputs("{", out);
	for (uint32_t i = 0; i < other->n; i++) {
		uint32_t at = strtab_find(&here, other->here[i]), before = seen.n;
		if (at == UINT32_MAX) {
			n_left++;
			continue;
		}
		if (strtab_add(&seen, other->name[i]) < before)
			continue;
		fputs(n++ ? ",\n" : "\n", out);
		markup_json(out, other->name[i], strlen(other->name[i]), false);
		fputs(": ", out);
		markup_json(out, names[p->node_device[node[at]]],
			    strlen(names[p->node_device[node[at]]]), false);
	}
	fputs("\n}\n", out);
	mem_free(node);
	strtab_release(&here);
	strtab_release(&seen);
	return n_left;
}

/* ---- TSV ---- */

static void put_cell(FILE *out, const char *s)
{
	markup_tsv(out, s, strlen(s), false);
	fputc('\t', out);
}

void placetext_tsv(FILE *out, const struct graph *g, const struct placed *p,
		   const char *const *names, const double *flops)
{
	fputs("node\tid\tname\ttype\tset\tsegment\tdevice\tflops\tout_bytes\n", out);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t s = g->set[v];
		int64_t bytes = 0;
		fprintf(out, "%u\t%" PRId64 "\t", v, g->id[v]);
		put_cell(out, g->node_name[v]);
		put_cell(out, g->type[v]);
		if (s == GRAPH_NONE)
			fputs("\t\t", out);
		else
			fprintf(out, "%u\t%u\t", s, p->segment[s]);
		put_cell(out, names[p->node_device[v]]);
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1] && bytes >= 0; o++) {
			int64_t b = graph_out_bytes(g, o);
			if (b < 0 || __builtin_add_overflow(bytes, b, &bytes))
				bytes = -1;
		}
		fprintf(out, "%.0f\t", flops[v]);
		if (bytes >= 0)
			fprintf(out, "%" PRId64, bytes);
		fputc('\n', out);
	}
}

/* ---- table ---- */

const char *placetext_model(const struct graph *g)
{
	const char *slash = strrchr(g->xml, '/');
	return *g->xml ? (slash ? slash + 1 : g->xml) : g->name;
}

static int widest(const char *const *names, uint32_t k, int at_least)
{
	for (uint32_t d = 0; d < k; d++)
		if ((int)strlen(names[d]) > at_least)
			at_least = (int)strlen(names[d]);
	return at_least;
}

static void table_head(FILE *out, const struct answer *x, const struct placed *p)
{
	const struct graph *g = x->graph;
	char name[200];
	fprintf(out, "%s: %u operations in %u sets",
		err_escape(name, sizeof name, g->name, strlen(g->name)), g->n, g->n_sets);
	if (x->n_groups)
		fprintf(out, ", %u groups", x->n_groups);
	fprintf(out, ", %u segments\n", p->n_segments);
	fprintf(out, "copies between devices: %" PRIu64 " tensors, %.3f MB\n", p->copies,
		(double)p->copy_bytes * 1e-6);
	if (x->m.given)
		fprintf(out, "latency: %.3f ms\n", x->m.lat_s * 1e3);
}

static void table_devices(FILE *out, const struct placed *p, const char *const *names,
			  const double *flops, uint32_t n, int width)
{
	double all = 0;
	for (uint32_t v = 0; v < n; v++)
		all += flops[v];
	fprintf(out, "\n%-*s  segments    sets  operations     GFLOP   share\n", width, "device");
	for (uint32_t d = 0; d < p->k; d++) {
		double here = 0;
		for (uint32_t v = 0; v < n; v++)
			here += p->node_device[v] == d ? flops[v] : 0;
		fprintf(out, "%-*s  %8u %7u %11u %9.3f %5.1f %%\n", width, names[d], p->segments[d],
			p->sets[d], p->nodes[d], here * 1e-9, all > 0 ? 100 * here / all : 0);
	}
}

/* The node that stands for each set: the one with the most work, else the last one. */
static void find_heads(const struct graph *g, const double *flops, uint32_t *head, uint32_t *size,
		       double *work)
{
	for (uint32_t s = 0; s < g->n_sets; s++)
		head[s] = GRAPH_NONE;
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t s = g->set[v];
		if (s == GRAPH_NONE)
			continue;
		if (head[s] == GRAPH_NONE || flops[v] >= flops[head[s]])
			head[s] = v;
		size[s]++;
		work[s] += flops[v];
	}
}

void placetext_table(FILE *out, const struct answer *x, const struct placed *p,
		     const char *const *names, const double *flops)
{
	const struct graph *g = x->graph;
	int width = widest(names, p->k, 6);
	uint32_t *head = MEM_NEWN(uint32_t, g->n_sets), *size = MEM_NEWN(uint32_t, g->n_sets);
	double *work = MEM_NEWN(double, g->n_sets);
	table_head(out, x, p);
	table_devices(out, p, names, flops, g->n, width);
	find_heads(g, flops, head, size, work);
	fprintf(out, "\n   set  %-*s  segment      MFLOP  operations\n", width, "device");
	for (uint32_t s = 0; s < g->n_sets; s++) {
		uint32_t v = head[s];
		char name[200], type[80];
		fprintf(out, "%6u  %-*s  %7u %10.3f  %s %s", s, width, names[p->set_device[s]],
			p->segment[s], work[s] * 1e-6,
			err_escape(type, sizeof type, g->type[v], strlen(g->type[v])),
			err_escape(name, sizeof name, g->node_name[v], strlen(g->node_name[v])));
		if (size[s] > 1)
			fprintf(out, " and %u more", size[s] - 1);
		fputc('\n', out);
	}
	mem_free(head);
	mem_free(size);
	mem_free(work);
}

/* ---- formats ---- */

enum { MAX_CLASHES = 5 };

static int write_affinity(FILE *out, const struct report_input *in, struct err *e)
{
	struct name_clash c[MAX_CLASHES];
	char text[400], name[120];

	if (in->other) {
		uint32_t left =
			placetext_affinity_of(out, in->x->graph, in->p, in->names, in->other);

		snprintf(text, sizeof text, "--names: the model has no operation for %u names",
			 left);
		if (left)
			in->warn(text);
		return 0;
	}
	uint32_t n = placetext_affinity(out, in->x->graph, in->p, in->names, c, MAX_CLASHES);

	(void)e;
	for (uint32_t i = 0; i < n && i < MAX_CLASHES; i++) {
		snprintf(text, sizeof text,
			 "operations on %s and %s share the name '%s'; all of them go to %s",
			 in->names[c[i].device], in->names[c[i].other],
			 err_escape(name, sizeof name, c[i].name, strlen(c[i].name)),
			 in->names[c[i].device]);
		in->warn(text);
	}
	if (n > MAX_CLASHES) {
		snprintf(text, sizeof text, "%u more names are shared in this way",
			 n - MAX_CLASHES);
		in->warn(text);
	}
	return 0;
}

static int write_table(FILE *out, const struct report_input *in, struct err *e)
{
	(void)e;
	placetext_table(out, in->x, in->p, in->names, in->flops);
	return 0;
}

static int write_tsv(FILE *out, const struct report_input *in, struct err *e)
{
	(void)e;
	placetext_tsv(out, in->x->graph, in->p, in->names, in->flops);
	return 0;
}

const struct report_format format_affinity = {
	.name = "affinity",
	.about = "JSON with the device of every operation by friendly name, constants,\n"
		 "parameters and results included",
	.write = write_affinity,
};

const struct report_format format_table = {
	.name = "table",
	.about = "totals, devices, sets",
	.plain = true,
	.write = write_table,
};

const struct report_format format_tsv = {
	.name = "tsv",
	.about = "one operation a line",
	.write = write_tsv,
};
