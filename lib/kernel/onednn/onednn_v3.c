/* onednn_v3.c - the same as oneDNN 3 has them: memory descriptors are hidden, scales and zero-points are arguments. */
#include "kernel/onednn/onednn_api.h"

#if DNNL_VERSION_MAJOR == 3

onednn_md *onednn_md_new(int n, const dnnl_dims_t dims, const dnnl_dims_t strides,
			 dnnl_data_type_t type)
{
	const struct onednn_api *api = onednn_api();
	onednn_md *d = NULL;
	dnnl_status_t s =
		strides ? api->memory_desc_create_with_strides(&d, n, dims, type, strides)
			: api->memory_desc_create_with_tag(&d, n, dims, type, dnnl_format_tag_any);
	return s == dnnl_success ? d : NULL;
}

onednn_md *onednn_md_copy(const onednn_md *d)
{
	onednn_md *copy = NULL;
	return onednn_api()->memory_desc_clone(&copy, d) == dnnl_success ? copy : NULL;
}

void onednn_md_free(onednn_md *d)
{
	if (d)
		onednn_api()->memory_desc_destroy(d);
}

/* What the library tells of a descriptor. */
struct known {
	int32_t n, n_blocks;
	dnnl_data_type_t type;
	dnnl_format_kind_t kind;
	dnnl_dims_t *dims, *strides, *blocks, *block_dim;
};

static bool ask(const onednn_md *d, struct known *k)
{
	dnnl_status_t (*query)(const_dnnl_memory_desc_t, dnnl_query_t, void *) =
		onednn_api()->memory_desc_query;
	return query(d, dnnl_query_ndims_s32, &k->n) == dnnl_success &&
	       query(d, dnnl_query_data_type, &k->type) == dnnl_success &&
	       query(d, dnnl_query_format_kind, &k->kind) == dnnl_success &&
	       k->kind == dnnl_blocked && query(d, dnnl_query_dims, &k->dims) == dnnl_success &&
	       query(d, dnnl_query_strides, &k->strides) == dnnl_success &&
	       query(d, dnnl_query_inner_nblks_s32, &k->n_blocks) == dnnl_success &&
	       query(d, dnnl_query_inner_blks, &k->blocks) == dnnl_success &&
	       query(d, dnnl_query_inner_idxs, &k->block_dim) == dnnl_success;
}

/* Sums that the library keeps behind some weights make them longer: the size tells these from others. */
void onednn_layout_key(const onednn_md *d, uint64_t key[5])
{
	struct known k;
	key[0] = key[2] = key[3] = key[4] = 0;
	key[1] = onednn_md_bytes(d);
	if (!ask(d, &k))
		return;
	key[0] = (uint64_t)k.type << 16 | (uint64_t)k.n << 8 | (uint64_t)k.n_blocks;
	for (int i = 0; i < k.n_blocks; i++)
		key[2] = key[2] << 13 | (uint64_t)(*k.blocks)[i] << 3 | (uint64_t)(*k.block_dim)[i];
	for (int i = 0; i < k.n; i++) {
		key[3] = key[3] * 0x9e3779b97f4a7c15u + (uint64_t)(*k.dims)[i];
		key[4] = key[4] * 0x9e3779b97f4a7c15u + (uint64_t)(*k.strides)[i];
	}
}

onednn_md *onednn_md_columns(const onednn_md *whole, int64_t cols, size_t *bytes)
{
	struct known k;
	onednn_md *d = NULL;
	int64_t block = 1;
	if (!ask(whole, &k) || (*k.strides)[1] < (*k.strides)[0])
		return NULL;
	for (int i = 0; i < k.n_blocks; i++)
		block *= (*k.block_dim)[i] == 1 ? (*k.blocks)[i] : 1;
	size_t size = k.type == dnnl_s8 ? 1u : 2u, step = (size_t)(*k.strides)[1] * size;
	/* Sums behind the weights make them longer than their blocks. */
	size_t blocks = (size_t)(((*k.dims)[1] + block - 1) / block);
	dnnl_dims_t dims = {(*k.dims)[0], cols}, none = {0};
	if (cols % block || onednn_md_bytes(whole) != blocks * step)
		return NULL;
	*bytes = (size_t)(cols / block) * step;
	return onednn_api()->memory_desc_create_submemory(&d, whole, dims, none) == dnnl_success
		       ? d
		       : NULL;
}

/* ---- attributes ---- */

bool onednn_scales_sums(void)
{
	return true;
}

static bool add_arg(struct onednn_primitive *x, int what, int64_t n, dnnl_data_type_t type,
		    const void *data)
{
	onednn_md *d = onednn_md_new(1, (const dnnl_dims_t){n}, (const dnnl_dims_t){1}, type);
	if (d)
		x->more[x->n_more++] = (struct onednn_arg){what, d, data};
	return d;
}

bool onednn_set_scales(const struct onednn_conv_desc *d, dnnl_primitive_attr_t attr,
		       struct onednn_primitive *x)
{
	const struct onednn_api *api = onednn_api();
	int mask = d->grouped ? 1 << 0 | 1 << 1 : 1 << 0;
	if (d->scale &&
	    (api->primitive_attr_set_scales_mask(attr, DNNL_ARG_WEIGHTS, mask) != dnnl_success ||
	     !add_arg(x, DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, d->n_scale, dnnl_f32, d->scale)))
		return false;
	return !d->zero ||
	       (api->primitive_attr_set_zero_points_mask(attr, DNNL_ARG_SRC, 0) == dnnl_success &&
		add_arg(x, DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, 1, dnnl_s32, d->zero));
}

dnnl_status_t onednn_append_eltwise(dnnl_post_ops_t ops, const struct onednn_eltwise *f)
{
	bool hard = f->alg == dnnl_eltwise_hardswish; /* its line is an argument here */
	return onednn_api()->post_ops_append_eltwise(ops, f->alg, hard ? 1.0f / 6 : f->alpha,
						     hard ? 0.5f : f->beta);
}

/* ---- primitives ---- */

dnnl_primitive_desc_t onednn_matmul_desc(const onednn_md *a, const onednn_md *b, const onednn_md *c,
					 dnnl_primitive_attr_t attr)
{
	const struct onednn_api *api = onednn_api();
	dnnl_primitive_desc_t pd = NULL;
	return api->matmul_primitive_desc_create(&pd, api->engine, a, b, NULL, c, attr) ==
			       dnnl_success
		       ? pd
		       : NULL;
}

dnnl_primitive_desc_t onednn_convolution_desc(const struct onednn_conv_desc *d,
					      dnnl_primitive_attr_t attr)
{
	const struct onednn_api *api = onednn_api();
	dnnl_primitive_desc_t pd = NULL;
	return api->convolution_forward_primitive_desc_create(
		       &pd, api->engine, dnnl_forward_inference, dnnl_convolution_direct, d->src,
		       d->weights, d->bias, d->dst, d->stride, d->dilation, d->pad, d->pad_end,
		       attr) == dnnl_success
		       ? pd
		       : NULL;
}
#endif
