/* devrec.c - devs records and device lists. */
#include "record/devrec.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "record/device_classes.h"

bool devs_name_is_f32(const char *name)
{
	/* What a plugin is told beside its precision may change it, and only two are known to keep to that. */
	static const char *const keys[] = {"/precision=", "/INFERENCE_PRECISION_HINT="};
	bool plugin = strncmp(name, "ov:", 3) == 0;

	if (plugin && ((strncmp(name + 3, "CPU", 3) != 0 && strncmp(name + 3, "GPU", 3) != 0) ||
		       strstr(name, "/EXECUTION_MODE_HINT=")))
		return false;
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const char *option = strstr(name, keys[i]);
		const char *word = option ? option + strlen(keys[i]) : "f32";

		if (strcspn(word, "/") != 3 || strncmp(word, "f32", 3) != 0)
			return false;
	}
	return true;
}

int devs_find(const struct devs *d, const char *name)
{
	for (uint32_t i = 0; i < d->k; i++)
		if (strcmp(d->names[i], name) == 0)
			return (int)i;
	return -1;
}

int devs_unknown(const char *const *names, uint32_t k, const char *name, enum exit_status code,
		 struct err *e)
{
	char list[300] = "here are ", given[100];
	struct err_near near = {.name = name};
	size_t n = strlen(list);

	for (uint32_t i = 0; i < k; i++) {
		err_offer(&near, names[i]);
		if (n + strlen(names[i]) + 8 < sizeof list)
			n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "",
					      names[i]);
		else if (list[n - 1] != '.')
			n += (size_t)snprintf(list + n, sizeof list - n, ", ...");
	}
	return err_unknown(e, code, &near, k ? list : NULL, "there is no device '%s'",
			   err_escape(given, sizeof given, name, strlen(name)));
}

static int check_names(const struct devs *d, enum exit_status code, struct err *e)
{
	if (d->k == 0)
		return err_set(e, code, "no devices");
	for (uint32_t i = 0; i < d->k; i++) {
		if (!*d->names[i])
			return err_set(e, code, "device %u has no name", i);
		if (devs_find(d, d->names[i]) < (int)i)
			return err_set(e, code, "device '%s' is listed twice", d->names[i]);
	}
	return 0;
}

uint32_t port_names_add(struct port_names *x, const char *name, struct arena *a)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (strcmp(x->name[i], name) == 0)
			return i + 1;
	if (x->n == PORT_NAMES_MAX)
		return 0;
	if (!x->name)
		x->name = ARENA_NEWN(a, const char *, PORT_NAMES_MAX);
	x->name[x->n++] = name;
	return x->n;
}

static const char *const contention_names[] = {NULL, "fcfs", "none", "shared"};

enum dev_contention dev_contention_named(const char *name, struct err *e)
{
	struct err_near near = {.name = name};

	for (int i = DEV_FCFS; i <= DEV_SHARED; i++) {
		if (strcmp(name, contention_names[i]) == 0)
			return (enum dev_contention)i;
		err_offer(&near, contention_names[i]);
	}
	(void)err_unknown(e, ST_INPUT, &near, "it is fcfs, none or shared",
			  "'%s' is no contention of a link", name);
	return DEV_UNTOLD;
}

uint32_t dev_medium_find(const struct dev_medium *x, uint32_t n, const char *name)
{
	uint32_t i = 0;

	while (i < n && strcmp(x[i].name, name) != 0)
		i++;
	return i;
}

uint32_t dev_pool_find(const struct dev_pool *x, uint32_t n, const char *name)
{
	uint32_t i = 0;

	while (i < n && strcmp(x[i].name, name) != 0)
		i++;
	return i;
}

int devs_settle_links(struct devs *d, struct err *e)
{
	bool has[PORT_NAMES_MAX + 1][2] = {{false}}; /* first come, first served; shared */

	for (uint32_t i = 0; i < d->n_links; i++) {
		struct dev_link *l = &d->link[i];

		if (l->n_media && l->contention == DEV_UNTOLD)
			l->contention = DEV_SHARED;
		if (l->n_media && l->contention != DEV_SHARED)
			return err_set(e, ST_INPUT, "link %u: it has media, but is not shared", i);
		for (uint32_t j = 1; j < l->n_media; j++)
			for (uint32_t m = 0; m < j; m++)
				if (l->medium[m] == l->medium[j])
					return err_set(e, ST_INPUT, "link %u: medium '%s' twice", i,
						       d->medium[l->medium[j]].name);
		if (l->contention != DEV_NO_WAIT)
			has[l->port][l->contention == DEV_SHARED] = true;
		if (l->port && has[l->port][0] && has[l->port][1])
			return err_set(e, ST_INPUT,
				       "port '%s': some of its links are shared, some are not",
				       d->port_names.name[l->port - 1]);
	}
	return 0;
}

