/* ov_weights.c - the model's .bin and computed constants in one range of addresses.
 *
 * OpenVINO takes one tensor with all constants of a model.  The file is mapped at
 * the beginning of a large reservation, so nothing of it is copied, and what is not in
 * the file (folded shapes, unaligned copies) is put behind it. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/mem.h"
#include "base/pairmap.h"
#include "device/openvino/ov_impl.h"

enum { ALIGN = 64 };

struct ov_weights {
	unsigned char *base;
	uint64_t file_bytes, used, cap;
	struct pairmap at;     /* address and size of a constant -> its offset */
	struct pairmap digest; /* offset and size of bytes of the file -> their digest */
};

/* As much room as the system grants: addresses only, pages come when they are written. */
static void *reserve(uint64_t at_least, uint64_t *cap)
{
	for (uint64_t room = (uint64_t)64 << 30; room >= (uint64_t)64 << 20; room /= 4) {
		void *p = mmap(NULL, at_least + room, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		*cap = at_least + room;
		if (p != MAP_FAILED)
			return p;
	}
	return NULL;
}

static int map_file(struct ov_weights *w, const char *path, struct err *e)
{
	struct stat st;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1, rc = 0;
	if (path && (fd < 0 || fstat(fd, &st) < 0))
		rc = err_sys(e, ST_RUNTIME, "cannot open weights '%s'", path);
	w->file_bytes = path && rc == 0 ? (uint64_t)st.st_size : 0;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	w->used = (w->file_bytes + page - 1) / page * page;
	if (rc == 0 && !(w->base = reserve(w->used, &w->cap)))
		rc = err_sys(e, ST_RUNTIME, "cannot reserve addresses for the weights");
	if (rc == 0 && w->file_bytes &&
	    mmap(w->base, w->file_bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED)
		rc = err_sys(e, ST_RUNTIME, "cannot map weights '%s'", path);
	if (fd >= 0)
		close(fd);
	return rc;
}

int ov_weights_open(const char *path, struct ov_weights **out, struct err *e)
{
	struct ov_weights *w = MEM_NEW(struct ov_weights);
	if (map_file(w, path, e) < 0) {
		ov_weights_close(w);
		return -1;
	}
	*out = w;
	return 0;
}

void ov_weights_close(struct ov_weights *w)
{
	if (!w)
		return;
	if (w->base)
		munmap(w->base, w->cap);
	pairmap_release(&w->at);
	pairmap_release(&w->digest);
	mem_free(w);
}

int ov_weights_add(struct ov_weights *w, const void *data, uint64_t bytes, uint64_t *offset,
		   struct err *e)
{
	uint64_t *known = pairmap_get(&w->at, (uintptr_t)data, bytes);
	/* The address may have been given to another constant since. */
	if (known && memcmp(w->base + *known, data, bytes) == 0) {
		*offset = *known;
		return 0;
	}
	uint64_t at = (w->used + ALIGN - 1) / ALIGN * ALIGN;
	if (bytes > w->cap || at > w->cap - bytes)
		return err_set(e, ST_RUNTIME, "no room for a constant of %llu bytes",
			       (unsigned long long)bytes);
	memcpy(w->base + at, data, bytes);
	w->used = at + bytes;
	if (known)
		*known = at;
	else
		pairmap_put(&w->at, (uintptr_t)data, bytes, at);
	*offset = at;
	return 0;
}

uint64_t ov_weights_digest(struct ov_weights *w, uint64_t offset, uint64_t bytes)
{
	const uint64_t *known = pairmap_get(&w->digest, offset, bytes);
	if (known)
		return *known;
	uint64_t x = digest_of(w->base + offset, bytes, 0);
	pairmap_put(&w->digest, offset, bytes, x);
	return x;
}

void *ov_weights_base(const struct ov_weights *w)
{
	return w->base;
}

uint64_t ov_weights_bytes(const struct ov_weights *w)
{
	return w->used;
}

uint64_t ov_weights_file_bytes(const struct ov_weights *w)
{
	return w->file_bytes;
}
