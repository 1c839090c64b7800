/* bf16_loops.h - the loops of bf16.c, one level (isa_dispatch.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

static void LEVEL(from_bf16)(const uint16_t *restrict x, float *restrict y, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		uint32_t u = (uint32_t)x[i] << 16;
		__builtin_memcpy(y + i, &u, sizeof u);
	}
}

static void LEVEL(to_bf16)(const float *restrict x, uint16_t *restrict y, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		uint32_t u;
		__builtin_memcpy(&u, x + i, sizeof u);
		uint32_t rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16, nan = u >> 16 | 0x40;
		y[i] = (uint16_t)((u & 0x7fffffff) > 0x7f800000 ? nan : rounded);
	}
}
