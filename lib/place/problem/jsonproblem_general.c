/* jsonproblem_general.c - the general JSON form of a placement problem: one object with `devices`,
 * `links`, `ports`, `media`, `nodes`, `edges` and `options`, in SI units; keys that are not known are ignored, but for those that are spelled
 * much like one that is, whose values would be lost.
 *
 *   devices  {name, type?, mem_bytes?, watts?, idle_watts?, turns?}   turns: names, [...]
 *   links    {src, dst, latency_s, bytes_per_s, j_per_byte?, port?, contention?, media?}
 *                                                by device name, "*" is any; media: names, [...]
 *   ports    {device, name, out_bytes_per_s?, in_bytes_per_s?}        (optional; likewise)
 *   media    {name, bytes_per_s}                                       (optional)
 *   nodes    {id, name?, type?, cost_s, mem_bytes?, out_bytes?, allowed?, colocate?}
 *   edges    {src, dst, bytes?, tensor?}         by node id; bytes: else the source's out_bytes
 *   options  {contention?, overlap?, order?}     order: "rank" or "fifo"
 *
 * A key that may be left out may also be null.  Where a specification has the devices, there are no devices, links and ports, and
 * nodes may have flops and bytes in the place of cost_s. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "place/problem/jsonproblem_keys.h"

static const double LEAST_BYTES_PER_S = 1e-100;

struct reading {
	struct json_problem *p;
	struct arena *a;
	struct id_table *ids, *colours;
	const struct device_spec **on; /* (devices) NULL: the file has them */
	uint32_t n_together;           /* colours and nodes without one so far */
	struct err *e;
};

static const char *const problem_keys[] = {"name",  "devices", "links",   "ports", "media",
					   "nodes", "edges",   "options", NULL};
static const char *const device_keys[] = {"name",       "type",  "mem_bytes", "watts",
					  "idle_watts", "turns", NULL};
static const char *const link_keys[] = {"src",         "dst",        "latency_s",
					"bytes_per_s", "j_per_byte", "port",
					"contention",  "media",      NULL};
static const char *const medium_keys[] = {"name", "bytes_per_s", NULL};
static const char *const port_keys[] = {"device", "name", "out_bytes_per_s", "in_bytes_per_s",
					NULL};
static const char *const node_keys[] = {"id",        "name",      "type",    "cost_s",
					"mem_bytes", "out_bytes", "allowed", "colocate",
					"flops",     "bytes",     NULL};
static const char *const edge_keys[] = {"src", "dst", "bytes", "tensor", NULL};
static const char *const option_keys[] = {"contention", "overlap", "order", NULL};

/* A key that is none of these, but may be one of them. */
static int check_keys(struct reading *r, const struct val *map, const char *const *known)
{
	for (size_t i = 0; val_type(map) == VAL_MAP && i < val_count(map); i++) {
		const char *key;
		size_t n;
		char name[100];
		struct err_near near = {.name = name};
		int j = 0;

		if (!val_bytes(val_key_at(map, i), &key, &n) || n >= sizeof(name))
			continue;
		while (known[j] && (strlen(known[j]) != n || memcmp(known[j], key, n) != 0))
			j++;
		if (known[j])
			continue;
		memcpy(name, key, n);
		name[n] = 0;
		for (j = 0; known[j]; j++)
			if (err_is_near(name, known[j]))
				err_offer(&near, known[j]);
		if (near.best)
			return err_unknown(r->e, ST_INPUT, &near, NULL, "unknown key '%s'", name);
	}
	return 0;
}

static bool is_there(const struct val *map, const char *key)
{
	const struct val *v = val_get(map, key);

	return v && val_type(v) != VAL_NIL;
}

/* ---- devices and links ---- */

static int no_device(struct reading *r, const char *key, const char *name)
{
	devs_unknown(r->p->devs.names, r->p->devs.k, name, ST_INPUT, r->e);
	return err_prefix(r->e, "%s", key);
}

