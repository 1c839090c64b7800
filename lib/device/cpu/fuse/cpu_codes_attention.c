/* cpu_codes_attention.c - ScaledDotProductAttention whose queries and keys lie on grids: its kernel gets these. */
#include "device/cpu/fuse/cpu_codes_forms.h"
#include "kernel/dense/attention_rows.h"
#include "kernel/dense/attention_quantized.h"

static int codes_attention(const struct step_how *how, const struct step_node *n,
			   struct cpu_prep **prep, struct err *e)
{
	const struct code_grid *q = grid_of_values(how->graph, graph_source(n->graph, n->v, 0));
	const struct code_grid *k = grid_of_values(how->graph, graph_source(n->graph, n->v, 1));
	(void)e;
	if (n->in[0].from == FROM_CONST || n->in[1].from == FROM_CONST || !attend_codes_there() ||
	    !q || !k)
		return 0;
	const struct attend_grids grids = {.q = *q, .k = *k};
	*prep = MEM_NEW(struct cpu_prep);
	(*prep)->more = mem_copy(&grids, 1, sizeof grids);
	(*prep)->more_free = mem_free;
	return 1;
}

const struct codes_form codes_attention_form = {OP_ATTENTION, codes_attention};
