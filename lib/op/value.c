/* value.c - single elements of tensors of any type. */
#include "op/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

float half_to_float(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 0x3ff;
	union {
		uint32_t u;
		float f;
	} x;
	if (exponent == 31) {
		x.u = sign | 0x7f800000 | mantissa << 13;
	} else if (exponent) {
		x.u = sign | (exponent + 112) << 23 | mantissa << 13;
	} else {
		x.f = (float)mantissa * 0x1p-24f;
		x.u |= sign;
	}
	return x.f;
}

uint16_t half_from_float(float f)
{
	union {
		float f;
		uint32_t u;
	} x = {f}, y;
	uint16_t sign = (uint16_t)(x.u >> 16 & 0x8000);
	x.u &= 0x7fffffff;
	if (x.u > 0x7f800000)
		return sign | 0x7e00;
	if (x.u >= 0x477ff000) /* rounds to infinity */
		return sign | 0x7c00;
	if (x.u < 0x38800000) { /* subnormal: let the addition round */
		y.f = x.f + 0.5f;
		return sign | (uint16_t)(y.u - 0x3f000000);
	}
	x.u += 0xc8000fff + (x.u >> 13 & 1);
	return sign | (uint16_t)(x.u >> 13);
}

float bf16_to_float(uint16_t h)
{
	union {
		uint32_t u;
		float f;
	} x = {(uint32_t)h << 16};
	return x.f;
}

