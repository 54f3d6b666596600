// SPDX-License-Identifier: BSD-3-Clause

//go:build cgo

package capi

// #include "aucsched.h"
import "C"

//export aucsched_worker_fault
func aucsched_worker_fault(handle C.int64_t, buf *C.char, length C.size_t) C.size_t {
	return words(handle, buf, length, table.WorkerFault)
}
