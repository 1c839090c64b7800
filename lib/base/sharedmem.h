/* sharedmem.h - memory without a name that another process of this machine can read.
 *
 * It is found by its owner's process number and descriptor (/proc/PID/fd/FD), so it exists as long as somebody has it open: a
 * killed process leaves nothing behind.  It never shrinks, so a reader that has mapped it cannot fall off its end. */
#ifndef HSDAG_BASE_SHAREDMEM_H
#define HSDAG_BASE_SHAREDMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sharedmem {
	void *p; /* page-aligned; NULL: there is none */
	size_t n;
	int fd; /* the owner's; -1: it is read */
};

/* n bytes, zero, of which those are taken from the machine that are written.  False: not on this system. */
bool sharedmem_make(struct sharedmem *m, size_t n);

/* What process pid made as descriptor fd, to read.  False: there is no such memory, as where pid is of another machine. */
bool sharedmem_open(struct sharedmem *m, uint32_t pid, uint32_t fd);

/* Also of {0}. */
void sharedmem_release(struct sharedmem *m);

#endif
