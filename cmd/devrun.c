/* devrun - run placements on this machine's devices and say how long they take.  Its verbs are in
 * devrun/devrun_command.h; what it does to a stream is in devrun/devrun_filter.h. */
#include <stdio.h>

#include "base/msg.h"
#include "device/openvino/ov_api.h"
#include "exec/support.h"
#include "devrun/devrun_command.h"
#include "stream/filter.h"

static void warn_untimed(const char *device, const char *why)
{
	msg_warn("no times on '%s': %s", device, why);
}

static void print_device(void *arg, const struct device *d)
{
	(void)arg;
	fprintf(text_out(), "%-12s %-9s %8.1f GB  %s\n", d->name, device_class_type(d->class),
		(double)d->mem_bytes / 1e9, d->description);
}

/* Those of a list, opened. */
static int print_devices(const char *list, struct err *e)
{
	struct device_list l = {0};
	int rc = device_list_parse(list, &l, e);
	if (rc == 0)
		rc = device_list_open(&l, true, e);
	for (uint32_t i = 0; rc == 0 && i < l.n; i++)
		print_device(NULL, &l.dev[i]);
	device_list_close(&l);
	return rc;
}

static int print_support(const struct devrun_command *c, struct graph *g, struct err *e)
{
	struct device_list l = {0};
	struct model m = {0};
	struct support x = {0};
	struct arena *a = arena_new();
	int rc = device_list_parse(c->filter.devices, &l, e);
	if (rc == 0)
		rc = device_list_open(&l, true, e);
	if (rc == 0)
		rc = model_open(&m, g, c->filter.weights, e);
	if (rc == 0)
		rc = support_ask(&m, &l, a, &x, e);
	if (rc == 0 && g->n_const && !m.has_weights)
		msg_warn("no weights file: what must know a constant counts as not supported");
	if (rc == 0) {
		fprintf(text_out(), "%s", support_table(&x, &m, &l, a));
		if (x.n_nowhere)
			rc = err_set(e, ST_INPUT, "%u layers can run on none of the devices",
				     x.n_nowhere);
	}
	model_close(&m);
	device_list_close(&l);
	arena_free(a);
	return rc;
}

static int run_support(struct devrun_command *c, struct err *e)
{
	char names[4096];
	if (!c->filter.devices)
		c->filter.devices = device_list_whole(names, sizeof names);
	struct graph *g = support_graph(c->file, e);
	int rc = g ? print_support(c, g, e) : -1;
	graph_free(g);
	return rc;
}

static int run_filter(struct devrun_command *c, int argc, char **argv, struct err *e)
{
	struct devrun_options *o = &c->filter;
	struct filter f;
	char found[4096], *precise = NULL;
	o->by_model = o->probe && !o->devices && !c->precision;
	if (o->probe && !o->devices)
		o->devices = device_list_default(found, sizeof found, false);
	if (c->precision && o->devices)
		o->devices = precise = device_list_precision(o->devices, c->precision);
	int rc = filter_open(&f, c->file, &c->common, argc, argv, e);
	if (rc == 0)
		rc = filter_close(&f, devrun_filter_run(o, (uint64_t)c->common.seed, &f, e), e);
	mem_free(precise);
	return rc;
}

int main(int argc, char **argv)
{
	struct devrun_command c;
	struct err e = ERR_INIT;
	int rc = devrun_command_parse(&c, argc, argv, &e);
	if (rc <= 0)
		return filter_finish(rc, &c.common, &e);
	c.filter.untimed = warn_untimed;
	ov_api_directory(c.openvino);
	if (c.list && c.filter.devices)
		return opt_finish(print_devices(c.filter.devices, &e), &e);
	if (c.list)
		device_list_machine(print_device, NULL);
	else if (c.support)
		return opt_finish(run_support(&c, &e), &e);
	else
		return filter_finish(run_filter(&c, argc, argv, &e), &c.common, &e);
	return opt_finish(0, &e);
}
