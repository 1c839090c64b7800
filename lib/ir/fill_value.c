/* fill_value.c - numbers as elements of any type, packed ones included. */
#include "ir/fill.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"

/* Random numbers have 16 bits and come in batches. */
enum { LEVELS = 1 << 16, BATCH = 1 << 12 };

/* Floats of up to 16 bits: sign, exponent with a bias, mantissa; round to nearest even. */
static uint32_t encode_float(double x, int exp_bits, int man_bits, bool has_inf)
{
	int bias = (1 << (exp_bits - 1)) - 1, e;
	uint32_t sign = signbit(x) ? 1u << (exp_bits + man_bits) : 0;
	uint32_t top = (1u << exp_bits) - 1,
		 max = has_inf ? (top << man_bits) - 1 : (top << man_bits) + (1u << man_bits) - 2;
	x = fabs(x);
	if (x == 0)
		return sign;
	frexp(x, &e);
	e = e - 1 < 1 - bias ? 1 - bias : e - 1;      /* subnormals share the least exponent */
	double m = nearbyint(ldexp(x, man_bits - e)); /* in units of the last place */
	double code =
		m + ldexp((double)(e + bias - 1), man_bits); /* a carry moves into the exponent */
	return sign | (code > max ? max : (uint32_t)code);
}

static bool is_unsigned(enum elem t)
{
	return t == EL_U64 || t == EL_U32 || t == EL_U16 || t == EL_U8 || t == EL_U6 ||
	       t == EL_U4 || t == EL_U3 || t == EL_U2 || t == EL_U1 || t == EL_BOOLEAN;
}

/* The bits of x as type t, in the low bits. */
static uint64_t encode(enum elem t, double x)
{
	static const double e2m1[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
	float f = (float)x;
	uint32_t w;
	uint64_t d;
	switch (t) {
	case EL_F64: memcpy(&d, &x, 8); return d;
	case EL_F32: memcpy(&w, &f, 4); return w;
	case EL_F16: return encode_float(x, 5, 10, true);
	case EL_BF16: return encode_float(x, 8, 7, true);
	case EL_F8E4M3: return encode_float(x, 4, 3, false);
	case EL_F8E5M2: return encode_float(x, 5, 2, true);
	case EL_F8E8M0: return x > 0 ? (uint64_t)fmin(fmax(127 + nearbyint(log2(x)), 0), 254) : 0;
	case EL_F4E2M1:
		w = 0;
		while (w < 7 && fabs(x) > (e2m1[w] + e2m1[w + 1]) / 2)
			w++;
		return w | (x < 0 ? 8 : 0);
	case EL_NF4: /* sixteen levels from -1 to 1, taken as even here */
		return (uint64_t)fmin(fmax(nearbyint((x + 1) * 7.5), 0), 15);
	default: break;
	}
	unsigned bits = elem_bits(t);
	double lo = is_unsigned(t) ? 0 : -ldexp(1, (int)bits - 1);
	double hi = t == EL_BOOLEAN ? 1 : ldexp(1, (int)bits - (is_unsigned(t) ? 0 : 1)) - 1;
	x = nearbyint(fmin(fmax(x, lo), fmin(hi, 0x1p62)));
	return x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

/* Elements narrower than a byte are packed from the low bits up, except that u1
 * is packed from the high bit down; u3 and u6 may straddle bytes. */
static void store_code(enum elem t, uint64_t i, uint64_t code, uint8_t *out)
{
	unsigned bits = elem_bits(t);
	if (bits == 16) {
		out[2 * i] = (uint8_t)code;
		out[2 * i + 1] = (uint8_t)(code >> 8);
		return;
	}
	if (bits >= 8) {
		for (unsigned b = 0; b < bits / 8; b++)
			out[i * (bits / 8) + b] = (uint8_t)(code >> (8 * b));
		return;
	}
	if (bits == 4 || bits == 2) {
		uint64_t at = i * bits / 8;
		unsigned shift = (unsigned)(i * bits % 8), mask = (1u << bits) - 1;
		out[at] = (uint8_t)((out[at] & ~(mask << shift)) | (code & mask) << shift);
		return;
	}
	for (unsigned b = 0; b < bits; b++) {
		uint64_t at = i * bits + b;
		unsigned shift = t == EL_U1 ? 7 - (unsigned)(at % 8) : (unsigned)(at % 8);
		out[at / 8] =
			(uint8_t)((out[at / 8] & ~(1u << shift)) | ((code >> b & 1) << shift));
	}
}

double elem_half_range(enum elem t)
{
	if (t == EL_NF4)
		return 1;
	if (t == EL_F4E2M1)
		return 6;
	unsigned bits = elem_bits(t);
	return elem_is_real(t) || bits == 0 || bits > 8 || t == EL_BOOLEAN
		       ? 0
		       : ldexp(1, (int)bits - 1) - 0.5;
}

void fill_store(enum elem t, const double *value, bool each, uint64_t n, uint8_t *out)
{
	for (uint64_t i = 0; i < n; i++)
		store_code(t, i, encode(t, value[each ? i : 0]), out);
}

/* The codes of 65536 even steps from lo to hi; NULL when n is too small to pay for them. */
static uint64_t *tabulate(enum elem t, double lo, double hi, uint64_t n)
{
	if (n < LEVELS)
		return NULL;
	uint64_t *code = MEM_NEWN(uint64_t, LEVELS);
	for (int k = 0; k < LEVELS; k++)
		code[k] = encode(t, lo + (hi - lo) * (k + 0.5) / LEVELS);
	return code;
}

void fill_uniform(enum elem t, double lo, double hi, bool whole_range, uint64_t seed,
		  uint64_t place, uint64_t n, uint8_t *out)
{
	const struct rng_addr addr = {seed, (uint32_t)(place >> 32), (uint32_t)place, RNG_WEIGHT};
	uint16_t random[BATCH];
	if (whole_range) {
		double half = elem_half_range(t) > 0 ? elem_half_range(t) : 32767.5;
		bool from_zero = is_unsigned(t), whole = !elem_is_real(t);
		lo = from_zero ? -0.5 : -half - (whole ? 1 : 0);
		hi = from_zero ? 2 * half + 0.5 : half;
	}
	uint64_t *code = tabulate(t, lo, hi, n);
	for (uint64_t i = 0; i < n; i += BATCH) {
		size_t m = n - i < BATCH ? (size_t)(n - i) : BATCH;
		rng_bits16(&addr, (uint32_t)(i / 8), random, m);
		for (size_t k = 0; k < m; k++)
			store_code(t, i + k,
				   code ? code[random[k]]
					: encode(t, lo + (hi - lo) * (random[k] + 0.5) / LEVELS),
				   out);
	}
	mem_free(code);
}
