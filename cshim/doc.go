// SPDX-License-Identifier: BSD-3-Clause

// Command cshim is libaucsched, the auction behind the C interface of aucsched.h:
//
//	go build -buildmode=c-shared -o libaucsched.so \
//		-ldflags "-extldflags=-Wl,--version-script=$PWD/cshim/aucsched.map" ./cshim
//
// The version script hides the Go runtime's symbols, so that the library exports the
// functions of aucsched.h alone; cgo does not let a source file ask for it.
//
// Package capi has the functions. The benchmarks module has a library of the same interface, with
// the policies before AUCSCHED2.
package main
