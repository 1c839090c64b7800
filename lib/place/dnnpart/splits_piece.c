/* splits_piece.c - the loads of a piece that grows and shrinks by an item. */
#include <math.h>

#include "stats/twosum.h"
#include "place/dnnpart/splits.h"

void split_piece_init(struct split_piece *x, const struct splits *p)
{
	*x = (struct split_piece){.p = p,
				  .inside = MEM_NEWN(bool, p->n),
				  .n_inside = MEM_NEWN(uint32_t, p->n_values)};
}

void split_piece_release(struct split_piece *x)
{
	mem_free(x->inside);
	mem_free(x->n_inside);
}

/* Add a row to sums or take it off. */
static void add_moves(double *sum, double *low, const double *row, uint32_t n, double sign)
{
	for (uint32_t c = 0; c < n; c++)
		twosum_add(&sum[c], &low[c], sign * row[c]);
}

void split_piece_add(struct split_piece *x, uint32_t item)
{
	const struct splits *p = x->p;
	uint32_t nc = p->n_classes;
	struct split_load *l = &x->load;

	x->inside[item] = true;
	for (uint32_t c = 0; c < nc; c++)
		l->node_s[c] += p->cost_s[(size_t)item * nc + c];
	l->least_s += p->least_s[item];
	l->mem += p->mem[item];
	for (uint32_t v = p->made_ptr[item]; v < p->made_ptr[item + 1]; v++) {
		if (x->n_inside[v])
			add_moves(l->in_s, l->in_low_s, p->in_s + (size_t)v * nc, nc, -1);
		if (x->n_inside[v] < p->n_readers[v])
			add_moves(l->out_s, l->out_low_s, p->out_s + (size_t)v * nc, nc, 1);
	}
	for (uint32_t j = p->read_ptr[item]; j < p->read_ptr[item + 1]; j++) {
		uint32_t v = p->read[j], n = ++x->n_inside[v];

		if (!x->inside[p->maker[v]]) {
			if (n == 1)
				add_moves(l->in_s, l->in_low_s, p->in_s + (size_t)v * nc, nc, 1);
		} else if (n == p->n_readers[v]) {
			add_moves(l->out_s, l->out_low_s, p->out_s + (size_t)v * nc, nc, -1);
		}
	}
}

void split_piece_drop(struct split_piece *x, uint32_t item, const struct split_load *load)
{
	const struct splits *p = x->p;

	x->inside[item] = false;
	for (uint32_t j = p->read_ptr[item]; j < p->read_ptr[item + 1]; j++)
		x->n_inside[p->read[j]]--;
	x->load = *load;
}

double split_piece_load_s(const struct split_piece *x, uint32_t c)
{
	const struct split_load *l = &x->load;
	double in_s = l->in_s[c] + l->in_low_s[c], out_s = l->out_s[c] + l->out_low_s[c];

	if (x->p->sum[c])
		return l->node_s[c] + in_s + out_s;
	return x->p->u->m->rules == PLACE_SCHEDULE ? fmax(l->node_s[c], fmax(in_s, out_s))
						   : l->node_s[c];
}
