/* cl_cache.c - built OpenCL programs on disk, in $XDG_CACHE_HOME/hsdag or
 * ~/.cache/hsdag (base/cachedir.h: what others own there is not used).
 *
 * An entry is named by a hash of its key and holds the key itself, so that a
 * collision is a miss; its checksum tells a damaged entry, which is a miss
 * too.  Entries are written to a temporary name and renamed. */
#include "device/opencl/cl_impl.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cachedir.h"

#define CACHE_MAGIC "hsdagcl1"
enum { NAME_BYTES = 32 };

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

/* The name of the key's entry in the directory, which is opened; -1: there is none to use. */
static int open_cache(const char *key, char name[NAME_BYTES])
{
	struct err unused = ERR_INIT;
	char *path = cachedir_default();
	int dir = path ? cachedir_open(path, &unused) : -1;
	mem_free(path);
	snprintf(name, NAME_BYTES, "%016llx.clbin",
		 (unsigned long long)hash(key, strlen(key), UINT64_C(0xcbf29ce484222325)));
	return dir;
}

unsigned char *cl_cache_load(const char *key, size_t *bytes)
{
	char name[NAME_BYTES];
	struct cache_head h;
	struct stat st;
	unsigned char *all = NULL, *binary = NULL;
	int dir = open_cache(key, name), fd = dir < 0 ? -1 : cachedir_file(dir, name);
	if (dir >= 0)
		close(dir);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");
	if (!f) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	size_t n_key = strlen(key);
	if (!fstat(fileno(f), &st) && fread(&h, sizeof h, 1, f) == 1 &&
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
	char name[NAME_BYTES], tmp[NAME_BYTES + 32];
	struct cache_head h = {CACHE_MAGIC, strlen(key), bytes, check_of(key, binary, bytes)};
	int dir = open_cache(key, name);
	if (dir < 0)
		return;
	snprintf(tmp, sizeof tmp, "%s.%ld", name, (long)getpid());
	unlinkat(dir, tmp, 0); /* of a process that is no more */
	int fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");
	if (f) {
		bool ok = fwrite(&h, sizeof h, 1, f) == 1 && fwrite(key, h.key_bytes, 1, f) == 1 &&
			  fwrite(binary, bytes, 1, f) == 1;
		ok &= !fclose(f);
		if (!ok || renameat(dir, tmp, dir, name))
			unlinkat(dir, tmp, 0);
	} else if (fd >= 0) {
		close(fd);
		unlinkat(dir, tmp, 0);
	}
	close(dir);
}

void cl_cache_drop(const char *key)
{
	char name[NAME_BYTES];
	int dir = open_cache(key, name);
	if (dir < 0)
		return;
	unlinkat(dir, name, 0);
	close(dir);
}
