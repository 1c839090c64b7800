/* onednn_layout_loops.h - the loops of onednn_layout.c, one level (cpu_levels.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

static void LEVEL(to_bf16)(const float *x, int64_t n, uint16_t *y)
{
	for (int64_t i = 0; i < n; i++) {
		uint32_t u;
		__builtin_memcpy(&u, x + i, sizeof u);
		uint32_t rounded = (u + 0x7fff + (u >> 16 & 1)) >> 16, nan = u >> 16 | 0x40;
		y[i] = (uint16_t)((u & 0x7fffffff) > 0x7f800000 ? nan : rounded);
	}
}
