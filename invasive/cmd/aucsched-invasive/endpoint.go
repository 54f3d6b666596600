// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/aucsched/aucsched/invasive/link"
)

// endpointFlags say where the two sides of the invasive protocol meet, and who may.
type endpointFlags struct {
	address string
	users   []string
	tls     link.TLS
}

func (f *endpointFlags) add(s *pflag.FlagSet) {
	s.StringVar(&f.address, "socket", "unix:/run/aucsched-invasive/socket",
		"where iScheduler and iHypervisor meet: unix:PATH, or tcp:HOST:PORT with certificates")
	s.StringSliceVar(&f.users, "allow-user", nil,
		"users that the other side may be, by name or number, on a Unix socket (default: this one)")
	s.StringVar(&f.tls.CA, "tls-ca", "", "file with the certificates of those who sign the other side's, for tcp")
	s.StringVar(&f.tls.Cert, "tls-cert", "", "file with one's own certificate")
	s.StringVar(&f.tls.Key, "tls-key", "", "file with its key, which nobody else may read")
	s.StringSliceVar(&f.tls.Names, "tls-name", nil, "names of which an iScheduler's certificate must have one (default: any of the CA)")
}

func (f *endpointFlags) endpoint() (*link.Endpoint, error) {
	e, err := link.ParseEndpoint(f.address)
	if err != nil {
		return nil, fmt.Errorf("--socket: %w", err)
	}
	files := f.tls.CA != "" && f.tls.Cert != "" && f.tls.Key != ""
	given := f.tls.CA != "" || f.tls.Cert != "" || f.tls.Key != "" || len(f.tls.Names) > 0
	switch {
	case e.Network == "tcp" && len(f.users) > 0:
		return nil, errors.New("--allow-user: is for Unix sockets")
	case e.Network == "tcp" && !files:
		return nil, errors.New("--socket: tcp needs --tls-ca, --tls-cert and --tls-key")
	case e.Network == "tcp":
		e.TLS = &f.tls
		return &e, nil
	case given:
		return nil, errors.New("--tls-ca, --tls-cert, --tls-key, --tls-name: are for tcp")
	}
	if len(f.users) == 0 {
		e.Users = []uint32{uint32(os.Geteuid())}
	}
	for _, name := range f.users {
		uid, err := userID(name)
		if err != nil {
			return nil, fmt.Errorf("--allow-user: %w", err)
		}
		e.Users = append(e.Users, uid)
	}
	return &e, nil
}

// userID takes a name or a number.
func userID(name string) (uint32, error) {
	if n, err := strconv.ParseUint(name, 10, 32); err == nil {
		return uint32(n), nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(u.Uid, 10, 32)
	return uint32(n), err
}
