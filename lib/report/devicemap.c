/* devicemap.c - lists of new names for devices. */
#include <stdio.h>
#include <string.h>

#include "record/devrec.h"
#include "report/devicemap.h"

/* The device with whose name and a '=' the text begins, or k. */
static uint32_t device_named(const char *const *names, uint32_t k, const char *text)
{
	uint32_t d = 0;
	for (; d < k; d++) {
		size_t n = strlen(names[d]);
		if (strncmp(text, names[d], n) == 0 && text[n] == '=')
			break;
	}
	return d;
}

static int no_such_device(const char *const *names, uint32_t k, const char *text, struct err *e)
{
	char name[80];
	snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
	if (!strchr(text, '='))
		return err_set(e, ST_USAGE, "--map: '%s' has no new name; write OLD=NEW,OLD=NEW",
			       name);
	devs_unknown(names, k, name, ST_USAGE, e);
	return err_prefix(e, "--map");
}

int devicemap_rename(const char *map, uint32_t k, const char **names, struct arena *a,
		     struct err *e)
{
	const char **old = arena_raw(a, k, sizeof *old);
	memcpy(old, names, k * sizeof *old);
	for (const char *s = map; *s;) {
		uint32_t d = device_named(old, k, s);
		if (d == k)
			return no_such_device(old, k, s, e);
		s += strlen(old[d]) + 1;
		size_t n = strcspn(s, ",");
		if (n == 0)
			return err_set(e, ST_USAGE,
				       "--map: '%s' has no new name; write OLD=NEW,OLD=NEW",
				       old[d]);
		names[d] = arena_strndup(a, s, n);
		s += n;
		s += *s == ',';
	}
	return 0;
}

/* Of ov:NAME[:CORES][/PROPERTIES]: NAME, which may hold colons itself (BATCH:GPU). */
static const char *plugin_name(const char *name, struct arena *a)
{
	size_t n = strcspn(name, "/");
	for (size_t i = n; i-- > 0;)
		if (name[i] == ':') {
			n = name[i + 1] >= '0' && name[i + 1] <= '9' ? i : n;
			break;
		}
	return arena_strndup(a, name, n);
}

void devicemap_openvino(uint32_t k, const char **names, struct arena *a)
{
	uint32_t n_cl = 0, cl = 0;
	for (uint32_t d = 0; d < k; d++)
		n_cl += strncmp(names[d], "cl:", 3) == 0;
	for (uint32_t d = 0; d < k; d++) {
		size_t head = strcspn(names[d], ":/");
		if (head == 3 && strncmp(names[d], "cpu", 3) == 0)
			names[d] = "CPU";
		else if (strncmp(names[d], "ov:", 3) == 0)
			names[d] = plugin_name(names[d] + 3, a);
		else if (strncmp(names[d], "cl:", 3) == 0)
			names[d] = n_cl > 1 ? arena_printf(a, "GPU.%u", cl++) : "GPU";
	}
}

bool devicemap_is_cpu(const char *name, struct arena *a)
{
	devicemap_openvino(1, &name, a);
	return strcmp(name, "CPU") == 0;
}

/* The devices in use from `first` on that are names[first]: their number, and them as text. */
static uint32_t list_same(uint32_t k, const char *const *placed, const char *const *names,
			  const uint32_t *sets, uint32_t first, char *text, size_t cap)
{
	uint32_t n = 0;
	char name[80];
	text[0] = 0;
	for (uint32_t d = first; d < k; d++) {
		if (sets[d] == 0 || strcmp(names[d], names[first]) != 0)
			continue;
		size_t used = strlen(text);
		snprintf(text + used, cap - used, "%s%s", n ? ", " : "",
			 err_escape(name, sizeof name, placed[d], strlen(placed[d])));
		n++;
	}
	return n;
}

void devicemap_tell_one(FILE *out, uint32_t k, const char *const *placed, const char *const *names,
			const uint32_t *sets)
{
	struct arena *a = arena_new();
	const char **ov = arena_raw(a, k, sizeof *ov);
	uint32_t n_used = 0;
	memcpy(ov, names, k * sizeof *ov);
	devicemap_openvino(k, ov, a);
	for (uint32_t d = 0; d < k; d++)
		n_used += sets[d] > 0;
	for (uint32_t d = 0; d < k; d++) {
		char list[300], name[80];
		bool seen = sets[d] == 0;
		for (uint32_t b = 0; b < d && !seen; b++)
			seen = sets[b] > 0 && strcmp(ov[b], ov[d]) == 0;
		uint32_t n = seen ? 0 : list_same(k, placed, ov, sets, d, list, sizeof list);
		if (n < 2)
			continue;
		fprintf(out,
			"OpenVINO: %s are one device there, %s: HETERO gains %s; libhsdag-run runs "
			"it\n",
			list, err_escape(name, sizeof name, ov[d], strlen(ov[d])),
			n == n_used ? "nothing by this placement" : "nothing between them");
	}
	arena_free(a);
}

uint32_t devicemap_count(uint32_t k, const char *const *names, const uint32_t *sets)
{
	struct arena *a = arena_new();
	const char **ov = arena_raw(a, k, sizeof *ov);
	uint32_t n = 0;
	memcpy(ov, names, k * sizeof *ov);
	devicemap_openvino(k, ov, a);
	for (uint32_t d = 0; d < k; d++) {
		bool counts = sets[d] > 0;
		for (uint32_t b = 0; b < d && counts; b++)
			counts = sets[b] == 0 || strcmp(ov[b], ov[d]) != 0;
		n += counts;
	}
	arena_free(a);
	return n;
}
