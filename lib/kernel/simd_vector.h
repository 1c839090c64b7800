/* simd_vector.h - one vector type for each level, included by isa_dispatch.h before each
 * inclusion of LEVEL_FILE; never guarded.  VHALF widens IEEE halves. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#undef VEC
#undef VLOAD
#undef VSTORE
#undef VALL
#undef VADD
#undef VSUB
#undef VMUL
#undef VMAX
#undef VMIN
#undef VFMA
#undef VFNMA
#undef VHALF
#if LEVEL_WIDTH == 16
#define VEC __m512
#define VLOAD(p) _mm512_loadu_ps(p)
#define VSTORE(p, v) _mm512_storeu_ps(p, v)
#define VALL(x) _mm512_set1_ps(x)
#define VADD(a, b) _mm512_add_ps(a, b)
#define VSUB(a, b) _mm512_sub_ps(a, b)
#define VMUL(a, b) _mm512_mul_ps(a, b)
#define VMAX(a, b) _mm512_max_ps(a, b)
#define VMIN(a, b) _mm512_min_ps(a, b)
#define VFMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define VFNMA(a, b, c) _mm512_fnmadd_ps(a, b, c)
#define VHALF(p) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)(p)))
#elif LEVEL_WIDTH == 8
#define VEC __m256
#define VLOAD(p) _mm256_loadu_ps(p)
#define VSTORE(p, v) _mm256_storeu_ps(p, v)
#define VALL(x) _mm256_set1_ps(x)
#define VADD(a, b) _mm256_add_ps(a, b)
#define VSUB(a, b) _mm256_sub_ps(a, b)
#define VMUL(a, b) _mm256_mul_ps(a, b)
#define VMAX(a, b) _mm256_max_ps(a, b)
#define VMIN(a, b) _mm256_min_ps(a, b)
#define VFMA(a, b, c) _mm256_fmadd_ps(a, b, c)
#define VFNMA(a, b, c) _mm256_fnmadd_ps(a, b, c)
#define VHALF(p) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#else
#define VEC vec4
#define VLOAD(p) (*(const vec4 *)(const void *)(p))
#define VSTORE(p, v) (*(vec4 *)(void *)(p) = (v))
#define VALL(x) ((vec4){x, x, x, x})
#define VADD(a, b) ((a) + (b))
#define VSUB(a, b) ((a) - (b))
#define VMUL(a, b) ((a) * (b))
#define VMAX(a, b) vec4_max(a, b)
#define VMIN(a, b) vec4_min(a, b)
#define VFMA(a, b, c) ((a) * (b) + (c))
#define VFNMA(a, b, c) ((c) - (a) * (b))
#define VHALF(p) ((vec4){half_to_float((p)[0]), half_to_float((p)[1]), half_to_float((p)[2]), \
			 half_to_float((p)[3])})
#endif
