/* window.h - the geometry of convolutions and pooling: always three spatial dims,
 * missing ones (on the left) of size 1. */
#ifndef HSDAG_KERNEL_WINDOW_H
#define HSDAG_KERNEL_WINDOW_H

#include "op/op.h"

struct window {
	int64_t batch, groups, cin, cout; /* channels of one group */
	int64_t in[3], out[3], kernel[3], stride[3], dilation[3], pad[3]; /* pad: before */
	int64_t pad_end[3];
	int64_t in_plane, out_plane, taps; /* products of in, out, kernel */
};

/* Of a convolution (weights' shape in w; not transposed) or, w NULL, of pooling.  Last dims of size 1 that the window does not reach
 * beyond go to the front, as elements lie the same: a line written as (n,c,h,1) is the row that kernels are fast on. */
void cpu_window_init(struct window *g, const struct op *op, const struct tensor *in,
		     const struct tensor *w, const struct tensor *out);

/* Of a transposed convolution as the forward one, whose input is its output. */
void cpu_window_init_transposed(struct window *g, const struct op *op, const struct tensor *in,
				const struct tensor *w, const struct tensor *out);

/* A window along the depth alone becomes one with two spatial dims, planes being its rows. */
void cpu_window_fold(struct window *g);

/* Without the first and last taps of each dim that only ever see padding, as those of dilations as large
 * as the plane do: g becomes the window of the others, first (3) those that are left out in front.  False:
 * there are none, and nothing changes. */
bool cpu_window_crop(struct window *g, int64_t first[3]);

/* Output positions o in lo .. hi - 1 of dim d for which tap t reads inside the input. */
void cpu_window_range(const struct window *g, int d, int64_t t, int64_t *lo, int64_t *hi);

/* Part `at` of `of` of a group's output channels: tasks of threads where there are fewer slices than these.  {0, 1}: all. */
struct channel_part {
	int at, of;
};
/* What the number of parts is chosen by. */
struct channel_parts {
	int64_t slices;
	int threads, most; /* parts, at most */
	int64_t blocks;    /* of channels, that parts share evenly; 0: no matter */
	double ready;      /* as channel_parts_choose says */
	double uneven;     /* the longest slice over the mean; 0: none is longer */
	double reading; /* what reading all weights takes of a mean slice, where a core's cache does not keep them */
	bool kept;    /* it would keep a part's, if there are as many as threads */
	double worth; /* more parts take less than this share of the time of fewer */
};
/* How many parts each slice is worked on in, at most one a thread.  If a mean slice of a single part takes 1, every part
 * takes its share of that, and `ready` for making the slice's input ready anew.  Where there are as many as threads, each works on
 * its own part of all slices: as long as the others however uneven these are, and on weights that nobody else reads. */
int channel_parts_choose(const struct channel_parts *c);

/* Does the window reach beyond the input anywhere? */
bool window_has_padding(const struct window *g);

/* A piece of a convolution of tensors with channels behind pixels: it reads pixels from .. from + n_in - 1 of an image and
 * writes pixels at .. at + n - 1. */
struct window_slice {
	int64_t from, n_in, at, n;
	size_t scratch; /* bytes that a run needs */
};

/* A convolution's output in pieces of equally many rows, along its first dim of more than one. */
struct window_slices {
	int axis;                    /* of the window's dims */
	int64_t each;                /* rows of a slice */
	int64_t in_inner, out_inner; /* pixels of a row */
	int n;
};
/* What of a slice stays in a cache: elements of so many bytes, so many bytes of input and output, or as many as of the weights, if a
 * row has no more; where an output sees several planes, all planes, which are then taken by strips. */
struct window_cut {
	int64_t in_size, out_size, weight_size, bytes;
	int n_threads; /* each has as many slices */
};
struct window_slices window_slices_of(const struct window *g, const struct window_cut *c);
/* Slice i; scratch 0. */
struct window_slice window_slice_at(const struct window *g, const struct window_slices *s, int i);

#endif
