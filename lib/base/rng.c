/* rng.c - Philox4x32-10 (Salmon et al., SC 2011). */
#include "base/rng.h"

#include <math.h>
#include <string.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

static inline void philox_round(uint32_t c[4], uint32_t k0, uint32_t k1)
{
	uint64_t p0 = (uint64_t)0xD2511F53u * c[0], p1 = (uint64_t)0xCD9E8D57u * c[2];
	uint32_t c1 = c[1], c3 = c[3];
	c[0] = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
	c[1] = (uint32_t)p1;
	c[2] = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
	c[3] = (uint32_t)p0;
}

static inline void philox(const struct rng_addr *a, uint32_t index, uint32_t c[4])
{
	uint32_t k0 = (uint32_t)a->seed, k1 = (uint32_t)(a->seed >> 32);
	c[0] = index;
	c[1] = a->stream;
	c[2] = a->step;
	c[3] = a->episode;
	for (int r = 0; r < 10; r++) {
		philox_round(c, k0, k1);
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
}

void rng_block(const struct rng_addr *a, uint32_t index, uint32_t out[4])
{
	philox(a, index, out);
}

/* LANES blocks side by side, so that the compiler vectorises the rounds. */
enum { LANES = 16 };

static void philox_lanes(const struct rng_addr *a, uint32_t first, uint32_t out[4][LANES])
{
	uint32_t k0 = (uint32_t)a->seed, k1 = (uint32_t)(a->seed >> 32);
	uint32_t c0[LANES], c1[LANES], c2[LANES], c3[LANES];
	for (int i = 0; i < LANES; i++) {
		c0[i] = first + (uint32_t)i;
		c1[i] = a->stream;
		c2[i] = a->step;
		c3[i] = a->episode;
	}
	for (int r = 0; r < 10; r++) {
		for (int i = 0; i < LANES; i++) {
			uint64_t p0 = (uint64_t)0xD2511F53u * c0[i];
			uint64_t p1 = (uint64_t)0xCD9E8D57u * c2[i];
			c0[i] = (uint32_t)(p1 >> 32) ^ c1[i] ^ k0;
			c2[i] = (uint32_t)(p0 >> 32) ^ c3[i] ^ k1;
			c1[i] = (uint32_t)p1;
			c3[i] = (uint32_t)p0;
		}
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	for (int i = 0; i < LANES; i++) {
		out[0][i] = c0[i];
		out[1][i] = c1[i];
		out[2][i] = c2[i];
		out[3][i] = c3[i];
	}
}

/* The words of block after block, low halves before high ones. */
static void interleave(const uint32_t *w, uint16_t out[8 * LANES])
{
	uint64_t pair[2 * LANES];
	for (int b = 0; b < LANES; b++) {
		pair[2 * b] = w[b] | (uint64_t)w[LANES + b] << 32;
		pair[2 * b + 1] = w[2 * LANES + b] | (uint64_t)w[3 * LANES + b] << 32;
	}
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(out, pair, sizeof pair);
#else
	for (int i = 0; i < 8 * LANES; i++)
		out[i] = (uint16_t)(pair[i / 4] >> 16 * (i % 4));
#endif
}

#if defined(__x86_64__) && defined(__GNUC__)
/* The same by hand: compilers multiply 32 by 32 bits in 64-bit lanes at thrice the
 * price.  A word is the low half of its lane; what is above it does not matter to
 * the products and is cleared at the end. */
__attribute__((target("avx2"))) static void bits16_avx2(const struct rng_addr *a, uint32_t first,
							uint16_t out[8 * LANES])
{
	enum { V = LANES / 4 };
	const __m256i m0 = _mm256_set1_epi64x(0xD2511F53), m1 = _mm256_set1_epi64x(0xCD9E8D57);
	__m256i c0[V], c1[V], c2[V], c3[V];
	uint32_t k0 = (uint32_t)a->seed, k1 = (uint32_t)(a->seed >> 32);
	for (int i = 0; i < V; i++) {
		uint32_t n = first + 4 * (uint32_t)i;
		c0[i] = _mm256_set_epi64x(n + 3, n + 2, n + 1, n);
		c1[i] = _mm256_set1_epi64x(a->stream);
		c2[i] = _mm256_set1_epi64x(a->step);
		c3[i] = _mm256_set1_epi64x(a->episode);
	}
	for (int r = 0; r < 10; r++) {
		__m256i q0 = _mm256_set1_epi64x(k0), q1 = _mm256_set1_epi64x(k1);
		for (int i = 0; i < V; i++) {
			__m256i p0 = _mm256_mul_epu32(m0, c0[i]), p1 = _mm256_mul_epu32(m1, c2[i]);
			c0[i] = _mm256_srli_epi64(p1, 32) ^ c1[i] ^ q0;
			c2[i] = _mm256_srli_epi64(p0, 32) ^ c3[i] ^ q1;
			c1[i] = p1;
			c3[i] = p0;
		}
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	const __m256i low = _mm256_set1_epi64x(0xffffffff);
	for (int i = 0; i < V; i++) {
		__m256i c01 = (c0[i] & low) | _mm256_slli_epi64(c1[i], 32);
		__m256i c23 = (c2[i] & low) | _mm256_slli_epi64(c3[i], 32);
		__m256i even = _mm256_unpacklo_epi64(c01, c23),
			odd = _mm256_unpackhi_epi64(c01, c23);
		__m256i pair[2] = {_mm256_permute2x128_si256(even, odd, 0x20),
				   _mm256_permute2x128_si256(even, odd, 0x31)};
		memcpy(out + 32 * i, pair, sizeof pair);
	}
}

/* The same with twice the blocks in a vector, and both exclusive ors of a word at once. */
__attribute__((target("avx512f"))) static void bits16_avx512(const struct rng_addr *a,
							     uint32_t first,
							     uint16_t out[8 * LANES])
{
	enum { V = LANES / 8, XOR3 = 0x96 };
	const __m512i m0 = _mm512_set1_epi64(0xD2511F53), m1 = _mm512_set1_epi64(0xCD9E8D57);
	__m512i c0[V], c1[V], c2[V], c3[V];
	uint32_t k0 = (uint32_t)a->seed, k1 = (uint32_t)(a->seed >> 32);
	for (int i = 0; i < V; i++) {
		uint32_t n = first + 8 * (uint32_t)i;
		c0[i] = _mm512_set_epi64(n + 7, n + 6, n + 5, n + 4, n + 3, n + 2, n + 1, n);
		c1[i] = _mm512_set1_epi64(a->stream);
		c2[i] = _mm512_set1_epi64(a->step);
		c3[i] = _mm512_set1_epi64(a->episode);
	}
	for (int r = 0; r < 10; r++) {
		__m512i q0 = _mm512_set1_epi64(k0), q1 = _mm512_set1_epi64(k1);
		for (int i = 0; i < V; i++) {
			__m512i p0 = _mm512_mul_epu32(m0, c0[i]), p1 = _mm512_mul_epu32(m1, c2[i]);
			c0[i] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p1, 32), c1[i], q0,
							  XOR3);
			c2[i] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p0, 32), c3[i], q1,
							  XOR3);
			c1[i] = p1;
			c3[i] = p0;
		}
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	const __m512i low = _mm512_set1_epi64(0xffffffff);
	const __m512i left = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11),
		      right = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
	for (int i = 0; i < V; i++) {
		__m512i c01 = (c0[i] & low) | _mm512_slli_epi64(c1[i], 32);
		__m512i c23 = (c2[i] & low) | _mm512_slli_epi64(c3[i], 32);
		__m512i pair[2] = {_mm512_permutex2var_epi64(c01, left, c23),
				   _mm512_permutex2var_epi64(c01, right, c23)};
		memcpy(out + 64 * i, pair, sizeof pair);
	}
}
#endif

