/* digest.h - XXH64 of bytes, at once or piece by piece: what streams and graphs are told apart by.
 * Not against adversaries. */
#ifndef HSDAG_BASE_DIGEST_H
#define HSDAG_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

uint64_t digest_of(const void *data, size_t n, uint64_t seed);

/* Piece by piece, seed 0.  digest_free takes NULL. */
struct digest;
struct digest *digest_new(void);
void digest_free(struct digest *d);
void digest_reset(struct digest *d);
void digest_add(struct digest *d, const void *data, size_t n);
uint64_t digest_value(const struct digest *d);

#endif
