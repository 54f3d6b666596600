// SPDX-License-Identifier: BSD-3-Clause

package link

import (
	"net"
	"net/netip"
	"sync"
)

// Most connections whose peer hasn't shown yet who it is.
const (
	maxGuests     = 64
	maxHostGuests = 16 // of one address; of IPv6 of one network of 64 bits
)

// guests are such connections, from the first to the last. There is always room for one more: the
// oldest one of an address that has too many goes for it, so that those who connect and say nothing
// keep nobody out, be they of the same address or of many.
type guests struct {
	mu   sync.Mutex
	list []guest
}

type guest struct {
	conn net.Conn
	host netip.Prefix
}

// add closes another one if there are too many.
func (g *guests) add(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	host := hostOf(c)
	if n := g.count(host); n >= maxHostGuests {
		g.cutOldest(host)
	} else if len(g.list) >= maxGuests {
		g.cutOldest(g.largest())
	}
	g.list = append(g.list, guest{c, host})
}

// remove returns false for one that was closed.
func (g *guests) remove(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.list {
		if g.list[i].conn == c {
			g.list = append(g.list[:i], g.list[i+1:]...)
			return true
		}
	}
	return false
}

func (g *guests) count(host netip.Prefix) (n int) {
	for i := range g.list {
		if g.list[i].host == host {
			n++
		}
	}
	return n
}

// largest is the address with the most connections, of several that whose first one is the oldest.
func (g *guests) largest() (host netip.Prefix) {
	most := 0
	for i := range g.list {
		if n := g.count(g.list[i].host); n > most {
			host, most = g.list[i].host, n
		}
	}
	return host
}

func (g *guests) cutOldest(host netip.Prefix) {
	for i := range g.list {
		if g.list[i].host == host {
			g.list[i].conn.Close()
			g.list = append(g.list[:i], g.list[i+1:]...)
			return
		}
	}
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
