/* cpu_grid.h - which numbers and weights lie on grids of 8 bits.
 *
 * A grid is what FakeQuantize leaves of the real numbers: scale * (code - zero) for whole codes of 8 bits. */
#ifndef HSDAG_DEVICE_CPU_GRAPH_CPU_GRID_H
#define HSDAG_DEVICE_CPU_GRAPH_CPU_GRID_H

#include "base/mem.h"
#include "kernel/quantize.h"
#include "kernel/nhwc/mem_form.h"

struct cpu_graph;

/* The grid that the values of a node lie on, made by FakeQuantize and passed on by what only moves values (the table in
 * cpu_grid.c). */
struct node_grid {
	bool there;
	bool in_place; /* nothing between changed the order of dims: codes may lie in memory in place of the numbers */
	bool whole; /* FakeQuantize has 256 levels and the same limits before and after: it would make these codes of whatever is
			* rounded to them */
	struct code_grid grid;
};
/* Pass: x->grid; memory from a. */
void grids_find(struct cpu_graph *x, struct arena *a);

/* The form of codes of a grid with zero among them: bytes have a sign where that gives zero the code 0. */
struct mem_form grid_form(const struct code_grid *x);
/* The grid that output 0 of node v lies on, as the form of codes that may lie in memory in its place. */
bool grid_of(const struct cpu_graph *x, uint32_t v, struct mem_form *f);
/* The grid on which the values of node v lie, whoever makes codes of them; NULL: none. */
const struct code_grid *grid_of_values(const struct cpu_graph *x, uint32_t v);
/* The same of the FakeQuantize v itself, where it has limits for each of n channels (dim 1), zero being a code of each (form_zero):
 * scales (3,n) is filled, and is the form's. */
bool grid_of_channels(const struct cpu_graph *x, uint32_t v, int64_t n, struct mem_form *f,
		      float *scales);
/* Does a FakeQuantize v of f32 make what only products of many rows with constants of codes read, so that codes may lie in memory row by row in
 * place of its numbers (mem_form without pixels)?  Then their grid. */
bool grid_of_rows(const struct cpu_graph *x, uint32_t v, struct code_grid *grid);

#endif
