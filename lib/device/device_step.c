/* device_step.c - what classes ask of the nodes of a step alike. */
#include "device/device.h"

bool step_inputs_known(const struct step_node *n, int first)
{
	for (uint32_t i = (uint32_t)first; i < n->n_in; i++)
		if (n->in[i].from != FROM_NONE &&
		    (n->in[i].from != FROM_CONST || !n->in[i].tensor->data))
			return false;
	return true;
}

bool step_gives_one(const struct step_node *n)
{
	for (uint32_t i = 1; i < n->n_out; i++)
		if (!n->used || n->used[i])
			return false;
	return true;
}
