/* group_rewrite.c - see group_rewrite.h. */
#include "device/group/group_rewrite.h"

bool rewrite_begin(struct rewrite *r, const struct step_spec *s)
{
	r->n_nodes = r->n_args = 0;
	r->constant[0] = r->constant[1] = (struct tensor){.elem = EL_F32};
	return s->n_nodes <= REWRITE_OLD && s->n_out <= FUSE_NODES;
}

struct step_arg *rewrite_add(struct rewrite *r, const struct step_node *n, uint32_t n_in)
{
	if (r->n_nodes == FUSE_NODES || n_in > REWRITE_ARGS - r->n_args)
		return NULL;
	struct step_node *to = &r->node[r->n_nodes++];
	struct step_arg *args = &r->arg[r->n_args];
	*to = *n;
	to->n_in = n_in;
	to->in = args;
	r->n_args += n_in;
	return args;
}

bool rewrite_rest(struct rewrite *r, const struct step_spec *s, const bool *gone)
{
	for (uint32_t v = 0; v < s->n_nodes; v++) {
		if (gone[v])
			continue;
		struct step_arg *a = rewrite_add(r, &s->node[v], s->node[v].n_in);
		if (!a)
			return false;
		r->now[v] = r->n_nodes - 1;
		for (uint32_t i = 0; i < s->node[v].n_in; i++) {
			a[i] = s->node[v].in[i];
			if (a[i].from == FROM_NODE)
				a[i].index = r->now[a[i].index];
		}
	}
	for (uint32_t i = 0; i < s->n_out; i++)
		r->out[i] = (struct step_out){r->now[s->out[i].node], s->out[i].port};
	r->spec = *s;
	r->spec.n_nodes = r->n_nodes;
	r->spec.node = r->node;
	r->spec.out = r->out;
	return true;
}
