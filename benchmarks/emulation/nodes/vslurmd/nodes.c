/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nodes of slurm.conf: see vslurmd.h. */
#include <stdlib.h>

#include "vslurmd.h"

static vnode_t *nodes;
static int nodes_len;

static void _free(void)
{
	for (int i = 0; i < nodes_len; i++)
		xfree(nodes[i].name);
	xfree(nodes);
	nodes_len = 0;
}

/* The nodes of one line. */
static void _add(const slurm_conf_node_t *line)
{
	names_t *names = hostlist_create(line->nodenames);
	char *name;

	xrecalloc(nodes, nodes_len + hostlist_count(names), sizeof(*nodes));
	while ((name = hostlist_shift(names))) {
		nodes[nodes_len++] = (vnode_t) { xstrdup(name), line };
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

extern uint16_t nodes_read(void)
{
	slurm_conf_node_t **lines;
	int len = slurm_conf_nodename_array(&lines);
	uint16_t port = 0;

	_free();
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
		_add(lines[i]);
	}
	if (!port)
		error("no NodeName in slurm.conf");
	return port;
}

extern int nodes_count(void)
{
	return nodes_len;
}

extern const vnode_t *nodes_get(int index)
{
	return &nodes[index];
}
