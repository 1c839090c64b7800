/* split.c - one IR per segment of a placed model, and their index. */
#include "ir/split.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascending.h"
#include "base/newfile.h"
#include "ir/new_bin.h"
#include "ir/write.h"
#include "text/markup.h"

struct split {
	const char *dir;
	const struct graph *g;
	const struct segments *x;
	const bool *constant;
	const char *const *names;
	const struct weights *weights;
	struct new_bin *shared; /* NULL: each segment has its own */
	struct segment_ports ports;
	uint32_t *constants; /* outputs of constants that Results read */
	uint32_t n_constants;
	const bool *fixed;   /* graph_fixed_variables */
	uint32_t *parameter; /* (n) of a Parameter: how many are before it */
	FILE *index;
	const char **stem; /* of the files that there are: DIR/NNNN_DEVICE */
	uint32_t n_stems;
	bool made; /* the directory is new */
	struct arena *tmp;
	struct split_report *rep;
};

/* ---- files ---- */

/* DIR/NNNN_DEVICE without extension; characters that file names do not like become "-". */
static char *file_stem(const struct split *s, uint32_t number, const char *device)
{
	char *stem = arena_printf(s->tmp, "%s/%04u_%s", s->dir, number, device);
	for (char *c = stem + strlen(s->dir) + 1; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '.' && *c != '_')
			*c = '-';
	return stem;
}

/* Takes away what has been written, so that DIR is empty again. */
static void remove_files(const struct split *s)
{
	for (uint32_t i = 0; i < s->n_stems; i++) {
		unlink(arena_printf(s->tmp, "%s.bin", s->stem[i]));
		unlink(arena_printf(s->tmp, "%s.xml", s->stem[i]));
	}
	if (s->made)
		rmdir(s->dir);
}

static int write_pair(struct split *s, const char *stem, const struct ir_part *part,
		      uint64_t *bytes, struct err *e)
{
	const char *path = arena_printf(s->tmp, "%s.bin", stem);
	struct new_bin own, *bin = s->shared ? s->shared : &own;
	uint64_t before = s->shared ? s->shared->bytes : 0;
	if (!s->shared && new_bin_open(&own, path, s->weights, e) < 0)
		return -1;
	bin->file.lazy = bin->file.lazy || !s->shared;
	struct ir_writer *w = ir_writer_new(strrchr(stem, '/') + 1, &bin->to);
	ir_writer_variables(w, s->fixed);
	ir_write_part(w, &bin->to, s->g, s->constant, part);
	size_t n;
	const char *text = ir_writer_text(w, &n);
	*bytes = bin->bytes - before;
	int rc = s->shared ? 0 : new_bin_commit(&own, path, s->g, e);
	if (rc == 0)
		rc = newfile_write_lazily(arena_printf(s->tmp, "%s.xml", stem), text, n, e);
	ir_writer_free(w);
	s->rep->n_files++;
	s->rep->bin_bytes += *bytes;
	return rc;
}

/* ---- the index ---- */

static void put_string(const struct split *s, const char *key, const char *value)
{
	fprintf(s->index, "\"%s\": ", key);
	markup_json(s->index, value, strlen(value), false);
}

static void describe(const struct split *s, uint32_t o)
{
	const struct graph *g = s->g;
	uint32_t v = graph_node_of(g, o);
	put_string(s, "node", g->node_name[v]);
	fprintf(s->index, ", \"port\": %u, ", o - g->out_ptr[v]);
	put_string(s, "type", elem_name((enum elem)g->out_elem[o]));
	fputs(", \"shape\": ", s->index);
	if (g->out_rank[o] == RANK_DYNAMIC)
		fputs("null", s->index);
	else
		fputc('[', s->index);
	for (uint32_t i = g->dim_ptr[o]; g->out_rank[o] != RANK_DYNAMIC && i < g->dim_ptr[o + 1];
	     i++)
		fprintf(s->index, "%s%" PRId64, i > g->dim_ptr[o] ? ", " : "", g->dim[i]);
	if (g->out_rank[o] != RANK_DYNAMIC)
		fputc(']', s->index);
}

