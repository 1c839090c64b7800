/* Times and sizes as people say them. */
#include <math.h>
#include <string.h>

#include "text/quantity.h"
#include "tap.h"

static void seconds(double s, const char *want)
{
	char text[QUANTITY_CAP];
	tap(strcmp(quantity_seconds(s, text), want) == 0, "%g s is '%s' ('%s')", s, want, text);
}

static void interval(double lo, double hi, const char *want)
{
	char text[QUANTITY_CAP];
	tap(strcmp(quantity_interval(lo, hi, text), want) == 0, "%g to %g s is '%s' ('%s')", lo, hi,
	    want, text);
}

static void bytes(double x, const char *want)
{
	char text[QUANTITY_CAP];
	tap(strcmp(quantity_bytes(x, text), want) == 0, "%g bytes are '%s' ('%s')", x, want, text);
}

static void trimmed(const char *of, const char *want)
{
	char text[QUANTITY_CAP];
	snprintf(text, sizeof text, "%s", of);
	tap(strcmp(quantity_trim(text), want) == 0, "'%s' on a scale is '%s' ('%s')", of, want,
	    text);
}

int main(void)
{
	trimmed("200.0 ms", "200 ms");
	trimmed("1.200 s", "1.2 s");
	trimmed("100 s", "100 s");
	trimmed("1 min 40 s", "1 min 40 s");
	trimmed("10000 PB", "10000 PB");
	seconds(0, "0 s");
	seconds(-1, "0 s");
	seconds(NAN, "-");
	seconds(INFINITY, "-");
	seconds(2.5e-10, "0.250 ns");
	seconds(1e-9, "1.000 ns");
	seconds(12.345e-6, "12.35 µs");
	seconds(0.0037004, "3.700 ms");
	seconds(0.0999949, "99.99 ms");
	seconds(0.0999951, "100.0 ms");
	seconds(0.99996, "1.000 s");
	seconds(59.99, "59.99 s");
	seconds(59.999, "1 min");
	seconds(100.4, "1 min 40 s");
	seconds(3599.4, "59 min 59 s");
	seconds(3599.6, "1 h");
	seconds(7500, "2 h 5 min");
	seconds(86400, "1 d");
	seconds(1e6, "11 d 14 h");
	seconds(1e13, "1e+13 s");
	seconds(1e300, "1e+300 s");
	interval(0.003689, 0.003714, "3.689 to 3.714 ms");
	interval(0.0009, 0.0012, "0.900 to 1.200 ms");
	interval(50, 70, "50.00 s to 1 min 10 s");
	bytes(0, "0 B");
	bytes(999, "999 B");
	bytes(29.4e6, "29.40 MB");
	bytes(25276.5e6, "25.28 GB");
	bytes(1e19, "10000 PB");
	return tap_end();
}
