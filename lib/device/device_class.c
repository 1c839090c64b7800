/* device_class.c - the registry of device classes: the table of record/device_classes.h with the
 * functions of each. */
#include "device/device.h"

#include <stdio.h>
#include <string.h>

#include "record/device_classes.h"

#define DECLARE(id, type, prefix) extern const struct device_class id##_device_class;
DEVICE_CLASSES(DECLARE)

static const struct {
	const struct device_class *class;
	const char *type, *prefix;
} table[] = {
#define ENTRY(id, type, prefix) {&id##_device_class, type, prefix},
	DEVICE_CLASSES(ENTRY)};

enum { N_CLASSES = sizeof table / sizeof *table };

static bool has_prefix(const char *name, const char *prefix)
{
	size_t n = strlen(prefix);
	if (strncmp(name, prefix, n) != 0)
		return false;
	return prefix[n - 1] == ':' || name[n] == ':' || name[n] == '/' || name[n] == '\0';
}

const struct device_class *device_class_of_name(const char *name)
{
	for (uint32_t i = 0; i < N_CLASSES; i++)
		if (has_prefix(name, table[i].prefix))
			return table[i].class;
	return NULL;
}

const char *device_class_type(const struct device_class *c)
{
	for (uint32_t i = 0; i < N_CLASSES; i++)
		if (table[i].class == c)
			return table[i].type;
	return "-";
}

const struct device_class *device_class_at(uint32_t i)
{
	return i < N_CLASSES ? table[i].class : NULL;
}

static void append(char *dst, size_t cap, const char *before, const char *text)
{
	size_t n = strlen(dst);
	snprintf(dst + n, cap - n, "%s%s", before, text);
}

char *device_class_forms(char *dst, size_t cap)
{
	dst[0] = '\0';
	for (uint32_t i = 0; i < N_CLASSES; i++)
		append(dst, cap,
		       i == 0              ? ""
		       : i + 1 < N_CLASSES ? ", "
					   : " or ",
		       table[i].class->forms);
	return dst;
}

char *device_class_help(char *dst, size_t cap)
{
	dst[0] = '\0';
	for (uint32_t i = 0; i < N_CLASSES; i++)
		append(dst, cap, i == 0 ? "" : ", ", table[i].class->help);
	return dst;
}