/* Watts of device i, all zero until the first that has some. */
static int read_watts(struct reading *r, const struct val *device, uint32_t i)
{
	struct devs *d = &r->p->devs;

	if (!d->watts && (is_there(device, "watts") || is_there(device, "idle_watts"))) {
		d->watts = ARENA_NEWN(r->a, double, d->k);
		d->idle_watts = ARENA_NEWN(r->a, double, d->k);
	}
	return d->watts && (json_problem_number(device, "watts", false, &d->watts[i], r->e) < 0 ||
			    json_problem_number(device, "idle_watts", false, &d->idle_watts[i],
						r->e) < 0)
		       ? -1
		       : 0;
}

/* With which devices device i takes turns, as far as it says so. */
static int read_turns(struct reading *r, const struct val *device, uint32_t i)
{
	struct devs *d = &r->p->devs;
	size_t n = SIZE_MAX;
	const char **names;

	if (!is_there(device, "turns"))
		return 0;
	if (get_texts(device, "turns", r->a, &n, &names, r->e) < 0)
		return -1;
	if (!d->turns && n > 0)
		d->turns = ARENA_NEWN(r->a, uint8_t, (size_t)d->k * d->k);
	for (size_t j = 0; j < n; j++) {
		int other = devs_find(d, names[j]);

		if (other < 0 || (uint32_t)other == i)
			return other < 0 ? no_device(r, "turns", names[j])
					 : err_set(r->e, ST_INPUT,
						   "turns: '%s' is the device itself", names[j]);
		d->turns[(size_t)i * d->k + (uint32_t)other] = 1;
		d->turns[(size_t)other * d->k + i] = 1;
	}
	return 0;
}

static int read_devices(struct reading *r, const struct val *json)
{
	struct devs *d = &r->p->devs;
	const struct val *list;

	if (json_problem_list(json, "devices", &list, &d->k, r->e) < 0)
		return -1;
	if (d->k == 0 || d->k > DEVS_MAX)
		return err_set(r->e, ST_INPUT, "%u devices, not 1 to %d", d->k, DEVS_MAX);
	d->names = ARENA_NEWN(r->a, const char *, d->k);
	d->types = ARENA_NEWN(r->a, const char *, d->k);
	d->mem_bytes = ARENA_NEWN(r->a, uint64_t, d->k);
	for (uint32_t i = 0; i < d->k; i++) {
		d->names[i] = d->types[i] = "model";
		if (check_keys(r, val_at(list, i), device_keys) < 0 ||
		    get_text(val_at(list, i), "name", r->a, &d->names[i], r->e) < 0 ||
		    json_problem_text(val_at(list, i), "type", r->a, &d->types[i], r->e) < 0 ||
		    json_problem_limit(val_at(list, i), "mem_bytes", &d->mem_bytes[i], r->e) < 0 ||
		    read_watts(r, val_at(list, i), i) < 0)
			return err_prefix(r->e, "devices[%u]", i);
		if (!*d->names[i] || strcmp(d->names[i], "*") == 0 ||
		    devs_find(d, d->names[i]) < (int)i)
			return err_set(r->e, ST_INPUT,
				       "devices[%u]: name '%s' is empty, '*' or was there before",
				       i, d->names[i]);
	}
	for (uint32_t i = 0; i < d->k; i++)
		if (read_turns(r, val_at(list, i), i) < 0)
			return err_prefix(r->e, "devices[%u]", i);
	return 0;
}

/* The device of key `key`: an index, or -1 for "*". */
static int link_end(struct reading *r, const struct val *map, const char *key, int *dev)
{
	const char *name;

	if (get_text(map, key, r->a, &name, r->e) < 0)
		return -1;
	*dev = devs_find(&r->p->devs, name);
	if (*dev < 0 && strcmp(name, "*") != 0)
		return no_device(r, key, name);
	return 0;
}

/* Key `key`, where it is there. */
static int read_port_name(struct reading *r, const struct val *map, const char *key, uint32_t *port)
{
	const char *name = NULL;

	if (json_problem_text(map, key, r->a, &name, r->e) < 0)
		return -1;
	if (!name)
		return 0;
	*port = *name ? port_names_add(&r->p->devs.port_names, name, r->a) : 0;
	return *port ? 0
		     : err_set(r->e, ST_INPUT,
			       "%s: an empty name of a port, or one more than %d others", key,
			       PORT_NAMES_MAX);
}