/* 8 * LANES numbers from LANES blocks */
static void bits16_lanes(const struct rng_addr *a, uint32_t first, uint16_t out[8 * LANES])
{
#if defined(__x86_64__) && defined(__GNUC__)
	if (__builtin_cpu_supports("avx512f")) {
		bits16_avx512(a, first, out);
		return;
	}
	if (__builtin_cpu_supports("avx2")) {
		bits16_avx2(a, first, out);
		return;
	}
#endif
	uint32_t w[4][LANES];
	philox_lanes(a, first, w);
	interleave(w[0], out);
}

void rng_bits16(const struct rng_addr *a, uint32_t first, uint16_t *out, size_t n)
{
	uint16_t last[8 * LANES];
	for (; n >= 8 * LANES; first += LANES, out += 8 * LANES, n -= 8 * LANES)
		bits16_lanes(a, first, out);
	if (n > 0) {
		bits16_lanes(a, first, last);
		memcpy(out, last, n * sizeof *out);
	}
}

double rng_uniform(const struct rng_addr *a, uint32_t index)
{
	uint32_t c[4];
	philox(a, index, c);
	uint64_t bits = ((uint64_t)c[0] << 32 | c[1]) >> 11;
	return (double)bits * 0x1p-53;
}

double rng_normal(const struct rng_addr *a, uint32_t index)
{
	double u = 1 - rng_uniform(a, 2 * index), v = rng_uniform(a, 2 * index + 1);

	return sqrt(-2 * log(u)) * cos(2 * acos(-1.0) * v);
}

void rng_uniform_f32(const struct rng_addr *a, float lo, float hi, float *out, size_t n)
{
	uint32_t c[4];
	for (size_t i = 0; i < n; i++) {
		if (i % 4 == 0)
			philox(a, (uint32_t)(i / 4), c);
		out[i] = lo + (hi - lo) * ((float)(c[i % 4] >> 8) * 0x1p-24f);
	}
}

uint32_t rng_below(const struct rng_addr *a, uint32_t index, uint32_t bound)
{
	uint32_t c[4];
	philox(a, index, c);
	return (uint32_t)((uint64_t)(((unsigned __int128)((uint64_t)c[0] << 32 | c[1]) * bound) >>
				     64));
}
