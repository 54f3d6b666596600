// SPDX-License-Identifier: BSD-3-Clause

package lines

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"strings"
	"time"

	"github.com/aucsched/aucsched/internal/durable"
)

// An Invitation is what one needs to join who has made it.
type Invitation struct {
	// Address is where he listens, HOST:PORT.
	Address string
	// Certificate is the SHA-256 of his certificate, Secret what those who join show.
	Certificate, Secret [sha256.Size]byte
}

// String is the form that Parse reads.
func (i Invitation) String() string {
	return fmt.Sprintf("%s/%x/%x", i.Address, i.Certificate, i.Secret)
}

// Parse reads what String has written. Its errors don't have the secret.
func Parse(text string) (i Invitation, err error) {
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return i, errors.New("must be HOST:PORT/CERTIFICATE/SECRET")
	}
	if _, _, err := net.SplitHostPort(parts[0]); err != nil {
		return i, err
	}
	i.Address = parts[0]
	for k, to := range []*[sha256.Size]byte{&i.Certificate, &i.Secret} {
		b, err := hex.DecodeString(parts[k+1])
		if err != nil || len(b) != len(to) {
			return Invitation{}, fmt.Errorf("part %d is not %d bytes in hexadecimal", k+2, len(to))
		}
		copy(to[:], b)
	}
	return i, nil
}

// Shown is the secret as text, which one who joins shows.
func (i Invitation) Shown() string { return hex.EncodeToString(i.Secret[:]) }

// Is reports whether text is the secret as it is Shown.
func (i Invitation) Is(text string) bool {
	return subtle.ConstantTimeCompare([]byte(text), []byte(i.Shown())) == 1
}

// ErrStranger means that who answers is not who has invited.
var ErrStranger = errors.New("who listens there has another certificate than the invitation says")

// Dial connects to who has invited.
func (i Invitation) Dial(ctx context.Context) (*Conn, error) {
	d := tls.Dialer{Config: &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // by names and authorities; it is compared as a whole
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || sha256.Sum256(s.PeerCertificates[0].Raw) != i.Certificate {
				return ErrStranger
			}
			return nil
		},
	}}
	conn, err := d.DialContext(ctx, "tcp", i.Address)
	if err != nil {
		return nil, err
	}
	return New(conn), nil
}

// A Key is a certificate and a secret that invitations are made of.
type Key struct {
	certificate tls.Certificate
	secret      [sha256.Size]byte
}

func (k *Key) invitation(address string) Invitation {
	return Invitation{Address: address, Certificate: sha256.Sum256(k.certificate.Certificate[0]), Secret: k.secret}
}

// Invite makes a Key that lasts ten years.
func Invite() (*Key, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	form := x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, &form, &form, private.Public(), private)
	if err != nil {
		return nil, err
	}
	k := &Key{certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}}
	_, err = rand.Read(k.secret[:])
	return k, err
}

// keptKey is a Key in a file.
type keptKey struct{ Certificate, Private, Secret []byte }

// Keep returns the Key in a file that only this user may read, and makes it if there is none: who
// listens again with it is known to those whom he has invited before.
func Keep(path string) (*Key, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return makeKept(path)
	}
	if err != nil {
		return nil, err
	}
	var kept keptKey
	if err := json.Unmarshal(text, &kept); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	private, err := x509.ParseECPrivateKey(kept.Private)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	k := &Key{certificate: tls.Certificate{Certificate: [][]byte{kept.Certificate}, PrivateKey: private}}
	if copy(k.secret[:], kept.Secret) != len(kept.Secret) || len(kept.Secret) != len(k.secret) {
		return nil, fmt.Errorf("%s: a secret of %d bytes, it must have %d", path, len(kept.Secret), len(k.secret))
	}
	return k, nil
}

func makeKept(path string) (*Key, error) {
	k, err := Invite()
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalECPrivateKey(k.certificate.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(keptKey{k.certificate.Certificate[0], private, k.secret[:]})
	if err != nil {
		return nil, err
	}
	return k, durable.Write(path, text)
}
