// SPDX-License-Identifier: BSD-3-Clause

//go:build !cgo

package main

// Without cgo there is no library; this lets "go build ./..." pass.
func main() {}
