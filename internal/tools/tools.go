// SPDX-License-Identifier: BSD-3-Clause

//go:build tools

// Package tools keeps in go.mod what is built with, and not linked as Go.
package tools

// scripts/highs.sh links the static library that this module carries.
import _ "github.com/bartolsthoorn/gohighs/highs"
