/* cl_programs.h - the table of OpenCL programs, a line each, with the kernels in it.  To add one,
 * write cl_NAME.cl and its line here; README.md has the recipe.  tests/oracle/kernels.bats reads this
 * table, too.
 *
 *   PROGRAM(NAME, flags)          the file cl_NAME.cl
 *   KERNEL(kernel, NAME, args)    a kernel of it; its last argument is struct ARGS_args */
#ifndef HSDAG_DEVICE_OPENCL_PROGRAMS_CL_PROGRAMS_H
#define HSDAG_DEVICE_OPENCL_PROGRAMS_CL_PROGRAMS_H

#include "device/opencl/programs/cl_args.cl"

enum cl_program_flags {
	WITH_CHAINS = 1, /* applies chains: cl_chain.cl is in front of it */
	ALL_CHAINS = 2,  /* ... with the operators that seldom follow others (ELEM) */
	TWO_TILES =
		4, /* the file is there twice, with TILE 128 and 64, between cl_tiles.cl and cl_parts.cl */
	SPLIT_SUMS = 8, /* work-groups share products: cl_split.cl is in front of it */
	IN_SERIES = 16  /* cl_elem.cl and cl_move.cl are in front of it, without their kernels */
};

/* clang-format off */
#define CL_PROGRAMS(PROGRAM, KERNEL) \
	PROGRAM(elem, WITH_CHAINS | ALL_CHAINS) KERNEL(elem, elem, elem) \
	PROGRAM(rare, 0) KERNEL(elem_rare, rare, elem) \
	PROGRAM(int, 0) KERNEL(elem_test, int, elem) KERNEL(elem_int, int, elem) \
		KERNEL(choose, int, elem) KERNEL(reduce_int, int, reduce) \
		KERNEL(range, int, range) \
	PROGRAM(convert, 0) KERNEL(convert, convert, elem) KERNEL(convert_f16_f32, convert, elem) \
		KERNEL(mask, convert, elem) \
	PROGRAM(move, 0) KERNEL(move, move, move) KERNEL(gather, move, gather) \
	PROGRAM(series, WITH_CHAINS | ALL_CHAINS | IN_SERIES) KERNEL(series, series, series) \
	PROGRAM(norm, WITH_CHAINS) KERNEL(softmax, norm, norm) KERNEL(mvn, norm, norm) \
	PROGRAM(reduce, 0) KERNEL(reduce, reduce, reduce) \
	PROGRAM(gemm, WITH_CHAINS) KERNEL(gemm, gemm, gemm) \
	PROGRAM(tile, WITH_CHAINS | TWO_TILES | SPLIT_SUMS) KERNEL(tile_128, tile, gemm) \
		KERNEL(tile_64, tile, gemm) \
	PROGRAM(mma, WITH_CHAINS | TWO_TILES | SPLIT_SUMS) KERNEL(mma_128, mma, gemm) \
		KERNEL(mma_64, mma, gemm) \
	PROGRAM(thin, WITH_CHAINS | SPLIT_SUMS) KERNEL(thin, thin, gemm) \
	PROGRAM(window, WITH_CHAINS) KERNEL(window, window, window) \
	PROGRAM(cube, 0) KERNEL(unfold, cube, cube) KERNEL(pool_cube, cube, cube) \
	PROGRAM(table, 0) KERNEL(remap, table, table) KERNEL(resample, table, table) \
	PROGRAM(index, 0) KERNEL(gather_elements, index, index) KERNEL(gather_nd, index, index) \
		KERNEL(scatter, index, index) KERNEL(scatter_nd, index, index) \
		KERNEL(scatter_elements, index, index) KERNEL(one_hot, index, index) \
		KERNEL(cum_sum, index, index) KERNEL(top_k, index, index) \
		KERNEL(reverse_sequence, index, index) \
	PROGRAM(special, 0) KERNEL(elem_five, special, five) KERNEL(normalize_l2, special, axis) \
		KERNEL(lrn, special, axis) KERNEL(fold, special, fold) \
		KERNEL(cell, special, cell)
/* clang-format on */

/* Packed rows of A in bf16 are pieces of so many products (cl_mma.cl). */
enum { BF16_STEP = 32 };

#define CL_SKIP(...)

enum cl_kernel_id {
#define KERNEL(kernel, program, args) K_##kernel,
	CL_PROGRAMS(CL_SKIP, KERNEL)
#undef KERNEL
		K_COUNT,
	K_copy /* clEnqueueCopyBuffer: no kernel */
};

enum cl_program_id {
#define PROGRAM(program, flags) P_##program,
	CL_PROGRAMS(PROGRAM, CL_SKIP)
#undef PROGRAM
		P_COUNT
};

/* The last argument of a kernel: a struct of cl_args.cl. */
union cl_args {
	struct places places; /* of each */
	struct elem_args elem;
	struct move_args move;
	struct gather_args gather;
	struct range_args range;
	struct reduce_args reduce;
	struct norm_args norm;
	struct gemm_args gemm;
	struct window_args window;
	struct cube_args cube;
	struct table_args table;
	struct index_args index;
	struct five_args five;
	struct axis_args axis;
	struct fold_args fold;
	struct cell_args cell;
	struct series_args series;
};

#endif