int devs_decode_media(const struct val *list, struct arena *a, struct devs *d, struct err *e)
{
	if (val_type(list) != VAL_ARRAY)
		return err_set(e, ST_INPUT, "media is not a list");
	size_t n = val_count(list);
	if (n > MEDIA_MAX)
		return err_set(e, ST_INPUT, "%zu media, not at most %d", n, MEDIA_MAX);
	d->medium = ARENA_NEWN(a, struct dev_medium, n);
	for (; d->n_media < n; d->n_media++) {
		const struct val *m = val_at(list, d->n_media);
		struct dev_medium *x = &d->medium[d->n_media];
		if (val_type(m) != VAL_MAP)
			return err_set(e, ST_INPUT, "medium %u is not a map", d->n_media);
		if (get_text(m, "name", a, &x->name, e) < 0 ||
		    get_real(m, "bytes_per_s", &x->bytes_per_s, e) < 0)
			return err_prefix(e, "medium %u", d->n_media);
		if (!(x->bytes_per_s > 0) ||
		    dev_medium_find(d->medium, d->n_media, x->name) < d->n_media)
			return err_set(e, ST_INPUT,
				       "medium %u: impossible rate, or a name that another has",
				       d->n_media);
	}
	return 0;
}

/* Is it told of the link? */
static bool is_told(const struct val *m, const char *key)
{
	return val_get(m, key) && val_type(val_get(m, key)) != VAL_NIL;
}

int devs_decode_carriage(const struct val *m, struct arena *a, const struct devs *d,
			 struct dev_link *l, struct err *e)
{
	const char *contention, **name;
	char given[100];
	size_t n = SIZE_MAX;

	if (is_told(m, "contention")) {
		if (get_text(m, "contention", a, &contention, e) < 0)
			return -1;
		l->contention = dev_contention_named(contention, e);
		if (l->contention == DEV_UNTOLD)
			return -1;
	}
	if (!is_told(m, "media"))
		return 0;
	if (get_texts(m, "media", a, &n, &name, e) < 0)
		return -1;
	l->n_media = (uint32_t)n;
	uint32_t *medium = ARENA_NEWN(a, uint32_t, n);
	l->medium = medium;
	for (uint32_t i = 0; i < n; i++) {
		medium[i] = dev_medium_find(d->medium, d->n_media, name[i]);
		if (medium[i] == d->n_media)
			return err_set(e, ST_INPUT, "its medium '%s' is not among media",
				       err_escape(given, sizeof given, name[i], strlen(name[i])));
	}
	return 0;
}

static int decode_mask(const struct rec *r, struct arena *a, struct devs *d, struct err *e)
{
	uint64_t shape[2] = {UINT64_MAX, d->k};
	if (get_uint(r->map, "graph", 0, UINT64_MAX, &d->graph, e) < 0 ||
	    get_tensor(r->map, "mask", TT_U8, 2, shape, a, &d->mask, e) < 0)
		return -1;
	if (shape[0] >= UINT32_MAX)
		return err_set(e, ST_INPUT, "mask has too many rows");
	d->n_sets = (uint32_t)shape[0];
	for (size_t i = 0; i < (size_t)d->n_sets * d->k; i++)
		if (d->mask[i] > 1)
			return err_set(e, ST_INPUT, "mask has an entry that is neither 0 nor 1");
	shape[0] = d->n_sets;
	return val_get(r->map, "together")
		       ? get_tensor(r->map, "together", TT_U32, 1, shape, a, &d->together, e)
		       : 0;
}

static int decode_port_name(const struct val *map, const char *key, struct arena *a, struct devs *d,
			    uint32_t *port, struct err *e)
{
	const char *name;

	if (get_text(map, key, a, &name, e) < 0)
		return -1;
	if (!*name)
		return err_set(e, ST_INPUT, "its port has no name");
	*port = port_names_add(&d->port_names, name, a);
	return *port ? 0 : err_set(e, ST_INPUT, "more than %d names of ports", PORT_NAMES_MAX);
}

