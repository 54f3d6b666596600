/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nodes of slurm.conf: see vslurmd.h. */
#include <stdlib.h>

#include "vslurmd.h"

typedef struct {
	vnode_t *nodes;
	int len;
} table_t;

static table_t table;

static void _free(table_t *t)
{
	for (int i = 0; i < t->len; i++) {
		xfree(t->nodes[i].name);
		xfree(t->nodes[i].gres);
	}
	xfree(t->nodes);
	t->len = 0;
}

/* The nodes of one line. */
static void _add(table_t *t, const slurm_conf_node_t *line)
{
	names_t *names = hostlist_create(line->nodenames);
	char *name;

	xrecalloc(t->nodes, t->len + hostlist_count(names), sizeof(*t->nodes));
	while ((name = hostlist_shift(names))) {
		t->nodes[t->len++] = (vnode_t) {
			.name = xstrdup(name),
			.gres = xstrdup(line->gres),
			.cpus = line->cpus,
			.boards = line->boards,
			.sockets = line->tot_sockets,
			.cores = line->cores,
			.threads = line->threads,
			.real_memory = line->real_memory,
			.tmp_disk = line->tmp_disk,
		};
		free(name);
	}
	hostlist_destroy(names);
}

/* The port of a line. RET 0 after an error message */
static uint16_t _port(const slurm_conf_node_t *line)
{
	char *end = NULL;
	long port = line->port_str ? strtol(line->port_str, &end, 10) :
		slurm_conf.slurmd_port;

	if ((end && *end) || (port < 1) || (port > 65535)) {
		error("NodeName=%s Port=%s: all nodes must have the same one port",
		      line->nodenames, line->port_str);
		return 0;
	}
	return port;
}

/* The nodes of all lines. RET the port of all of them, or 0 after an error message */
static uint16_t _read(table_t *t)
{
	slurm_conf_node_t **lines;
	int len = slurm_conf_nodename_array(&lines);
	uint16_t port = 0;

	for (int i = 0; i < len; i++) {
		uint16_t own = _port(lines[i]);

		if (!own)
			return 0;
		if (port && (own != port)) {
			error("NodeName=%s has port %u, others have %u: all nodes must have the same one",
			      lines[i]->nodenames, own, port);
			return 0;
		}
		port = own;
		_add(t, lines[i]);
	}
	if (!port)
		error("no NodeName in slurm.conf");
	return port;
}

extern uint16_t nodes_read(void)
{
	table_t fresh = { 0 };
	uint16_t port = _read(&fresh);

	if (port) {
		_free(&table);
		table = fresh;
	} else {
		_free(&fresh);
	}
	return port;
}

extern int nodes_count(void)
{
	return table.len;
}

extern const vnode_t *nodes_get(int index)
{
	return &table.nodes[index];
}