static int read_media(struct reading *r, const struct val *json)
{
	const struct val *list;
	uint32_t n;

	if (!is_there(json, "media"))
		return 0;
	if (json_problem_list(json, "media", &list, &n, r->e) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (check_keys(r, val_at(list, i), medium_keys) < 0)
			return err_prefix(r->e, "media[%u]", i);
	return devs_decode_media(list, r->a, &r->p->devs, r->e);
}

/* Of each pair the last link, but one with exact names before any with "*". */
static int read_links(struct reading *r, const struct val *json)
{
	struct devs *d = &r->p->devs;
	const struct val *list;
	uint32_t n;
	uint8_t *score = ARENA_NEWN(r->a, uint8_t, (size_t)d->k * d->k);
	struct dev_link *pair = ARENA_NEWN(r->a, struct dev_link, (size_t)d->k * d->k);

	d->link = ARENA_NEWN(r->a, struct dev_link, (size_t)d->k * d->k);
	if (!is_there(json, "links"))
		return 0;
	if (json_problem_list(json, "links", &list, &n, r->e) < 0)
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		const struct val *map = val_at(list, i);
		struct dev_link l = {0};
		int src, dst;

		if (check_keys(r, map, link_keys) < 0 || link_end(r, map, "src", &src) < 0 ||
		    link_end(r, map, "dst", &dst) < 0 ||
		    json_problem_number(map, "latency_s", true, &l.latency_s, r->e) < 0 ||
		    json_problem_number(map, "bytes_per_s", true, &l.bytes_per_s, r->e) < 0 ||
		    json_problem_number(map, "j_per_byte", false, &l.j_per_byte, r->e) < 0 ||
		    read_port_name(r, map, "port", &l.port) < 0 ||
		    devs_decode_carriage(map, r->a, d, &l, r->e) < 0)
			return err_prefix(r->e, "links[%u]", i);
		if (l.bytes_per_s < LEAST_BYTES_PER_S)
			return err_set(r->e, ST_INPUT, "links[%u]: bytes_per_s is 0 or next to it",
				       i);
		uint8_t exact = src >= 0 && dst >= 0 ? 2 : 1;
		for (l.src = 0; l.src < d->k; l.src++)
			for (l.dst = 0; l.dst < d->k; l.dst++) {
				size_t at = (size_t)l.src * d->k + l.dst;

				if ((src >= 0 && l.src != (uint32_t)src) ||
				    (dst >= 0 && l.dst != (uint32_t)dst) || score[at] > exact)
					continue;
				score[at] = exact;
				pair[at] = l;
			}
	}
	for (size_t at = 0; at < (size_t)d->k * d->k; at++)
		if (score[at] && pair[at].src != pair[at].dst)
			d->link[d->n_links++] = pair[at];
	return devs_settle_links(d, r->e);
}

static int read_port(struct reading *r, const struct val *map, uint32_t n_linked,
		     struct dev_port *p, int *dev)
{
	double *rate[] = {&p->out_bytes_per_s, &p->in_bytes_per_s};

	if (check_keys(r, map, port_keys) < 0 || link_end(r, map, "device", dev) < 0 ||
	    read_port_name(r, map, "name", &p->port) < 0)
		return -1;
	if (p->port == 0 || p->port > n_linked)
		return err_set(r->e, ST_INPUT, "no link has the port that it names");
	for (int in = 0; in < 2; in++) {
		if (json_problem_number(map, port_keys[2 + in], false, rate[in], r->e) < 0)
			return -1;
		if (is_there(map, port_keys[2 + in]) && *rate[in] < LEAST_BYTES_PER_S)
			return err_set(r->e, ST_INPUT, "%s is 0 or next to it", port_keys[2 + in]);
	}
	return 0;
}

