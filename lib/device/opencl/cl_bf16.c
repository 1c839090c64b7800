/* cl_bf16.c - is a device able to compute products in bf16?  It is asked for a small one. */
#include "device/opencl/cl_impl.h"

#include <stdlib.h>
#include <string.h>

#include "op/value.h"

enum { M = 20, N = 23, K = 40 };

/* For tests, HSDAG_CL_BF16=1 has products in bf16 computed without matrix units where there are none. */
static bool allow_plain(void)
{
	const char *force = getenv("HSDAG_CL_BF16");
	return force && !strcmp(force, "1");
}

/* Integers and a little more or less, which rounding to bf16 takes away: sums of products are exact then. */
static float operand(int i)
{
	int whole = i * 7 % 11 + 2;
	return (float)(i % 3 ? whole : -whole) + (i % 2 ? 1.0f : -1.0f) / 256;
}

static float rounded(float x)
{
	return bf16_to_float(bf16_from_float(x));
}

/* The kernel's product of a (M, K) and b (K, N) into c. */
static int multiply(struct cl_state *s, const float *a, const float *b, float *c, struct err *e)
{
	struct cl_span buf[CL_BUFS] = {{0}};
	struct cl_launch l = {.kernel = K_mma_64, .n_buf = 4 + OPERANDS, .groups = {1, 1, 1}};
	cl_kernel kernel;
	cl_int rc = 0;
	l.args.gemm = (struct gemm_args){.m = M,
					 .n = N,
					 .k = K,
					 .ars = K,
					 .acs = 1,
					 .brs = N,
					 .bcs = 1,
					 .ow = 1,
					 .splits = 1,
					 .k_chunk = K};
	for (int i = 0; i < OPERANDS; i++)
		l.args.gemm.at[i].zd = l.args.gemm.at[i].zm = 1;
	bool ok = !cl_kernel_get(s, l.kernel, &kernel, e) &&
		  !cl_memory_constant(s, a, M * K * sizeof *a, &buf[0].mem, e) &&
		  !cl_memory_constant(s, b, K * N * sizeof *b, &buf[1].mem, e) &&
		  !cl_memory_constant(s, c, M * N * sizeof *c, &buf[2].mem, e);
	for (int i = 3; i < l.n_buf; i++)
		buf[i] = buf[2];
	ok = ok && !cl_launch_run(s, &l, kernel, buf, e);
	if (ok)
		rc = clEnqueueReadBuffer(s->queue, buf[2].mem, CL_TRUE, 0, M * N * sizeof *c, c, 0,
					 NULL, NULL);
	for (int i = 0; i < 3; i++)
		if (buf[i].mem)
			clReleaseMemObject(buf[i].mem);
	return rc ? cl_err(e, "clEnqueueReadBuffer", rc) : ok ? 0 : -1;
}

int cl_bf16_try(struct cl_state *s, struct err *e)
{
	float a[M * K], b[K * N], c[M * N];
	struct err why = ERR_INIT;
	if (!cl_bf16_units(s) && !allow_plain())
		return err_set(e, ST_USAGE,
			       "no products in bf16 on this device; they need the matrix "
			       "units of an NVIDIA GPU of compute capability 8.0 or above");
	for (int i = 0; i < M * K; i++)
		a[i] = operand(i);
	for (int i = 0; i < K * N; i++)
		b[i] = operand(5 * i + 3);
	memset(c, 0, sizeof c);
	if (multiply(s, a, b, c, &why))
		return err_set(e, ST_USAGE, "no products in bf16 on this device: %s", why.msg);
	for (int m = 0; m < M; m++)
		for (int n = 0; n < N; n++) {
			float sum = 0;
			for (int k = 0; k < K; k++)
				sum += rounded(a[m * K + k]) * rounded(b[k * N + n]);
			if (c[m * N + n] != sum)
				return err_set(e, ST_USAGE,
					       "products in bf16 are wrong on this device: "
					       "%g instead of %g",
					       (double)c[m * N + n], (double)sum);
		}
	return 0;
}
