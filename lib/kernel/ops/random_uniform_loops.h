/* random_uniform_loops.h - Philox 4x32-10 for several counters at once, one level (isa_dispatch.h). */

#if LEVEL_WIDTH > 4
/* 64-bit lanes, of which the lower halves count: what a product leaves above does no harm. */
#if LEVEL_WIDTH == 16
#define LANES __m512i
#define EACH_LANE(x) _mm512_set1_epi64((int64_t)(x))
#define WIDE_PRODUCT(a, b) _mm512_mul_epu32(a, b)
#else
#define LANES __m256i
#define EACH_LANE(x) _mm256_set1_epi64x((int64_t)(x))
#define WIDE_PRODUCT(a, b) _mm256_mul_epu32(a, b)
#endif

/* Counters with lower halves low[]; several vectors in turn, as a product has to be waited for. */
static void LEVEL(philox_lanes)(uint64_t key, uint64_t high, const uint64_t *low, uint64_t *to)
{
	enum { W = LEVEL_WIDTH / 2, G = PHILOX_COUNTERS / W };
	typedef uint64_t lanes __attribute__((vector_size(8 * W)));
	lanes a[G], b[G], c[G], d[G];
	uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
	__builtin_memcpy(a, low, sizeof a);
	for (int g = 0; g < G; g++) {
		b[g] = a[g] >> 32;
		c[g] = (lanes)EACH_LANE(high);
		d[g] = c[g] >> 32;
	}
	for (int round = 0; round < 10; round++) {
#pragma GCC unroll 8
		for (int g = 0; g < G; g++) {
			lanes p = (lanes)WIDE_PRODUCT((LANES)a[g], EACH_LANE(0xD2511F53u));
			lanes q = (lanes)WIDE_PRODUCT((LANES)c[g], EACH_LANE(0xCD9E8D57u));
			a[g] = (q >> 32) ^ b[g] ^ (uint64_t)k0;
			b[g] = q;
			c[g] = (p >> 32) ^ d[g] ^ (uint64_t)k1;
			d[g] = p;
		}
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	for (int g = 0; g < G; g++) {
		a[g] = (a[g] & 0xffffffffu) | b[g] << 32;
		c[g] = (c[g] & 0xffffffffu) | d[g] << 32;
		for (int j = 0; j < W; j++, to += 2) {
			to[0] = a[g][j];
			to[1] = c[g][j];
		}
	}
}
#undef LANES
#undef EACH_LANE
#undef WIDE_PRODUCT
#else
static void LEVEL(philox_lanes)(uint64_t key, uint64_t high, const uint64_t *low, uint64_t *to)
{
	for (int j = 0; j < PHILOX_COUNTERS; j++) {
		uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
		uint32_t a = (uint32_t)low[j], b = (uint32_t)(low[j] >> 32), c = (uint32_t)high,
			 d = (uint32_t)(high >> 32);
		for (int round = 0; round < 10; round++) {
			uint64_t p = (uint64_t)a * 0xD2511F53u, q = (uint64_t)c * 0xCD9E8D57u;
			a = (uint32_t)(q >> 32) ^ b ^ k0;
			b = (uint32_t)q;
			c = (uint32_t)(p >> 32) ^ d ^ k1;
			d = (uint32_t)p;
			k0 += 0x9E3779B9u;
			k1 += 0xBB67AE85u;
		}
		to[2 * j] = a | (uint64_t)b << 32;
		to[2 * j + 1] = c | (uint64_t)d << 32;
	}
}
#endif

/* Numbers 4 i .. 4 i + 3 of `to` belong to counter (first + i, high), i < n; first + n has no carry. */
static void LEVEL(philox)(uint64_t key, uint64_t high, uint64_t first, uint32_t *to, int64_t n)
{
	enum { W = PHILOX_COUNTERS };
	for (int64_t i = 0; i < n; i += W, to += 4 * W) {
		int64_t m = n - i < W ? n - i : W;
		uint64_t low[W], block[2 * W];
		for (int j = 0; j < W; j++)
			low[j] = first + (uint64_t)(i + j);
		LEVEL(philox_lanes)(key, high, low, block);
		if (m == W)
			__builtin_memcpy(to, block, sizeof block);
		for (int64_t j = 0; m < W && j < m; j++)
			__builtin_memcpy(to + 4 * j, block + 2 * j, 16);
	}
}

/* lo + range u, u the low 23 bits as a fraction. */
static void LEVEL(scale_bits)(const uint32_t *x, float lo, float range, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = (float)(int32_t)(x[i] & 0x7fffff) * 0x1p-23f * range + lo;
}
