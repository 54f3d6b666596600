// SPDX-License-Identifier: BSD-3-Clause

// Package capi is the functions of cshim/aucsched.h. A program that imports it can be built as a
// library that exports them.
//
// It is a thin layer: package engine has all that can be done without C.
//
// The exports implement aucsched.h, which is written by hand. That they have its signatures is
// checked by the C compiler, and that the structs have its layout by the Go compiler (layout.go).
package capi

import "github.com/aucsched/aucsched/internal/older"

// Older makes auction1 and ipsched. A library that has them sets it in an init function; where it
// is nil, settings that ask for them are refused.
var Older *older.Policies
