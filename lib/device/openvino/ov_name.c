/* ov_name.c - the grammar of names of OpenVINO devices.
 *
 *   ov:CPU                    all cores, f32, one stream
 *   ov:CPU:0-1                these cores, one thread each
 *   ov:CPU:0/threads=2/precision=bf16/streams=1
 *   ov:GPU.1/precision=f16    ov:NPU
 *   ov:HETERO:GPU+CPU         OpenVINO places the operations by itself; + instead of a comma
 *   ov:AUTO                   OpenVINO chooses the device
 *   ov:CPU/SNIPPETS_MODE=DISABLE    properties in capitals are passed on as they are */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "device/openvino/ov_impl.h"

enum { MAX_NUMBER = 4096 };

static bool is_composite(const char *target)
{
	static const char *const names[] = {"HETERO", "AUTO", "MULTI", "BATCH"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t n = strlen(names[i]);
		if (strncmp(target, names[i], n) == 0 && (target[n] == '\0' || target[n] == ':'))
			return true;
	}
	return false;
}

static bool is_word(const char *s, const char *more)
{
	if (!isupper((unsigned char)*s))
		return false;
	for (; *s; s++)
		if (!isupper((unsigned char)*s) && !isdigit((unsigned char)*s) && !strchr(more, *s))
			return false;
	return true;
}

static bool small_number(const char *s, int *out)
{
	char *end;
	unsigned long n = strtoul(s, &end, 10);
	if (!isdigit((unsigned char)*s) || *end || n == 0 || n > MAX_NUMBER)
		return false;
	*out = (int)n;
	return true;
}

static int set_option(struct ov_name *n, const char *key, const char *value, const char *name,
		      struct err *e)
{
	if (strcmp(key, "threads") == 0 && small_number(value, &n->threads))
		return 0;
	if (strcmp(key, "streams") == 0 && small_number(value, &n->streams))
		return 0;
	if (strcmp(key, "precision") == 0 &&
	    precision_named(value, "f32|f16|bf16") != PRECISION_COUNT) {
		n->precision = value;
		return 0;
	}
	if (strcmp(key, "precision") == 0 && strcmp(value, "default") == 0) {
		n->precision = NULL;
		return 0;
	}
	if (is_word(key, "_") && *value) {
		if (n->n_properties == OV_PROPERTIES)
			return err_set(e, ST_USAGE, "device '%s': more than %d properties", name,
				       OV_PROPERTIES);
		n->key[n->n_properties] = key;
		n->value[n->n_properties++] = value;
		return 0;
	}
	return err_set(e, ST_USAGE,
		       "device '%s': '%s=%s' is not an option; threads=N, streams=N, "
		       "precision=f32|f16|bf16|default, or a property of OpenVINO in capitals",
		       name, key, value);
}

/* The devices behind the colon of HETERO:GPU+CPU, or the target itself; `+` becomes a comma. */
static int find_devices(struct ov_name *n, char *target, char *list, const char *name,
			struct err *e)
{
	n->composite = is_composite(target);
	char *colon = strchr(target, ':');
	if (!n->composite) {
		n->device[n->n_devices++] = target;
		return is_word(target, "._")
			       ? 0
			       : err_set(e, ST_USAGE,
					 "device '%s': not a device of OpenVINO; "
					 "ov:CPU, ov:GPU.1, ov:NPU, ov:HETERO:GPU+CPU",
					 name);
	}
	for (char *s = colon ? colon + 1 : NULL; s;) {
		char *plus = strchr(s, '+');
		if (plus)
			*plus = '\0';
		if (!is_word(s, "._") || n->n_devices == OV_DEVICES)
			return err_set(e, ST_USAGE,
				       "device '%s': what stands behind the colon is not a list of "
				       "devices; ov:HETERO:GPU+CPU",
				       name);
		strcpy(list, s);
		n->device[n->n_devices++] = list;
		list += strlen(list) + 1;
		if (plus)
			*plus = ',';
		s = plus ? plus + 1 : NULL;
	}
	return 0;
}

int ov_name_parse(const char *name, struct ov_name *out, struct err *e)
{
	*out = (struct ov_name){.streams = 1, .precision = "f32"};
	char *target = out->buf, *list = out->buf + sizeof out->buf / 2;
	if (strlen(name) >= sizeof out->buf / 2)
		return err_set(e, ST_USAGE, "device name '%.40s...' is too long", name);
	strcpy(target, name + 3);
	out->target = target;
	char *option = strchr(target, '/');
	if (option)
		*option++ = '\0';
	char *colon = strrchr(target, ':');
	if (colon && isdigit((unsigned char)colon[1])) {
		*colon = '\0';
		const char *end;
		out->has_cores = true;
		if (cores_parse(colon + 1, &out->cores, &end, e) < 0)
			return -1;
		if (!end || *end)
			return err_set(e, ST_USAGE,
				       "device '%s': not a list of cores; ov:CPU:0 or ov:CPU:0-3,5",
				       name);
	}
	if (find_devices(out, target, list, name, e) < 0)
		return -1;
	while (option) {
		char *next = strchr(option, '/'), *equal = strchr(option, '=');
		if (next)
			*next++ = '\0';
		if (!equal || (next && equal > next))
			return err_set(e, ST_USAGE, "device '%s': option '%s' has no value", name,
				       option);
		*equal = '\0';
		if (set_option(out, option, equal + 1, name, e) < 0)
			return -1;
		option = next;
	}
	return 0;
}
