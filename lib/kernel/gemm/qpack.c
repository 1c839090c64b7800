/* qpack.c - see qpack.h.  A pack is a struct qpanels, then its panels. */
#include "kernel/gemm/qpack.h"

enum {
	PANELS_AT = (sizeof(struct qpanels) + 63) / 64 * 64,
	LAYOUT_QUANT = 1 << 16,
	LAYOUT_ROUNDED = 1 << 17
};

struct quant_job {
	const struct tensor *b;
	bool transpose;
	struct qpanels q;
	uint16_t *rounded; /* fill_rounded: room for b as bf16 */
};

static void fill_quant(void *arg, void *data)
{
	struct quant_job *job = arg;
	qpanels_pack(&job->q, job->b, job->transpose, (char *)data + PANELS_AT);
	*(struct qpanels *)data = job->q;
}

static void fill_rounded(void *arg, void *data)
{
	struct quant_job *job = arg;
	struct tensor b = *job->b;
	b.elem = EL_BF16;
	b.data = job->rounded;
	cpu_convert(EL_BF16, b.data, EL_F32, job->b->data, tensor_elements(&b));
	qpanels_pack(&job->q, &b, job->transpose, (char *)data + PANELS_AT);
	*(struct qpanels *)data = job->q;
}

struct cpu_pack *qpack_rounded(const struct tensor *b, bool transpose, struct cpu_ctx *c)
{
	struct quant_job job = {.b = b, .transpose = transpose};
	struct tensor half = *b;
	uint64_t layout[6] = {OP_MATMUL | LAYOUT_QUANT | LAYOUT_ROUNDED, transpose,
			      (uint64_t)b->dim[0], (uint64_t)b->dim[1]};
	half.elem = EL_BF16;
	qpanels_plan(&half, transpose, &job.q);
	job.rounded = mem_try((size_t)tensor_elements(b) * sizeof *job.rounded);
	if (!job.rounded)
		return NULL;
	struct cpu_pack *p = cpu_pack_get(c->packs, b->data, layout,
					  PANELS_AT + qpanels_bytes(&job.q), fill_rounded, &job);
	mem_free(job.rounded);
	return p;
}

struct cpu_pack *qpack_quant(const struct tensor *b, bool transpose, struct cpu_ctx *c)
{
	struct quant_job job = {.b = b, .transpose = transpose};
	const void *scale = b->quant ? b->quant->scale.data : NULL;
	const void *zero = b->quant ? b->quant->zero.data : NULL;
	qpanels_plan(b, transpose, &job.q);
	uint64_t layout[6] = {OP_MATMUL | LAYOUT_QUANT, (uint64_t)b->elem << 1 | transpose,
			      (uint64_t)b->dim[0],      (uint64_t)b->dim[1],
			      (uintptr_t)scale,         (uintptr_t)zero};
	return cpu_pack_get(c->packs, b->data, layout, PANELS_AT + qpanels_bytes(&job.q),
			    fill_quant, &job);
}

const struct qpanels *qpack_panels(const struct cpu_pack *p)
{
	return p->layout[0] & LAYOUT_QUANT ? p->data : NULL;
}
