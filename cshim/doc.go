// SPDX-License-Identifier: BSD-3-Clause

// Command cshim is libaucsched, the auction behind the C interface of aucsched.h:
//
//	go build -buildmode=c-shared -o libaucsched.so \
//		-ldflags "-extldflags=-Wl,--version-script=$PWD/cshim/aucsched.map" ./cshim
//
// The version script hides the Go runtime's symbols, so that the library exports the
// functions of aucsched.h alone; cgo does not let a source file ask for it.
//
// It is a thin layer: package engine has all that can be done without C. Nothing of
// HiGHS is linked; where it is wanted, it runs in a worker process.
//
// The exports implement aucsched.h, which is written by hand. That they have its
// signatures is checked by the C compiler, and that the structs have its layout by the Go
// compiler (layout.go).
package main