/* After the links. */
static int decode_ports(const struct val *list, struct arena *a, struct devs *d, struct err *e)
{
	if (val_type(list) != VAL_ARRAY)
		return err_set(e, ST_INPUT, "ports is not a list");
	d->n_ports = (uint32_t)val_count(list);
	d->port = ARENA_NEWN(a, struct dev_port, d->n_ports);
	for (uint32_t i = 0; i < d->n_ports; i++) {
		const struct val *m = val_at(list, i);
		struct dev_port *p = &d->port[i];
		uint64_t dev;
		if (val_type(m) != VAL_MAP)
			return err_set(e, ST_INPUT, "port %u is not a map", i);
		if (get_uint(m, "device", 0, d->k - 1, &dev, e) < 0 ||
		    decode_port_name(m, "name", a, d, &p->port, e) < 0 ||
		    (val_get(m, "out_bytes_per_s") &&
		     get_real(m, "out_bytes_per_s", &p->out_bytes_per_s, e) < 0) ||
		    (val_get(m, "in_bytes_per_s") &&
		     get_real(m, "in_bytes_per_s", &p->in_bytes_per_s, e) < 0))
			return err_prefix(e, "port %u", i);
		if (p->out_bytes_per_s < 0 || p->in_bytes_per_s < 0)
			return err_set(e, ST_INPUT, "port %u: impossible rate", i);
		p->dev = (uint32_t)dev;
	}
	return 0;
}

static int decode_links(const struct val *list, struct arena *a, struct devs *d, struct err *e)
{
	if (val_type(list) != VAL_ARRAY)
		return err_set(e, ST_INPUT, "links is not a list");
	d->n_links = (uint32_t)val_count(list);
	d->links_told = true;
	d->link = ARENA_NEWN(a, struct dev_link, d->n_links);
	for (uint32_t i = 0; i < d->n_links; i++) {
		const struct val *m = val_at(list, i);
		struct dev_link *l = &d->link[i];
		uint64_t src, dst;
		if (val_type(m) != VAL_MAP)
			return err_set(e, ST_INPUT, "link %u is not a map", i);
		if (get_uint(m, "src", 0, d->k - 1, &src, e) < 0 ||
		    get_uint(m, "dst", 0, d->k - 1, &dst, e) < 0 ||
		    get_real(m, "latency_s", &l->latency_s, e) < 0 ||
		    get_real(m, "bytes_per_s", &l->bytes_per_s, e) < 0)
			return err_prefix(e, "link %u", i);
		if (val_get(m, "j_per_byte") && get_real(m, "j_per_byte", &l->j_per_byte, e) < 0)
			return err_prefix(e, "link %u", i);
		if ((val_get(m, "port") && decode_port_name(m, "port", a, d, &l->port, e) < 0) ||
		    devs_decode_carriage(m, a, d, l, e) < 0)
			return err_prefix(e, "link %u", i);
		if (l->latency_s < 0 || l->bytes_per_s <= 0 || l->j_per_byte < 0)
			return err_set(e, ST_INPUT, "link %u: impossible latency, rate or energy",
				       i);
		l->src = (uint32_t)src;
		l->dst = (uint32_t)dst;
	}
	return devs_settle_links(d, e);
}

/* Both or none; 0 and more. */
static int decode_watts(const struct rec *r, struct arena *a, struct devs *d, struct err *e)
{
	uint64_t shape[1] = {d->k};
	if (get_tensor(r->map, "watts", TT_F64, 1, shape, a, &d->watts, e) < 0 ||
	    get_tensor(r->map, "idle_watts", TT_F64, 1, shape, a, &d->idle_watts, e) < 0)
		return -1;
	for (uint32_t i = 0; i < d->k; i++)
		if (d->watts[i] < 0 || d->idle_watts[i] < 0)
			return err_set(e, ST_INPUT, "device %u has less than 0 watts", i);
	return 0;
}

