/* cl_cache.c - built OpenCL programs on disk, in $XDG_CACHE_HOME/hsdag or
 * ~/.cache/hsdag.
 *
 * An entry is named by a hash of its key and holds the key itself, so that a
 * collision is a miss; its checksum tells a damaged entry, which is a miss
 * too.  Entries are written to a temporary name and renamed. */
#include "device/opencl/cl_impl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CACHE_MAGIC "hsdagcl1"
enum { PATH_BYTES = 4096 };

struct cache_head {
	char magic[8];
	uint64_t key_bytes, binary_bytes, check;
};

/* FNV-1a, 64 bits. */
static uint64_t hash(const void *data, size_t n, uint64_t h)
{
	const unsigned char *p = data;
	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

static uint64_t check_of(const char *key, const unsigned char *binary, size_t bytes)
{
	return hash(binary, bytes, hash(key, strlen(key), UINT64_C(0xcbf29ce484222325)));
}

/* Directory of the cache; false when there is no home. */
static bool cache_dir(char *dst, size_t cap)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n = -1;
	if (xdg && xdg[0] == '/')
		n = snprintf(dst, cap, "%s/hsdag", xdg);
	else if (home && home[0] == '/')
		n = snprintf(dst, cap, "%s/.cache/hsdag", home);
	return n > 0 && (size_t)n < cap;
}

static bool cache_path(const char *key, char *dst, size_t cap)
{
	char dir[PATH_BYTES - 64];
	if (!cache_dir(dir, sizeof dir))
		return false;
	int n = snprintf(dst, cap, "%s/%016llx.clbin", dir,
			 (unsigned long long)hash(key, strlen(key), UINT64_C(0xcbf29ce484222325)));
	return n > 0 && (size_t)n < cap;
}

static void make_dirs(char *path)
{
	for (char *s = path + 1; (s = strchr(s, '/')); s++) {
		*s = 0;
		if (mkdir(path, 0700) && errno != EEXIST) {
			*s = '/';
			return;
		}
		*s = '/';
	}
}

unsigned char *cl_cache_load(const char *key, size_t *bytes)
{
	char path[PATH_BYTES];
	struct cache_head h;
	struct stat st;
	unsigned char *all = NULL, *binary = NULL;
	FILE *f = cache_path(key, path, sizeof path) ? fopen(path, "rb") : NULL;
	if (!f)
		return NULL;
	size_t n_key = strlen(key);
	if (!fstat(fileno(f), &st) && S_ISREG(st.st_mode) && fread(&h, sizeof h, 1, f) == 1 &&
	    !memcmp(h.magic, CACHE_MAGIC, 8) && h.key_bytes == n_key && h.binary_bytes &&
	    h.binary_bytes < (UINT64_C(1) << 31) &&
	    (uint64_t)st.st_size == sizeof h + n_key + h.binary_bytes &&
	    (all = mem_try(n_key + h.binary_bytes)) &&
	    fread(all, n_key + h.binary_bytes, 1, f) == 1 && !memcmp(all, key, n_key) &&
	    check_of(key, all + n_key, h.binary_bytes) == h.check) {
		*bytes = h.binary_bytes;
		binary = mem_copy(all + n_key, h.binary_bytes, 1);
	}
	mem_free(all);
	fclose(f);
	return binary;
}

void cl_cache_store(const char *key, const unsigned char *binary, size_t bytes)
{
	char path[PATH_BYTES], tmp[PATH_BYTES + 16];
	struct cache_head h = {CACHE_MAGIC, strlen(key), bytes, check_of(key, binary, bytes)};
	if (!cache_path(key, path, sizeof path))
		return;
	make_dirs(path);
	snprintf(tmp, sizeof tmp, "%s.XXXXXX", path);
	int fd = mkstemp(tmp);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
	if (!f) {
		if (fd >= 0)
			close(fd);
		return;
	}
	bool ok = fwrite(&h, sizeof h, 1, f) == 1 && fwrite(key, h.key_bytes, 1, f) == 1 &&
		  fwrite(binary, bytes, 1, f) == 1;
	ok &= !fclose(f);
	if (!ok || rename(tmp, path))
		unlink(tmp);
}

void cl_cache_drop(const char *key)
{
	char path[PATH_BYTES];
	if (cache_path(key, path, sizeof path))
		unlink(path);
}
