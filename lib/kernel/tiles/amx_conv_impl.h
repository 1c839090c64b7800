/* amx_conv_impl.h - inside the convolutions by tiles: amx_conv_weights.c finds the steps and packs the weights,
 * amx_conv_strip.c makes what they read ready, amx_conv.c runs them; not for others. */
#ifndef HSDAG_KERNEL_TILES_AMX_CONV_IMPL_H
#define HSDAG_KERNEL_TILES_AMX_CONV_IMPL_H

#include "kernel/tiles/amx_panel.h"
#include "kernel/tiles/amx_conv.h"

/* How groups, channels and taps become steps. */
struct tiled_shape {
	int64_t merge, n_merged;       /* groups that meet, and how many such there are */
	int64_t chunks;                /* of input channels, where there is one group */
	int64_t cin, cout;             /* of a chunk, or of the groups that meet */
	int64_t size;                  /* bytes of an element */
	int64_t pixel;                 /* bytes from one pixel to the next, copied */
	bool joins;                    /* the taps of a row are one segment */
	int64_t segments, steps, step; /* of a chunk, of a segment, bytes of a step */
};

struct tiled_conv {
	struct window g;  /* without taps that see padding alone */
	int64_t first[3]; /* of these the first one of all */
	int64_t all[3];   /* taps of all */
	struct tiled_shape s;
	bool direct; /* the input is read where it lies */
	struct window_slices slices;
	enum elem src, dst;
	struct tiles_post post;
	float *bias, *scale; /* (merged, panels, PANEL_COLUMNS) */
	struct cpu_pack *pack;
};

/* Of what a strip reads, if a row has no more. */
enum { TILED_STRIP_BYTES = 768 << 10 };

/* ---- amx_conv_weights.c ---- */

/* In so many chunks; false: there are no steps of equal length. */
bool tiled_shape_find(const struct window *g, enum elem src, int64_t chunks, struct tiled_shape *s);
int64_t tiled_panels(const struct tiled_conv *m); /* of the groups that meet */
int64_t tiled_chunk_panels(const struct tiled_conv *m);
int64_t tiled_steps(const struct tiled_conv *m);       /* of a chunk */
int64_t tiled_panel_bytes(const struct tiled_conv *m); /* of a chunk */
int64_t tiled_pack_bytes(const struct tiled_conv *m);
/* (chunks, groups that meet, panels, steps, 2 TILES_N columns' units).  NULL: no memory. */
struct cpu_pack *tiled_pack_weights(const struct tiled_conv *m, const struct tiled_conv_spec *s,
				    struct cpu_ctx *c);
/* The sums (rows, PANEL_COLUMNS) of a tile of bf16 by a panel, of groups that meet, of what each group sees alone: rows a_step
 * bytes apart from a on, steps `at` bytes behind. */
void tiled_sum_apart(const struct tiled_conv *m, int64_t panel, const char *a, const int64_t *at,
		     int64_t a_step, int64_t rows, float *sums);

/* ---- amx_conv_strip.c ---- */

/* Outputs lo .. hi - 1 of each dim, and the rows that they read: size (3) pixels, of which output o of dim d begins at
 * (o - lo) * stride[d]; they come from pixel from[d] of the input on, `every` pixels apart. */
struct tiled_strip {
	int64_t lo[3], hi[3], size[3], stride[3], from[3], every[3];
};
struct tiled_strip tiled_strip_of(const struct tiled_conv *m, const int64_t lo[3],
				  const int64_t hi[3]);
/* Rows of a strip, of outputs lo .. hi - 1: what they read stays in the second-level cache.  *bytes: of the largest. */
int64_t tiled_strip_rows(const struct tiled_conv *m, const int64_t lo[3], const int64_t hi[3],
			 int64_t *bytes);
/* What a strip reads, with its padding; x: pixel number `from` of the image, the chunk's first channel. */
void tiled_strip_copy(const struct tiled_conv *m, const struct tiled_strip *s, const char *x,
		      int64_t from, char *to);

/* Tiles of a strip: `rows` positions of a line each, the last of a line so that it ends with it.  Of a line's positions
 * `valid` of `width` are outputs. */
struct tiled_tiling {
	int64_t lines, len, width, valid, rows, across;
	int64_t most_tiles;     /* of this strip or one with fewer rows */
	int64_t step, line[2];  /* bytes from one position, plane and row to the next */
	int64_t out, out_plane; /* the first output, of the slice's; from one plane to the next */
	int64_t outputs_row, y_lines; /* outputs of a row; lines of a plane */
};
/* Of a strip whose rows and planes are so many bytes apart. */
struct tiled_tiling tiled_tiling_of(const struct tiled_conv *m, const struct tiled_strip *s,
				    int64_t row, int64_t plane);
int64_t tiled_tiles(const struct tiled_tiling *t);
/* Where a tile's outputs are: its first position is `at` of a row's, whose first output is number `out` of the slice's. */
struct tiled_outputs {
	int64_t at, out;
};
/* Of all tiles; first (tiles): bytes from the strip's first to theirs. */
void tiled_find_tiles(const struct tiled_tiling *t, int64_t *first, struct tiled_outputs *outputs);

static inline bool tiled_is_points(const struct window *g)
{
	return g->taps == 1;
}

#endif
