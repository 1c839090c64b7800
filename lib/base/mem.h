/* mem.h - memory: checked allocation, arenas, byte buffers.
 *
 * Small memory that a program cannot go on without comes from mem_*, which
 * never return NULL: when the system has none left, nor is there a reserve, the
 * out-of-memory hook reports and exits with status 1.  Memory whose absence is an answer (device
 * buffers, whole tensors) comes from mem_try, which returns NULL.
 * Tests set a countdown that makes the k-th allocation fail
 * (HSDAG_FAIL_ALLOC=k in the environment). */
#ifndef HSDAG_BASE_MEM_H
#define HSDAG_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* n * size in *out; false when it does not fit size_t. */
bool mem_mul(size_t n, size_t size, size_t *out);

void *mem_alloc(size_t n, size_t size);               /* zeroed; never NULL */
void *mem_resize(void *p, size_t n, size_t size);     /* new bytes undefined; never NULL */
void *mem_copy(const void *p, size_t n, size_t size); /* never NULL */
char *mem_strdup(const char *s);
void mem_free(void *p);
void *mem_try(size_t bytes); /* 64-byte aligned, not zeroed, NULL when there is none; mem_free */

/* old with room for `bytes`, the new ones not zeroed; NULL: there are none, and old stays. */
void *mem_try_resize(void *old, size_t bytes);

/* What a library has set aside, so that a piece that the system does not give ends no process: it is freed then, the piece is
 * had, and mem_try returns NULL from there on, so that what is being done ends with an error soon.  No piece of mem_* may be larger:
 * whoever reads something large sets aside what it may need first.  mem_reserve sets `bytes` at least aside, more where less is,
 * or again, and mem_try tries again; false: the system has not so much.  mem_use_reserve frees it, for
 * who got no memory from elsewhere, who tries again; false: there is none.  mem_ran_out: it was freed since.  By any thread. */
bool mem_reserve(size_t bytes);
bool mem_use_reserve(void);
bool mem_ran_out(void);
int mem_check(struct err *e) MUST_CHECK; /* -1: it was; for what goes on for long */

/* Bytes that the machine, and the process's control group, can still give; UINT64_MAX: unknown.
 * mem_try asks for large pieces, since a system that promises more than it has ends the process
 * when the memory is used. */
uint64_t mem_available(void);

/* The most bytes of memory that the process has had at once since its program began; 0: unknown.
 * The ru_maxrss of getrusage also counts what its starter had before the program was loaded. */
uint64_t mem_peak(void);

#define MEM_NEW(T) ((T *)mem_alloc(1, sizeof(T)))
#define MEM_NEWN(T, n) ((T *)mem_alloc((n), sizeof(T)))

/* Grow array p (count *cap) to hold at least `need` elements of `size` bytes. */
void *mem_grow(void *p, size_t *cap, size_t need, size_t size);

/* An arena: many allocations, one release.  Blocks are kept by arena_reset. */
struct arena;
struct arena *arena_new(void);
void *arena_alloc(struct arena *a, size_t n,
		  size_t size); /* zeroed, 64-byte aligned if >= 64 bytes, else 16 */
void *arena_raw(struct arena *a, size_t n, size_t size); /* as arena_alloc, not zeroed */
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_reset(
	struct arena *a); /* everything allocated from it is gone; memory stays for reuse */
void arena_free(struct arena *a);
size_t arena_bytes(const struct arena *a); /* bytes held from the system */

#define ARENA_NEWN(a, T, n) ((T *)arena_alloc((a), (n), sizeof(T)))

#endif
