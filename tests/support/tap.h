/* tap.h - unit tests as programs: "ok N - name" lines, then the plan.
 *
 *   int main(void) { tap(sum == 3, "sums"); tap(x < y, "case %d", i); return tap_end(); } */
#ifndef HSDAG_TESTS_TAP_H
#define HSDAG_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 2, 3), unused)) static bool tap(bool ok, const char *fmt, ...)
{
	va_list ap;
	printf("%sok %d - ", ok ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
	tap_failed += !ok;
	return ok;
}

__attribute__((unused)) static int tap_end(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

#endif
