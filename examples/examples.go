// SPDX-License-Identifier: BSD-3-Clause

// Package examples holds windows to try: "aucsched plan examples/table1.json".
package examples

import "embed"

// Files has the examples:
//
//	table1.json   table I of ipsched.txt: three jobs on 1024 nodes of 8 cores and 2 GPUs
//	figure3.json  figure 3 of aucsched1.txt: four jobs on 144 nodes, 16 of them busy
//	blocked.json  eight jobs on 16 nodes, one of each fate that "aucsched explain" tells apart
//	memory.json   four jobs on 9 nodes, where memory is what is short
//	shares.json   six jobs on 5 nodes, which want shares of single GPUs, or a whole one
//	group.json    three jobs of several components, two of which have to be near each other
//
//go:embed *.json
var Files embed.FS
