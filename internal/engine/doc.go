// SPDX-License-Identifier: BSD-3-Clause

// Package engine is what libaucsched does, without C: flat arrays in, a policy of
// package core, flat decisions out.
//
// The structs of this package have the layout of those in aucsched.h, so that the library can hand
// arrays over without touching them. An [Engine] runs cycles; a [Table] holds the open ones under
// the numbers that a C program knows them by. Both turn panics into errors. The words of an error
// name the array, the index, the field and the value that are wrong.
//
// A cycle looks at its input only while it runs and keeps no reference to it.
package engine
