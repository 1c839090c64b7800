/* cl_lowering.c - what the functions that lower operators share: launches, types, loops. */
#include "device/opencl/cl_lowering.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct cl_launch *cl_lower_launch(struct cl_lowering *p, enum cl_kernel_id k)
{
	p->launch = mem_grow(p->launch, &p->cap, p->n + 1, sizeof *p->launch);
	struct cl_launch *l = &p->launch[p->n++];
	memset(l, 0, sizeof *l);
	l->kernel = k;
	l->groups[0] = l->groups[1] = l->groups[2] = 1;
	return l;
}

void cl_lower_buf(struct cl_launch *l, enum cl_ref_kind kind, int port)
{
	l->buf[l->n_buf++] = (struct cl_ref){kind, port, 0};
}

int cl_lower_refuse(struct cl_lowering *p, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(p->why, sizeof p->why, fmt, ap);
	va_end(ap);
	return -1;
}

void *cl_lower_blob(struct cl_lowering *p, size_t bytes, int *port)
{
	void *data = mem_try(bytes);
	if (!data)
		return NULL;
	*port = p->n_blobs++;
	p->blob[*port].bytes = bytes;
	return p->blob[*port].data = memset(data, 0, bytes);
}

int cl_lower_temp(struct cl_lowering *p, size_t bytes)
{
	p->temp[p->n_temps] = bytes;
	return p->n_temps++;
}

size_t cl_lower_groups(const struct cl_state *s, int64_t n)
{
	size_t groups = (size_t)((n + s->shape.ls - 1) / s->shape.ls);
	size_t most = s->shape.ls == 1 ? 8 * (size_t)s->place.units : (size_t)1 << 16;
	return groups < 1 ? 1 : groups < most ? groups : most;
}

void cl_lower_release(struct cl_lowering *p)
{
	for (int i = 0; i < p->n_blobs; i++)
		mem_free(p->blob[i].data);
	mem_free(p->launch);
	p->launch = NULL;
	p->n = p->cap = 0;
}

bool cl_lower_known(struct cl_lowering *p, int port)
{
	if (port < p->op->n_in && p->in[port].data)
		return true;
	cl_lower_refuse(p, "input %d must be a constant on an OpenCL device", port);
	return false;
}

int cl_elem_code(enum elem t)
{
	switch (t) {
	case EL_F32: return C_F32;
	case EL_F16: return C_F16;
	case EL_BF16: return C_BF16;
	case EL_F64: return C_F64;
	case EL_I64: return C_I64;
	case EL_I32: return C_I32;
	case EL_I16: return C_I16;
	case EL_I8: return C_I8;
	case EL_U64: return C_U64;
	case EL_U32: return C_U32;
	case EL_U16: return C_U16;
	case EL_U8: return C_U8;
	case EL_BOOLEAN: return C_BOOL;
	default: return -1;
	}
}

/* 1, 2, 4, 8 bytes -> 0, 1, 2, 3; -1 for types that are not moved. */
static int size_log(enum elem t)
{
	switch (elem_bits(t)) {
	case 8: return 0;
	case 16: return 1;
	case 32: return 2;
	case 64: return 3;
	default: return -1;
	}
}

int cl_code(const struct cl_lowering *p, enum elem t)
{
	return p->s->half && t == EL_F32 ? C_F16 : cl_elem_code(t);
}

int cl_log(const struct cl_lowering *p, enum elem t)
{
	return p->s->half && t == EL_F32 ? 1 : size_log(t);
}

size_t cl_bytes(const struct cl_lowering *p, const struct tensor *t)
{
	size_t bytes = (size_t)tensor_bytes(t);
	return p->s->half && t->elem == EL_F32 ? bytes / 2 : bytes;
}

/* ---- loops ---- */

bool cl_broadcast_strides(const struct tensor *t, const struct tensor *out, int64_t *stride)
{
	int shift = (int)out->rank - (int)t->rank;
	int64_t s = 1;
	for (uint32_t d = 0; d < out->rank; d++)
		stride[d] = 0;
	for (int d = (int)t->rank - 1; d >= 0; d--) {
		if (t->dim[d] == 1)
			continue;
		if (d + shift < 0 || t->dim[d] != out->dim[d + shift])
			return false;
		stride[d + shift] = s;
		s *= t->dim[d];
	}
	return true;
}

void cl_loops_add(struct cl_loops *l, int64_t dim, const int64_t *stride)
{
	l->dim[l->rank] = dim;
	for (int a = 0; a < l->n_arrays; a++)
		l->stride[a][l->rank] = stride[a];
	l->rank++;
}

/* May two neighbouring loops be one? */
static bool mergeable(const struct cl_loops *l, int outer, int inner)
{
	for (int a = 0; a < l->n_arrays; a++)
		if (l->stride[a][outer] != l->stride[a][inner] * l->dim[inner])
			return false;
	return true;
}

void cl_loops_merge(struct cl_loops *l)
{
	int n = 0;
	for (int d = 0; d < l->rank; d++) {
		if (l->dim[d] == 1)
			continue;
		if (n && mergeable(l, n - 1, d)) {
			l->dim[n - 1] *= l->dim[d];
			for (int a = 0; a < l->n_arrays; a++)
				l->stride[a][n - 1] = l->stride[a][d];
			continue;
		}
		l->dim[n] = l->dim[d];
		for (int a = 0; a < l->n_arrays; a++)
			l->stride[a][n] = l->stride[a][d];
		n++;
	}
	if (!n) {
		l->dim[0] = 1;
		for (int a = 0; a < l->n_arrays; a++)
			l->stride[a][0] = 1;
		n = 1;
	}
	l->rank = n;
}

size_t cl_rows_share(const struct cl_state *s, int64_t n_rows, int64_t inner, struct rows *r)
{
	int64_t total = n_rows * inner, step = (int64_t)s->shape.ls * s->shape.vw;
	int64_t units = (int64_t)s->place.units, chunk, rows;
	if (s->shape.ls == 1) {
		/* enough to outweigh what a work-group costs, and some groups per unit */
		chunk = total / (4 * units);
		chunk = chunk < 1024 ? 1024 : chunk > 16384 ? 16384 : chunk;
	} else {
		/* a group's rows come one after another: few, while units have room for groups */
		chunk = total / (8 * units);
		chunk = chunk < step ? step : chunk > 4 * step ? 4 * step : chunk;
	}
	chunk = (chunk + step - 1) / step * step;
	*r = (struct rows){
		.n = (int)n_rows, .inner = (int)inner, .rows = 1, .chunks = 1, .chunk = (int)chunk};
	rows = inner ? chunk / inner : 1;
	if (s->shape.ls > 1 && rows > n_rows / (16 * units))
		rows = n_rows / (16 * units);
	if (inner > chunk)
		r->chunks = (int)((inner + chunk - 1) / chunk);
	else
		r->rows = rows > 1 ? (int)rows : 1;
	return (size_t)((n_rows + r->rows - 1) / r->rows) * (size_t)r->chunks;
}
