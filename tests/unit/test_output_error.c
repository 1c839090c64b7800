/* How far a tensor is from the one of a reference. */
#include <math.h>

#include "exec/output_error.h"
#include "tap.h"

static struct tensor row(enum elem t, int64_t n, void *data)
{
	struct tensor x = {.elem = t, .rank = 1, .data = data};
	x.dim[0] = n;
	return x;
}

static double reals(float *a, float *b, int64_t n)
{
	struct tensor x = row(EL_F32, n, a), y = row(EL_F32, n, b);
	return tensor_error(&x, &y);
}

#define REALS(a, b) reals((float[])a, (float[])b, sizeof((float[])b) / sizeof(float))
#define _(...) \
	{ \
		__VA_ARGS__ \
	}

static void check_integers(void)
{
	int64_t big[] = {INT64_C(1) << 60, 7}, next[] = {(INT64_C(1) << 60) + 1, 7};
	uint8_t label[] = {3, 200}, other[] = {4, 200}, yes[] = {1, 0}, no[] = {0, 0};
	struct tensor a = row(EL_I64, 2, big), b = row(EL_I64, 2, next);
	tap(tensor_error(&a, &a) == 0 && tensor_error(&b, &a) == 1,
	    "integers that differ, however little beside others, differ wholly");
	struct tensor c = row(EL_U8, 2, label), d = row(EL_U8, 2, other);
	tap(tensor_error(&d, &c) == 1, "labels too");
	struct tensor e = row(EL_BOOLEAN, 2, yes), f = row(EL_BOOLEAN, 2, no);
	tap(tensor_error(&e, &f) == 1 && tensor_error(&e, &e) == 0, "and truth");
}

int main(void)
{
	float one = 1;
	tap(REALS(_(1, -3.5f, 2), _(1, -4, 2)) == 0.125, "the difference over the largest value");
	tap(REALS(_(1, -4, 2), _(1, -3.5f, 2)) == 0.5 / 3.5, "of the reference");
	tap(REALS(_(NAN, INFINITY, -INFINITY, 1), _(NAN, INFINITY, -INFINITY, 2)) == 0.5,
	    "what is the same NaN or infinity differs by nothing, and is no scale");
	tap(REALS(_(NAN, 1), _(0, 1)) == OUTPUT_ERROR_MOST &&
		    REALS(_(0, 1), _(NAN, 1)) == OUTPUT_ERROR_MOST &&
		    REALS(_(INFINITY, 1), _(-INFINITY, 1)) == OUTPUT_ERROR_MOST &&
		    REALS(_(INFINITY, 1), _(NAN, 1)) == OUTPUT_ERROR_MOST &&
		    REALS(_(1e38f, 1), _(INFINITY, 1)) == OUTPUT_ERROR_MOST,
	    "beside anything else by more than any limit");
	tap(REALS(_(0, -0.0f), _(0, 0)) == 0 && REALS(_(0, 1e-30f), _(0, 0)) == OUTPUT_ERROR_MOST,
	    "of a reference without a scale nothing may differ");
	struct tensor none = row(EL_F32, 0, &one), some = row(EL_F32, 1, &one),
		      wide = row(EL_F64, 1, (double[]){1});
	tap(tensor_error(&none, &none) == 0, "nothing differs from nothing by nothing");
	tap(tensor_error(&none, &some) == OUTPUT_ERROR_MOST &&
		    tensor_error(&some, &none) == OUTPUT_ERROR_MOST &&
		    tensor_error(&some, &wide) == OUTPUT_ERROR_MOST,
	    "other shapes and types differ");
	struct tensor far = row(EL_F64, 1, (double[]){1e308}),
		      off = row(EL_F64, 1, (double[]){-1e308});
	tap(tensor_error(&far, &off) == OUTPUT_ERROR_MOST, "a difference that overflows is one");
	check_integers();
	return tap_end();
}
