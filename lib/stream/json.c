/* json.c - records as JSON text: numbers round-trip, text is escaped, tensors
 * are summarised or printed as nested arrays. */
#include "stream/json.h"
#include "text/markup.h"

#include <inttypes.h>
#include <string.h>

enum { SHORT_LIST = 16 };

union number {
	int8_t i8;
	int16_t i16;
	int32_t i32;
	int64_t i64;
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	float f32;
	double f64;
};

static union number load(const struct tensor_view *t, size_t i)
{
	union number x;
	memcpy(&x, t->data + i * tensor_type_bytes(t->type), tensor_type_bytes(t->type));
	return x;
}

void json_element(FILE *out, const struct tensor_view *t, size_t i)
{
	union number x = load(t, i);
	switch (t->type) {
	case TT_U8: fprintf(out, "%u", x.u8); break;
	case TT_I8: fprintf(out, "%d", x.i8); break;
	case TT_U16: fprintf(out, "%u", x.u16); break;
	case TT_I16: fprintf(out, "%d", x.i16); break;
	case TT_U32: fprintf(out, "%" PRIu32, x.u32); break;
	case TT_I32: fprintf(out, "%" PRId32, x.i32); break;
	case TT_U64: fprintf(out, "%" PRIu64, x.u64); break;
	case TT_I64: fprintf(out, "%" PRId64, x.i64); break;
	case TT_F32: fprintf(out, "%.9g", (double)x.f32); break;
	default: fprintf(out, "%.17g", x.f64); break;
	}
}

static bool less(const struct tensor_view *t, size_t i, size_t j)
{
	union number a = load(t, i), b = load(t, j);
	switch (t->type) {
	case TT_U8: return a.u8 < b.u8;
	case TT_I8: return a.i8 < b.i8;
	case TT_U16: return a.u16 < b.u16;
	case TT_I16: return a.i16 < b.i16;
	case TT_U32: return a.u32 < b.u32;
	case TT_I32: return a.i32 < b.i32;
	case TT_U64: return a.u64 < b.u64;
	case TT_I64: return a.i64 < b.i64;
	case TT_F32: return a.f32 < b.f32;
	default: return a.f64 < b.f64;
	}
}

/* Elements [at, at + product of shape[dim..]) as nested arrays. */
static size_t nested(FILE *out, const struct tensor_view *t, uint32_t dim, size_t at)
{
	if (dim == t->rank) {
		json_element(out, t, at);
		return at + 1;
	}
	fputc('[', out);
	for (uint64_t i = 0; i < t->shape[dim]; i++) {
		if (i)
			fputs(", ", out);
		at = nested(out, t, dim + 1, at);
	}
	fputc(']', out);
	return at;
}

static void tensor(FILE *out, const struct tensor_view *t, bool full)
{
	fprintf(out, "{\"dtype\": \"%s\", \"shape\": [", tensor_type_name(t->type));
	for (uint32_t i = 0; i < t->rank; i++)
		fprintf(out, "%s%" PRIu64, i ? ", " : "", t->shape[i]);
	fputc(']', out);
	if (full) {
		fputs(", \"data\": ", out);
		if (t->n)
			nested(out, t, 0, 0);
		else
			fputs("[]", out);
	} else if (t->n) {
		size_t lo = 0, hi = 0;
		for (size_t i = 1; i < t->n; i++) {
			if (less(t, i, lo))
				lo = i;
			if (less(t, hi, i))
				hi = i;
		}
		fputs(", \"min\": ", out);
		json_element(out, t, lo);
		fputs(", \"max\": ", out);
		json_element(out, t, hi);
	}
	fputc('}', out);
}

void json_scalar(FILE *out, const struct val *v)
{
	int64_t i;
	uint64_t u;
	double x;
	bool b;
	if (val_type(v) == VAL_NIL)
		fputs("null", out);
	else if (val_bool(v, &b))
		fputs(b ? "true" : "false", out);
	else if (val_type(v) == VAL_INT && val_int(v, &i))
		fprintf(out, "%" PRId64, i);
	else if (val_type(v) == VAL_INT && val_uint(v, &u))
		fprintf(out, "%" PRIu64, u);
	else if (val_real(v, &x))
		fprintf(out, "%.17g", x);
}

static int value(FILE *out, const struct val *v, bool full, struct err *e);

static int list(FILE *out, const struct val *v, bool full, struct err *e)
{
	size_t n = val_count(v), shown = full || n <= SHORT_LIST ? n : SHORT_LIST / 2;
	fputc('[', out);
	for (size_t i = 0; i < shown; i++) {
		if (i)
			fputs(", ", out);
		if (value(out, val_at(v, i), full, e) < 0)
			return -1;
	}
	if (shown < n)
		fprintf(out, ", \"... %zu in all\"", n);
	fputc(']', out);
	return 0;
}

static int map(FILE *out, const struct val *v, bool full, struct err *e)
{
	fputc('{', out);
	for (size_t i = 0; i < val_count(v); i++) {
		const char *s;
		size_t n;
		if (i)
			fputs(", ", out);
		if (val_bytes(val_key_at(v, i), &s, &n))
			markup_json(out, s, n, false);
		fputs(": ", out);
		if (value(out, val_value_at(v, i), full, e) < 0)
			return -1;
	}
	fputc('}', out);
	return 0;
}

static int value(FILE *out, const struct val *v, bool full, struct err *e)
{
	const char *s;
	size_t n;
	switch (val_type(v)) {
	case VAL_NIL:
	case VAL_BOOL:
	case VAL_INT:
	case VAL_REAL: json_scalar(out, v); return 0;
	case VAL_STR:
		if (val_bytes(v, &s, &n))
			markup_json(out, s, n, false);
		return 0;
	case VAL_BIN:
		if (val_bytes(v, &s, &n))
			fprintf(out, "{\"bin\": %zu}", n);
		return 0;
	case VAL_ARRAY: return list(out, v, full, e);
	case VAL_MAP: break;
	}
	struct tensor_view t;
	if (val_is_tensor(v)) {
		if (val_tensor(v, &t, e) < 0)
			return -1;
		tensor(out, &t, full);
		return 0;
	}
	return map(out, v, full, e);
}

int json_record(FILE *out, const struct rec *r, bool full, struct err *e)
{
	fprintf(out, "{\"kind\": \"%s\", \"map\": ", r->kind);
	if (map(out, r->map, full, e) < 0)
		return err_prefix(e, "record %llu '%s'", (unsigned long long)r->index, r->kind);
	fputc('}', out);
	return 0;
}