/* What is told of ports, of those of any device first: what comes later counts. */
static int read_ports(struct reading *r, const struct val *json)
{
	struct devs *d = &r->p->devs;
	uint32_t n = 0, n_linked = d->port_names.n;
	const struct val *list;

	if (!is_there(json, "ports"))
		return 0;
	if (json_problem_list(json, "ports", &list, &n, r->e) < 0)
		return -1;
	struct dev_port *told = ARENA_NEWN(r->a, struct dev_port, (size_t)d->k * n_linked);
	for (int any = 1; any >= 0; any--)
		for (uint32_t i = 0; i < n; i++) {
			struct dev_port p = {0};
			int dev;

			if (read_port(r, val_at(list, i), n_linked, &p, &dev) < 0)
				return err_prefix(r->e, "ports[%u]", i);
			for (p.dev = 0; p.dev < d->k; p.dev++) {
				struct dev_port *x = &told[(size_t)p.dev * n_linked + p.port - 1];

				if (any ? dev >= 0 : dev != (int)p.dev)
					continue;
				x->dev = p.dev;
				x->port = p.port;
				if (p.out_bytes_per_s > 0)
					x->out_bytes_per_s = p.out_bytes_per_s;
				if (p.in_bytes_per_s > 0)
					x->in_bytes_per_s = p.in_bytes_per_s;
			}
		}
	d->port = told;
	for (size_t i = 0; i < (size_t)d->k * n_linked; i++)
		if (told[i].port)
			told[d->n_ports++] = told[i];
	return 0;
}

/* What the specification has, the file has not. */
static int take_spec(struct reading *r, const struct val *json, const struct spec *spec)
{
	const struct devs *d = &r->p->devs;

	for (int i = 1; i < 5; i++)
		if (is_there(json, problem_keys[i]))
			return err_set(r->e, ST_INPUT,
				       "key '%s': the specification has the devices",
				       problem_keys[i]);
	r->on = ARENA_NEWN(r->a, const struct device_spec *, d->k);
	for (uint32_t i = 0; i < d->k; i++)
		r->on[i] = spec_find(spec, d->names[i]);
	return 0;
}

static int read_machine(struct reading *r, const struct val *json, const struct spec *spec)
{
	if (spec)
		return take_spec(r, json, spec);
	return read_devices(r, json) < 0 || read_media(r, json) < 0 || read_links(r, json) < 0 ||
			       read_ports(r, json) < 0
		       ? -1
		       : 0;
}

/* ---- nodes ---- */

static int read_colour(struct reading *r, const struct val *node, uint32_t v)
{
	const struct val *colour = val_get(node, "colocate");
	bool is_new = true;

	r->p->together[v] = r->p->n + v; /* alone */
	if (!colour || val_type(colour) == VAL_NIL)
		return 0;
	r->p->together[v] = id_table_add(r->colours, colour, &is_new);
	r->n_together += !is_new;
	return 0;
}

static int read_node(struct reading *r, const struct val *node, uint32_t v)
{
	struct json_problem *p = r->p;
	const struct val *id = val_get(node, "id");
	bool is_new = false;

	if (!val_is_id(id))
		return err_set(r->e, ST_INPUT,
			       "key 'id' is absent, or neither an integer nor a text");
	if (check_keys(r, node, node_keys) < 0)
		return -1;
	id_table_add(r->ids, id, &is_new);
	if (!is_new)
		return err_set(r->e, ST_INPUT, "its id was there before");
	if (val_int(id, &p->id[v]))
		p->node_name[v] = arena_printf(r->a, "%" PRId64, p->id[v]);
	else if (get_text(node, "id", r->a, &p->node_name[v], r->e) < 0)
		return -1;
	if (json_problem_text(node, "name", r->a, &p->node_name[v], r->e) < 0 ||
	    json_problem_text(node, "type", r->a, &p->type[v], r->e) < 0 ||
	    json_problem_bytes(node, "mem_bytes", &p->mem_bytes[v], r->e) < 0 ||
	    json_problem_bytes(node, "out_bytes", &p->out_bytes[v], r->e) < 0)
		return -1;
	return json_problem_costs(node, &p->devs, r->on, r->a, p->cost_s + (size_t)v * p->devs.k,
				  r->e) < 0
		       ? -1
		       : read_colour(r, node, v);
}

