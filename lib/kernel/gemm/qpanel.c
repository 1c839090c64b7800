/* qpanel.c - packing of weights in few bits, and their kernels for each level of
 * instructions. */
#include "kernel/gemm/qpanel.h"

#include <string.h>

#define LEVEL_FILE "kernel/gemm/qpanel_loops.h"
#include "kernel/isa_dispatch.h"

/* ---- layout ---- */

static bool has_nibbles(const struct tensor *b)
{
	return elem_bits(b->elem) == 4;
}

/* Rows that share zeros and scales; 0: the parts are cut otherwise. */
static int64_t group_of(const struct tensor *b, bool transpose)
{
	const struct tensor *c = &b->quant->codes;
	int64_t k = b->dim[transpose ? 1 : 0], n = b->dim[transpose ? 0 : 1], group = 1;
	if (transpose) {
		group = quant_run(b->quant);
		return group >= k ? k : k % group == 0 ? group : 0;
	}
	if (c->rank == 0 || c->dim[c->rank - 1] != n)
		return 0;
	for (uint32_t d = 1; d < c->rank; d++) {
		const struct tensor *part[2] = {&b->quant->zero, &b->quant->scale};
		for (int i = 0; i < 2; i++)
			if (part[i]->elem != EL_DYNAMIC && d < part[i]->rank &&
			    part[i]->dim[part[i]->rank - 1 - d] != 1)
				return group;
		group *= c->dim[c->rank - 1 - d];
	}
	return group;
}

bool qpanels_fit(const struct tensor *b, bool transpose)
{
	if (b->rank != 2 || b->dim[0] < 1 || b->dim[1] < 1)
		return false;
	if (!b->quant)
		return b->elem == EL_BF16;
	int64_t group = group_of(b, transpose), k = b->dim[transpose ? 1 : 0];
	return (has_nibbles(b) || b->elem == EL_I8 || b->elem == EL_U8) &&
	       (group >= QBLOCK || (group == k && k > 0));
}

/* ---- codes, scales, zeros of the constant ---- */

struct source {
	const struct tensor *b;
	bool transpose;
	int64_t k, n;
};

static int64_t code_index(const struct source *s, int64_t k, int64_t n)
{
	return s->transpose ? n * s->k + k : k * s->n + n;
}

/* Codes are kept around zero: what is taken off them. */
static int centre(const struct tensor *b)
{
	if (!b->quant || b->quant->zero.elem == EL_DYNAMIC)
		return b->elem == EL_U8 ? 128 : 0;
	return b->elem == EL_U8 ? 128 : b->elem == EL_U4 ? 8 : 0;
}

static float zero_at(const struct source *s, int64_t k, int64_t n)
{
	return quant_zero(s->b->quant, code_index(s, k, n)) - (float)centre(s->b);
}

/* The type that holds all zeros; EL_DYNAMIC and *common when all are the same. */
static enum elem zero_type(const struct source *s, int64_t group, float *common)
{
	enum elem t = EL_I8;
	bool same = true;
	*common = zero_at(s, 0, 0);
	if (tensor_elements(&s->b->quant->zero) == 1 || s->b->quant->zero.elem == EL_DYNAMIC)
		return EL_DYNAMIC;
	for (int64_t k = 0; k < s->k; k += group)
		for (int64_t n = 0; n < s->n; n++) {
			float z = zero_at(s, k, n);
			same = same && z == *common;
			if (!(z >= -128 && z <= 127) || z != (float)(int)z)
				t = EL_F32;
		}
	return same ? EL_DYNAMIC : t;
}

static void set_levels(struct qpanels *q, const struct tensor *b, float zero)
{
	uint8_t codes[8] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe};
	const struct tensor all = {.elem = b->elem, .rank = 1, .dim = {16}, .data = codes};
	for (int i = 0; i < 16; i++)
		q->level[i] = (float)tensor_real(&all, i) - (float)centre(b) - zero;
}

void qpanels_plan(const struct tensor *b, bool transpose, struct qpanels *q)
{
	struct source s = {b, transpose, b->dim[transpose ? 1 : 0], b->dim[transpose ? 0 : 1]};
	float common = 0;
	*q = (struct qpanels){.code = EL_BF16,
			      .scale = EL_DYNAMIC,
			      .zero = EL_DYNAMIC,
			      .k = s.k,
			      .n = s.n,
			      .group = s.k};
	q->block_bytes = QBLOCK * GEMM_N * 2;
	if (b->quant) {
		q->group = group_of(b, transpose);
		q->code = has_nibbles(b) ? EL_U4 : EL_I8;
		q->block_bytes = QBLOCK * GEMM_N / (has_nibbles(b) ? 2 : 1);
		q->scale = b->quant->scale.elem == EL_F16 ? EL_F16 : EL_F32;
		q->zero = zero_type(&s, q->group, &common);
		if (q->code == EL_I8 && q->zero == EL_DYNAMIC && common != 0)
			q->zero = EL_F32;
		if (has_nibbles(b))
			set_levels(q, b, q->zero == EL_DYNAMIC ? common : 0);
	}
	q->scale_bytes = q->scale == EL_F16 ? GEMM_N * 2 : q->scale == EL_F32 ? GEMM_N * 4 : 0;
	q->zero_bytes = q->zero == EL_I8 ? GEMM_N * 2 : q->zero == EL_F32 ? GEMM_N * 4 : 0;
	q->group_bytes =
		q->scale_bytes + q->zero_bytes + (q->group + QBLOCK - 1) / QBLOCK * q->block_bytes;
	q->panel_bytes = (q->k + q->group - 1) / q->group * q->group_bytes;
}

