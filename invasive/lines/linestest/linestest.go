// SPDX-License-Identifier: BSD-3-Clause

// Package linestest helps tests of what is said over package lines.
package linestest

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"
)

// Read is a connection from which text comes, and then its end.
func Read(text []byte) net.Conn { return &read{from: bytes.NewReader(text)} }

type read struct {
	net.Conn
	from io.Reader
}

func (r *read) Read(p []byte) (int, error) { return r.from.Read(p) }

// Flood keeps n connections to an address open until the test ends, which say so much and no more.
// One that is closed comes again soon. All have been tried once when it returns.
func Flood(t testing.TB, address string, n int, says string) {
	over := make(chan struct{})
	var tried, all sync.WaitGroup
	flood := func() {
		conn, err := net.Dial("tcp", address)
		tried.Done()
		for ; ; conn, err = net.Dial("tcp", address) {
			if err == nil {
				gone := make(chan struct{})
				go func() {
					defer close(gone)
					_, _ = io.WriteString(conn, says)
					_, _ = io.Copy(io.Discard, conn)
				}()
				select {
				case <-over:
				case <-gone:
				}
				conn.Close()
				<-gone
			}
			select {
			case <-over:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	for range n {
		tried.Add(1)
		all.Go(flood)
	}
	tried.Wait()
	t.Cleanup(func() {
		close(over)
		all.Wait()
	})
}
