// SPDX-License-Identifier: BSD-3-Clause

// Command libaucsched-older is the library libaucsched-older.so: libaucsched.so, and auction1 and
// ipsched besides. See cshim for how it is built.
package main

import (
	"github.com/aucsched/aucsched/benchmarks/policies"
	"github.com/aucsched/aucsched/internal/capi"
)

func init() { capi.Older = policies.Older() }

func main() {}
