// SPDX-License-Identifier: BSD-3-Clause

// Package guests bounds what connections cost whose peers haven't shown yet who they are.
package guests

import (
	"net"
	"net/netip"
	"slices"
	"sync"
)

// Most guests that have said nothing so far, and as many again that have.
const (
	most       = 256
	mostOfHost = 64 // of one address; of IPv6 of one network of 64 bits
)

// guests are from the first to the last of each kind. There is always room for one more: the
// oldest one of an address that has too many goes for it. So those who connect and say nothing
// keep nobody out, be they of the same address or of many; who has said something goes only
// for others who have.
type guests struct {
	mu   sync.Mutex
	list []guest
}

type guest struct {
	conn net.Conn
	kind kind
}

// kind is what the bounds are for.
type kind struct {
	host  netip.Prefix
	spoke bool
}

// add closes another one if there are too many.
func (g *guests) add(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.place(guest{c, kind{host: hostOf(c)}})
}

// speaks notes that one has said something. It may be closed already.
func (g *guests) speaks(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if i := g.index(c); i >= 0 && !g.list[i].kind.spoke {
		it := g.list[i]
		g.list = slices.Delete(g.list, i, i+1)
		it.kind.spoke = true
		g.place(it)
	}
}

// remove forgets one, unless it was closed.
func (g *guests) remove(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.list = slices.DeleteFunc(g.list, func(it guest) bool { return it.conn == c })
}

// close closes all.
func (g *guests) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, it := range g.list {
		it.conn.Close()
	}
	g.list = nil
}

func (g *guests) index(c net.Conn) int {
	return slices.IndexFunc(g.list, func(it guest) bool { return it.conn == c })
}

// place puts one at the end, and closes the oldest of its address if that has too many of its kind,
// or else of the address that has most if there are too many in all.
func (g *guests) place(it guest) {
	count, all, largest := map[kind]int{}, 0, kind{}
	for _, o := range g.list {
		if o.kind.spoke == it.kind.spoke {
			count[o.kind]++
			all++
		}
	}
	for _, o := range g.list { // of several the one whose first guest is the oldest
		if count[o.kind] > count[largest] {
			largest = o.kind
		}
	}
	switch {
	case count[it.kind] >= mostOfHost:
		g.cutOldest(it.kind)
	case all >= most:
		g.cutOldest(largest)
	}
	g.list = append(g.list, it)
}

func (g *guests) cutOldest(k kind) {
	i := slices.IndexFunc(g.list, func(o guest) bool { return o.kind == k })
	g.list[i].conn.Close()
	g.list = slices.Delete(g.list, i, i+1)
}

// hostOf is the same for all that one host can easily have. Peers on a Unix socket are all of one.
func hostOf(c net.Conn) netip.Prefix {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	host, _ := ip.Prefix(bits)
	return host
}
