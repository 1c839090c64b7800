/* nhwc_codes.c - see nhwc_codes.h. */
#include "device/cpu/nhwc/nhwc_codes.h"

#include <math.h>

bool codes_of_conv_input(struct conv_step *s, const struct step_how *how, const struct step_node *n)
{
	struct mem_form *f = &s->x;
	uint32_t from = graph_source(n->graph, n->v, 0);
	if (s->g.cin == 1 && s->g.groups > 1) {
		s->x_scales = MEM_NEWN(float, (size_t)s->g.groups * 3);
		f->nhwc = grid_of_channels(how->graph, from, s->g.groups, f, s->x_scales);
		if (f->nhwc)
			return true;
	}
	const struct code_grid *grid = grid_of_values(how->graph, from);
	if (!grid || grid->zero != rintf(grid->zero))
		return false;
	*f = grid_form(grid);
	f->nhwc = true;
	return true;
}

float *codes_of_channels(const struct step_how *how, uint32_t v, int64_t n, struct mem_form *want)
{
	struct mem_form f;
	if (how->elem != EL_I8 || !want->nhwc || how->graph->g->kind[v] != OP_FAKE_QUANTIZE ||
	    !cpu_graph_only_depthwise(how->graph, v))
		return NULL;
	float *scales = MEM_NEWN(float, (size_t)n * 3);
	if (!grid_of_channels(how->graph, v, n, &f, scales)) {
		mem_free(scales);
		return NULL;
	}
	*want = f;
	want->nhwc = true;
	return scales;
}
