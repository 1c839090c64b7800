/* cpu_codes_forms.c - see cpu_codes_forms.h. */
#include "device/cpu/fuse/cpu_codes_forms.h"

#include "kernel/onednn/onednn_codes_matmul.h"

#ifdef WITHOUT_ONEDNN
#define FORMS_ONEDNN(X)
#else
#define FORMS_ONEDNN(X) X(codes_matmul_form)
#endif

#define FORMS(X) \
	FORMS_ONEDNN(X) \
	X(codes_attention_form)

#define DECLARED(form) extern const struct codes_form form;
FORMS(DECLARED)

#define LISTED(form) &form,
static const struct codes_form *const forms[] = {FORMS(LISTED)};

int codes_prepare(const struct step_how *how, const struct step_node *n, struct cpu_prep **prep,
		  struct err *e)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (forms[i]->kind == n->op->kind)
			return forms[i]->prepare(how, n, prep, e);
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
