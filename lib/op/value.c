/* value.c - single elements of tensors of any type. */
#include "op/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Where the bits of element i lie in its bytes: `low` bits at byte and shift, and for u3 and u6, whose elements share three bytes, the
 * others at high_byte and high_shift.  The first element is in the low bits, but that of u1, u3 and u6 in the high ones. */
struct packed_place {
	unsigned low, high; /* how many bits */
	int64_t byte, high_byte;
	unsigned shift, high_shift;
};

static struct packed_place packed_place(enum elem t, int64_t i)
{
	unsigned bits = elem_bits(t), per_byte = 8 / bits;
	if (t == EL_U3 || t == EL_U6) {
		unsigned low = t == EL_U3 ? 2 : 4, n = 24 / bits, at = (unsigned)(i % n),
			 in_byte = 8 / low;
		return (struct packed_place){.low = low,
					     .high = bits - low,
					     .byte = i / n * 3 + at / in_byte,
					     .shift = 8 - low * (at % in_byte + 1),
					     .high_byte = i / n * 3 + 2,
					     .high_shift = 8 - (bits - low) * (at + 1)};
	}
	unsigned slot = (unsigned)(i % per_byte);
	return (struct packed_place){
		.low = bits, .byte = i / per_byte, .shift = t == EL_U1 ? 7 - slot : slot * bits};
}

static unsigned packed_bits(const struct tensor *t, int64_t i)
{
	const unsigned char *data = t->data;
	struct packed_place p = packed_place(t->elem, i);
	unsigned value = (unsigned)data[p.byte] >> p.shift & ((1u << p.low) - 1);
	if (p.high)
		value |= ((unsigned)data[p.high_byte] >> p.high_shift & ((1u << p.high) - 1))
			 << p.low;
	return value;
}

static void set_bits(unsigned char *byte, unsigned bits, unsigned shift, unsigned value)
{
	unsigned mask = ((1u << bits) - 1) << shift;
	*byte = (unsigned char)((*byte & ~mask) | (value << shift & mask));
}

static void set_packed_bits(const struct tensor *t, int64_t i, unsigned value)
{
	unsigned char *data = t->data;
	struct packed_place p = packed_place(t->elem, i);
	set_bits(data + p.byte, p.low, p.shift, value);
	if (p.high)
		set_bits(data + p.high_byte, p.high, p.high_shift, value >> p.low);
}

unsigned tensor_code(const struct tensor *t, int64_t i)
{
	return packed_bits(t, i);
}

void tensor_set_code(const struct tensor *t, int64_t i, unsigned code)
{
	set_packed_bits(t, i, code);
}

/* Constants lie in the weights' file wherever it put them, which need not be a multiple of their size. */
#define AT(T, i) (((struct { T value; } __attribute__((packed)) *)t->data)[i].value)

/* An element as its type has it: a real number or an integer (u64 from 2^63 on: its bits). */
struct number {
	bool is_real;
	double real;
	int64_t integer;
};

static struct number real_number(double x)
{
	return (struct number){true, x, 0};
}

static struct number integer(int64_t x)
{
	return (struct number){false, 0, x};
}

/* No default: a type that is new in enum elem is asked for by the compiler. */
static struct number number_at(const struct tensor *t, int64_t i)
{
	switch (t->elem) {
	case EL_NF4: return real_number(nf4_value(packed_bits(t, i)));
	case EL_F4E2M1: return real_number(f4e2m1_value(packed_bits(t, i)));
	case EL_F8E4M3: return real_number(f8e4m3_value(AT(const uint8_t, i)));
	case EL_F8E5M2: return real_number(f8e5m2_value(AT(const uint8_t, i)));
	case EL_F8E8M0: return real_number(f8e8m0_value(AT(const uint8_t, i)));
	case EL_F64: return real_number(AT(const double, i));
	case EL_F32: return real_number((double)AT(const float, i));
	case EL_F16: return real_number((double)half_to_float(AT(const uint16_t, i)));
	case EL_BF16: return real_number((double)bf16_to_float(AT(const uint16_t, i)));
	case EL_I64: return integer(AT(const int64_t, i));
	case EL_I32: return integer(AT(const int32_t, i));
	case EL_I16: return integer(AT(const int16_t, i));
	case EL_I8: return integer(AT(const int8_t, i));
	case EL_U64: return integer((int64_t)AT(const uint64_t, i));
	case EL_U32: return integer(AT(const uint32_t, i));
	case EL_U16: return integer(AT(const uint16_t, i));
	case EL_U8: return integer(AT(const uint8_t, i));
	case EL_BOOLEAN: return integer(AT(const uint8_t, i) != 0);
	case EL_I4: return integer((int)(packed_bits(t, i) ^ 8) - 8);
	/* clang-format off */
	case EL_U6: case EL_U4: case EL_U3: case EL_U2: case EL_U1:
		return integer(packed_bits(t, i));
	case EL_DYNAMIC: case EL_STRING: case EL_COUNT: break; /* no numbers: refused before (value.h) */
		/* clang-format on */
	}
	return real_number((double)NAN);
}

