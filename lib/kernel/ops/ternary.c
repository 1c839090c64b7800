/* ternary.c - Select, FakeQuantize and FakeConvert. */
#include "kernel/kernel_impl.h"
#include "kernel/vec.h"
#include "op/slice.h"

struct ternary_run {
	const struct op *op;
	const struct tensor *in, *out;
};

#define CHOOSE(T) \
	do { \
		const T *a = in[1], *b = in[2]; \
		T *y = (T *)r->out->data + out; \
		if (sc && sa == 1 && sb == 1) \
			for (int64_t i = 0; i < n; i++) { \
				T p = a[i], q = b[i]; \
				y[i] = cond[i] ? p : q; \
			} \
		else if (sc && sa == 1 && !sb) { \
			T q = b[0]; \
			for (int64_t i = 0; i < n; i++) { \
				T p = a[i]; \
				y[i] = cond[i] ? p : q; \
			} \
		} else if (sc && !sa && sb == 1) { \
			T p = a[0]; \
			for (int64_t i = 0; i < n; i++) { \
				T q = b[i]; \
				y[i] = cond[i] ? p : q; \
			} \
		} else \
			for (int64_t i = 0; i < n; i++) \
				y[i] = cond[i * sc] ? a[i * sa] : b[i * sb]; \
	} while (0)

static void select_row(void *arg, int64_t out, const void *const *in, const int64_t *stride,
		       int64_t n)
{
	const struct ternary_run *r = arg;
	int64_t sc = stride[0], sa = stride[1], sb = stride[2];
	const uint8_t *cond = in[0];
	switch (cpu_elem_size(r->out->elem)) {
	case 1: CHOOSE(uint8_t); break;
	case 2: CHOOSE(uint16_t); break;
	case 4: CHOOSE(uint32_t); break;
	case 8: CHOOSE(uint64_t); break;
	default: MISSED(cpu_elem_size(r->out->elem));
	}
}

int run_select(const struct kernel_call *k, struct err *e)
{
	struct ternary_run r = {k->op, k->in, k->out};
	struct bcast c;
	struct tensor cond, other;
	if (cpu_elem_size(k->in[0].elem) != 1 || !cpu_elem_size(r.out->elem) ||
	    k->in[1].elem != k->in[2].elem)
		return err_set(e, ST_INPUT, "Select of %s by %s", elem_name(r.out->elem),
			       elem_name(k->in[0].elem));
	if (!op_align(k->op, &k->in[1], 0, &k->in[0], &cond) ||
	    !op_align(k->op, &k->in[1], 2, &k->in[2], &other))
		return err_set(e, ST_INPUT, "shapes do not broadcast");
	cpu_bcast_init(&c, r.out, (const struct tensor *const[]){&cond, &k->in[1], &other}, 3);
	cpu_bcast_run(k->ctx, &c, select_row, &r);
	return 0;
}

static void quantize_row(void *arg, int64_t out, const void *const *in, const int64_t *stride,
			 int64_t n)
{
	const struct ternary_run *r = arg;
	const float *p[5];
	int s[5];
	for (int j = 0; j < 5; j++) {
		p[j] = in[j];
		s[j] = stride[j] != 0;
	}
	vec_quantize(p, s, r->op->a.quantize.levels, (float *)r->out->data + out, n);
}

int run_fake_quantize(const struct kernel_call *k, struct err *e)
{
	struct ternary_run r = {k->op, k->in, k->out};
	struct bcast c;
	struct tensor whole = {.elem = EL_F32}, in[5] = {k->in[0]};
	bool fits = true;
	for (int j = 1; j < 5 && fits; j++)
		fits = op_align(k->op, &in[0], j, &k->in[j], &in[j]) &&
		       op_broadcast(&in[0], &in[j], &whole) && tensor_same_shape(&whole, &in[0]);
	if (!fits)
		return err_set(e, ST_INPUT, "limits of FakeQuantize do not broadcast");
	cpu_bcast_init(&c, r.out,
		       (const struct tensor *const[]){&in[0], &in[1], &in[2], &in[3], &in[4]}, 5);
	cpu_bcast_run(k->ctx, &c, quantize_row, &r);
	return 0;
}

/* ---- FakeConvert (opset13) ---- */

struct fake_run {
	const struct op *op;
	float *y;
	bool shifted;
};

static void fake_convert_row(void *arg, int64_t out, const void *const *in, const int64_t *stride,
			     int64_t n)
{
	static const float zero;
	const struct fake_run *r = arg;
	const float *p[3] = {in[0], in[1], r->shifted ? in[2] : &zero};
	int s[3] = {stride[0] != 0, stride[1] != 0, r->shifted && stride[2] != 0};
	vec_fake_convert(r->op->a.convert.to == EL_F8E4M3 ? 3 : 2, p, s, r->y + out, n);
}

int run_fake_convert(const struct kernel_call *k, struct err *e)
{
	struct fake_run r = {k->op, k->out[0].data, op_has_input(k->op, k->in, 2)};
	struct bcast c;
	struct tensor whole = {.elem = EL_F32};
	int n = r.shifted ? 3 : 2;
	for (int j = 1; j < n; j++)
		if (!op_broadcast(&k->in[0], &k->in[j], &whole) ||
		    !tensor_same_shape(&whole, &k->in[0]))
			return err_set(e, ST_INPUT, "scale or shift of FakeConvert do not fit");
	cpu_bcast_init(&c, &k->out[0],
		       (const struct tensor *const[]){&k->in[0], &k->in[1], &k->in[2]}, n);
	cpu_bcast_run(k->ctx, &c, fake_convert_row, &r);
	return 0;
}
