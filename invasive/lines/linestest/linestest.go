// SPDX-License-Identifier: BSD-3-Clause

// Package linestest helps tests of what is said over package lines.
package linestest

import (
	"bytes"
	"io"
	"net"
)

// Read is a connection from which text comes, and then its end.
func Read(text []byte) net.Conn { return &read{from: bytes.NewReader(text)} }

type read struct {
	net.Conn
	from io.Reader
}

func (r *read) Read(p []byte) (int, error) { return r.from.Read(p) }
