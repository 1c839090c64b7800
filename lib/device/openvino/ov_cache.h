/* ov_cache.h - compiled segments on disk, by what they were compiled from.
 *
 * One file each, KEY.new until it has been of use once, then KEY.used.  A file is a plugin's
 * blob and a trailer with its size and digest: one that is cut short or damaged is no hit, and
 * is taken away.  Files appear whole (newfile.h) and are only ever replaced or taken away, so
 * that any number of processes share a directory without locks.
 *
 * HSDAG_CACHE names the directory, or is "off"; else it is hsdag in $XDG_CACHE_HOME or ~/.cache.
 * HSDAG_CACHE_SIZE limits it (2G): beyond it, files go that were used longest ago, those first that were
 * never of use again, as long as they are more than a quarter of all.  A process looks
 * whenever it has added a sixteenth of the limit. */
#ifndef HSDAG_DEVICE_OPENVINO_OV_CACHE_H
#define HSDAG_DEVICE_OPENVINO_OV_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct ov_cache;

/* *out NULL: it is off, or the default directory cannot be made.  ST_USAGE: HSDAG_CACHE_SIZE is not
 * a size; ST_RUNTIME: HSDAG_CACHE is a directory that cannot be made or written. */
int ov_cache_open(struct ov_cache **out, struct err *e) MUST_CHECK;
void ov_cache_close(struct ov_cache *c); /* c may be NULL */

/* The calls below may come from several threads at once.  c may be NULL: nothing is found or kept. */

struct ov_blob {
	const char *data; /* (bytes), mapped */
	size_t bytes, mapped;
};
bool ov_cache_find(struct ov_cache *c, const uint64_t key[2], struct ov_blob *out);
void ov_blob_release(struct ov_blob *b);

/* Keep what write(arg, path) writes to the file `path`; it returns false when there is nothing to
 * keep.  What fails is not kept, and no error: the next process compiles again. */
void ov_cache_keep(struct ov_cache *c, const uint64_t key[2],
		   bool (*write)(void *arg, const char *path), void *arg);
/* A plugin has refused what was found. */
void ov_cache_forget(struct ov_cache *c, const uint64_t key[2]);

#endif