/* Truncated towards zero, saturating; NaN: 0. */
static int64_t whole(double x)
{
	if (!(x > -0x1p63))
		return x <= -0x1p63 ? INT64_MIN : 0;
	return x >= 0x1p63 ? INT64_MAX : (int64_t)x;
}

int64_t tensor_int(const struct tensor *t, int64_t i)
{
	struct number n = number_at(t, i);
	return n.is_real ? whole(n.real) : n.integer;
}

double tensor_real(const struct tensor *t, int64_t i)
{
	struct number n = number_at(t, i);
	if (n.is_real)
		return n.real;
	return t->elem == EL_U64 ? (double)(uint64_t)n.integer : (double)n.integer;
}

/* integer: the value where the type is one of integers; real: where it is one of real numbers. */
static void set_number(const struct tensor *t, int64_t i, int64_t integer, double real)
{
	switch (t->elem) {
	case EL_F64: AT(double, i) = real; break;
	case EL_F32: AT(float, i) = (float)real; break;
	case EL_F16: AT(uint16_t, i) = half_from_float((float)real); break;
	case EL_BF16: AT(uint16_t, i) = bf16_from_float((float)real); break;
	case EL_F8E4M3: AT(uint8_t, i) = f8e4m3_code((float)real); break;
	case EL_F8E5M2: AT(uint8_t, i) = f8e5m2_code((float)real); break;
	case EL_F8E8M0: AT(uint8_t, i) = f8e8m0_code((float)real); break;
	case EL_F4E2M1: set_packed_bits(t, i, f4e2m1_code((float)real)); break;
	case EL_NF4: set_packed_bits(t, i, nf4_code((float)real)); break;
	case EL_I64: AT(int64_t, i) = integer; break;
	case EL_I32: AT(int32_t, i) = (int32_t)integer; break;
	case EL_I16: AT(int16_t, i) = (int16_t)integer; break;
	case EL_I8: AT(int8_t, i) = (int8_t)integer; break;
	case EL_U64: AT(uint64_t, i) = (uint64_t)integer; break;
	case EL_U32: AT(uint32_t, i) = (uint32_t)integer; break;
	case EL_U16: AT(uint16_t, i) = (uint16_t)integer; break;
	case EL_U8: AT(uint8_t, i) = (uint8_t)integer; break;
	case EL_BOOLEAN: AT(uint8_t, i) = real != 0; break;
	/* clang-format off */
	case EL_I4: case EL_U6: case EL_U4: case EL_U3: case EL_U2: case EL_U1:
		set_packed_bits(t, i, (unsigned)integer);
		break;
	case EL_DYNAMIC: case EL_STRING: case EL_COUNT: break; /* no numbers: refused before */
		/* clang-format on */
	}
}

void tensor_set_int(const struct tensor *t, int64_t i, int64_t value)
{
	set_number(t, i, value, (double)value);
}

void tensor_set_real(const struct tensor *t, int64_t i, double value)
{
	bool huge = t->elem == EL_U64 && value >= 0x1p63 && value < 0x1p64;
	set_number(t, i, huge ? (int64_t)(uint64_t)value : whole(value), value);
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
