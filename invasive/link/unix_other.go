//go:build !linux

package link

import (
	"context"
	"fmt"
	"net"
)

func (e Endpoint) listenUnix(Clock, *Stats) (*Listener, error) {
	return nil, fmt.Errorf("%v: the peer's user can be asked for on Linux only", e)
}

func (e Endpoint) dialUnix(context.Context) (net.Conn, error) {
	return nil, fmt.Errorf("%v: the peer's user can be asked for on Linux only", e)
}
