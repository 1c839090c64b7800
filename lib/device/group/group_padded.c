/* group_padded.c - a Pad of zeros and the one convolution that reads it, as the convolution alone. */
#include "device/group/group_rewrite.h"

#include <string.h>

/* Does anything but the convolution, node 1, read what Pad, node 0, makes? */
static bool read_by_others(const struct step_spec *s)
{
	for (uint32_t i = 0; i < s->n_out; i++)
		if (s->out[i].node == 0)
			return true;
	for (uint32_t v = 1; v < s->n_nodes; v++)
		for (uint32_t i = v == 1; i < s->node[v].n_in; i++)
			if (s->node[v].in[i].from == FROM_NODE && s->node[v].in[i].index == 0)
				return true;
	return false;
}

/* The convolution with wider padding, into *conv. */
static bool widen(const struct step_node *pad, const struct step_node *n, struct op *conv)
{
	enum { INPUTS = 4 };
	struct tensor in[INPUTS];
	const struct step_arg *x = &n->in[0], *w = &n->in[1];
	if (pad->n_in > INPUTS || pad->in[0].from != FROM_INPUT || x->from != FROM_NODE ||
	    x->index != 0 || !tensor_same_shape(x->tensor, &pad->out[0]) || !w->tensor)
		return false;
	for (uint32_t i = 0; i < pad->n_in; i++) {
		if (!pad->in[i].tensor || (i > 0 && pad->in[i].from != FROM_CONST))
			return false;
		in[i] = *pad->in[i].tensor;
	}
	return op_fold_pad(pad->op, in, &pad->out[0], n->op, w->tensor, conv);
}

static bool padded_match(struct rewrite *r, const struct group_how *how, const struct step_spec *s)
{
	const bool gone[REWRITE_OLD] = {true, true};
	(void)how;
	if (s->n_nodes < 2 || s->node[0].op->kind != OP_PAD || s->node[1].n_in < 2 ||
	    !rewrite_begin(r, s) || read_by_others(s) || !widen(&s->node[0], &s->node[1], &r->op))
		return false;
	struct step_arg *a = rewrite_add(r, &s->node[1], s->node[1].n_in);
	if (!a)
		return false;
	memcpy(a, s->node[1].in, s->node[1].n_in * sizeof *a);
	a[0] = s->node[0].in[0];
	r->node[0].op = &r->op;
	r->now[1] = 0;
	return rewrite_rest(r, s, gone);
}

const struct rewrite_pass padded_pass = {.name = "Pad folded into the convolution",
					 .match = padded_match};
