// SPDX-License-Identifier: BSD-3-Clause

// Package testca makes certificates for tests: an authority, and what it signs, as PEM
// files in a directory.
package testca

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Server and Client are what certificates are for.
const (
	Server = x509.ExtKeyUsageServerAuth
	Client = x509.ExtKeyUsageClientAuth
)

// An Authority signs certificates. Its own is the file ca.pem.
type Authority struct {
	t    testing.TB
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// New makes an authority, whose files are there until the test ends.
func New(t testing.TB) *Authority {
	a := &Authority{t: t, dir: t.TempDir()}
	a.key, a.cert = a.issue("ca", time.Now().Add(time.Hour), &x509.Certificate{})
	return a
}

// Issue makes NAME.pem and NAME.key, for a use and for host, valid for an hour from an hour ago.
func (a *Authority) Issue(name, host string, use x509.ExtKeyUsage) {
	a.issue(name, time.Now().Add(time.Hour), &x509.Certificate{DNSNames: []string{host}, ExtKeyUsage: []x509.ExtKeyUsage{use}})
}

// IssueExpired is Issue of a certificate that has expired a minute ago.
func (a *Authority) IssueExpired(name, host string, use x509.ExtKeyUsage) {
	a.issue(name, time.Now().Add(-time.Minute), &x509.Certificate{DNSNames: []string{host}, ExtKeyUsage: []x509.ExtKeyUsage{use}})
}

// File is the path of a file.
func (a *Authority) File(name string) string { return filepath.Join(a.dir, name) }

func (a *Authority) issue(name string, until time.Time, c *x509.Certificate) (*ecdsa.PrivateKey, *x509.Certificate) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	c.SerialNumber, c.Subject = big.NewInt(1), pkix.Name{CommonName: name}
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), until
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by, c.IsCA, c.BasicConstraintsValid, c.KeyUsage = c, key, true, true, x509.KeyUsageCertSign
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
	require.NoError(a.t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(a.t, err)
	a.write(name+".pem", "CERTIFICATE", der)
	a.write(name+".key", "PRIVATE KEY", keyDER)
	made, err := x509.ParseCertificate(der)
	require.NoError(a.t, err)
	return key, made
}

func (a *Authority) write(file, kind string, b []byte) {
	require.NoError(a.t, os.WriteFile(a.File(file), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600))
}
