/* tabfile.c - lines, cells, numbers. */
#include "base/tabfile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cells of a line, which is cut; memory from a. */
static const char **split_line(char *line, struct arena *a, uint32_t *n)
{
	*n = 1;
	for (const char *s = line; *s; s++)
		*n += *s == '\t';
	const char **cell = ARENA_NEWN(a, const char *, *n);
	for (uint32_t i = 0; i < *n; i++) {
		size_t len = strcspn(line, "\t");
		cell[i] = line;
		line[len] = '\0';
		line += len + 1;
	}
	return cell;
}

static int check_rows(const struct tabfile *t, struct err *e)
{
	for (uint32_t i = 0; i < t->n_rows; i++)
		if (t->n_cells[i] != t->n_columns)
			return err_set(e, ST_INPUT, "'%s' line %u has %u columns, not %u", t->path,
				       i + 2, t->n_cells[i], t->n_columns);
	return 0;
}

int tabfile_read(const char *path, bool has_header, struct arena *a, struct tabfile *out,
		 struct err *e)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t cap = 0, room = 0, room_n = 0;
	ssize_t len;
	const char ***cell = NULL;
	*out = (struct tabfile){.path = path};
	if (!f)
		return err_sys(e, ST_RUNTIME, "cannot read '%s'", path);
	for (bool head = has_header; (len = getline(&line, &cap, f)) >= 0; head = false) {
		len -= len > 0 && line[len - 1] == '\n';
		char *copy = arena_strndup(a, line, (size_t)len);
		if (head) {
			out->header = split_line(copy, a, &out->n_columns);
			continue;
		}
		cell = mem_grow(cell, &room, out->n_rows + 1, sizeof *cell);
		out->n_cells =
			mem_grow(out->n_cells, &room_n, out->n_rows + 1, sizeof *out->n_cells);
		cell[out->n_rows] = split_line(copy, a, &out->n_cells[out->n_rows]);
		out->n_rows++;
	}
	int rc = ferror(f) ? err_sys(e, ST_RUNTIME, "cannot read '%s'", path) : 0;
	(void)fclose(f);
	free(line);
	uint32_t *n_cells = ARENA_NEWN(a, uint32_t, (size_t)out->n_rows + 1);
	out->cell = ARENA_NEWN(a, const char **, (size_t)out->n_rows + 1);
	for (uint32_t i = 0; i < out->n_rows; i++) {
		n_cells[i] = out->n_cells[i];
		out->cell[i] = cell[i];
	}
	mem_free(out->n_cells);
	mem_free(cell);
	out->n_cells = n_cells;
	return rc == 0 && has_header ? check_rows(out, e) : rc;
}

int tabfile_column(const struct tabfile *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_columns; i++)
		if (strcmp(t->header[i], name) == 0)
			return (int)i;
	return -1;
}

const char *tabfile_cell(const struct tabfile *t, uint32_t i, int column)
{
	return column >= 0 && (uint32_t)column < t->n_cells[i] ? t->cell[i][column] : "";
}

int tabfile_real(const struct tabfile *t, uint32_t i, int column, double *out, struct err *e)
{
	const char *s = tabfile_cell(t, i, column);
	char *end, name[80];
	*out = strtod(s, &end);
	if (end != s && !*end && isfinite(*out))
		return 0;
	return err_set(e, ST_INPUT, "'%s' line %u: '%s' is not a number", t->path,
		       i + 1 + (t->header != NULL), err_escape(name, sizeof name, s, strlen(s)));
}