static uint32_t position(const uint32_t *item, uint32_t n, uint32_t o)
{
	const uint32_t *at = bsearch(&o, item, n, sizeof o, ascending_u32);
	return at ? (uint32_t)(at - item) : GRAPH_NONE;
}

/* Where output o comes from. */
static void put_from(const struct split *s, uint32_t o)
{
	const struct graph *g = s->g;
	uint32_t v = graph_node_of(g, o), t = s->x->of[v];
	if (s->constant[v]) {
		fprintf(s->index, "\"segment\": %u, \"output\": %u", s->x->n,
			position(s->constants, s->n_constants, o));
	} else if (t != GRAPH_NONE) {
		uint32_t first = s->ports.out_ptr[t];
		fprintf(s->index, "\"segment\": %u, \"output\": %u", t,
			position(s->ports.out + first, s->ports.out_ptr[t + 1] - first, o));
	} else {
		fprintf(s->index, "\"segment\": -1, \"output\": %u", s->parameter[v]);
	}
}

static void put_tensors(const struct split *s, const char *key, const uint32_t *o, uint32_t n,
			bool from)
{
	fprintf(s->index, ",\n   \"%s\": [", key);
	for (uint32_t i = 0; i < n; i++) {
		fputs(i ? ",\n     {" : "\n     {", s->index);
		describe(s, o[i]);
		if (from) {
			fputs(", ", s->index);
			put_from(s, o[i]);
		}
		fputc('}', s->index);
	}
	fputs("]", s->index);
}

static int write_segment(struct split *s, uint32_t number, const char *device,
			 const struct ir_part *part, struct err *e)
{
	char *stem = file_stem(s, number, device), *name = strrchr(stem, '/') + 1;
	s->stem[s->n_stems++] = stem;
	uint64_t bytes = 0;
	if (write_pair(s, stem, part, &bytes, e) < 0)
		return -1;
	fputs(number ? ",\n  {" : "\n  {", s->index);
	put_string(s, "file", arena_printf(s->tmp, "%s.xml", name));
	fputs(", ", s->index);
	put_string(s, "device", device);
	fprintf(s->index, ", \"operations\": %u, \"weights_bytes\": %" PRIu64, part->n_nodes,
		bytes);
	put_tensors(s, "inputs", part->in, part->n_in, true);
	put_tensors(s, "outputs", part->out, part->n_out, false);
	fputc('}', s->index);
	return 0;
}

static int write_segments(struct split *s, struct err *e)
{
	const struct segments *x = s->x;
	for (uint32_t i = 0; i < x->n; i++) {
		struct ir_part part = {x->ptr[i + 1] - x->ptr[i],
				       x->node + x->ptr[i],
				       s->ports.in_ptr[i + 1] - s->ports.in_ptr[i],
				       s->ports.out_ptr[i + 1] - s->ports.out_ptr[i],
				       s->ports.in + s->ports.in_ptr[i],
				       s->ports.out + s->ports.out_ptr[i]};
		if (write_segment(s, i, s->names[x->device[i]], &part, e) < 0)
			return -1;
	}
	if (s->n_constants == 0)
		return 0;
	struct ir_part part = {.n_out = s->n_constants, .out = s->constants};
	return write_segment(s, x->n, s->names[0], &part, e);
}

