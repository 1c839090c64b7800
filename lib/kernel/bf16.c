/* bf16.c - bf16 to f32 and back: an instruction does the rounding where the processor has one. */
#include "kernel/vec.h"

#define LEVEL_FILE "kernel/bf16_loops.h"
#include "kernel/isa_dispatch.h"

void vec_from_bf16(const uint16_t *x, float *y, int64_t n)
{
	LEVEL_CALL(from_bf16, x, y, n);
}

#ifdef CPU_HAS_LEVELS

#define ROUNDS __attribute__((target("arch=x86-64-v4,avx512bf16,prefer-vector-width=512")))

static bool rounds;

__attribute__((constructor)) static void find_instruction(void)
{
	__builtin_cpu_init();
	rounds = __builtin_cpu_supports("avx512bf16");
}

ROUNDS static void round_all(const float *x, uint16_t *y, int64_t n)
{
	int64_t i = 0;
	for (; i + 32 <= n; i += 32)
		_mm512_storeu_si512(y + i, (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + i + 16),
									_mm512_loadu_ps(x + i)));
	for (; i < n; i += 16) {
		__mmask16 m = n - i >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << (n - i)) - 1);
		__m512 v = _mm512_maskz_loadu_ps(m, x + i);
		_mm256_mask_storeu_epi16(y + i, m, (__m256i)_mm512_cvtneps_pbh(v));
	}
}

void vec_to_bf16(const float *x, uint16_t *y, int64_t n)
{
	if (rounds && cpu_level >= 4)
		round_all(x, y, n);
	else
		LEVEL_CALL(to_bf16, x, y, n);
}

#else

void vec_to_bf16(const float *x, uint16_t *y, int64_t n)
{
	LEVEL_CALL(to_bf16, x, y, n);
}

#endif