static int decode_pool(const struct val *m, struct arena *a, struct devs *d, struct err *e)
{
	struct dev_pool *x = &d->pool[d->n_pools];
	const uint32_t *dev;
	uint64_t n[1] = {UINT64_MAX};

	if (val_type(m) != VAL_MAP)
		return err_set(e, ST_INPUT, "it is not a map");
	if (get_text(m, "name", a, &x->name, e) < 0 ||
	    get_tensor(m, "devices", TT_U32, 1, n, a, &dev, e) < 0 ||
	    (val_get(m, "mem_bytes") &&
	     get_uint(m, "mem_bytes", 0, UINT64_MAX, &x->mem_bytes, e) < 0) ||
	    (val_get(m, "bytes_per_s") && get_real(m, "bytes_per_s", &x->bytes_per_s, e) < 0) ||
	    (val_get(m, "copied") && get_bool(m, "copied", &x->copied, e) < 0))
		return -1;
	if ((x->bytes_per_s != 0 && !(x->bytes_per_s >= 1)) ||
	    dev_pool_find(d->pool, d->n_pools, x->name) < d->n_pools)
		return err_set(e, ST_INPUT, "impossible rate, or a name that another has");
	for (uint64_t i = 0; i < n[0]; i++) {
		if (dev[i] >= d->k || d->pool_of[dev[i]] != POOLS_MAX)
			return err_set(e, ST_INPUT, "no such device, or it is in a pool already");
		d->pool_of[dev[i]] = d->n_pools;
	}
	return 0;
}

static int decode_pools(const struct val *list, struct arena *a, struct devs *d, struct err *e)
{
	if (val_type(list) != VAL_ARRAY)
		return err_set(e, ST_INPUT, "pools is not a list");
	size_t n = val_count(list);
	if (n > POOLS_MAX)
		return err_set(e, ST_INPUT, "%zu pools, not at most %d", n, POOLS_MAX);
	d->pool = ARENA_NEWN(a, struct dev_pool, n);
	d->pool_of = ARENA_NEWN(a, uint32_t, d->k);
	for (uint32_t i = 0; i < d->k; i++)
		d->pool_of[i] = POOLS_MAX;
	for (; d->n_pools < n; d->n_pools++)
		if (decode_pool(val_at(list, d->n_pools), a, d, e) < 0)
			return err_prefix(e, "pool %u", d->n_pools);
	for (uint32_t i = 0; i < d->k; i++)
		if (d->pool_of[i] == POOLS_MAX)
			d->pool_of[i] = d->n_pools;
	return 0;
}

static int decode_price(const struct rec *r, struct arena *a, struct devs *d, struct err *e)
{
	uint64_t shape[1] = {d->k};
	if (get_tensor(r->map, "price", TT_F64, 1, shape, a, &d->price, e) < 0)
		return -1;
	for (uint32_t i = 0; i < d->k; i++)
		if (!(d->price[i] >= 0 && d->price[i] <= 1e9))
			return err_set(e, ST_INPUT, "device %u has a price below 0 or above 1e9",
				       i);
	return 0;
}

static int decode_turns(const struct rec *r, struct arena *a, struct devs *d, struct err *e)
{
	uint64_t shape[2] = {d->k, d->k};
	const uint8_t *x;

	if (get_tensor(r->map, "turns", TT_U8, 2, shape, a, &x, e) < 0)
		return -1;
	d->turns = arena_raw(a, (size_t)d->k * d->k, 1);
	for (size_t i = 0; i < (size_t)d->k * d->k; i++) {
		d->turns[i] = x[i] != 0;
		if (x[i] > 1 || x[i] != x[i % d->k * d->k + i / d->k] ||
		    (x[i] && i / d->k == i % d->k))
			return err_set(e, ST_INPUT,
				       "turns: 0 or 1, the same both ways, and 0 of a device with "
				       "itself");
	}
	return 0;
}

/* Memory and what stays free of it are one number where it is told. */
static int check_headroom(const struct devs *d, struct err *e)
{
	for (uint32_t i = 0; i < d->k; i++)
		if (d->mem_bytes[i] > UINT64_MAX - d->headroom[i])
			return err_set(e, ST_INPUT, "'headroom' is more than there can be");
	return 0;
}