uint16_t bf16_from_float(float f)
{
	union {
		float f;
		uint32_t u;
	} x = {f};
	if ((x.u & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(x.u >> 16 | 0x40);
	return (uint16_t)((x.u + 0x7fff + (x.u >> 16 & 1)) >> 16);
}

/* Bits of element i of a type of 1, 2 or 4 bits; the first element is in the low bits,
 * but u1 counts from the high bit. */
static unsigned packed_bits(const struct tensor *t, int64_t i)
{
	unsigned bits = elem_bits(t->elem), per_byte = 8 / bits;
	unsigned char byte = ((const unsigned char *)t->data)[i / per_byte];
	unsigned slot = (unsigned)(i % per_byte);
	unsigned shift = t->elem == EL_U1 ? 7 - slot : slot * bits;
	return byte >> shift & ((1u << bits) - 1);
}

static void set_packed_bits(const struct tensor *t, int64_t i, unsigned value)
{
	unsigned bits = elem_bits(t->elem), per_byte = 8 / bits, mask = (1u << bits) - 1;
	unsigned char *byte = (unsigned char *)t->data + i / per_byte;
	unsigned slot = (unsigned)(i % per_byte);
	unsigned shift = t->elem == EL_U1 ? 7 - slot : slot * bits;
	*byte = (unsigned char)((*byte & ~(mask << shift)) | (value & mask) << shift);
}

/* Constants lie in the weights' file wherever it put them, which need not be a multiple of their size. */
#define AT(T, i) (((struct { T value; } __attribute__((packed)) *)t->data)[i].value)

/* The levels of NF4: Dettmers et al., "QLoRA", NeurIPS 2023, appendix E. */
static const float nf4[16] = {-1.0f,         -0.696192801f, -0.525073051f,  -0.394917488f,
			      -0.284441382f, -0.184773430f, -0.0910500363f, 0.0f,
			      0.0795802996f, 0.160930201f,  0.246112302f,   0.337915242f,
			      0.440709829f,  0.562617004f,  0.722956836f,   1.0f};

/* Small floating-point types of the OCP MX specification; f8e4m3 has no infinity. */
static double f4_value(unsigned bits)
{
	static const double level[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
	return bits & 8 ? -level[bits & 7] : level[bits & 7];
}

static double f8e4m3_value(unsigned bits)
{
	int exponent = (int)(bits >> 3 & 15), fraction = (int)(bits & 7);
	double x = exponent == 0 ? ldexp(fraction, -9) : ldexp(8 + fraction, exponent - 10);
	if ((bits & 127) == 127)
		return (double)NAN;
	return bits & 128 ? -x : x;
}

static double f8e8m0_value(unsigned bits)
{
	return bits == 255 ? (double)NAN : ldexp(1, (int)bits - 127);
}

static double real_at(const struct tensor *t, int64_t i)
{
	switch (t->elem) {
	case EL_NF4: return (double)nf4[packed_bits(t, i)];
	case EL_F4E2M1: return f4_value(packed_bits(t, i));
	case EL_F8E4M3: return f8e4m3_value(AT(const uint8_t, i));
	case EL_F8E5M2: return (double)half_to_float((uint16_t)(AT(const uint8_t, i) << 8));
	case EL_F8E8M0: return f8e8m0_value(AT(const uint8_t, i));
	case EL_F64: return AT(const double, i);
	case EL_F32: return (double)AT(const float, i);
	case EL_F16: return (double)half_to_float(AT(const uint16_t, i));
	case EL_BF16: return (double)bf16_to_float(AT(const uint16_t, i));
	default: return 0;
	}
}

static int64_t int_at(const struct tensor *t, int64_t i)
{
	switch (t->elem) {
	case EL_I64: return AT(const int64_t, i);
	case EL_I32: return AT(const int32_t, i);
	case EL_I16: return AT(const int16_t, i);
	case EL_I8: return AT(const int8_t, i);
	case EL_U64: return (int64_t)AT(const uint64_t, i);
	case EL_U32: return AT(const uint32_t, i);
	case EL_U16: return AT(const uint16_t, i);
	case EL_U8: return AT(const uint8_t, i);
	case EL_BOOLEAN: return AT(const uint8_t, i) != 0;
	case EL_I4: return (int)(packed_bits(t, i) ^ 8) - 8;
	/* clang-format off */
	case EL_U4: case EL_U2: case EL_U1: return packed_bits(t, i);
	/* clang-format on */
	default: return 0;
	}
}

int64_t tensor_int(const struct tensor *t, int64_t i)
{
	if (!elem_is_real(t->elem))
		return int_at(t, i);
	double x = real_at(t, i);
	if (!(x > -0x1p63))
		return x <= -0x1p63 ? INT64_MIN : 0;
	return x >= 0x1p63 ? INT64_MAX : (int64_t)x;
}

double tensor_real(const struct tensor *t, int64_t i)
{
	if (elem_is_real(t->elem))
		return real_at(t, i);
	int64_t x = int_at(t, i);
	return t->elem == EL_U64 ? (double)(uint64_t)x : (double)x;
}

void tensor_set_int(const struct tensor *t, int64_t i, int64_t value)
{
	switch (t->elem) {
	case EL_I64: AT(int64_t, i) = value; break;
	case EL_I32: AT(int32_t, i) = (int32_t)value; break;
	case EL_I16: AT(int16_t, i) = (int16_t)value; break;
	case EL_I8: AT(int8_t, i) = (int8_t)value; break;
	case EL_U64: AT(uint64_t, i) = (uint64_t)value; break;
	case EL_U32: AT(uint32_t, i) = (uint32_t)value; break;
	case EL_U16: AT(uint16_t, i) = (uint16_t)value; break;
	case EL_U8: AT(uint8_t, i) = (uint8_t)value; break;
	case EL_BOOLEAN: AT(uint8_t, i) = value != 0; break;
	case EL_I4:
	case EL_U4:
	case EL_U2:
	case EL_U1: set_packed_bits(t, i, (unsigned)value); break;
	default: tensor_set_real(t, i, (double)value);
	}
}

void tensor_set_real(const struct tensor *t, int64_t i, double value)
{
	switch (t->elem) {
	case EL_F64: AT(double, i) = value; break;
	case EL_F32: AT(float, i) = (float)value; break;
	case EL_F16: AT(uint16_t, i) = half_from_float((float)value); break;
	case EL_BF16: AT(uint16_t, i) = bf16_from_float((float)value); break;
	case EL_BOOLEAN: AT(uint8_t, i) = value != 0; break;
	default:
		if (elem_bits(t->elem) == 0 || elem_is_real(t->elem))
			break;
		struct tensor one = {.elem = EL_F64, .data = &value};
		tensor_set_int(t, i,
			       t->elem == EL_U64 && value >= 0x1p63 && value < 0x1p64
				       ? (int64_t)(uint64_t)value
				       : tensor_int(&one, 0));
	}
}

char *tensor_text(const struct tensor *t, char *dst, size_t cap)
{
	size_t n = (size_t)snprintf(dst, cap, "%s[", elem_name(t->elem));
	for (uint32_t i = 0; i < t->rank && n < cap; i++)
		n += (size_t)snprintf(dst + n, cap - n, i ? ",%" PRId64 : "%" PRId64, t->dim[i]);
	if (n < cap)
		snprintf(dst + n, cap - n, "]");
	return dst;
}
