/* cl_program.c - OpenCL programs: chosen shape, build, binary from the cache,
 * kernels on demand.
 *
 * Each .cl file is one program, built when its first kernel is asked for.  All
 * kernels fix their local size, so that a driver that compiles per local size
 * (PoCL) compiles each of them once. */
#include "device/opencl/cl_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char cl_args_cl[], cl_prelude_cl[], cl_chain_cl[], cl_split_cl[], cl_tiles_cl[],
	cl_parts_cl[];
#define PROGRAM(program, flags) extern const char cl_##program##_cl[];
CL_PROGRAMS(PROGRAM, CL_SKIP)
#undef PROGRAM

static const struct {
	const char *name, *source;
	unsigned flags;
} programs[P_COUNT] = {
#define PROGRAM(program, flags) {"cl_" #program ".cl", cl_##program##_cl, flags},
	CL_PROGRAMS(PROGRAM, CL_SKIP)
#undef PROGRAM
};
static const struct {
	const char *name;
	enum cl_program_id program;
	size_t args_bytes;
} kernels[K_COUNT] = {
#define KERNEL(kernel, program, args) {#kernel, P_##program, sizeof(struct args##_args)},
	CL_PROGRAMS(CL_SKIP, KERNEL)
#undef KERNEL
};

const char *cl_kernel_name(enum cl_kernel_id k)
{
	return k < K_COUNT ? kernels[k].name : "copy";
}

size_t cl_kernel_args(enum cl_kernel_id k)
{
	return kernels[k].args_bytes;
}

/* Widths that hardware has; PoCL prefers what the processor has. */
static int vector_width(cl_device_id dev)
{
	cl_uint w = 0;
	clGetDeviceInfo(dev, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof w, &w, NULL);
	return w >= 16 ? 16 : w >= 8 ? 8 : 4;
}

/* The OpenCL C in which work-groups see what others have written before (cl_split.cl); NULL: none. */
static const char *split_standard(cl_device_id dev)
{
	/* of OpenCL 3.0, newer than the headers' version that we ask for */
	enum { FENCE_CAPABILITIES = 0x1064, ACQ_REL = 1 << 1, SCOPE_DEVICE = 1 << 5 };
	char version[64];
	cl_bitfield fences = 0;
	cl_device_text(dev, CL_DEVICE_VERSION, version, sizeof version);
	if (cl_device_has(dev, "cl_nv_device_attribute_query"))
		return "CL1.2";
	if (!strncmp(version, "OpenCL 2.", 9))
		return "CL2.0";
	if (clGetDeviceInfo(dev, FENCE_CAPABILITIES, sizeof fences, &fences, NULL))
		return NULL;
	return fences & ACQ_REL && fences & SCOPE_DEVICE ? "CL3.0" : NULL;
}

bool cl_bf16_units(const struct cl_state *s)
{
	return cl_device_has(s->place.device, "cl_nv_device_attribute_query");
}

