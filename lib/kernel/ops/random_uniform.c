/* random_uniform.c - RandomUniform and Multinomial: counters through Philox 4x32-10 (Salmon et al.,
 * 2011), which gives the numbers that TensorFlow and OpenVINO give for the same seeds, or a
 * Mersenne twister, as PyTorch.  Both seeds zero: any seed will do, so the clock's. */
#include "kernel/kernel_impl.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* ---- generators ---- */

enum { PHILOX_COUNTERS = 32 }; /* at once */
#define LEVEL_FILE "kernel/ops/random_uniform_loops.h"
#include "kernel/isa_dispatch.h"

enum { TWISTER = 624 };
struct twister {
	uint32_t state[TWISTER];
	int next;
};

static void twister_seed(struct twister *t, uint32_t seed)
{
	t->state[0] = seed;
	for (uint32_t i = 1; i < TWISTER; i++)
		t->state[i] = 1812433253u * (t->state[i - 1] ^ t->state[i - 1] >> 30) + i;
	t->next = TWISTER;
}

static uint32_t twister_next(struct twister *t)
{
	if (t->next == TWISTER) {
		for (int i = 0; i < TWISTER; i++) {
			uint32_t y = (t->state[i] & 0x80000000u) |
				     (t->state[(i + 1) % TWISTER] & 0x7fffffffu);
			t->state[i] =
				t->state[(i + 397) % TWISTER] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
		}
		t->next = 0;
	}
	uint32_t y = t->state[t->next++];
	y ^= y >> 11;
	y ^= y << 7 & 0x9d2c5680u;
	y ^= y << 15 & 0xefc60000u;
	return y ^ y >> 18;
}

/* Either of them as a stream of 32-bit numbers. */
struct stream {
	bool mersenne;
	uint64_t key, high, low; /* of the first counter */
	uint64_t at;             /* the next number of Philox */
	uint32_t block[4];
	struct twister twister;
};

