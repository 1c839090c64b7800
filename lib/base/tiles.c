/* tiles.c - see tiles.h.  Source: Intel's Software Developer's Manual, volume 2, CPUID. */
#include "base/tiles.h"

#if defined(__x86_64__)
#include <cpuid.h>

enum tiles tiles_of_processor(void)
{
	enum { AMX_BF16 = 22, AMX_TILE = 24 };
	unsigned palettes, b, c, d;
	if (!__get_cpuid_count(7, 0, &palettes, &b, &c, &d) || !(d >> AMX_TILE & 1) ||
	    !(d >> AMX_BF16 & 1))
		return TILES_NONE;
	if (!__get_cpuid_count(0x1d, 0, &palettes, &b, &c, &d) || palettes == 0)
		return TILES_HIDDEN;
	return TILES_USABLE;
}
#else
enum tiles tiles_of_processor(void)
{
	return TILES_NONE;
}
#endif
