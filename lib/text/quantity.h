/* quantity.h - times and sizes as people say them: "3.700 ms", "1 min 40 s", "25.28 GB". */
#ifndef HSDAG_TEXT_QUANTITY_H
#define HSDAG_TEXT_QUANTITY_H

#include <stdint.h>

enum { QUANTITY_CAP = 64 };

/* Seconds with four digits in ns, us, ms or s, from a minute on in the two largest units of days, hours, minutes and
 * seconds.  0 and less: "0 s"; infinite or no number: "-".  Into dst[QUANTITY_CAP]; returns dst. */
char *quantity_seconds(double s, char dst[QUANTITY_CAP]);
/* "3.689 to 3.714 ms": both in the unit of the larger one, where that is below a minute. */
char *quantity_interval(double lo_s, double hi_s, char dst[QUANTITY_CAP]);
/* One of these without zeros behind the point, for scales: "200 ms" of "200.0 ms".  Returns it. */
char *quantity_trim(char *text);
/* "29.40 MB": powers of 1000. */
char *quantity_bytes(double bytes, char dst[QUANTITY_CAP]);

#endif
