/* hash.h - a fast hash of small numbers, for tables of what was seen; not against adversaries. */
#ifndef HSDAG_BASE_HASH_H
#define HSDAG_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* FNV-1a of 64 bits, a number at a time. */
static inline uint64_t hash_u16(const uint16_t *x, size_t n)
{
	uint64_t h = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < n; i++)
		h = (h ^ x[i]) * UINT64_C(1099511628211);
	return h;
}

/* The same of any bytes, eight at a time; those beyond a multiple of eight do not count. */
static inline uint64_t hash_bytes(const void *x, size_t bytes)
{
	uint64_t h = UINT64_C(14695981039346656037), word;

	for (size_t i = 0; i + sizeof word <= bytes; i += sizeof word) {
		memcpy(&word, (const char *)x + i, sizeof word);
		h = (h ^ word) * UINT64_C(1099511628211);
		h ^= h >> 32; /* upper bits would not reach the lower ones */
	}
	return h;
}

#endif
