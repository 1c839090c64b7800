/* sharedmem.c - memory that another process can read. */
#include "base/sharedmem.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char name[] = "hsdag";
static const char named[] = "/memfd:hsdag";

static bool map(struct sharedmem *m, int fd, size_t n, int protection)
{
	void *p = mmap(NULL, n, protection, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (p == MAP_FAILED)
		return false;
	m->p = p;
	m->n = n;
	return true;
}

bool sharedmem_make(struct sharedmem *m, size_t n)
{
	*m = (struct sharedmem){.fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
	if (m->fd >= 0 && ftruncate(m->fd, (off_t)n) == 0 &&
	    fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0 &&
	    map(m, m->fd, n, PROT_READ | PROT_WRITE))
		return true;
	sharedmem_release(m);
	return false;
}

bool sharedmem_open(struct sharedmem *m, uint32_t pid, uint32_t fd)
{
	char path[64], target[sizeof named - 1];
	struct stat s;
	*m = (struct sharedmem){.fd = -1};
	snprintf(path, sizeof path, "/proc/%u/fd/%u", pid, fd);
	/* Any other file stays closed: opening some of them does something. */
	if (readlink(path, target, sizeof target) != sizeof target ||
	    memcmp(target, named, sizeof target) != 0)
		return false;
	int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (opened < 0)
		return false;
	int seals = fcntl(opened, F_GET_SEALS);
	bool found = seals >= 0 && (seals & F_SEAL_SHRINK) && fstat(opened, &s) == 0 &&
		     s.st_size > 0 && map(m, opened, (size_t)s.st_size, PROT_READ);
	close(opened);
	return found;
}

void sharedmem_release(struct sharedmem *m)
{
	if (m->p)
		munmap(m->p, m->n);
	if (m->fd > 0) /* 0: of {0} */
		close(m->fd);
	*m = (struct sharedmem){.fd = -1};
}
