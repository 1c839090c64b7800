/* formats.c - the table of formats.h with the functions of each format. */
#include <stddef.h>

#include "report/format.h"
#include "report/formats.h"

#define DECLARE(name) extern const struct report_format format_##name;
REPORT_FORMATS(DECLARE)

#define ENTRY(name) &format_##name,
const struct report_format *const report_formats[] = {REPORT_FORMATS(ENTRY) NULL};
