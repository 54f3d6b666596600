// Package window reads the state of a machine and its queue from JSON, and writes
// what a cycle decided: the formats of "aucsched plan".
//
//	{"nodes": [{"name": "n[1-1024]", "cores": 8, "gpus": 2,
//	            "free_cores": 8, "free_gpus": 2, "state": "up"}],
//	 "running": [{"id": "R1", "nodes": "n[65-80]", "cores_per_node": 8,
//	              "gpus_per_node": 2, "end_s": 500}],
//	 "jobs": [{"id": "J1", "priority": 4294901759, "cores": 4096, "nodes": "512",
//	           "tasks_per_node": 0, "gpus_per_node": "1-3", "contiguous": false,
//	           "time_limit_s": 600}]}
//
// Node names are Slurm hostlists, in machine order. free_cores and free_gpus default
// to what running jobs leave; if they are given, what running jobs hold is already
// off. nodes and gpus_per_node take N or MIN-MAX, as a string or a number. state is
// up (the default), drained or down. end_s is the time, in seconds from now, at which
// the job's limit runs out. Whatever is absent is not restricted.
//
// Everything is checked: an error names the file, the line, the element, the field
// and the value, and nothing is returned besides.
package window