static bool is_cpu(const struct cl_state *s)
{
	cl_device_type type = 0;
	clGetDeviceInfo(s->place.device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
	return type & CL_DEVICE_TYPE_CPU;
}

void cl_shape_choose(struct cl_state *s)
{
	const char *force = getenv("HSDAG_CL_SHAPE");
	bool cpu = is_cpu(s);
	if (force && (!strcmp(force, "gpu") || !strcmp(force, "cpu")))
		cpu = force[0] == 'c';
	if (cpu && !s->half && !s->place.bf16) {
		/* registers for 6 rows of 4 vectors with AVX-512, of 2 with less */
		int vw = vector_width(s->place.device), nv = vw == 16 ? 4 : 2;
		s->shape = (struct cl_shape){.vw = vw,
					     .ls = 1,
					     .gemm_ls = 1,
					     .mr = 6,
					     .nr = nv * vw,
					     .kc = 256,
					     .mc = 516,
					     .window_local = 8192,
					     .window_out = 4096};
	} else {
		s->shape = (struct cl_shape){.vw = 4,
					     .ls = 64,
					     .gemm_ls = 256,
					     .mr = 64,
					     .nr = 64,
					     .kc = 16,
					     .split_std = split_standard(s->place.device),
					     .window_local = 4096,
					     .window_out = 2048};
		if (s->shape.split_std) /* products are split where groups are so few */
			s->shape.counts = (int)(2 * s->place.units + 63) / 64 * 64;
	}
}

static void build_options(const struct cl_state *s, enum cl_program_id p, char *dst, size_t cap)
{
	const struct cl_shape *h = &s->shape;
	bool products = programs[p].flags & SPLIT_SUMS;
	snprintf(dst, cap,
		 "-cl-std=%s -w -DVW=%d -DLS=%d -DGEMM_LS=%d -DMR=%d -DNR=%d -DNV=%d "
		 "-DKC=%d -DMC=%d -DCOUNTS=%d -DWINDOW_LOCAL=%d -DWINDOW_OUT=%d%s%s%s%s",
		 h->split_std && products ? h->split_std : "CL1.2", h->vw, h->ls, h->gemm_ls, h->mr,
		 h->nr, h->nr / h->vw, h->kc, h->mc, h->counts, h->window_local, h->window_out,
		 s->half ? " -DHALF" : "",
		 is_cpu(s) && programs[p].flags & TWO_TILES ? " -DONE_LOOP" : "",
		 products && s->place.bf16 ? " -DBF16" : "",
		 products && s->place.bf16 && !cl_bf16_units(s) ? " -DBF16_PLAIN" : "");
}

enum { MAX_TEXTS = 16 };

/* The program's text in parts; returns how many. */
static cl_uint program_text(enum cl_program_id p, const char **text)
{
	cl_uint n = 0;
	text[n++] = cl_args_cl;
	if (programs[p].flags & IN_SERIES)
		text[n++] = "#define SERIES\n";
	text[n++] = cl_prelude_cl;
	if (programs[p].flags & ALL_CHAINS)
		text[n++] = "#define ELEM\n";
	if (programs[p].flags & TWO_TILES)
		text[n++] = "#define TILED\n";
	if (programs[p].flags & WITH_CHAINS)
		text[n++] = cl_chain_cl;
	if (programs[p].flags & SPLIT_SUMS)
		text[n++] = cl_split_cl;
	if (programs[p].flags & IN_SERIES) {
		text[n++] = cl_elem_cl;
		text[n++] = cl_move_cl;
	}
	if (programs[p].flags & TWO_TILES) {
		text[n++] = "#define TILE 128\n";
		text[n++] = cl_tiles_cl;
		text[n++] = programs[p].source;
		text[n++] = cl_parts_cl;
		text[n++] = "#undef TILE\n#define TILE 64\n";
		text[n++] = cl_tiles_cl;
	}
	text[n++] = programs[p].source;
	if (programs[p].flags & TWO_TILES)
		text[n++] = cl_parts_cl;
	return n;
}

/* All that a binary depends on.  mem_free. */
static char *cache_key(const struct cl_state *s, enum cl_program_id p, const char *options)
{
	static const cl_device_info what[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION,
					      CL_DRIVER_VERSION};
	const char *part[MAX_TEXTS], *more = getenv("POCL_EXTRA_BUILD_FLAGS");
	char text[4][200], platform[200] = "";
	cl_uint n_parts = program_text(p, part);
	more = more ? more : "";
	for (int i = 0; i < 4; i++)
		cl_device_text(s->place.device, what[i], text[i], sizeof text[i]);
	clGetPlatformInfo(s->place.platform, CL_PLATFORM_VERSION, sizeof platform - 1, platform,
			  NULL);
	size_t cap = strlen(options) + strlen(more) + 1100, n;
	for (cl_uint i = 0; i < n_parts; i++)
		cap += strlen(part[i]);
	char *key = mem_alloc(cap, 1);
	n = (size_t)snprintf(key, cap, "%s\n%s\n%s\n%s\n%s\n%u units\n%s%s\n", text[0], text[1],
			     text[2], text[3], platform, s->place.units, options, more);
	for (cl_uint i = 0; i < n_parts; i++)
		n += (size_t)snprintf(key + n, cap - n, "%s", part[i]);
	return key;
}

static int build_failed(const struct cl_state *s, enum cl_program_id p, cl_program prog, cl_int rc,
			struct err *e)
{
	char log[500] = "";
	size_t n = 0;
	clGetProgramBuildInfo(prog, s->place.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n);
	char *all = mem_alloc(n + 1, 1);
	if (n && !clGetProgramBuildInfo(prog, s->place.device, CL_PROGRAM_BUILD_LOG, n, all, NULL))
		err_escape(log, sizeof log, all, strlen(all));
	mem_free(all);
	return err_set(e, ST_RUNTIME, "clBuildProgram: %s (%d) for %s: %s", cl_error_name(rc),
		       (int)rc, programs[p].name, log);
}

static cl_program from_binary(struct cl_state *s, const unsigned char *binary, size_t bytes,
			      const char *options)
{
	cl_int rc = 0, status = 0;
	cl_program prog = clCreateProgramWithBinary(s->context, 1, &s->place.device, &bytes,
						    &binary, &status, &rc);
	if (prog && !rc && !status)
		rc = clBuildProgram(prog, 1, &s->place.device, options, NULL, NULL);
	if (prog && (rc || status)) {
		clReleaseProgram(prog);
		prog = NULL;
	}
	return prog;
}

/* The program from the cache; NULL when it is not there or does not load. */
static cl_program from_cache(struct cl_state *s, const char *key, const char *options)
{
	size_t bytes = 0;
	unsigned char *binary = cl_cache_load(key, &bytes);
	cl_program prog = binary ? from_binary(s, binary, bytes, options) : NULL;
	if (binary && !prog)
		cl_cache_drop(key);
	mem_free(binary);
	return prog;
}

/* Put the binary of a fresh program into the cache, and go on with the binary, as every later
 * start will: PoCL compiles all kernels when it is asked for one, and need not do so again.
 * Returns the program to use. */
static cl_program to_cache(struct cl_state *s, cl_program prog, const char *key,
			   const char *options)
{
	size_t bytes = 0;
	unsigned char *binary = NULL;
	cl_program again = NULL;
	if (!clGetProgramInfo(prog, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) && bytes)
		binary = mem_try(bytes);
	if (binary && !clGetProgramInfo(prog, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL)) {
		cl_cache_store(key, binary, bytes);
		again = from_binary(s, binary, bytes, options);
	}
	mem_free(binary);
	if (again)
		clReleaseProgram(prog);
	return again ? again : prog;
}

static int program_build(struct cl_state *s, enum cl_program_id p, struct err *e)
{
	char options[300];
	build_options(s, p, options, sizeof options);
	char *key = cache_key(s, p, options);
	cl_program prog = from_cache(s, key, options);
	if (!prog) {
		const char *text[MAX_TEXTS];
		cl_int rc = 0;
		cl_uint n = program_text(p, text);
		prog = clCreateProgramWithSource(s->context, n, text, NULL, &rc);
		if (!rc)
			rc = clBuildProgram(prog, 1, &s->place.device, options, NULL, NULL);
		if (rc && prog) {
			build_failed(s, p, prog, rc, e);
			clReleaseProgram(prog);
		} else if (rc) {
			cl_err(e, "clCreateProgramWithSource", rc);
		} else {
			s->program[p] = to_cache(s, prog, key, options);
		}
		mem_free(key);
		return rc ? -1 : 0;
	}
	mem_free(key);
	s->program[p] = prog;
	return 0;
}

int cl_kernel_get(struct cl_state *s, enum cl_kernel_id k, cl_kernel *out, struct err *e)
{
	enum cl_program_id p = kernels[k].program;
	cl_int rc = 0;
	if (!s->kernel[k]) {
		if (!s->program[p] && program_build(s, p, e))
			return -1;
		s->kernel[k] = clCreateKernel(s->program[p], kernels[k].name, &rc);
		if (rc)
			return cl_err(e, "clCreateKernel", rc);
	}
	*out = s->kernel[k];
	return 0;
}

void cl_kernels_release(struct cl_state *s)
{
	for (int k = 0; k < K_COUNT; k++)
		if (s->kernel[k])
			clReleaseKernel(s->kernel[k]);
	for (int p = 0; p < P_COUNT; p++)
		if (s->program[p])
			clReleaseProgram(s->program[p]);
}
