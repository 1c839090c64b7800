/* elem.c - the element types of tensors: names, widths, packed sizes.  Names
 * follow OpenVINO, in both its spellings ("f32" in attributes, "FP32" on ports). */
#include "graph/graph.h"

#include <strings.h>

static const struct {
	const char *name;
	uint8_t bits;
	bool real;
} elems[EL_COUNT] = {
	[EL_DYNAMIC] = {"dynamic", 0, false}, [EL_F64] = {"f64", 64, true},
	[EL_F32] = {"f32", 32, true},         [EL_F16] = {"f16", 16, true},
	[EL_BF16] = {"bf16", 16, true},       [EL_F8E4M3] = {"f8e4m3", 8, true},
	[EL_F8E5M2] = {"f8e5m2", 8, true},    [EL_F8E8M0] = {"f8e8m0", 8, true},
	[EL_F4E2M1] = {"f4e2m1", 4, true},    [EL_NF4] = {"nf4", 4, true},
	[EL_I64] = {"i64", 64, false},        [EL_I32] = {"i32", 32, false},
	[EL_I16] = {"i16", 16, false},        [EL_I8] = {"i8", 8, false},
	[EL_I4] = {"i4", 4, false},           [EL_U64] = {"u64", 64, false},
	[EL_U32] = {"u32", 32, false},        [EL_U16] = {"u16", 16, false},
	[EL_U8] = {"u8", 8, false},           [EL_U6] = {"u6", 6, false},
	[EL_U4] = {"u4", 4, false},           [EL_U3] = {"u3", 3, false},
	[EL_U2] = {"u2", 2, false},           [EL_U1] = {"u1", 1, false},
	[EL_BOOLEAN] = {"boolean", 8, false}, [EL_STRING] = {"string", 0, false},
};

static const struct {
	const char *name;
	enum elem t;
} aliases[] = {
	{"fp64", EL_F64},
	{"fp32", EL_F32},
	{"fp16", EL_F16},
	{"bool", EL_BOOLEAN},
	{"bin", EL_U1},
	{"undefined", EL_DYNAMIC},
	{"unspecified", EL_DYNAMIC},
};

const char *elem_name(enum elem t)
{
	return (unsigned)t < EL_COUNT ? elems[t].name : "unknown";
}

int elem_parse(const char *s)
{
	for (int t = 0; t < EL_COUNT; t++)
		if (strcasecmp(s, elems[t].name) == 0)
			return t;
	for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
		if (strcasecmp(s, aliases[i].name) == 0)
			return aliases[i].t;
	return -1;
}

unsigned elem_bits(enum elem t)
{
	return (unsigned)t < EL_COUNT ? elems[t].bits : 0;
}

bool elem_is_packed(enum elem t)
{
	return elem_bits(t) % 8 != 0;
}

bool elem_is_real(enum elem t)
{
	return (unsigned)t < EL_COUNT && elems[t].real;
}

bool elem_bytes(enum elem t, uint64_t n, uint64_t *bytes)
{
	uint64_t bits;
	if (__builtin_mul_overflow(n, (uint64_t)elem_bits(t), &bits))
		return false;
	/* The bits of u3 and u6 are split over groups of three bytes. */
	uint64_t unit = t == EL_U3 || t == EL_U6 ? 24 : 8;
	*bytes = (bits / unit + (bits % unit != 0)) * (unit / 8);
	return true;
}