/* What all files have, to the disk at once: the index takes its name after that. */
static int wait_for_disk(const struct split *s, struct err *e)
{
	int fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc = fd < 0 ? -1 : syncfs(fd);
	if (rc < 0)
		err_sys(e, ST_RUNTIME, "cannot write the segments in '%s'", s->dir);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int write_index(struct split *s, uint32_t n_names, struct err *e)
{
	const struct graph *g = s->g;
	bool first = true;
	fputs("{", s->index);
	put_string(s, "model", g->name);
	fputs(", ", s->index);
	put_string(s, "xml", g->xml);
	fprintf(s->index, ", \"digest\": \"%016" PRIx64 "\",\n \"devices\": [", g->digest);
	for (uint32_t d = 0; d < n_names; d++) {
		fputs(d ? ", " : "", s->index);
		markup_json(s->index, s->names[d], strlen(s->names[d]), false);
	}
	fputs("],\n \"inputs\": [", s->index);
	for (uint32_t v = 0; v < g->n; v++)
		if (g->kind[v] == OP_PARAMETER) {
			fputs(first ? "\n  {" : ",\n  {", s->index);
			describe(s, g->out_ptr[v]);
			fputs("}", s->index);
			first = false;
		}
	fputs("],\n \"segments\": [", s->index);
	if (write_segments(s, e) < 0)
		return -1;
	fputs("],\n \"outputs\": [", s->index);
	first = true;
	for (uint32_t v = 0; v < g->n; v++)
		if (g->kind[v] == OP_RESULT) {
			uint32_t i = g->in_ptr[v];
			fputs(first ? "\n  {" : ",\n  {", s->index);
			put_string(s, "node", g->node_name[v]);
			fputs(", ", s->index);
			put_from(s, g->out_ptr[g->in_node[i]] + g->in_port[i]);
			fputs("}", s->index);
			first = false;
		}
	fputs("]}\n", s->index);
	return 0;
}

/* ---- the whole ---- */

int split_make_directory(const char *dir, bool *made, struct err *e)
{
	*made = mkdir(dir, 0777) == 0;
	if (!*made && errno != EEXIST)
		return err_sys(e, ST_RUNTIME, "cannot make the directory '%s'", dir);
	DIR *d = opendir(dir);
	if (!d)
		return err_sys(e, ST_RUNTIME, "cannot open the directory '%s'", dir);
	bool empty = true;
	for (const struct dirent *f; empty && (f = readdir(d));)
		empty = strcmp(f->d_name, ".") == 0 || strcmp(f->d_name, "..") == 0;
	closedir(d);
	return empty ? 0 : err_set(e, ST_RUNTIME, "directory '%s' is not empty", dir);
}

static void count_parameters(struct split *s)
{
	uint32_t n = 0;
	s->parameter = arena_raw(s->tmp, s->g->n, sizeof *s->parameter);
	for (uint32_t v = 0; v < s->g->n; v++) {
		s->parameter[v] = n;
		n += s->g->kind[v] == OP_PARAMETER;
	}
}

/* Constants that are results. */
static void find_constants(struct split *s)
{
	const struct graph *g = s->g;
	uint32_t n = 0;
	s->constants = arena_raw(s->tmp, g->n, sizeof *s->constants);
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t i = g->in_ptr[v];
		if (g->kind[v] == OP_RESULT && s->constant[g->in_node[i]])
			s->constants[n++] = g->out_ptr[g->in_node[i]] + g->in_port[i];
	}
	qsort(s->constants, n, sizeof *s->constants, ascending_u32);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || s->constants[i] != s->constants[i - 1])
			s->constants[s->n_constants++] = s->constants[i];
}

int split_write(const char *dir, const struct graph *g, const struct segments *x,
		const bool *constant, const char *const *names, uint32_t n_names,
		const struct weights *weights, struct new_bin *shared, struct split_report *rep,
		struct err *e)
{
	struct split s = {.dir = dir,
			  .g = g,
			  .x = x,
			  .constant = constant,
			  .names = names,
			  .weights = weights,
			  .shared = shared,
			  .rep = rep,
			  .tmp = arena_new()};
	const char *path = arena_printf(s.tmp, "%s/index.json", dir);
	char *text = NULL;
	size_t n = 0;
	*rep = (struct split_report){0};
	int rc = split_make_directory(dir, &s.made, e);
	if (rc == 0) {
		s.stem = arena_raw(s.tmp, (size_t)x->n + 1, sizeof *s.stem);
		segment_ports_of(g, x, constant, s.tmp, &s.ports);
		find_constants(&s);
		count_parameters(&s);
		s.fixed = graph_fixed_variables(g, s.tmp);
		s.index = open_memstream(&text, &n);
		rc = s.index ? write_index(&s, n_names, e)
			     : err_sys(e, ST_RUNTIME, "no memory for the index");
	}
	if (s.index && fclose(s.index) != 0 && rc == 0)
		rc = err_sys(e, ST_RUNTIME, "no memory for the index");
	if (rc == 0)
		rc = wait_for_disk(&s, e);
	if (rc == 0)
		rc = newfile_write(path, text, n, e);
	if (rc < 0)
		remove_files(&s);
	free(text);
	arena_free(s.tmp);
	return rc;
}
