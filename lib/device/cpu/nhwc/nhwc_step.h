/* nhwc_step.h - what kinds of steps on tensors in NHWC share. */
#ifndef HSDAG_DEVICE_CPU_NHWC_NHWC_STEP_H
#define HSDAG_DEVICE_CPU_NHWC_NHWC_STEP_H

#include "device/cpu/step/cpu_kind.h"
#include "kernel/nhwc/nhwc_form.h"

/* The answer of a kind about a group: GROUP_NEVER where its first node makes an image and `apart` is true, or some node splits
 * channels; else GROUP_OTHER. */
enum group_answer nhwc_group(const struct step_how *how, const struct step_spec *s, bool apart);

/* For operators that work as well in NHWC as plain, where their output is wanted so (step_kind.reads, group, wants). */
enum wish nhwc_as_output(const struct cpu_graph *graph, uint32_t v, uint32_t i);
enum group_answer nhwc_group_as_output(const struct step_how *how, const struct step_spec *s);
bool nhwc_where_private(const void *x, struct devmem *const *in, struct devmem *const *out,
			const struct mem_form *want);

/* Input i where it lies, and output i where and how it is to lie. */
static inline struct nhwc_tensor nhwc_in(const struct step_io *io, uint32_t i)
{
	return (struct nhwc_tensor){io->in[i]->p, io->in[i]->form};
}
static inline struct nhwc_tensor nhwc_out(const struct step_io *io, uint32_t i)
{
	return (struct nhwc_tensor){io->out[i]->p, io->out[i]->form};
}

/* The constants among the inputs of n, one data input in front, into in[cap], absent ones as zeros; false: some are no constants, or
 * there are more. */
bool nhwc_constants(const struct step_node *n, struct tensor *in, uint32_t cap);

/* The form of output `port` of n where only this device reads it. */
static inline struct mem_form nhwc_form_of(const struct step_how *how, const struct step_node *n,
					   uint32_t port)
{
	return nhwc_wanted(how->graph, n->v, port, how->elem);
}

/* Is a step of one node, which reads an image? */
static inline bool nhwc_reads_image(const struct step_spec *s)
{
	return s->n_nodes == 1 && s->node[0].in[0].from == FROM_INPUT &&
	       fits_nhwc(s->node[0].in[0].tensor);
}

#endif