uint64_t qpanels_bytes(const struct qpanels *q)
{
	return (uint64_t)((q->n + GEMM_N - 1) / GEMM_N * q->panel_bytes);
}

/* ---- packing ---- */

static unsigned nibble(const uint8_t *codes, int64_t i)
{
	return codes[i / 2] >> i % 2 * 4 & 15;
}

static void pack_nibbles(const struct source *s, int64_t k, int rows, int64_t n, int columns,
			 uint32_t *dst)
{
	const uint8_t *codes = s->b->data;
	bool whole = s->transpose && rows == QBLOCK && s->k % 2 == 0;
	for (int j = 0; j < columns; j++) {
		if (whole) {
			const uint8_t *p = codes + code_index(s, k, n + j) / 2;
			dst[j] = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
				 (uint32_t)p[3] << 24;
			continue;
		}
		for (int i = 0; i < rows; i++)
			dst[j] |= nibble(codes, code_index(s, k + i, n + j)) << 4 * i;
	}
}

static void pack_bytes(const struct source *s, int64_t k, int rows, int64_t n, int columns,
		       uint8_t *dst)
{
	const uint8_t *codes = s->b->data;
	uint8_t flip = s->b->elem == EL_U8 ? 0x80 : 0;
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < columns; j++)
			dst[i * GEMM_N + j] = codes[code_index(s, k + i, n + j)] ^ flip;
}

static void pack_words(const struct source *s, int64_t k, int rows, int64_t n, int columns,
		       uint16_t *dst)
{
	const uint16_t *words = s->b->data;
	for (int i = 0; i < rows; i++)
		for (int j = 0; j < columns; j++)
			dst[i * GEMM_N + j] = words[code_index(s, k + i, n + j)];
}

static void pack_parts(const struct qpanels *q, const struct source *s, int64_t k, int64_t n,
		       int columns, char *dst)
{
	for (int j = 0; j < columns && q->scale != EL_DYNAMIC; j++) {
		float scale = quant_scale(s->b->quant, code_index(s, k, n + j));
		if (q->scale == EL_F16)
			((uint16_t *)(void *)dst)[j] = half_from_float(scale);
		else
			((float *)(void *)dst)[j] = scale;
	}
	dst += q->scale_bytes;
	for (int j = 0; j < columns && q->zero != EL_DYNAMIC; j++) {
		float zero = zero_at(s, k, n + j);
		if (q->zero == EL_I8)
			((int8_t *)dst)[j] = (int8_t)zero;
		else
			((float *)(void *)dst)[j] = zero;
	}
}

void qpanels_pack(struct qpanels *q, const struct tensor *b, bool transpose, char *data)
{
	struct source s = {b, transpose, q->k, q->n};
	q->data = data;
	memset(data, 0, qpanels_bytes(q));
	for (int64_t n = 0; n < q->n; n += GEMM_N)
		for (int64_t k0 = 0; k0 < q->k; k0 += q->group, data += q->group_bytes) {
			int columns = q->n - n < GEMM_N ? (int)(q->n - n) : GEMM_N;
			int64_t k1 = q->k - k0 < q->group ? q->k : k0 + q->group;
			char *block = data + q->scale_bytes + q->zero_bytes;
			pack_parts(q, &s, k0, n, columns, data);
			for (int64_t k = k0; k < k1; k += QBLOCK, block += q->block_bytes) {
				int rows = k1 - k < QBLOCK ? (int)(k1 - k) : QBLOCK;
				if (q->code == EL_U4)
					pack_nibbles(&s, k, rows, n, columns, (void *)block);
				else if (q->code == EL_I8)
					pack_bytes(&s, k, rows, n, columns, (void *)block);
				else
					pack_words(&s, k, rows, n, columns, (void *)block);
			}
		}
}

/* ---- products ---- */

void qpanel_thin(const struct qpanels *q, int64_t panel, int m, int nr, const float *a, float *c,
		 int64_t ldc)
{
	float edge[GEMM_M * GEMM_N];
	const char *p = q->data + panel * q->panel_bytes;
	if (nr == GEMM_N) {
		LEVEL_CALL(qthin, q, p, m, a, c, ldc);
		return;
	}
	LEVEL_CALL(qthin, q, p, m, a, edge, GEMM_N);
	for (int i = 0; i < m; i++)
		memcpy(c + i * ldc, edge + i * GEMM_N, (size_t)nr * sizeof *c);
}

void qpanel_unpack(const struct qpanels *q, int64_t panel, int64_t k0, int64_t kc, float *dst)
{
	LEVEL_CALL(qunpack, q, q->data + panel * q->panel_bytes, k0, kc, dst);
}
