// SPDX-License-Identifier: BSD-3-Clause

package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"time"
)

// TLS names the files of one side, all in PEM. Both sides show a certificate; TLS 1.3 is
// spoken, nothing older.
type TLS struct {
	// CA has the certificates of those who may sign the other side's. It should sign for nobody
	// else: unless Names is set, every certificate of it is let in.
	CA string
	// Cert and Key are this side's own. Nobody but the user may be able to read the key.
	Cert, Key string
	// Names are those that an iScheduler's certificate may have (subject alternative names, DNS);
	// none: any. An iHypervisor's always has to have the name of the host that was dialled.
	Names []string
}

func (t *TLS) load() (tls.Certificate, *x509.CertPool, error) {
	if st, err := os.Stat(t.Key); err != nil {
		return tls.Certificate{}, nil, err
	} else if st.Mode()&0o077 != 0 {
		return tls.Certificate{}, nil, fmt.Errorf("key %s: mode %#o lets others read it", t.Key, st.Mode().Perm())
	}
	cert, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return cert, nil, fmt.Errorf("certificate %s, key %s: %w", t.Cert, t.Key, err)
	}
	text, err := os.ReadFile(t.CA)
	if err != nil {
		return cert, nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return cert, nil, fmt.Errorf("CA file %s: has no certificate", t.CA)
	}
	return cert, pool, nil
}

func (t *TLS) server() (*tls.Config, error) {
	cert, pool, err := t.load()
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, SessionTicketsDisabled: true,
	}, err
}

func (t *TLS) handshakeServer(c net.Conn, config *tls.Config) (net.Conn, error) {
	s := tls.Server(c, config)
	if err := s.Handshake(); err != nil {
		return nil, err
	}
	if len(t.Names) == 0 {
		return s, nil
	}
	names := s.ConnectionState().PeerCertificates[0].DNSNames
	if !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(t.Names, n) }) {
		return nil, errors.New("the certificate has none of the names that are let in")
	}
	return s, nil
}

func (t *TLS) dial(ctx context.Context, address string) (net.Conn, error) {
	cert, pool, err := t.load()
	if err != nil {
		return nil, err
	}
	d := tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert}, RootCAs: pool}}
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	keepAlive(c.(*tls.Conn).NetConn())
	return c, nil
}

// keepAlive notices a host that is gone within half a minute.
func keepAlive(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 4})
	}
}
