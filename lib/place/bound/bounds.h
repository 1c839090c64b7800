/* bounds.h - the table of lower bounds.  One line registers one: X(name) stands for `const struct
 * lower_bound bound_name`, which a file of its own defines (bound_parts.h).  They are computed in
 * this order; one that uses another's result comes after it. */
#ifndef HSDAG_PLACE_BOUND_BOUNDS_H
#define HSDAG_PLACE_BOUND_BOUNDS_H

/* clang-format off */
#define LOWER_BOUNDS(X) \
	X(load) \
	X(path) \
	X(window) \
	X(cut) \
	X(pattern) \
	X(energy) \
	X(memory) \
	X(dnnpart_path) \
	X(pieces) \
	X(separators) \
/* end */
/* clang-format on */

#endif
