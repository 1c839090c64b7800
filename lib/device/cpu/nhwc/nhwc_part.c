/* nhwc_part.c - see nhwc_part.h. */
#include "device/cpu/nhwc/nhwc_part.h"

static bool is_like(const struct form_shape *s, const struct tensor *t)
{
	const struct form_shape x = form_shape_of(t);
	return x.images == s->images && x.channels == s->channels;
}

/* A tensor that is broadcast: has it channels and pixels of its own?  With fewer dims than the output these are others. */
static bool is_image(const struct tensor *t)
{
	const struct form_shape x = form_shape_of(t);
	return x.channels > 1 && x.pixels > 1;
}

bool nhwc_same_planes(const struct fuse_plan *p, const struct tensor *out)
{
	const struct form_shape s = form_shape_of(out);
	for (uint32_t v = 0; v < p->n; v++) {
		const struct fuse_node *f = &p->node[v];
		if (f->role == ROLE_CODE && !is_like(&s, f->out))
			return false;
		for (int i = 0; f->role == ROLE_CODE && i < f->n_data; i++)
			if (f->arg[i].from == FROM_INPUT &&
			    (tensor_elements(f->arg[i].tensor) == tensor_elements(out)
				     ? !is_like(&s, f->arg[i].tensor)
				     : is_image(f->arg[i].tensor)))
				return false;
	}
	return true;
}

void nhwc_program_memory(const struct nhwc_program *p, const struct step_io *io,
			 struct nhwc_tensor *memory)
{
	for (int i = 0; i < p->code.n_operands; i++) {
		const struct epi_place *pl = &p->place[i];
		if (!nhwc_operand_is_memory(p->kind[i]))
			continue;
		if (pl->base == BASE_CONST)
			memory[i] = (struct nhwc_tensor){(char *)(uintptr_t)pl->data + pl->bytes,
							 {.elem = EL_F32}};
		else
			memory[i] = pl->base == BASE_INPUT ? nhwc_in(io, pl->index)
							   : nhwc_out(io, pl->index);
	}
}
