/* device_precision.c - see device_precision.h. */
#include "device/device_precision.h"

#include <string.h>

bool has_word(const char *words, const char *word)
{
	size_t n = strlen(word);
	for (const char *s = words; s; s = strchr(s, '|') ? strchr(s, '|') + 1 : NULL)
		if (strncmp(s, word, n) == 0 && (s[n] == '|' || s[n] == '\0'))
			return true;
	return false;
}

enum device_precision precision_named(const char *name, const char *names)
{
	static const char *const all[] = {[PRECISION_F32] = "f32",
					  [PRECISION_F16] = "f16",
					  [PRECISION_BF16] = "bf16",
					  [PRECISION_INT8] = "int8"};
	int i = 0;
	while (i < PRECISION_COUNT && (strcmp(name, all[i]) != 0 || !has_word(names, name)))
		i++;
	return (enum device_precision)i;
}

bool precision_option(const char *option, const char *names, enum device_precision *out)
{
	static const char key[] = "/precision=";
	*out = PRECISION_F32;
	if (*option == '\0')
		return true;
	if (strncmp(option, key, sizeof key - 1) != 0)
		return false;
	*out = precision_named(option + sizeof key - 1, names);
	return *out != PRECISION_COUNT;
}