static int read_nodes(struct reading *r, const struct val *json)
{
	const struct val *list;
	uint32_t n;

	if (json_problem_list(json, "nodes", &list, &n, r->e) < 0)
		return -1;
	json_problem_alloc(r->p, n, r->a);
	r->p->together = ARENA_NEWN(r->a, uint32_t, n);
	for (uint32_t v = 0; v < n; v++)
		if (read_node(r, val_at(list, v), v) < 0)
			return err_prefix(r->e, "nodes[%u]", v);
	if (r->n_together == 0)
		r->p->together = NULL;
	return 0;
}

/* ---- edges and options ---- */

static int read_edges(struct reading *r, const struct val *json)
{
	struct json_problem *p = r->p;
	const struct val *list;

	if (!is_there(json, "edges"))
		return 0;
	if (json_problem_list(json, "edges", &list, &p->n_edges, r->e) < 0)
		return -1;
	p->edge = ARENA_NEWN(r->a, struct json_problem_edge, p->n_edges);
	for (uint32_t i = 0; i < p->n_edges; i++) {
		const struct val *map = val_at(list, i);
		struct json_problem_edge *x = &p->edge[i];

		x->src = id_table_find(r->ids, val_get(map, "src"));
		x->dst = id_table_find(r->ids, val_get(map, "dst"));
		if (x->src == UINT32_MAX || x->dst == UINT32_MAX)
			return err_set(r->e, ST_INPUT, "edges[%u]: '%s' is not the id of a node", i,
				       x->src == UINT32_MAX ? "src" : "dst");
		x->bytes = p->out_bytes[x->src];
		if (check_keys(r, map, edge_keys) < 0 ||
		    json_problem_bytes(map, "bytes", &x->bytes, r->e) < 0 ||
		    (is_there(map, "tensor") && get_u32(map, "tensor", 0, &x->tensor, r->e) < 0))
			return err_prefix(r->e, "edges[%u]", i);
	}
	return 0;
}

static int read_options(struct reading *r, const struct val *json)
{
	const struct val *map = val_get(json, "options");
	const char *order = "rank";

	r->p->contention = r->p->overlap = true;
	if (!map || val_type(map) == VAL_NIL)
		return 0;
	if (val_type(map) != VAL_MAP)
		return err_set(r->e, ST_INPUT, "options is not an object");
	if (check_keys(r, map, option_keys) < 0 ||
	    (is_there(map, "contention") &&
	     get_bool(map, "contention", &r->p->contention, r->e) < 0) ||
	    (is_there(map, "overlap") && get_bool(map, "overlap", &r->p->overlap, r->e) < 0) ||
	    json_problem_text(map, "order", r->a, &order, r->e) < 0)
		return err_prefix(r->e, "options");
	r->p->fifo = strcmp(order, "fifo") == 0;
	if (!r->p->fifo && strcmp(order, "rank") != 0)
		return err_set(r->e, ST_INPUT, "options: order is '%s', not 'rank' or 'fifo'",
			       order);
	return 0;
}

int json_problem_read(const struct val *json, const struct spec *spec, struct arena *a,
		      struct json_problem *p, struct err *e)
{
	struct reading r = {.p = p, .a = a, .e = e};
	int rc;

	*p = (struct json_problem){.name = "", .devs = p->devs};
	if (val_type(json) != VAL_MAP)
		return err_set(e, ST_INPUT, "not an object");
	if (!spec && !val_get(json, "devices"))
		return err_set(e, ST_INPUT, "no key 'devices'");
	r.ids = id_table_new(a);
	r.colours = id_table_new(a);
	rc = check_keys(&r, json, problem_keys) < 0 ||
			     json_problem_text(json, "name", a, &p->name, e) < 0 ||
			     read_machine(&r, json, spec) < 0 || read_nodes(&r, json) < 0 ||
			     read_edges(&r, json) < 0 || read_options(&r, json) < 0
		     ? -1
		     : 0;
	if (rc == 0 && p->n == 0)
		rc = err_set(e, ST_INPUT, "'nodes' is empty; there is nothing to place");
	id_table_free(r.ids);
	id_table_free(r.colours);
	return rc;
}