int devs_decode(const struct rec *r, struct arena *a, struct devs *out, struct err *e)
{
	struct devs d = {0};
	size_t k = SIZE_MAX;
	uint64_t shape[1];
	const struct val *links = val_get(r->map, "links"), *ports = val_get(r->map, "ports");
	const struct val *media = val_get(r->map, "media"), *pools = val_get(r->map, "pools");
	if (get_texts(r->map, "names", a, &k, &d.names, e) < 0)
		return err_prefix(e, "devs");
	shape[0] = k;
	d.k = (uint32_t)k;
	if (k > DEVS_MAX)
		err_set(e, ST_INPUT, "%zu devices; at most %d", k, DEVS_MAX);
	else if (get_texts(r->map, "types", a, &k, &d.types, e) == 0 &&
		 get_tensor(r->map, "mem_bytes", TT_U64, 1, shape, a, &d.mem_bytes, e) == 0 &&
		 check_names(&d, ST_INPUT, e) == 0 &&
		 (!val_get(r->map, "headroom") ||
		  (get_tensor(r->map, "headroom", TT_U64, 1, shape, a, &d.headroom, e) == 0 &&
		   check_headroom(&d, e) == 0)) &&
		 (!val_get(r->map, "watts") || decode_watts(r, a, &d, e) == 0) &&
		 (!val_get(r->map, "price") || decode_price(r, a, &d, e) == 0) &&
		 (!val_get(r->map, "mask") || decode_mask(r, a, &d, e) == 0) &&
		 (!val_get(r->map, "turns") || decode_turns(r, a, &d, e) == 0) &&
		 (!pools || decode_pools(pools, a, &d, e) == 0) &&
		 (!media || devs_decode_media(media, a, &d, e) == 0) &&
		 (!links || decode_links(links, a, &d, e) == 0) &&
		 (!ports || decode_ports(ports, a, &d, e) == 0)) {
		*out = d;
		return 0;
	}
	return err_prefix(e, "devs");
}

static void put_link_ends(struct rec_writer *w, const struct dev_link *l)
{
	put_real(w, "latency_lo", l->latency_lo);
	put_real(w, "latency_hi", l->latency_hi);
	put_real(w, "bytes_per_s_lo", l->bytes_per_s_lo);
	put_real(w, "bytes_per_s_hi", l->bytes_per_s_hi);
}

static void put_carriage(struct rec_writer *w, const struct devs *d, const struct dev_link *l)
{
	if (l->contention != DEV_UNTOLD)
		put_text(w, "contention", contention_names[l->contention]);
	if (l->n_media == 0)
		return;
	put_list_begin(w, "media", l->n_media);
	for (uint32_t i = 0; i < l->n_media; i++)
		put_text(w, NULL, d->medium[l->medium[i]].name);
}

static void put_media(struct rec_writer *w, const struct devs *d)
{
	put_list_begin(w, "media", d->n_media);
	for (uint32_t i = 0; i < d->n_media; i++) {
		put_map_begin(w, NULL);
		put_text(w, "name", d->medium[i].name);
		put_real(w, "bytes_per_s", d->medium[i].bytes_per_s);
		put_map_end(w);
	}
}

static void put_pools(struct rec_writer *w, const struct devs *d)
{
	uint32_t *dev = MEM_NEWN(uint32_t, d->k);
	put_list_begin(w, "pools", d->n_pools);
	for (uint32_t i = 0; i < d->n_pools; i++) {
		const struct dev_pool *p = &d->pool[i];
		uint32_t n = 0;
		for (uint32_t j = 0; j < d->k; j++)
			if (d->pool_of[j] == i)
				dev[n++] = j;
		put_map_begin(w, NULL);
		put_text(w, "name", p->name);
		put_vector(w, "devices", TT_U32, n, dev);
		if (p->mem_bytes)
			put_uint(w, "mem_bytes", p->mem_bytes);
		if (p->bytes_per_s > 0)
			put_real(w, "bytes_per_s", p->bytes_per_s);
		if (p->copied)
			put_bool(w, "copied", true);
		put_map_end(w);
	}
	mem_free(dev);
}

static void put_ports(struct rec_writer *w, const struct devs *d)
{
	put_list_begin(w, "ports", d->n_ports);
	for (uint32_t i = 0; i < d->n_ports; i++) {
		const struct dev_port *p = &d->port[i];

		put_map_begin(w, NULL);
		put_uint(w, "device", p->dev);
		put_text(w, "name", d->port_names.name[p->port - 1]);
		if (p->out_bytes_per_s > 0)
			put_real(w, "out_bytes_per_s", p->out_bytes_per_s);
		if (p->in_bytes_per_s > 0)
			put_real(w, "in_bytes_per_s", p->in_bytes_per_s);
		put_map_end(w);
	}
}