static void stream_init(struct stream *s, const struct op *op)
{
	uint64_t key = (uint64_t)op->a.random.global_seed, high = (uint64_t)op->a.random.op_seed;
	struct timespec now;
	if (key == 0 && high == 0 && clock_gettime(CLOCK_REALTIME, &now) == 0)
		key = (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
	*s = (struct stream){.mersenne = op->kind == OP_RANDOM_UNIFORM &&
					 op->a.random.alignment == RANDOM_PYTORCH,
			     .key = key,
			     .high = high};
	if (s->mersenne)
		twister_seed(&s->twister, (uint32_t)key);
}

static uint32_t stream_next(struct stream *s)
{
	if (s->mersenne)
		return twister_next(&s->twister);
	if (s->at % 4 == 0)
		LEVEL_CALL(philox, s->key, s->high, s->at / 4, s->block, 1);
	return s->block[s->at++ % 4];
}

/* ---- numbers of a type ---- */

/* In [0, 1): as many random bits as the type's mantissa has. */
static double fraction(struct stream *s, enum elem t)
{
	static const struct {
		enum elem t;
		int philox, mersenne;
	} bits[] = {{EL_F32, 23, 24}, {EL_F16, 10, 11}, {EL_BF16, 7, 8}};
	uint32_t a = stream_next(s);
	if (t == EL_F64) {
		uint64_t b = stream_next(s);
		uint64_t both = s->mersenne ? ((uint64_t)a << 32 | b) & ((UINT64_C(1) << 53) - 1)
					    : (uint64_t)(a & 0xfffffu) << 32 | b;
		return ldexp((double)both, s->mersenne ? -53 : -52);
	}
	for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
		if (bits[i].t == t) {
			int n = s->mersenne ? bits[i].mersenne : bits[i].philox;
			return ldexp((double)(a & ((1u << n) - 1)), -n);
		}
	return 0;
}

static void put_random(struct stream *s, const struct tensor *out, int64_t i,
		       const struct tensor *lo, const struct tensor *hi)
{
	if (elem_is_real(out->elem)) {
		double a = tensor_real(lo, 0), b = tensor_real(hi, 0), u = fraction(s, out->elem);
		if (out->elem == EL_F32) /* rounded as a kernel in f32 does */
			tensor_set_real(out, i,
					(double)((float)u * ((float)b - (float)a) + (float)a));
		else
			tensor_set_real(out, i, u * (b - a) + a);
		return;
	}
	int64_t a = tensor_int(lo, 0), b = tensor_int(hi, 0);
	uint64_t range = (uint64_t)b - (uint64_t)a, x = stream_next(s);
	if (out->elem == EL_I64 && range >> 32)
		x = x << 32 | stream_next(s);
	tensor_set_int(out, i, (int64_t)((uint64_t)a + x % range));
}

/* f32 from Philox: a piece of the numbers for itself, four of a counter. */
struct uniform_run {
	const struct stream *s;
	const struct tensor *out;
	float lo, range;
};
enum { PIECE = 4096 };

static void uniform_task(void *arg, int task, int thread)
{
	const struct uniform_run *r = arg;
	int64_t first = (int64_t)task * PIECE, left = tensor_elements(r->out) - first;
	int64_t n = left < PIECE ? left : PIECE;
	uint32_t number[PIECE];
	(void)thread;
	LEVEL_CALL(philox, r->s->key, r->s->high, (uint64_t)first / 4, number, (n + 3) / 4);
	LEVEL_CALL(scale_bits, number, r->lo, r->range, (float *)r->out->data + first, n);
}

int run_random_uniform(const struct kernel_call *k, struct err *e)
{
	const struct tensor *out = &k->out[0];
	struct stream s;
	int64_t n = tensor_elements(out), tasks = (n + PIECE - 1) / PIECE;
	if (!elem_is_real(out->elem) && tensor_int(&k->in[1], 0) >= tensor_int(&k->in[2], 0))
		return err_set(e, ST_INPUT, "RandomUniform of an empty range");
	stream_init(&s, k->op);
	if (out->elem == EL_F32 && !s.mersenne && tasks <= INT32_MAX) {
		float lo = (float)tensor_real(&k->in[1], 0);
		struct uniform_run r = {&s, out, lo, (float)tensor_real(&k->in[2], 0) - lo};
		cpu_parallel(k->ctx, (int)tasks, uniform_task, &r);
		return 0;
	}
	for (int64_t i = 0; i < n; i++)
		put_random(&s, out, i, &k->in[1], &k->in[2]);
	return 0;
}

/* Rows of class probabilities, cumulated; each sample is the first class whose sum is above a
 * random fraction of the total.  Without replacement a class that was drawn drops out. */
int run_multinomial(const struct kernel_call *k, struct err *e)
{
	const struct tensor *p = &k->in[0], *out = &k->out[0];
	int64_t classes = p->dim[p->rank - 1], n = out->dim[out->rank - 1];
	int64_t rows = classes ? tensor_elements(p) / classes : 0;
	double *w = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)classes * sizeof *w);
	struct stream s;
	if (!w)
		return cpu_no_memory(e);
	if (!k->op->a.random.replacement && n > classes)
		return err_set(e, ST_INPUT, "more samples than classes, without replacement");
	stream_init(&s, k->op);
	for (int64_t r = 0; r < rows; r++) {
		for (int64_t c = 0; c < classes; c++) {
			double v = tensor_real(p, r * classes + c);
			w[c] = k->op->a.random.log_probs ? exp(v) : v;
		}
		for (int64_t i = 0; i < n; i++) {
			double total = 0, sum = 0, at = fraction(&s, EL_F32);
			int64_t c = 0, last = 0;
			for (int64_t j = 0; j < classes; j++)
				total += w[j];
			for (; c < classes; c++) {
				sum += w[c];
				last = w[c] > 0 ? c : last;
				if (sum > at * total)
					break;
			}
			c = c < classes ? c : last;
			tensor_set_int(out, r * n + i, c);
			if (!k->op->a.random.replacement)
				w[c] = 0;
		}
	}
	return 0;
}
