/* nets.c - networks by name, and their hyperparameters. */
#include "learn/net/nets.h"
#include "learn/net/net.h"

#include <stdio.h>
#include <string.h>

#define DECLARE(name) extern const struct net net_##name;
#define ADDRESS(name) &net_##name,
NETS(DECLARE)
const struct net *const nets[] = {NETS(ADDRESS) NULL};

const struct net *net_find(const char *name)
{
	for (int i = 0; nets[i]; i++)
		if (strcmp(nets[i]->name, name) == 0)
			return nets[i];
	return NULL;
}

const void *net_defaults(const struct net *n, enum recipe_kind recipe)
{
	return n->defaults[recipe] ? n->defaults[recipe] : n->defaults[RECIPE_DEFAULT];
}

void *net_hyper_new(const struct net *n, enum recipe_kind recipe)
{
	return net_hyper_copy(n, net_defaults(n, recipe));
}

void *net_hyper_copy(const struct net *n, const void *hyper)
{
	return mem_copy(hyper, n->hyper_size, 1);
}

/* ---- the option --net ---- */

void net_list(FILE *out)
{
	fprintf(out, "Networks:\n");
	for (int i = 0; nets[i]; i++)
		fprintf(out, "  %-10s %s\n", nets[i]->name, nets[i]->help);
}

int net_option(const char *name, FILE *list, const struct net **out, struct err *e)
{
	char names[400] = "one of ";
	struct err_near near = {.name = name};
	if (strcmp(name, "list") == 0) {
		net_list(list);
		return 0;
	}
	*out = net_find(name);
	if (*out)
		return 1;
	for (int i = 0; nets[i]; i++) {
		snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
			 nets[i]->name);
		err_offer(&near, nets[i]->name);
	}
	return err_unknown(e, ST_USAGE, &near, names, "--net: unknown network '%s'", name);
}
