/* device_precision.h - precisions of devices, as names and options say them. */
#ifndef HSDAG_DEVICE_DEVICE_PRECISION_H
#define HSDAG_DEVICE_DEVICE_PRECISION_H

#include <stdbool.h>

/* What products are computed in; f32 and f16 also: what f32 tensors are kept in. */
enum device_precision {
	PRECISION_F32,
	PRECISION_F16,
	PRECISION_BF16,
	PRECISION_INT8,
	PRECISION_COUNT
};

/* The one of this name that is among `names`, "f32|bf16"; PRECISION_COUNT: there is none. */
enum device_precision precision_named(const char *name, const char *names);
/* What stands behind a name: nothing, which is f32, or "/precision=" and one of `names`.  False: something else. */
bool precision_option(const char *option, const char *names, enum device_precision *out);
/* Is `word` one of "a|b|c"? */
bool has_word(const char *words, const char *word);

#endif
