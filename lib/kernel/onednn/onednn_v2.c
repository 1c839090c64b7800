/* onednn_v2.c - memory descriptors, attributes and descriptors of primitives as oneDNN 2 has them. */
#include "kernel/onednn/onednn_api.h"

#if DNNL_VERSION_MAJOR == 2

onednn_md *onednn_md_new(int n, const dnnl_dims_t dims, const dnnl_dims_t strides,
			 dnnl_data_type_t type)
{
	const struct onednn_api *api = onednn_api();
	onednn_md *d = MEM_NEW(onednn_md);
	dnnl_status_t s =
		strides ? api->memory_desc_init_by_strides(d, n, dims, type, strides)
			: api->memory_desc_init_by_tag(d, n, dims, type, dnnl_format_tag_any);
	if (s == dnnl_success)
		return d;
	mem_free(d);
	return NULL;
}

onednn_md *onednn_md_copy(const onednn_md *d)
{
	return mem_copy(d, 1, sizeof *d);
}

void onednn_md_free(onednn_md *d)
{
	mem_free(d);
}

void onednn_layout_key(const onednn_md *d, uint64_t key[5])
{
	const dnnl_blocking_desc_t *b = &d->format_desc.blocking;
	key[0] = (uint64_t)d->data_type << 16 | (uint64_t)d->ndims << 8 | (uint64_t)b->inner_nblks;
	key[1] = d->extra.flags;
	key[2] = key[3] = key[4] = 0;
	for (int i = 0; i < b->inner_nblks; i++)
		key[2] =
			key[2] << 13 | (uint64_t)b->inner_blks[i] << 3 | (uint64_t)b->inner_idxs[i];
	for (int i = 0; i < d->ndims; i++) {
		key[3] = key[3] * 0x9e3779b97f4a7c15u + (uint64_t)d->dims[i];
		key[4] = key[4] * 0x9e3779b97f4a7c15u + (uint64_t)b->strides[i];
	}
}

onednn_md *onednn_md_columns(const onednn_md *whole, int64_t cols, size_t *bytes)
{
	const dnnl_blocking_desc_t *b = &whole->format_desc.blocking;
	int64_t block = 1;
	if (whole->format_kind != dnnl_blocked || whole->extra.flags ||
	    b->strides[1] < b->strides[0])
		return NULL;
	for (int i = 0; i < b->inner_nblks; i++)
		block *= b->inner_idxs[i] == 1 ? b->inner_blks[i] : 1;
	if (cols % block)
		return NULL;
	*bytes = (size_t)(cols / block * b->strides[1]) * (whole->data_type == dnnl_s8 ? 1u : 2u);
	onednn_md *d = onednn_md_copy(whole);
	d->dims[1] = d->padded_dims[1] = cols;
	return d;
}

/* ---- attributes ---- */

bool onednn_scales_sums(void)
{
	return false;
}

bool onednn_set_scales(const struct onednn_conv_desc *d, dnnl_primitive_attr_t attr,
		       struct onednn_primitive *x)
{
	const struct onednn_api *api = onednn_api();
	(void)x;
	return (!d->scale || api->primitive_attr_set_output_scales(attr, d->n_scale, 1 << 1,
								   d->scale) == dnnl_success) &&
	       (!d->zero || api->primitive_attr_set_zero_points(attr, DNNL_ARG_SRC, 1, 0,
								d->zero) == dnnl_success);
}

dnnl_status_t onednn_append_eltwise(dnnl_post_ops_t ops, const struct onednn_eltwise *f)
{
	return onednn_api()->post_ops_append_eltwise(ops, 1, f->alg, f->alpha, f->beta);
}

/* ---- primitives ---- */

static dnnl_primitive_desc_t create(const void *op_desc, dnnl_primitive_attr_t attr)
{
	const struct onednn_api *api = onednn_api();
	dnnl_primitive_desc_t pd = NULL;
	return api->primitive_desc_create(&pd, op_desc, attr, api->engine, NULL) == dnnl_success
		       ? pd
		       : NULL;
}

dnnl_primitive_desc_t onednn_matmul_desc(const onednn_md *a, const onednn_md *b, const onednn_md *c,
					 dnnl_primitive_attr_t attr)
{
	dnnl_matmul_desc_t d;
	return onednn_api()->matmul_desc_init(&d, a, b, NULL, c) == dnnl_success ? create(&d, attr)
										 : NULL;
}

dnnl_primitive_desc_t onednn_convolution_desc(const struct onednn_conv_desc *d,
					      dnnl_primitive_attr_t attr)
{
	dnnl_convolution_desc_t c;
	return onednn_api()->dilated_convolution_forward_desc_init(
		       &c, dnnl_forward_inference, dnnl_convolution_direct, d->src, d->weights,
		       d->bias, d->dst, d->stride, d->dilation, d->pad, d->pad_end) == dnnl_success
		       ? create(&c, attr)
		       : NULL;
}
#endif
