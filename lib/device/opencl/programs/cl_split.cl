/* cl_split.cl - sums of products that several work-groups share (split-K); put in front of the programs of
 * products.
 *
 * COUNTS, a build option: for so many results of groups the buffer of parts begins with a count of those that are
 * done, all zero between launches; the sums come behind them.  0: the device does not say that its groups see
 * what others wrote, and nothing is split. */

#if COUNTS
#ifdef __NV_CL_C_VERSION
/* NVIDIA's compiler has it, though not under its name in OpenCL C. */
#define DEVICE_FENCE __asm__ volatile("membar.gl;" ::: "memory")
#else
#define DEVICE_FENCE \
	atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device)
#endif

global float4 *parts_of(global void *counts)
{
	return (global float4 *)((global int *)counts + COUNTS);
}

/* Of the `splits` groups that share result number i: is this the last one that gets here?  It sees what all have
 * written.  All items call it; flag is in local memory, which they are done with when they do. */
INLINE bool is_last(global void *counts, int i, int splits, local int *flag)
{
	volatile global int *count = (volatile global int *)counts + i;
	DEVICE_FENCE;
	barrier(CLK_LOCAL_MEM_FENCE);
	if (get_local_id(0) == 0) {
		*flag = atomic_inc(count) == splits - 1;
		if (*flag)
			*count = 0;
	}
	barrier(CLK_LOCAL_MEM_FENCE);
	bool last = *flag;
	DEVICE_FENCE;
	return last;
}
#endif