static void put_mask(struct rec_writer *w, const struct devs *d)
{
	put_uint(w, "graph", d->graph);
	put_matrix(w, "mask", TT_U8, d->n_sets, d->k, d->mask);
	if (d->together)
		put_vector(w, "together", TT_U32, d->n_sets, d->together);
}

int devs_encode_masked(const struct rec *r, const struct devs *d, struct arena *a,
		       struct rec_writer *w, struct err *e)
{
	static const char *const dropped[] = {"graph", "mask", "together", NULL};
	rec_begin(w, "devs");
	put_entries(w, r->map, dropped, a);
	put_mask(w, d);
	return rec_end(w, e);
}

int devs_encode(const struct devs *d, struct rec_writer *w, struct err *e)
{
	rec_begin(w, "devs");
	put_texts(w, "names", d->names, d->k);
	put_texts(w, "types", d->types, d->k);
	put_vector(w, "mem_bytes", TT_U64, d->k, d->mem_bytes);
	if (d->headroom)
		put_vector(w, "headroom", TT_U64, d->k, d->headroom);
	if (d->watts) {
		put_vector(w, "watts", TT_F64, d->k, d->watts);
		put_vector(w, "idle_watts", TT_F64, d->k, d->idle_watts);
	}
	if (d->price)
		put_vector(w, "price", TT_F64, d->k, d->price);
	if (d->mask)
		put_mask(w, d);
	if (d->n_links || d->links_told) {
		put_list_begin(w, "links", d->n_links);
		for (uint32_t i = 0; i < d->n_links; i++) {
			put_map_begin(w, NULL);
			put_uint(w, "src", d->link[i].src);
			put_uint(w, "dst", d->link[i].dst);
			put_real(w, "latency_s", d->link[i].latency_s);
			put_real(w, "bytes_per_s", d->link[i].bytes_per_s);
			if (d->link[i].j_per_byte > 0)
				put_real(w, "j_per_byte", d->link[i].j_per_byte);
			if (d->link[i].port)
				put_text(w, "port", d->port_names.name[d->link[i].port - 1]);
			put_carriage(w, d, &d->link[i]);
			if (d->link[i].measured)
				put_link_ends(w, &d->link[i]);
			put_map_end(w);
		}
	}
	if (d->n_ports)
		put_ports(w, d);
	if (d->n_media)
		put_media(w, d);
	if (d->n_pools)
		put_pools(w, d);
	if (d->turns)
		put_matrix(w, "turns", TT_U8, d->k, d->k, d->turns);
	if (d->n_shares) {
		put_list_begin(w, "shares", d->n_shares);
		for (uint32_t i = 0; i < d->n_shares; i++) {
			put_list_begin(w, NULL, 2);
			put_uint(w, NULL, d->share[i].a);
			put_uint(w, NULL, d->share[i].b);
		}
	}
	return rec_end(w, e);
}

static const char *type_of_name(const char *name)
{
#define RETURN_TYPE(id, type, prefix) \
	if (strncmp(name, prefix, sizeof(prefix) - 1) == 0) \
		return type;
	DEVICE_CLASSES(RETURN_TYPE)
#undef RETURN_TYPE
	return "model";
}

size_t devs_name_length(const char *list)
{
	size_t n = strcspn(list, ",");
	while (list[n] == ',' && isdigit((unsigned char)list[n + 1]))
		n += 1 + strcspn(list + n + 1, ",");
	return n;
}

int devs_from_list(const char *list, struct arena *a, struct devs *out, struct err *e)
{
	struct devs d = {0};
	d.names = ARENA_NEWN(a, const char *, DEVS_MAX);
	d.types = ARENA_NEWN(a, const char *, DEVS_MAX);
	d.mem_bytes = ARENA_NEWN(a, uint64_t, DEVS_MAX);
	for (const char *s = list; *s && d.k < DEVS_MAX;) {
		size_t n = devs_name_length(s);
		d.names[d.k] = arena_strndup(a, s, n);
		d.types[d.k] = type_of_name(d.names[d.k]);
		d.k++;
		s += n;
		if (*s == ',' && !*++s)
			return err_set(e, ST_USAGE, "devices '%s': a name is missing", list);
	}
	if (check_names(&d, ST_USAGE, e) < 0)
		return err_prefix(e, "devices '%s'", list);
	*out = d;
	return 0;
}
