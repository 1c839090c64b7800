/* tabfile.h - files of tab-separated cells: what a program reads back that it has printed
 * itself. */
#ifndef HSDAG_BASE_TABFILE_H
#define HSDAG_BASE_TABFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

struct tabfile {
	const char *path;    /* as it was opened */
	uint32_t n_rows;     /* without the header */
	const char **header; /* (n_columns) NULL: read without one */
	uint32_t n_columns;  /* of the header */
	uint32_t *n_cells;   /* (n_rows) */
	const char ***cell;  /* (n_rows)(n_cells) */
};

/* All lines of a file; with has_header the first one is the header, and every row has as many
 * cells.  Memory from a.  -1: ST_RUNTIME, or ST_INPUT where a row has another number of cells. */
int tabfile_read(const char *path, bool has_header, struct arena *a, struct tabfile *out,
		 struct err *e) MUST_CHECK;

/* Column of that name, -1: there is none. */
int tabfile_column(const struct tabfile *t, const char *name);

/* A cell of row i, "" where it has none. */
const char *tabfile_cell(const struct tabfile *t, uint32_t i, int column);

/* The finite number in that cell; what else is there is ST_INPUT. */
int tabfile_real(const struct tabfile *t, uint32_t i, int column, double *out,
		 struct err *e) MUST_CHECK;

#endif
