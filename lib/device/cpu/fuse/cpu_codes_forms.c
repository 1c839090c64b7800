/* cpu_codes_forms.c - see cpu_codes_forms.h. */
#include "device/cpu/fuse/cpu_codes_forms.h"

#include "kernel/onednn/onednn_codes_matmul.h"

static const struct codes_form {
	enum op_kind kind;
	int (*prepare)(const struct step_how *how, const struct step_node *n,
		       struct cpu_prep **prep, struct err *e);
} forms[] = {
#ifndef WITHOUT_ONEDNN
	{OP_MATMUL, codes_matmul},
#endif
	{OP_ATTENTION, codes_attention},
};

int codes_prepare(const struct step_how *how, const struct step_node *n, struct cpu_prep **prep,
		  struct err *e)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (forms[i].kind == n->op->kind)
			return forms[i].prepare(how, n, prep, e);
	return 0;
}

const struct code_grid *codes_of_input(const struct cpu_prep *prep)
{
#ifdef WITHOUT_ONEDNN
	(void)prep;
	return NULL;
#else
	return onednn_codes_of_input(prep);
#endif
}
